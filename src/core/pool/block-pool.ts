// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Watch } from './watch';

/**
 * The pool of equal blocks as vLLM V1 keeps it (v1/core/block_pool.py at 0.28): a free queue, reference counts, and a
 * table from content hash to block. Block 0 is the null block and never handed out. A freed block keeps its hash and can
 * be found until it is handed out again. A block's record is 32 bytes in one place, so that using it costs one line of
 * the processor's cache; the hash table adds 8 to 16.
 */
export interface BlockPool {
  /** Blocks, the null block included. */
  readonly blocks: number;
  readonly caching: boolean;
  /** Freed blocks without a hash go to the head of the queue (vLLM ≥ 0.24) or to the tail like the others. */
  readonly unhashedFirst: boolean;
  /** The records, `RECORD` numbers each, and behind the last block the sentinel of the free queue. */
  readonly records: Int32Array;
  /** Open addressing, linear probing: block, or 0 for empty (block 0 never has a hash). */
  readonly slots: Int32Array;
  readonly mask: number;
  free: number;
  /** Blocks that have a hash, and those of them that nobody owns: free, but still worth finding. */
  hashed: number;
  reusable: number;
  evictions: number;
  watch?: Watch;
}

// The fields of a record. Next and previous block in the free queue, a ring through the sentinel; owners; the hash of the
// content in halves, and the group it was stored for plus one (0: no hash); next and previous block of equal hash, a ring
// in the order they were stored, of which the oldest is the one that is found.
const RECORD = 8;
const NEXT = 0;
const PREVIOUS = 1;
const OWNERS = 2;
const LO = 3;
const HI = 4;
const GROUP = 5;
const NEXT_EQUAL = 6;
const PREVIOUS_EQUAL = 7;

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
  const records = new Int32Array((blocks + 1) * RECORD);
  for (let at = blocks, block = 1; block <= blocks; at = block, block++) {
    records[at * RECORD + NEXT] = block;
    records[block * RECORD + PREVIOUS] = at;
  }
  records[NULL_BLOCK * RECORD + OWNERS] = 1;
  return {
    blocks,
    caching,
    unhashedFirst,
    records,
    slots: new Int32Array(caching ? size : 0),
    mask: size - 1,
    free: blocks - 1,
    hashed: 0,
    reusable: 0,
    evictions: 0,
  };
}

/** How many own the block. */
export const ownersOf = (pool: BlockPool, block: number): number => pool.records[block * RECORD + OWNERS]!;

export const hasHash = (pool: BlockPool, block: number): boolean => pool.records[block * RECORD + GROUP] !== 0;

/** The hash a block is stored under, and for which group; undefined when it has none. */
export function hashOf(pool: BlockPool, block: number) {
  const at = block * RECORD;
  const { records } = pool;
  return records[at + GROUP] === 0
    ? undefined
    : { lo: records[at + LO]!, hi: records[at + HI]!, group: records[at + GROUP]! - 1 };
}

/** The block that is handed out next (after `block`); `pool.blocks` stands for the end of the queue. */
export const nextFree = (pool: BlockPool, block = pool.blocks): number => pool.records[block * RECORD + NEXT]!;

/** Share of the pool in use: cached blocks that nobody holds count as free, as vLLM reports it. */
export const usage = (pool: BlockPool): number => 1 - pool.free / (pool.blocks - 1);

/** Takes the block at the head of the free queue; a block that has a hash loses it: that is the eviction. */
export function takeBlock(pool: BlockPool): number {
  const { records } = pool;
  const end = pool.blocks * RECORD;
  const block = records[end + NEXT]!;
  const at = block * RECORD;
  const second = records[at + NEXT]!;
  records[end + NEXT] = second;
  records[second * RECORD + PREVIOUS] = pool.blocks;
  pool.free--;
  records[at + OWNERS] = 1;
  if (records[at + GROUP] !== 0) {
    forget(pool, block);
    pool.reusable--;
    pool.evictions++;
    pool.watch?.evicted.push(block);
  }
  return block;
}

/** One more owner; a block that had none leaves the free queue. */
export function touchBlock(pool: BlockPool, block: number): void {
  const { records } = pool;
  const at = block * RECORD;
  if (records[at + OWNERS]!++ === 0) {
    const after = records[at + NEXT]!;
    const before = records[at + PREVIOUS]!;
    records[before * RECORD + NEXT] = after;
    records[after * RECORD + PREVIOUS] = before;
    pool.free--;
    pool.reusable -= records[at + GROUP] === 0 ? 0 : 1;
  }
}

function insertAfter(records: Int32Array, before: number, block: number): void {
  const after = records[before * RECORD + NEXT]!;
  records[before * RECORD + NEXT] = block;
  records[block * RECORD + PREVIOUS] = before;
  records[block * RECORD + NEXT] = after;
  records[after * RECORD + PREVIOUS] = block;
}

/**
 * One owner less for `list[from]`, `list[from + step]`, … (`count` of them; null blocks are skipped). Blocks left without
 * an owner join the free queue in this order: with a hash at the tail, without at the head.
 */
