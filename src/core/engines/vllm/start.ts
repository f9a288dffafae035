/** The words that start vLLM in a file, and the version an image's tag names. */
import type { StartWords } from '../start-words';

/** Builds of the server image whose name goes on after `vllm`: mirrors, other devices, vendors' own builds. */
const DEVICES =
  'cpu|cuda|gpu|rocm|xpu|tpu|hpu|gaudi|neuron|ascend|musa|spyre|arm64|aarch64|gh200|dev|nightly|base|server';

/**
 * `vllm serve MODEL` and its older forms. Images start `vllm serve`, old ones
 * `python3 -m vllm.entrypoints.openai.api_server` (there the model is `--model` alone); both take options at once.
 * Images of vendors may start nothing: their command then begins with one of the start words.
 */
export const VLLM_START: StartWords = {
  names: ['vllm', 'LLMConfig'],
  commands: [['vllm', 'serve']],
  modules: [
    'vllm.entrypoints.openai.api_server',
    'vllm.entrypoints.api_server',
    'vllm.entrypoints.cli.main serve',
    'vllm.entrypoints.grpc_server',
    'dynamo.vllm',
  ],
  images: [
    /(?:^|\/)(?:[a-z0-9.]+-)*vllm(?:-[a-z0-9.]+)*-openai(?:-[a-z0-9.]+)*$/i,
    new RegExp(`(?:^|/)vllm(?:-(?:${DEVICES})[a-z0-9.-]*)?$`, 'i'),
    /(?:^|\/)vllm-(?:ci|release)[a-z-]*-repo$/i,
  ],
  imageEntry: ['vllm', 'serve'],
  modelOption: 'model',
  python: [
    { module: 'vllm', names: ['LLM'], positional: ['model'], usage: 'offline' },
    { module: 'vllm', names: ['AsyncLLM', 'EngineArgs', 'AsyncEngineArgs'], positional: ['model'], usage: 'embedded' },
    // Ray Serve's `LLMConfig` (ray 2.44, llm/_internal/serve/configs/server_models.py).
    {
      module: 'ray',
      names: ['LLMConfig'],
      keywords: { 'model_loading_config.model_source': 'model', 'model_loading_config.model_id': 'served-model-name' },
      holders: ['engine_kwargs'],
      only: true,
      gpu: 'accelerator_type',
    },
  ],
  positionalModel: true,
  configOption: 'config',
};

/**
 * The release an image's tag names: `v0.10.1.1` → `0.10.1`, `v0.11.0-x86_64` → `0.11.0`,
 * `rocm6.4.1_vllm_0.9.1_20250702` → `0.9.1`. Undefined for `latest`, `nightly`, commits, and tags that count
 * months (`25.09-py3`): no release of vLLM has reached 20.
 */
export function imageVersion(tag: string): string | undefined {
  const match = /vllm[_-]?v?(\d+\.\d+(?:\.\d+)?)/i.exec(tag) ?? /^v?(\d+\.\d+(?:\.\d+)?)(?![\d])/i.exec(tag);
  const version = match?.[1];
  return version !== undefined && Number.parseInt(version, 10) < 20 ? version : undefined;
}
