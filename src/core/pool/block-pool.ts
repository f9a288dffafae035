// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction

/**
 * The pool of equal blocks as vLLM V1 keeps it (v1/core/block_pool.py at 0.28): a free queue, reference counts, and a
 * table from content hash to block. Block 0 is the null block and never handed out. A freed block keeps its hash and can
 * be found until it is handed out again. Struct of arrays: 29 bytes a block and 8 to 16 in the hash table.
 */
export interface BlockPool {
  /** Blocks, the null block included. */
  readonly blocks: number;
  readonly caching: boolean;
  /** Freed blocks without a hash go to the head of the queue (vLLM ≥ 0.24) or to the tail like the others. */
  readonly unhashedFirst: boolean;
  /** The free queue: a ring through a sentinel at index `blocks`; `next[blocks]` is its head. */
  readonly next: Int32Array;
  readonly previous: Int32Array;
  readonly references: Int32Array;
  /** The hash of a block's content, in halves, and the group it was stored for plus one; 0 is no hash. */
  readonly hashLo: Int32Array;
  readonly hashHi: Int32Array;
  readonly hashGroup: Uint8Array;
  /** Blocks of equal hash form a ring in the order they were stored: the oldest is the one that is found. */
  readonly nextEqual: Int32Array;
  readonly previousEqual: Int32Array;
  /** Open addressing, linear probing: block, or 0 for empty (block 0 never has a hash). */
  readonly slots: Int32Array;
  readonly mask: number;
  free: number;
  /** Blocks that have a hash, and those of them that nobody owns: free, but still worth finding. */
  hashed: number;
  reusable: number;
  evictions: number;
  /** When watched: the blocks that changed since the watcher last looked. */
  watch: Watch | undefined;
}

export interface Watch {
  readonly list: Int32Array;
  readonly marked: Uint8Array;
  count: number;
}

export interface PoolOptions {
  readonly blocks: number;
  readonly caching?: boolean;
  readonly unhashedFirst?: boolean;
}

/** The null block: stands in block tables where a window has passed. */
export const NULL_BLOCK = 0;

export function createBlockPool(options: PoolOptions): BlockPool {
  const { blocks, caching = true, unhashedFirst = true } = options;
  let size = 8;
  while (size < 2 * blocks) {
    size *= 2;
  }
  const pool: BlockPool = {
    blocks,
    caching,
    unhashedFirst,
    next: new Int32Array(blocks + 1),
    previous: new Int32Array(blocks + 1),
    references: new Int32Array(blocks),
    hashLo: new Int32Array(blocks),
    hashHi: new Int32Array(blocks),
    hashGroup: new Uint8Array(blocks),
    nextEqual: new Int32Array(blocks),
    previousEqual: new Int32Array(blocks),
    slots: new Int32Array(caching ? size : 0),
    mask: size - 1,
    free: blocks - 1,
    hashed: 0,
    reusable: 0,
    evictions: 0,
    watch: undefined,
  };
  for (let at = blocks, block = 1; block <= blocks; at = block, block++) {
    pool.next[at] = block;
    pool.previous[block] = at;
  }
  pool.references[NULL_BLOCK] = 1;
  return pool;
}

/** Share of the pool in use: cached blocks that nobody holds count as free, as vLLM reports it. */
export const usage = (pool: BlockPool): number => 1 - pool.free / (pool.blocks - 1);

export function watchPool(pool: BlockPool): Watch {
  pool.watch ??= { list: new Int32Array(pool.blocks), marked: new Uint8Array(pool.blocks), count: 0 };
  return pool.watch;
}

export function noteChange(watch: Watch, block: number): void {
  if (watch.marked[block] === 0) {
    watch.marked[block] = 1;
    watch.list[watch.count++] = block;
  }
}

/** Takes the block at the head of the free queue; a block that has a hash loses it: that is the eviction. */
export function takeBlock(pool: BlockPool): number {
  const { next, previous, blocks } = pool;
  const block = next[blocks]!;
  const second = next[block]!;
  next[blocks] = second;
  previous[second] = blocks;
  pool.free--;
  pool.references[block] = 1;
  if (pool.hashGroup[block] !== 0) {
    forget(pool, block);
    pool.reusable--;
    pool.evictions++;
  }
  if (pool.watch !== undefined) {
    noteChange(pool.watch, block);
  }
  return block;
}

/** One more owner; a block that had none leaves the free queue. */
export function touchBlock(pool: BlockPool, block: number): void {
  if (pool.references[block]!++ === 0) {
    const { next, previous } = pool;
    const after = next[block]!;
    const before = previous[block]!;
    next[before] = after;
    previous[after] = before;
    pool.free--;
    pool.reusable -= pool.hashGroup[block] === 0 ? 0 : 1;
  }
  if (pool.watch !== undefined) {
    noteChange(pool.watch, block);
  }
}

function insertBetween(pool: BlockPool, before: number, block: number): void {
  const { next, previous } = pool;
  const after = next[before]!;
  next[before] = block;
  previous[block] = before;
  next[block] = after;
  previous[after] = block;
  pool.free++;
}

