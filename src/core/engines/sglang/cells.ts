/**
 * Bytes that layers keep of one token on one GPU: SGLang's cell.
 * Source: SGLang 0.5.18, srt/model_executor/pool_configurator.py :: DefaultPoolConfigurator.
 */
import type { KvLayer } from '../../model/model';
import { headsPerRank, type Spread } from './placement';

const isFp4 = (dtype: string): boolean => dtype === 'nvfp4' || dtype.startsWith('fp4');

/** torch's element size; two 4-bit elements are one. */
const elementSize = (dtype: string): number => (dtype === 'float32' ? 4 : /16$/.test(dtype) ? 2 : 1);

const isFp8 = (dtype: string): boolean => dtype.startsWith('fp8');

/** 512 in fp8, a scale in fp32 for each 128 of them, and the rope part in 16 bit: 656 bytes for DeepSeek V3.2. */
const packedLatent = (width: number, rope: number): number => width - rope + ((width - rope) / 128) * 4 + rope * 2;

/** An index key is fp8 with one fp32 scale for each 128 elements, in any dtype. */
const indexerBytes = (width: number): number => width + (width / 128) * 4;

export interface LayerBytes {
  readonly layer: KvLayer;
  /** One token on one GPU. */
  readonly bytes: number;
  /** One token with every head once. */
  readonly whole: number;
  readonly shown: string;
}

/**
 * DeepSeek V4 keeps one vector for keys and values: its rope part in 16 bit, the rest in fp8 with 8 bytes of scales (584
 * for 512 elements), and an entry for each `ratio` tokens beside the window.
 */
function compressedBytes(layer: KvLayer, ratio: number): LayerBytes {
  const rope = layer.ropeDim ?? 0;
  const entry = layer.kind === 'indexer' ? indexerBytes(layer.headDim) : layer.headDim - rope + 2 * rope + 8;
  const bytes = entry / ratio;
  return { layer, bytes, whole: bytes, shown: ratio === 1 ? String(entry) : `${entry} ÷ ${ratio}` };
}

/** `sparse`: latent layers beside an indexer pack their fp8. */
export function layerBytes(layer: KvLayer, dtype: string, spread: Spread, sparse: boolean): LayerBytes {
  if (layer.ratio !== undefined) {
    return compressedBytes(layer, layer.ratio);
  }
  const e = elementSize(dtype);
  const { headDim, valueDim } = layer;
  if (layer.kind === 'indexer') {
    const bytes = indexerBytes(headDim);
    return { layer, bytes, whole: bytes, shown: `${headDim} + 4 × ${headDim / 128}` };
  }
  if (layer.kind === 'latent') {
    const packed = sparse && isFp8(dtype);
    const full = packed ? packedLatent(headDim, layer.ropeDim ?? 0) : headDim * e;
    const bytes = isFp4(dtype) ? Math.floor(full / 2) + Math.floor(headDim / 16) * e : full;
    return { layer, bytes, whole: bytes, shown: packed || isFp4(dtype) ? String(bytes) : `${headDim} × ${e}` };
  }
  const heads = headsPerRank(layer.kvHeads, spread);
  const of = (h: number) => {
    const plain = h * (headDim + valueDim) * e;
    if (isFp4(dtype)) {
      return plain / 2 + Math.floor((h * headDim * 2 * e) / 16);
    }
    return dtype === 'mxfp8' ? plain + Math.floor((h * (headDim + valueDim)) / 32) : plain;
  };
  return { layer, bytes: of(heads), whole: of(layer.kvHeads), shown: `${heads} × (${headDim} + ${valueDim}) × ${e}` };
}

/** 4-bit heads share one workspace to unpack a layer into. */
export function workspaceBytes(layer: KvLayer | undefined, dtype: string, spread: Spread): number {
  return layer && isFp4(dtype) && layer.kind !== 'latent' && layer.kind !== 'indexer'
    ? headsPerRank(layer.kvHeads, spread) * layer.headDim * 2 * elementSize(dtype)
    : 0;
}

export const symbolsOf = (latent: boolean, dtype: string): string =>
  latent ? `layers × (kv_lora_rank + rope) × ${elementSize(dtype)}` : 'layers × KV heads per GPU × (d + dv) × bytes';
