/** The longest request that a model's config allows, as most engines derive it. */
import type { Model } from '../model/model';

export interface ModelLength {
  readonly tokens: number;
  readonly how: string;
}

/** Types whose factor does not multiply: the stated maximum already has it. */
const UNSCALED = new Set(['su', 'longrope', 'llama3', 'default', 'mrope']);

/** Undefined when the config (or what is known of it) states none. */
export function modelLength(model: Model): ModelLength | undefined {
  const { maxPositions, rope } = model;
  if (maxPositions === undefined) {
    return undefined;
  }
  const inside = rope?.type === 'linear' && model.layers.some((l) => l.kind === 'sliding');
  if (rope?.factor === undefined || UNSCALED.has(rope.type) || inside) {
    return { tokens: maxPositions, how: 'max_position_embeddings' };
  }
  const base = rope.type === 'yarn' ? (rope.originalMaxPositions ?? maxPositions) : maxPositions;
  return { tokens: Math.trunc(base * rope.factor), how: `${base} × ${rope.type} factor ${rope.factor}` };
}