/**
 * One owner less for `list[from]`, `list[from + step]`, … (`count` of them; null blocks are skipped). Blocks left without
 * an owner join the free queue in this order: with a hash at the tail, without at the head.
 */
export function releaseBlocks(pool: BlockPool, list: Int32Array, from: number, count: number, step: 1 | -1): void {
  const { references, blocks, hashGroup, previous, watch, unhashedFirst } = pool;
  let headEnd = blocks;
  for (let i = 0, at = from; i < count; i++, at += step) {
    const block = list[at]!;
    if (block === NULL_BLOCK) {
      continue;
    }
    if (watch !== undefined) {
      noteChange(watch, block);
    }
    if (--references[block]! > 0) {
      continue;
    }
    if (hashGroup[block] !== 0) {
      pool.reusable++;
      insertBetween(pool, previous[blocks]!, block);
    } else if (unhashedFirst) {
      insertBetween(pool, headEnd, block);
      headEnd = block;
    } else {
      insertBetween(pool, previous[blocks]!, block);
    }
  }
}

const homeSlot = (lo: number, hi: number, group: number, mask: number): number =>
  (lo ^ (hi >>> 7) ^ Math.imul(group, 0x9e3779b1)) & mask;

/** The oldest block stored under this hash for this group, or −1. */
export function findBlock(pool: BlockPool, lo: number, hi: number, group: number): number {
  const { slots, mask, hashLo, hashHi, hashGroup } = pool;
  let slot = homeSlot(lo, hi, group, mask);
  let block = slots[slot]!;
  while (block !== 0) {
    if (hashLo[block] === lo && hashHi[block] === hi && hashGroup[block] === group + 1) {
      return block;
    }
    slot = (slot + 1) & mask;
    block = slots[slot]!;
  }
  return -1;
}

/** Stores a full block under its hash. vLLM does not merge equal blocks: the first stored is found first. */
export function storeBlock(pool: BlockPool, block: number, lo: number, hi: number, group: number): void {
  const { slots, mask, nextEqual, previousEqual } = pool;
  const first = findBlock(pool, lo, hi, group);
  pool.hashLo[block] = lo;
  pool.hashHi[block] = hi;
  pool.hashGroup[block] = group + 1;
  pool.hashed++;
  if (pool.watch !== undefined) {
    noteChange(pool.watch, block);
  }
  if (first >= 0) {
    const last = previousEqual[first]!;
    nextEqual[last] = block;
    previousEqual[block] = last;
    nextEqual[block] = first;
    previousEqual[first] = block;
    return;
  }
  nextEqual[block] = block;
  previousEqual[block] = block;
  let slot = homeSlot(lo, hi, group, mask);
  while (slots[slot] !== 0) {
    slot = (slot + 1) & mask;
  }
  slots[slot] = block;
}

/** Takes a block's hash away. */
export function forget(pool: BlockPool, block: number): void {
  const { slots, mask, nextEqual, previousEqual, hashGroup } = pool;
  const following = nextEqual[block]!;
  if (following !== block) {
    const before = previousEqual[block]!;
    nextEqual[before] = following;
    previousEqual[following] = before;
  }
  let slot = homeSlot(pool.hashLo[block]!, pool.hashHi[block]!, hashGroup[block]! - 1, mask);
  const first = firstEqualSlot(pool, slot, block);
  hashGroup[block] = 0;
  pool.hashed--;
  if (first < 0) {
    return; // an older block of equal hash stands in the table
  }
  slot = first;
  if (following !== block) {
    slots[slot] = following;
    return;
  }
  closeGap(pool, slot);
}

/** Where `block` itself stands in the table, or −1 when another block of its hash stands for it. */
function firstEqualSlot(pool: BlockPool, from: number, block: number): number {
  const { slots, mask, hashLo, hashHi, hashGroup } = pool;
  for (let slot = from; ; slot = (slot + 1) & mask) {
    const found = slots[slot]!;
    if (found === block) {
      return slot;
    }
    const same =
      hashLo[found] === hashLo[block] && hashHi[found] === hashHi[block] && hashGroup[found] === hashGroup[block];
    if (same) {
      return -1;
    }
  }
}

/** Moves later entries back over a removed one, so that no probe stops short. */
function closeGap(pool: BlockPool, gap: number): void {
  const { slots, mask, hashLo, hashHi, hashGroup } = pool;
  let hole = gap;
  for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const block = slots[slot]!;
    const home = homeSlot(hashLo[block]!, hashHi[block]!, hashGroup[block]! - 1, mask);
    if (((slot - home) & mask) >= ((slot - hole) & mask)) {
      slots[hole] = block;
      hole = slot;
    }
  }
  slots[hole] = 0;
}

/** The free queue from head to tail. */
export function freeQueue(pool: BlockPool): number[] {
  const order: number[] = [];
  for (let block = pool.next[pool.blocks]!; block !== pool.blocks; block = pool.next[block]!) {
    order.push(block);
  }
  return order;
}

/** Bytes of bookkeeping for one block, the hash table included; a request's own table adds 12 (entry and hash). */
export const bytesPerBlock = (pool: BlockPool): number => 7 * 4 + 1 + (pool.slots.length * 4) / pool.blocks;
