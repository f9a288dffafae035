/** Page size and stored dtype, which attention backend, model and GPU decide. Source: SGLang 0.5.18, srt/arg_groups/overrides.py. */
import type { Model, ModelDtype } from '../../model/model';
import type { Hardware } from '../engine';
import type { Settings } from './settings';
import type { SglangRules } from './versions';

const capability = (hardware: Hardware | undefined): number | undefined => {
  const text = hardware?.gpu?.computeCapability;
  return text === undefined ? undefined : Number(text);
};

export const isLatent = (model: Model): boolean => model.layers.some((l) => l.kind === 'latent');
/** Keeps a compressed history beside a window (DeepSeek V4). */
export const isCompressed = (model: Model): boolean => model.layers.some((l) => l.ratio !== undefined);
export const isSparse = (model: Model): boolean => model.layers.some((l) => l.kind === 'indexer');

const isDataCentreBlackwell = (hardware: Hardware | undefined): boolean => {
  const cc = capability(hardware) ?? 0;
  return cc >= 10 && cc < 12;
};

export interface PageSize {
  readonly tokens: number;
  readonly how: string;
}

/** Pages that a backend works with, whatever is written; the first stands in for any other. */
const BACKEND_PAGES: ReadonlyMap<string, readonly number[]> = new Map([
  ['flashmla', [64]],
  ['cutlass_mla', [128]],
  ['trtllm_mla', [64, 32]],
  ['tokenspeed_mla', [64, 32]],
  ['cutedsl_mla', [64, 32]],
  ['trtllm_mha', [64, 16, 32, 128]],
  ['hpc_ops', [64]],
  ['intel_xpu', [128]],
]);

/** The backend of an ordinary launch on this GPU; undefined where its pages are 1 in any case. */
function defaultBackend(model: Model, rules: SglangRules, hardware: Hardware | undefined): string | undefined {
  if (!rules.blackwellPages || !isDataCentreBlackwell(hardware)) {
    return undefined;
  }
  return isLatent(model) ? 'trtllm_mla' : 'trtllm_mha';
}

const BACKEND_OPTIONS = ['decode-attention-backend', 'prefill-attention-backend', 'attention-backend'] as const;

export const writtenBackends = (settings: Settings): readonly string[] =>
  BACKEND_OPTIONS.flatMap((name) => settings.text(name) ?? []);

export function pageSize(
  model: Model,
  settings: Settings,
  rules: SglangRules,
  hardware: Hardware | undefined,
): PageSize {
  const written = settings.number('page-size');
  if (isCompressed(model)) {
    return written !== undefined && written % 128 === 0
      ? { tokens: written, how: 'as written' }
      : { tokens: 256, how: 'DeepSeek V4 works on pages of 256' };
  }
  if (isSparse(model)) {
    return { tokens: 64, how: 'sparse attention (DSA) works on pages of 64' };
  }
  const named = writtenBackends(settings);
  const backends = named.length > 0 ? named : [defaultBackend(model, rules, hardware)];
  for (const backend of backends) {
    const pages = backend === undefined ? undefined : pagesOf(backend, model, hardware);
    if (pages) {
      return written !== undefined && pages.includes(written)
        ? { tokens: written, how: 'as written' }
        : { tokens: pages[0] as number, how: `${backend} works on pages of ${pages.join(', ')}` };
    }
  }
  return written === undefined ? { tokens: 1, how: 'any size works' } : { tokens: written, how: 'as written' };
}

const pagesOf = (backend: string, model: Model, hardware: Hardware | undefined): readonly number[] | undefined =>
  backend === 'fa4' && !isLatent(model) && isDataCentreBlackwell(hardware) ? [128] : BACKEND_PAGES.get(backend);

export interface StoredDtype {
  readonly key: string;
  readonly value: string;
  readonly how: string;
}

/** `auto` runs fp32 checkpoints in fp16. */
export function runtimeDtype(asked: string | undefined, model: ModelDtype): ModelDtype {
  switch (asked) {
    case 'half':
    case 'float16':
      return 'float16';
    case 'bfloat16':
      return 'bfloat16';
    case 'float':
    case 'float32':
      return 'float32';
    default:
      return model === 'float32' ? 'float16' : model;
  }
}

export function storedDtype(model: Model, settings: Settings, hardware: Hardware | undefined): StoredDtype {
  const key = settings.text('kv-cache-dtype') ?? 'auto';
  if (isCompressed(model)) {
    return { key, value: 'fp8_e4m3', how: 'DeepSeek V4 packs its vectors: fp8, and the rope part in 16 bit' };
  }
  if (key === 'bf16' || key === 'bfloat16') {
    return { key, value: 'bfloat16', how: 'as written' };
  }
  if (key !== 'auto') {
    return { key, value: key, how: 'as written' };
  }
  if (model.checkpointKvDtype?.startsWith('fp8')) {
    return { key, value: 'fp8_e4m3', how: 'auto: the checkpoint’s own KV metadata' };
  }
  if (isSparse(model) && (capability(hardware) ?? 0) >= 10) {
    return { key, value: 'fp8_e4m3', how: 'auto: sparse attention (DSA) stores fp8 on Blackwell' };
  }
  const value = runtimeDtype(settings.text('dtype'), model.dtype);
  return { key, value, how: 'auto: the model’s dtype, not the weights’ quantisation' };
}
