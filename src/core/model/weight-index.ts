/** `model.safetensors.index.json`: what all weight files of a checkpoint hold, as the library that wrote them counted it. */
import type { Model } from './model';

/** The name that the library gives it, beside config.json. */
export const WEIGHT_INDEX = 'model.safetensors.index.json';

/** Total bytes of the tensors; undefined when the index does not state a believable one. */
export function indexedBytes(index: unknown): number | undefined {
  const metadata = typeof index === 'object' && index !== null && 'metadata' in index ? index.metadata : undefined;
  const total =
    typeof metadata === 'object' && metadata !== null && 'total_size' in metadata ? metadata.total_size : undefined;
  return typeof total === 'number' && Number.isSafeInteger(total) && total > 0 ? total : undefined;
}

/** How such bytes are known. */
export const INDEXED = `total_size of ${WEIGHT_INDEX}`;

/** The model with the bytes its own files count. MTP layers are in the files and load only when they run. */
export function withWeights(model: Model, bytes: number, why: string): Model {
  const low = model.mtpLayers.length > 0 ? Math.min(bytes, model.weights?.low ?? bytes) : bytes;
  return { ...model, weights: { bytes, low, high: bytes, why } };
}
