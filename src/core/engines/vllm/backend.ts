/** Stored dtype and block size, which the attention backend decides. Source: vLLM 0.28, platforms/cuda.py, v1/attention/backends/*. */
import type { KvLayer, Model } from '../../model/model';
import type { Hardware } from '../engine';
import { isCompressed } from './compressed';
import { runtimeDtype, skipsByItself } from './dtypes';
import type { Settings } from './settings';
import type { VllmRules } from './versions';

export interface StoredDtype {
  readonly key: string;
  readonly value: string;
  readonly how: string;
}

export const capability = (hardware: Hardware | undefined): number | undefined => {
  const text = hardware?.gpu?.computeCapability;
  return text === undefined ? undefined : Number(text);
};

export const isLatent = (model: Model): boolean => model.layers.some((l) => l.kind === 'latent');
const isSparse = (model: Model): boolean => model.layers.some((l) => l.kind === 'indexer');

export function storedDtype(
  model: Model,
  settings: Settings,
  rules: VllmRules,
  hardware: Hardware | undefined,
): StoredDtype {
  const key = settings.text('kv-cache-dtype') ?? 'auto';
  const own = runtimeDtype(settings.text('dtype'), model.dtype);
  if (isCompressed(model.layers)) {
    return { key, value: 'fp8_ds_mla', how: 'compressed histories are stored packed: 584 bytes an entry' };
  }
  const blackwellRtx = (capability(hardware) ?? 0) >= 12;
  if (isSparse(model) && (key.startsWith('fp8') || (key === 'auto' && blackwellRtx))) {
    return { key, value: 'fp8_ds_mla', how: 'sparse MLA stores fp8 in its packed 656-byte layout' };
  }
  if (key !== 'auto') {
    return { key, value: key, how: 'as written' };
  }
  if (rules.checkpointKvDtype && model.checkpointKvDtype) {
    return { key, value: model.checkpointKvDtype, how: 'auto: the checkpoint’s own KV metadata' };
  }
  return { key, value: own, how: 'auto: the model’s dtype, not the weights’ quantisation' };
}

/** Block sizes that a backend prefers when the launch names it. */
const BACKEND_BLOCK: ReadonlyMap<string, number> = new Map([
  ['FLASH_ATTN', 16],
  ['TRITON_ATTN', 16],
  ['FLEX_ATTENTION', 16],
  ['FLASHINFER', 16],
  ['FLASHMLA', 64],
  ['FLASHMLA_SPARSE', 64],
  ['FLASHINFER_MLA', 32],
  ['TOKENSPEED_MLA', 32],
  ['CUTLASS_MLA', 128],
  ['FLASH_ATTN_MLA', 16],
  ['TRITON_MLA', 16],
  ['FLASHINFER_MLA_SPARSE', 64],
  ['ROCM_AITER_UNIFIED_ATTN', 64],
]);

/** The smallest block of a backend's kernels: it takes multiples of it. Source: v1/attention/backend.py :: supports_block_size. */
const KERNEL_BLOCK: ReadonlyMap<string, number> = new Map([
  ['FLASH_ATTN', 16],
  ['TRITON_ATTN', 16],
  ['FLASHINFER', 16],
  ['FLASHMLA', 64],
  ['FLASHMLA_SPARSE', 64],
  ['FLASHINFER_MLA', 32],
  ['CUTLASS_MLA', 128],
]);

export const kernelBlock = (backend: string | undefined): number | undefined =>
  backend === undefined ? undefined : KERNEL_BLOCK.get(backend);

/** The backend that the launch names, in capitals. */
export const namedBackend = (settings: Settings, environment: ReadonlyMap<string, string>): string | undefined =>
  (settings.text('attention-backend') ?? environment.get('VLLM_ATTENTION_BACKEND'))?.toUpperCase();

export interface BlockSize {
  readonly tokens: number;
  readonly how: string;
}