export function releaseBlocks(pool: BlockPool, list: Int32Array, from: number, count: number, step: 1 | -1): void {
  const { records, blocks, unhashedFirst } = pool;
  let headEnd = blocks;
  for (let i = 0, at = from; i < count; i++, at += step) {
    const block = list[at]!;
    if (block === NULL_BLOCK) {
      continue;
    }
    if (--records[block * RECORD + OWNERS]! > 0) {
      continue;
    }
    pool.free++;
    const isHashed = records[block * RECORD + GROUP] !== 0;
    if (isHashed || !unhashedFirst) {
      pool.reusable += isHashed ? 1 : 0;
      insertAfter(records, records[blocks * RECORD + PREVIOUS]!, block);
    } else {
      insertAfter(records, headEnd, block);
      headEnd = block;
    }
  }
}

const homeSlot = (lo: number, hi: number, group: number, mask: number): number =>
  (lo ^ (hi >>> 7) ^ Math.imul(group, 0x9e3779b1)) & mask;

/** The oldest block stored under this hash for this group, or −1. */
export function findBlock(pool: BlockPool, lo: number, hi: number, group: number): number {
  const { slots, mask, records } = pool;
  let slot = homeSlot(lo, hi, group, mask);
  let block = slots[slot]!;
  while (block !== 0) {
    const at = block * RECORD;
    if (records[at + LO] === lo && records[at + HI] === hi && records[at + GROUP] === group + 1) {
      return block;
    }
    slot = (slot + 1) & mask;
    block = slots[slot]!;
  }
  return -1;
}

/** Stores a full block under its hash. vLLM does not merge equal blocks: the first stored is found first. */
export function storeBlock(pool: BlockPool, block: number, lo: number, hi: number, group: number): void {
  const { slots, mask, records } = pool;
  const at = block * RECORD;
  pool.hashed++;
  let slot = homeSlot(lo, hi, group, mask);
  for (let first = slots[slot]!; first !== 0; first = slots[slot]!) {
    const other = first * RECORD;
    if (records[other + LO] === lo && records[other + HI] === hi && records[other + GROUP] === group + 1) {
      const last = records[other + PREVIOUS_EQUAL]!;
      setRecord(records, at, lo, hi, group, first, last);
      records[last * RECORD + NEXT_EQUAL] = block;
      records[other + PREVIOUS_EQUAL] = block;
      return;
    }
    slot = (slot + 1) & mask;
  }
  setRecord(records, at, lo, hi, group, block, block);
  slots[slot] = block;
}

function setRecord(
  records: Int32Array,
  at: number,
  lo: number,
  hi: number,
  group: number,
  next: number,
  previous: number,
): void {
  records[at + LO] = lo;
  records[at + HI] = hi;
  records[at + GROUP] = group + 1;
  records[at + NEXT_EQUAL] = next;
  records[at + PREVIOUS_EQUAL] = previous;
}

/** Takes a block's hash away. */
function forget(pool: BlockPool, block: number): void {
  const { slots, mask, records } = pool;
  const at = block * RECORD;
  const following = records[at + NEXT_EQUAL]!;
  const slot = placeOf(pool, homeSlot(records[at + LO]!, records[at + HI]!, records[at + GROUP]! - 1, mask), block);
  records[at + GROUP] = 0;
  pool.hashed--;
  if (following !== block) {
    const before = records[at + PREVIOUS_EQUAL]!;
    records[before * RECORD + NEXT_EQUAL] = following;
    records[following * RECORD + PREVIOUS_EQUAL] = before;
    if (slot >= 0) {
      slots[slot] = following;
    }
    return;
  }
  closeGap(pool, slot);
}

/** Where `block` itself stands in the table, or −1 when an older block of its hash stands for it. */
function placeOf(pool: BlockPool, from: number, block: number): number {
  const { slots, mask, records } = pool;
  const at = block * RECORD;
  for (let slot = from; ; slot = (slot + 1) & mask) {
    const found = slots[slot]!;
    if (found === block) {
      return slot;
    }
    const other = found * RECORD;
    const same =
      records[other + LO] === records[at + LO] &&
      records[other + HI] === records[at + HI] &&
      records[other + GROUP] === records[at + GROUP];
    if (same) {
      return -1;
    }
  }
}

/** Moves later entries back over a removed one, so that no probe stops short. */
function closeGap(pool: BlockPool, gap: number): void {
  const { slots, mask, records } = pool;
  let hole = gap;
  for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const at = slots[slot]! * RECORD;
    const home = homeSlot(records[at + LO]!, records[at + HI]!, records[at + GROUP]! - 1, mask);
    if (((slot - home) & mask) >= ((slot - hole) & mask)) {
      slots[hole] = slots[slot]!;
      hole = slot;
    }
  }
  slots[hole] = 0;
}

/** The free queue from head to tail. */
export function freeQueue(pool: BlockPool): number[] {
  const order: number[] = [];
  for (let block = nextFree(pool); block !== pool.blocks; block = nextFree(pool, block)) {
    order.push(block);
  }
  return order;
}

/** Bytes of bookkeeping for one block, the hash table included; a request's own table adds 12 (entry and hash). */
export const bytesPerBlock = (pool: BlockPool): number => RECORD * 4 + (pool.slots.length * 4) / pool.blocks;
