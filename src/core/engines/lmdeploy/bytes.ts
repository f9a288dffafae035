/** Bytes of one layer's block. Source: LMDeploy, src/turbomind/kernels/attention/block.h; lmdeploy/pytorch/engine/cache_engine.py. */
import type { KvLayer } from '../../model/model';
import type { LmdeployConfiguration } from './configure';

/** What quant-policy stores: bits of a key's and a value's element, and parameters beside them, per token and head. */
export interface Packing {
  readonly name: string;
  readonly keyBits: number;
  readonly valueBits: number;
  /** 16-bit parameters of a key and of a value. */
  readonly keyParameters: number;
  readonly valueParameters: number;
}

const plain = (name: string, bits: number): Packing => ({
  name,
  keyBits: bits,
  valueBits: bits,
  keyParameters: 0,
  valueParameters: 0,
});

/** A scale and a zero point of a key, and of a value. */
const scaled = (name: string, bits: number): Packing => ({
  ...plain(name, bits),
  keyParameters: 2,
  valueParameters: 2,
});

/** By quant-policy; 0 is the dtype of computation. */
export function packingOf(policy: number, own: string, online: boolean): Packing {
  switch (policy) {
    case 4:
      return online ? scaled('int4', 4) : plain('int8', 8);
    case 8:
      return online ? scaled('int8', 8) : plain('int8', 8);
    case 16:
      return plain('fp8_e4m3', 8);
    case 17:
      return plain('fp8_e5m2', 8);
    case 42:
      return { name: 'turbo_quant', keyBits: 4, valueBits: 2, keyParameters: 2, valueParameters: 1 };
    default:
      return plain(own, 16);
  }
}

export interface LayerBytes {
  /** Of one token and head. */
  readonly perHeadToken: number;
  /** Of one block with this many heads on a GPU. */
  perBlock(heads: number): number;
}

const aligned = (bytes: number, to: number): number => Math.ceil(bytes / to) * to;

export function layerBytes(
  layer: KvLayer,
  c: Pick<LmdeployConfiguration, 'backend' | 'rules' | 'packing' | 'block'>,
): LayerBytes {
  const { packing, block, rules, backend } = c;
  const latent = layer.kind === 'latent';
  const copies = latent && backend === 'turbomind' && !rules.latentOnce ? 2 : 1;
  const key = (layer.headDim * packing.keyBits) / 8;
  const value = (layer.valueDim * packing.valueBits) / 8;
  const parameters = [2 * packing.keyParameters, latent ? 0 : 2 * packing.valueParameters];
  const tensors = (heads: number) =>
    [key, value, ...parameters].map((bytes) => copies * heads * block * bytes).filter((bytes) => bytes > 0);
  const to = backend === 'pytorch' ? rules.alignment : 1;
  return {
    perHeadToken: copies * (key + value + parameters.reduce((a, b) => a + b, 0)),
    perBlock: (heads) => tensors(heads).reduce((sum, bytes) => sum + aligned(bytes, to), 0),
  };
}
