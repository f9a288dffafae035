/** The words that start TensorRT-LLM in a file. */
import type { StartWords } from '../start-words';

/**
 * `trtllm-serve MODEL` and `trtllm-serve serve MODEL`. NVIDIA's images start nothing by themselves.
 * Dynamo's worker takes the same options, `--model-path` and `--extra-engine-args` among them.
 */
export const TENSORRT_LLM_START: StartWords = {
  names: ['trtllm', 'tensorrt-llm', 'tensorrt_llm', 'tensorrtllm'],
  commands: [['trtllm-serve'], ['trtllm-serve', 'serve']],
  otherCommands: ['disaggregated', 'disaggregated_mpi_worker', 'mm_embedding_serve'],
  modules: ['tensorrt_llm.commands.serve', 'tensorrt_llm.commands.serve serve', 'dynamo.trtllm'],
  images: [
    /(?:^|\/)tensorrt-llm(?:\/(?:release|devel|ngc-release))?$/i,
    /(?:^|\/)tensorrtllm[-_]?(?:runtime|release)?$/i,
  ],
  imageEntry: [],
  tritonBackends: ['tensorrtllm'],
  exactFlags: true,
  modelOption: 'model',
  python: [{ module: 'tensorrt_llm', names: ['LLM', 'LlmArgs', 'TorchLlmArgs', 'TrtLlmArgs'], positional: ['model'] }],
  positionalModel: true,
  configOption: 'config',
  configRules: { attached: true, wins: true },
};
