/** Where the blocks of each sequence lie: the same tokens, placed in every way that is compared. */
import type { Layout, Placement, Shape } from './shape';
import { totalTokens } from './shape';

export type Order = 'sequential' | 'random';

/** One slab after another. */
export function contiguous(shape: Shape, layout: Layout, slots = totalTokens(shape)): Placement {
  let base = 0;
  const bases = shape.lengths.map((length) => {
    base += length;
    return base - length;
  });
  return { kind: 'contiguous', blockSize: 1, layout, table: new Uint32Array(), bases, slots };
}

/** Blocks in order, or dealt by chance from a pool of `slots` tokens (as many as are needed, unless said). */
export function paged(
  shape: Shape,
  blockSize: number,
  order: Order,
  layout: Layout,
  { slots, seed = 1 }: { readonly slots?: number; readonly seed?: number } = {},
): Placement {
  const counts = shape.lengths.map((length) => Math.ceil(length / blockSize));
  const needed = counts.reduce((sum, count) => sum + count, 0);
  const blocks = Math.max(needed, Math.floor((slots ?? 0) / blockSize));
  const pool = Uint32Array.from({ length: blocks }, (_, i) => i);
  if (order === 'random') {
    shuffle(pool, randomOf(seed));
  }
  return placed(pool.slice(0, needed), counts, blockSize, layout, blocks * blockSize);
}

/** Tables that somebody made, a list of blocks for each sequence. */
export function fromLists(
  lists: readonly (readonly number[])[],
  blockSize: number,
  layout: Layout,
  slots: number,
): Placement {
  return placed(
    Uint32Array.from(lists.flat()),
    lists.map(({ length }) => length),
    blockSize,
    layout,
    slots,
  );
}

/** The first `shared` tokens of every sequence are the first sequence's; whole blocks only. */
export function sharing(placement: Placement, shape: Shape, shared: number): Placement {
  const table = placement.table.slice();
  const blocks = Math.floor(shared / placement.blockSize);
  placement.bases.forEach((base, sequence) => {
    const own = Math.min(blocks, Math.ceil((shape.lengths[sequence] ?? 0) / placement.blockSize));
    for (let i = 0; i < own; i++) {
      table[base + i] = table[i] ?? 0;
    }
  });
  return { ...placement, table };
}

/**
 * The control: the two longest sequences exchange their first blocks, or where they begin in a slab. (Two blocks of one sequence may change places and
 * nothing shows: attention sums over its tokens.)
 */
export function swapped(placement: Placement, { lengths }: Shape): Placement {
  const byLength = lengths.map((_, i) => i).sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0));
  if (placement.kind === 'contiguous') {
    const [first = 0, second = 0] = byLength;
    const partner = new Map([
      [first, second],
      [second, first],
    ]);
    return { ...placement, bases: placement.bases.map((base, i) => placement.bases[partner.get(i) ?? i] ?? base) };
  }
  const [one = 0, other = 0] = byLength.map((sequence) => placement.bases[sequence] ?? 0);
  const table = placement.table.slice();
  [table[one], table[other]] = [table[other] ?? 0, table[one] ?? 0];
  return { ...placement, table };
}

function placed(
  table: Uint32Array,
  counts: readonly number[],
  blockSize: number,
  layout: Layout,
  slots: number,
): Placement {
  let base = 0;
  const bases = counts.map((count) => {
    base += count;
    return base - count;
  });
  return { kind: 'paged', blockSize, layout, table, bases, slots };
}

/** Numbers in [0, 1), the same for the same seed (mulberry32: 32 bits of state, plenty for tables and test data). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Fisher and Yates, in place. */
export function shuffle<T extends Uint32Array | number[]>(items: T, random: () => number): T {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [items[i], items[j]] = [items[j] ?? 0, items[i] ?? 0];
  }
  return items;
}