/** Tokens per block of attention layers before grouping. */
export function baseBlockSize(
  model: Model,
  settings: Settings,
  environment: ReadonlyMap<string, string>,
  rules: VllmRules,
  hardware: Hardware | undefined,
): BlockSize {
  const backend = namedBackend(settings, environment);
  const written = settings.number('block-size');
  if (written !== undefined) {
    return replacedBlock(written, backend, model, rules, hardware) ?? { tokens: written, how: 'as written' };
  }
  if (isCompressed(model.layers)) {
    return { tokens: 256, how: 'default of compressed histories' };
  }
  if (isSparse(model)) {
    return { tokens: 64, how: 'the sparse indexer needs blocks of 64' };
  }
  const forced = backend ? BACKEND_BLOCK.get(backend) : undefined;
  if (forced !== undefined) {
    return { tokens: forced, how: `default of ${backend}` };
  }
  return isLatent(model) && rules.latentCache ? latentDefault(rules, hardware) : { tokens: 16, how: 'default' };
}

/**
 * Up to 0.17 a block size that the MLA backend in use does not take was replaced. Source: vLLM 0.16, platforms/cuda.py ::
 * check_and_update_config.
 */
function replacedBlock(
  written: number,
  backend: string | undefined,
  model: Model,
  rules: VllmRules,
  hardware: Hardware | undefined,
): BlockSize | undefined {
  if (rules.backendTakesBlock || !rules.latentCache || !isLatent(model)) {
    return undefined;
  }
  if (isSparse(model)) {
    return written === 64 ? undefined : { tokens: 64, how: 'the sparse indexer needs blocks of 64' };
  }
  const used = backend ?? defaultLatentBackend(rules, hardware);
  const tokens = used === 'CUTLASS_MLA' ? 128 : 64;
  const takes = written % tokens === 0 || (used === 'FLASHINFER_MLA' && written === 32);
  return !['FLASHMLA', 'CUTLASS_MLA', 'FLASHINFER_MLA'].includes(used ?? '') || takes
    ? undefined
    : { tokens, how: `${used} takes multiples of ${tokens}: ${written} is replaced` };
}

function defaultLatentBackend(rules: VllmRules, hardware: Hardware | undefined): string | undefined {
  const cc = capability(hardware) ?? 0;
  if (cc >= 10 && cc < 12) {
    return rules.latentBlock.blackwell === 128 ? 'CUTLASS_MLA' : 'FLASHINFER_MLA';
  }
  return cc >= 9 && cc < 10 ? 'FLASHMLA' : undefined;
}

function latentDefault(rules: VllmRules, hardware: Hardware | undefined): BlockSize {
  const cc = capability(hardware);
  if (cc === undefined) {
    return { tokens: rules.latentBlock.hopper, how: 'default of MLA on Hopper (the GPU is not known)' };
  }
  if (cc >= 10 && cc < 12) {
    return { tokens: rules.latentBlock.blackwell, how: 'default of MLA on Blackwell' };
  }
  return cc >= 9 && cc < 10
    ? { tokens: rules.latentBlock.hopper, how: 'default of MLA on Hopper' }
    : { tokens: 16, how: 'default of Triton MLA' };
}

/** The dtype each layer is stored in: some keep the model's. `at` numbers the transformer layers of the model's own KV layers. */
export function layerDtypes(
  layers: readonly KvLayer[],
  at: readonly number[],
  depth: number,
  model: Model,
  stored: StoredDtype,
  settings: Settings,
): readonly string[] {
  const own = runtimeDtype(settings.text('dtype'), model.dtype);
  const skip = settings.find('kv-cache-dtype-skip-layers')?.value;
  if (skip === undefined && !stored.value.startsWith('turboquant')) {
    return layers.map(() => stored.value);
  }
  const skipped = new Set((Array.isArray(skip) ? skip : skip === undefined ? [] : [skip]).map(String));
  return layers.map((layer, i) => {
    const number = at[i];
    const keeps =
      (number !== undefined &&
        (skipped.has(String(number)) || skipsByItself(stored.value, number, depth, model.experts === undefined))) ||
      (skipped.has('sliding_window') && layer.kind === 'sliding');
    return keeps ? own : stored.value;
  });
}
