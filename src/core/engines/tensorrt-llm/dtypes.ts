/** Bytes of what a layer keeps of one token. Source: TensorRT-LLM, _torch/pyexecutor/resource_manager.py :: get_cache_bytes_per_token. */
import type { KvLayer } from '../../model/model';

/** Bytes per element; nvfp4 has one fp8 scale per 16 elements in a pool beside it. */
const ELEMENT: ReadonlyMap<string, number> = new Map([
  ['float32', 4],
  ['float16', 2],
  ['bfloat16', 2],
  ['fp8', 1],
  ['int8', 1],
  ['nvfp4', 0.5 + 1 / 16],
]);

/** What options, checkpoints and quantisation files call a dtype → its name here. */
export function dtypeName(text: string): string {
  const name = text.toLowerCase();
  return name.startsWith('fp8_e4m3') ? 'fp8' : name;
}

/** One head and token; undefined when the dtype has no layout for the layer. */
export function headBytes(layer: KvLayer, dtype: string): number | undefined {
  if (layer.kind === 'indexer') {
    // An fp8 key and an fp32 scale per 128 elements.
    return layer.headDim + (layer.headDim / 128) * 4;
  }
  if (dtype === 'fp8_ds_mla') {
    const rope = layer.ropeDim ?? 0;
    const latent = layer.headDim - rope;
    return layer.kind === 'latent' ? latent + (latent / 128) * 4 + 2 * rope : undefined;
  }
  const element = ELEMENT.get(dtype);
  return element === undefined ? undefined : element * (layer.headDim + layer.valueDim);
}
