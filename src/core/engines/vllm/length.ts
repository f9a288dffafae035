/** The longest request a model takes when the launch does not say. Source: vLLM 0.28, config/model.py :: _get_and_verify_max_len. */
import type { Model } from '../../model/model';

/** Types whose factor does not multiply: the stated maximum already has it. */
const UNSCALED = new Set(['su', 'longrope', 'llama3', 'default', 'mrope']);

/** Used, with a warning, when the config states no length at all. */
const LAST_RESORT = 2048;

export function derivedMaxLength(model: Model): { readonly tokens: number; readonly how: string } {
  const { maxPositions, rope } = model;
  if (maxPositions === undefined) {
    return { tokens: LAST_RESORT, how: 'the model states no length: vLLM falls back to 2048' };
  }
  const scaled = rope?.factor !== undefined && !UNSCALED.has(rope.type) && !scalesInside(model);
  if (!scaled || rope?.factor === undefined) {
    return { tokens: maxPositions, how: 'max_position_embeddings' };
  }
  const base = rope.type === 'yarn' ? (rope.originalMaxPositions ?? maxPositions) : maxPositions;
  return { tokens: Math.trunc(base * rope.factor), how: `${base} × ${rope.type} factor ${rope.factor}` };
}

/** Models with sliding layers scale the full layers only (Gemma 3): the stated maximum already counts it. */
const scalesInside = (model: Model): boolean =>
  model.rope?.type === 'linear' && model.layers.some((l) => l.kind === 'sliding');
