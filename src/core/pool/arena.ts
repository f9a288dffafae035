// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction

/** Where a contiguous allocator puts a slab. `slots`: equal slabs, as engines before paging had them. */
export type Fit = 'slots' | 'first-fit' | 'best-fit';

/** One stretch of token room. Slabs and gaps lie in order of address; neighbouring gaps are joined. */
export interface Arena {
  readonly total: number;
  readonly fit: Fit;
  /** Size of a slot; what is left at the end of the arena is never used. */
  readonly slot: number;
  /** Gaps: start and size, in order of address. */
  readonly starts: number[];
  readonly sizes: number[];
}

export function createArena(total: number, fit: Fit, slot: number): Arena {
  const usable = fit === 'slots' ? Math.floor(total / slot) * slot : total;
  return { total, fit, slot, starts: usable > 0 ? [0] : [], sizes: usable > 0 ? [usable] : [] };
}

/** Room for `size` tokens in one piece: where it starts, or −1. */
export function allocateSlab(arena: Arena, size: number): number {
  const need = slabSize(arena, size);
  let chosen = -1;
  for (let i = 0; i < arena.sizes.length; i++) {
    if (arena.sizes[i]! >= need && (chosen < 0 || arena.sizes[i]! < arena.sizes[chosen]!)) {
      chosen = i;
      if (arena.fit !== 'best-fit') {
        break;
      }
    }
  }
  if (chosen < 0) {
    return -1;
  }
  const start = arena.starts[chosen]!;
  if (arena.sizes[chosen] === need) {
    arena.starts.splice(chosen, 1);
    arena.sizes.splice(chosen, 1);
  } else {
    arena.starts[chosen]! += need;
    arena.sizes[chosen]! -= need;
  }
  return start;
}

/** What a request of `size` tokens occupies. */
export const slabSize = (arena: Arena, size: number): number => (arena.fit === 'slots' ? arena.slot : size);

export function freeSlab(arena: Arena, start: number, size: number): void {
  const { starts, sizes } = arena;
  let at = starts.findIndex((gap) => gap > start);
  if (at < 0) {
    at = starts.length;
  }
  const length = slabSize(arena, size);
  const joinsBefore = at > 0 && starts[at - 1]! + sizes[at - 1]! === start;
  const joinsAfter = at < starts.length && starts[at] === start + length;
  if (joinsBefore && joinsAfter) {
    sizes[at - 1]! += length + sizes[at]!;
    starts.splice(at, 1);
    sizes.splice(at, 1);
  } else if (joinsBefore) {
    sizes[at - 1]! += length;
  } else if (joinsAfter) {
    starts[at] = start;
    sizes[at]! += length;
  } else {
    starts.splice(at, 0, start);
    sizes.splice(at, 0, length);
  }
}

/** Free room that a request of `size` tokens cannot use, because it lies in pieces that are too small. */
export function unusableRoom(arena: Arena, size: number): number {
  const need = slabSize(arena, size);
  const offered = arena.fit === 'slots' ? Math.floor(arena.total / arena.slot) * arena.slot : arena.total;
  return arena.sizes.reduce((sum, gap) => sum + (gap < need ? gap : 0), arena.total - offered);
}

export const freeRoom = (arena: Arena): number => arena.sizes.reduce((sum, gap) => sum + gap, 0);
