// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { NULL_BLOCK } from './block-pool';
import { grown } from './content';
import type { Watch } from './watch';

/**
 * Sequences that share blocks by count and copy on write, as vLLM V0's block manager has them (core/block_manager.py and
 * core/block/naive_block.py at 0.6.6): the free list is last in, first out; a fork shares every block; appending to a
 * block that others own too copies that one block. There is a second pool of the same kind on the host, for swapping.
 */
export interface SequencePool {
  readonly blocks: number;
  readonly blockSize: number;
  readonly references: Int32Array;
  /** A stack of free blocks; the next one is at `free − 1`. */
  readonly stack: Int32Array;
  free: number;
  /** By sequence: its blocks, and how many tokens they hold. */
  readonly tables: Int32Array[];
  readonly lengths: number[];
  readonly tokens: number[];
  readonly freeIds: number[];
  /** Blocks copied because somebody wrote to a shared one. */
  copies: number;
  watch?: Watch;
}

/** Block 0 stays unused, as the null block of the other pools, so that ids mean the same everywhere. */
export function createSequencePool(blocks: number, blockSize: number): SequencePool {
  const usable = blocks - 1;
  return {
    blocks,
    blockSize,
    references: new Int32Array(blocks),
    stack: Int32Array.from({ length: usable }, (_, i) => usable - i),
    free: usable,
    tables: [],
    lengths: [],
    tokens: [],
    freeIds: [],
    copies: 0,
  };
}

function takeFree(pool: SequencePool): number {
  const block = pool.stack[--pool.free]!;
  pool.references[block] = 1;
  return block;
}

function dropReference(pool: SequencePool, block: number): void {
  if (--pool.references[block]! === 0) {
    pool.stack[pool.free++] = block;
  }
}

export function openSequence(pool: SequencePool): number {
  const id = pool.freeIds.pop();
  if (id !== undefined) {
    return id;
  }
  pool.tables.push(new Int32Array(32));
  pool.lengths.push(0);
  pool.tokens.push(0);
  return pool.tables.length - 1;
}

export function closeSequence(pool: SequencePool, sequence: number): void {
  const table = pool.tables[sequence]!;
  for (let i = 0; i < pool.lengths[sequence]!; i++) {
    dropReference(pool, table[i]!);
  }
  pool.lengths[sequence] = 0;
  pool.tokens[sequence] = 0;
  pool.freeIds.push(sequence);
}

/** Blocks that appending would take: full ones to come, and one for the copy when the tail is shared. */
function blocksToAppend(pool: SequencePool, sequence: number, tokens: number): number {
  const held = pool.lengths[sequence]!;
  const required = Math.ceil((pool.tokens[sequence]! + tokens) / pool.blockSize);
  return required - held + (tokens > 0 && tailIsShared(pool, sequence) ? 1 : 0);
}

function tailIsShared(pool: SequencePool, sequence: number): boolean {
  const held = pool.tokens[sequence]!;
  return held % pool.blockSize !== 0 && pool.references[pool.tables[sequence]![pool.lengths[sequence]! - 1]!]! > 1;
}

/**
 * Writes `tokens` more. False, and nothing changed, when the pool is short. A block that others own is never written:
 * the boundary block is copied first, every full block before it stays shared.
 */
export function appendTokens(pool: SequencePool, sequence: number, tokens: number): boolean {
  if (blocksToAppend(pool, sequence, tokens) > pool.free) {
    return false;
  }
  let length = pool.lengths[sequence]!;
  if (tokens > 0 && tailIsShared(pool, sequence)) {
    const table = pool.tables[sequence]!;
    const copy = takeFree(pool);
    pool.watch?.copied.push(table[length - 1]!, copy);
    dropReference(pool, table[length - 1]!);
    table[length - 1] = copy;
    pool.copies++;
  }
  const total = pool.tokens[sequence]! + tokens;
  const required = Math.ceil(total / pool.blockSize);
  if (pool.tables[sequence]!.length < required) {
    pool.tables[sequence] = grown(pool.tables[sequence]!, Math.max(required, pool.tables[sequence]!.length * 2));
  }
  const table = pool.tables[sequence]!;
  while (length < required) {
    table[length++] = takeFree(pool);
  }
  pool.lengths[sequence] = length;
  pool.tokens[sequence] = total;
  return true;
}

/** A new sequence that shares every block of another. */
export function forkSequence(pool: SequencePool, parent: number): number {
  const child = openSequence(pool);
  const length = pool.lengths[parent]!;
  if (pool.tables[child]!.length < length) {
    pool.tables[child] = new Int32Array(Math.max(length, pool.tables[child]!.length * 2));
  }
  const table = pool.tables[child]!;
  const from = pool.tables[parent]!;
  for (let i = 0; i < length; i++) {
    const block = from[i]!;
    table[i] = block;
    pool.references[block]!++;
  }
  pool.lengths[child] = length;
  pool.tokens[child] = pool.tokens[parent]!;
  return child;
}

/** Different blocks of several sequences: what a swap has to move. */
export function distinctBlocks(pool: SequencePool, sequences: readonly number[]): number {
  const seen = new Set<number>();
  for (const sequence of sequences) {
    const table = pool.tables[sequence]!;
    for (let i = 0; i < pool.lengths[sequence]!; i++) {
      seen.add(table[i]!);
    }
  }
  seen.delete(NULL_BLOCK);
  return seen.size;
}

/**
 * Moves sequences that share blocks from one pool to the other; they share them there as well. The caller has checked
 * that they fit. Returns their new ids and the number of blocks moved.
 */
export function moveSequences(
  from: SequencePool,
  to: SequencePool,
  sequences: readonly number[],
): { readonly sequences: number[]; readonly blocks: number } {
  const places = new Map<number, number>();
  const moved = sequences.map((sequence) => {
    const id = openSequence(to);
    const length = from.lengths[sequence]!;
    const table = new Int32Array(Math.max(32, length));
    for (let i = 0; i < length; i++) {
      const source = from.tables[sequence]![i]!;
      const place = places.get(source);
      if (place === undefined) {
        table[i] = takeFree(to);
        places.set(source, table[i]!);
      } else {
        to.references[place]!++;
        table[i] = place;
      }
    }
    to.tables[id] = table;
    to.lengths[id] = length;
    to.tokens[id] = from.tokens[sequence]!;
    return id;
  });
  for (const sequence of sequences) {
    closeSequence(from, sequence);
  }
  return { sequences: moved, blocks: places.size };
}

/** The blocks of a sequence, first to last. */
export const sequenceTable = (pool: SequencePool, sequence: number): Int32Array =>
  pool.tables[sequence]!.subarray(0, pool.lengths[sequence]!);
