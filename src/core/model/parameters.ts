/** Parameters counted from a shape, for checkpoints whose size no file states. */
import type { KvLayer } from './model';

/** A state layer's projections, in units of hidden²: 8 to 9.5 in Qwen3.5, Nemotron-H and Falcon-H1. */
const STATE_PROJECTIONS = 9;
/** Projections of one latent layer per head and hidden element: about 200 in DeepSeek V3 (187 M ÷ (128 × 7168)). */
const LATENT_PROJECTIONS = 204;

/** Attention projections of one layer: queries and output over all heads, keys and values over the KV heads. */
export function attentionParameters(layer: KvLayer, hidden: number, heads: number): number {
  switch (layer.kind) {
    case 'latent':
      return heads * hidden * LATENT_PROJECTIONS;
    case 'state':
      return STATE_PROJECTIONS * hidden * hidden;
    case 'none':
    case 'other':
      return 0;
    case 'indexer':
      return layer.headDim * hidden;
    default: {
      const { headDim, valueDim, kvHeads } = layer;
      return hidden * (heads * (headDim + valueDim) + kvHeads * (headDim + valueDim));
    }
  }
}

/** What mixture-of-experts checkpoints often leave in 16 bit: attention and shared experts. */
export const oftenKeptParameters = (
  layers: readonly KvLayer[],
  hidden: number,
  heads: number,
  sharedIntermediate: number,
): number =>
  layers.reduce(
    (sum, layer) =>
      sum + attentionParameters(layer, hidden, heads) + (layer.joined ? 0 : 3 * hidden * sharedIntermediate),
    0,
  );

/**
 * The most an MTP head holds: a layer like the model's own, a projection of two hidden states to one, and copies of the
 * embeddings (DeepSeek V3: 11.5 B of 685 B).
 */
export function draftParameters(
  layers: readonly KvLayer[],
  hidden: number,
  heads: number,
  mlpWidth: number,
  embeddings: number,
): number {
  const attention = layers.reduce((sum, layer) => sum + attentionParameters(layer, hidden, heads), 0);
  const own = layers.filter((layer) => !layer.joined).length;
  return own === 0 ? 0 : attention + own * (3 * hidden * mlpWidth + 2 * hidden * hidden) + embeddings;
}
