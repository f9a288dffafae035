/**
 * Bytes one KV head (or one latent vector) keeps per token, by stored dtype.
 * Source: vLLM 0.28, v1/kv_cache_interface.py :: AttentionSpec and the backends' customize_spec.
 */

import type { KvLayer, ModelDtype } from '../../model/model';
import { ceilDiv } from '../../units';

interface Packing {
  /** Key and value of one head and token, `d` and `dv` elements. */
  readonly head?: (d: number, dv: number) => number;
  /** One latent vector of `d` elements, `rope` of which stay in 16 bit in packed layouts. */
  readonly latent?: (d: number, rope: number) => number;
  /** The same in symbols, for K and V together. */
  readonly symbols: string;
}

const plain = (bytes: number): Packing => ({
  head: (d, dv) => bytes * (d + dv),
  latent: (d) => bytes * d,
  symbols: `${bytes} × (d + dv)`,
});

/** Two fp32 scales per token and head for K and V; a latent vector has one pair as well. */
const perTokenHead = (elementsPerByte: number): Packing => ({
  head: (d, dv) => ceilDiv(d + dv, elementsPerByte) + 8,
  latent: (d) => ceilDiv(d, elementsPerByte) + 8,
  symbols: elementsPerByte === 1 ? '(d + dv) + 8' : `(d + dv) ÷ ${elementsPerByte} + 8`,
});

/** 4 bit and one fp8 scale per 16 elements. */
const nvfp4: Packing = { head: (d, dv) => d / 2 + d / 16 + dv / 2 + dv / 16, symbols: '(d + dv) × 9/16' };

const turbo = (keyBits: number, valueBits: number): Packing => ({
  head: (d, dv) => ceilDiv(d * keyBits, 8) + 2 + ceilDiv(dv * valueBits, 8) + 4,
  symbols: `⌈${keyBits}d/8⌉ + 2 + ⌈${valueBits}dv/8⌉ + 4`,
});

/** Keys in 8 bit without a scale, values in 4 bit, rounded up to even. */
const turboK8V4: Packing = {
  head: (d, dv) => 2 * ceilDiv(d + ceilDiv(dv * 4, 8) + 4, 2),
  symbols: 'even(d + ⌈4dv/8⌉ + 4)',
};

/** 512 fp8 + one fp32 scale per 128 + the rope part in bf16: 656 bytes for DeepSeek's 576. */
const packedLatent: Packing = {
  latent: (d, rope) => d - rope + ((d - rope) / 128) * 4 + 2 * rope,
  symbols: '(d − rope) + 4 × (d − rope) ÷ 128 + 2 × rope',
};

const PACKINGS: ReadonlyMap<string, Packing> = new Map([
  ['float32', plain(4)],
  ['float16', plain(2)],
  ['bfloat16', plain(2)],
  ...['fp8', 'fp8_e4m3', 'fp8_e5m2', 'fp8_inc'].map((key) => [key, plain(1)] as const),
  ['int8_per_token_head', perTokenHead(1)],
  ['fp8_per_token_head', perTokenHead(1)],
  ['int4_per_token_head', perTokenHead(2)],
  ['nvfp4', nvfp4],
  ['nvfp4_4over6', nvfp4],
  ['turboquant_k8v4', turboK8V4],
  ['turboquant_4bit_nc', turbo(4, 4)],
  ['turboquant_k3v4_nc', turbo(3, 4)],
  ['turboquant_3bit_nc', turbo(3, 3)],
  ['fp8_ds_mla', packedLatent],
]);

/** The sparse indexer's key: fp8 and one fp32 scale per 128 elements (132 bytes for 128). Never in another dtype. */
const indexerBytes = (d: number): number => d + (d / 128) * 4;

/** Undefined when this dtype has no layout for this kind of layer. */
export function bytesPerHeadToken(layer: KvLayer, dtype: string): number | undefined {
  if (layer.kind === 'indexer') {
    return indexerBytes(layer.headDim);
  }
  const packing = PACKINGS.get(dtype);
  return layer.kind === 'latent'
    ? packing?.latent?.(layer.headDim, layer.ropeDim ?? 0)
    : packing?.head?.(layer.headDim, layer.valueDim);
}

export const packingSymbols = (dtype: string): string => PACKINGS.get(dtype)?.symbols ?? '';

/** Layers that keep the model's dtype whatever the option says: TurboQuant leaves the first and last two of a dense model alone. */
export function skipsByItself(dtype: string, index: number, count: number, dense: boolean): boolean {
  return dtype.startsWith('turboquant') && dense && (index < 2 || index >= count - 2);
}

/** The dtype of the model as the engine runs it: fp32 checkpoints run in 16 bit under `--dtype auto`. */
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
      return model === 'float32' ? 'bfloat16' : model;
  }
}
