// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { NULL_BLOCK, releaseBlocks, takeBlock, touchBlock } from './block-pool';
import { grown } from './content';
import type { KvCache } from './kv-cache';

/** How one request's block tables grow and shrink; `kv-cache.ts` decides when they may. */

/** Tokens at the front that attention no longer reads once `computed` tokens are done. */
export function skippedTokens(kv: KvCache, group: number, computed: number): number {
  const { kind, window = 0 } = kv.groups[group]!;
  switch (kind) {
    case 'sliding':
      return Math.max(0, computed - window + 1);
    case 'chunked':
      return Math.floor(computed / window) * window;
    case 'snapshots':
      return Math.max(0, computed - 1);
    default:
      return 0;
  }
}

export const requiredBlocks = (kv: KvCache, group: number, tokens: number): number =>
  kv.groups[group]!.kind === 'state' ? 1 : Math.ceil(tokens / kv.groups[group]!.blockSize);

/** Frees the blocks that a window has passed, on the count of processed tokens; last first. */
export function releaseSkipped(kv: KvCache, slot: number, computed: number): void {
  for (let group = 0; group < kv.groups.length; group++) {
    const skipped = skippedTokens(kv, group, computed);
    if (skipped <= 0) {
      continue;
    }
    const at = slot * kv.groups.length + group;
    const table = kv.tables[at]!;
    const end = Math.min(Math.floor(skipped / kv.groups[group]!.blockSize), kv.lengths[at]!);
    let start = end;
    while (start > 0 && table[start - 1] !== NULL_BLOCK) {
      start--;
    }
    if (start < end) {
      releaseBlocks(kv.pool, table, end - 1, end - start, -1);
      table.fill(NULL_BLOCK, start, end);
    }
    const last = kv.lastStates[at]!;
    if (last >= 0 && last < Math.ceil(computed / kv.groups[group]!.blockSize) - 1) {
      releaseBlocks(kv.pool, table, last, 1, 1);
      table[last] = NULL_BLOCK;
    }
  }
}

function roomFor(kv: KvCache, at: number, length: number): Int32Array {
  const table = kv.tables[at]!;
  if (table.length >= length) {
    return table;
  }
  const larger = grown(table, Math.max(length, table.length * 2));
  kv.tables[at] = larger;
  return larger;
}

export function takeHits(kv: KvCache, slot: number, computed: number): void {
  for (let group = 0; group < kv.groups.length; group++) {
    const at = slot * kv.groups.length + group;
    const skipped = Math.floor(skippedTokens(kv, group, computed) / kv.groups[group]!.blockSize);
    const count = Math.max(skipped, kv.hitCounts[group]!);
    const table = roomFor(kv, at, count);
    const found = kv.hits[group]!;
    table.fill(NULL_BLOCK, 0, skipped);
    for (let i = skipped; i < count; i++) {
      const block = found[i]!;
      table[i] = block;
      if (block !== NULL_BLOCK) {
        touchBlock(kv.pool, block);
      }
    }
    kv.lengths[at] = count;
    kv.stored[at] = count;
  }
}

export function extendTables(kv: KvCache, slot: number, tokens: number): void {
  for (let group = 0; group < kv.groups.length; group++) {
    const at = slot * kv.groups.length + group;
    let required = requiredBlocks(kv, group, tokens);
    let length = kv.lengths[at]!;
    if (length < required) {
      if (kv.preallocate > 0 && kv.groups.length === 1) {
        const most = Math.min(requiredBlocks(kv, group, kv.maxLength), length + kv.pool.free);
        required = Math.max(required, Math.min(required + kv.preallocate, most));
      }
      const table = roomFor(kv, at, required);
      if (kv.groups[group]!.kind === 'snapshots') {
        kv.lastStates[at] = length - 1;
        table.fill(NULL_BLOCK, length, required - 1);
        length = Math.max(length, required - 1);
      }
      while (length < required) {
        table[length++] = takeBlock(kv.pool);
      }
      kv.lengths[at] = length;
    }
  }
}

/** Physical block and offset of a token; the group's table decides. Undefined outside the table. */
export function locate(
  table: ArrayLike<number>,
  blockSize: number,
  token: number,
): { readonly block: number; readonly offset: number } | undefined {
  const block = table[Math.floor(token / blockSize)];
  return block === undefined || token < 0 ? undefined : { block, offset: token % blockSize };
}

export const tableOf = (kv: KvCache, slot: number, group = 0): Int32Array =>
  kv.tables[slot * kv.groups.length + group]!.subarray(0, kv.lengths[slot * kv.groups.length + group]!);
