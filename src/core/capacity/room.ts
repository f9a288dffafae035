/** How many equal holdings go into a pool, or into the pools that an engine keeps apart. */
import type { Layout, Pool, PoolPart } from '../engines/engine';
import type { Figure } from '../figure';
import type { Estimate } from '../units';

type End = keyof Estimate;

const at = ({ value, range }: Figure, end: End): number => Math.max(0, range ? range[end] : value);

/** One pool for all groups is the usual case. What a pool holds back, it holds back at either end of an estimate. */
export const partsOf = (layout: Layout, pool: Pool): readonly PoolPart[] =>
  pool.parts ?? [
    {
      name: 'all',
      blocks: pool.blocks,
      held: pool.blocks.value - pool.usableBlocks,
      groups: layout.groups.map((_, i) => i),
    },
  ];

/** Blocks of one part that a holding takes; `held` are its blocks by group. */
export const heldIn = ({ groups }: PoolPart, held: readonly number[]): number =>
  groups.reduce((sum, group) => sum + (held[group] ?? 0), 0);

const usable = (part: PoolPart, end: End): number => Math.max(0, at(part.blocks, end) - (part.held ?? 0));

const countIn = (part: PoolPart, held: readonly number[], end: End): number =>
  Math.floor(usable(part, end) / heldIn(part, held));

/** Holdings of these blocks by group that fit at once: in every part, so the fullest one decides. */
export function countHeld(parts: readonly PoolPart[], held: readonly number[], end: End = 'value'): number {
  const counts = parts.filter((p) => heldIn(p, held) > 0).map((p) => countIn(p, held, end));
  return counts.length === 0 ? 0 : Math.min(...counts);
}

/** The part that is full first. */
export function decidingPart(parts: readonly PoolPart[], held: readonly number[]): PoolPart {
  const counted = parts.filter((p) => heldIn(p, held) > 0);
  const least = Math.min(...counted.map((p) => countIn(p, held, 'value')));
  return counted.find((p) => countIn(p, held, 'value') === least) ?? (parts[0] as PoolPart);
}

export const usableIn = (part: PoolPart): number => usable(part, 'value');

/** The same at both ends of the estimate; undefined where the pool is exact. */
export function countRange(parts: readonly PoolPart[], count: (end: End) => number): Estimate | undefined {
  return parts.some((p) => p.blocks.range)
    ? { low: count('low'), value: count('value'), high: count('high') }
    : undefined;
}
