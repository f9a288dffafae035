// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { findBlock, NULL_BLOCK } from './block-pool';
import { grown } from './content';
import type { Kin, KvCache } from './kv-cache';
import { hashUpTo, windowBlocks } from './store';

/**
 * The longest cached prefix of the first `tokens` tokens, at most `tokens − 1`: the last is computed again for its
 * logits. Fills `kv.hits`, `kv.hitCounts`, `kv.hitTokens` and the slot's junction; touches nothing in the pool.
 * (vLLM: kv_cache_manager.py `get_computed_blocks`, kv_cache_coordinator.py `find_longest_cache_hit`.)
 */
export function lookUp(kv: KvCache, slot: number, tokens: number): number {
  kv.hitTokens = 0;
  kv.hitCounts.fill(0);
  kv.junctions[slot] = 0;
  if (!kv.caching || tokens < 2) {
    return 0;
  }
  const only = kv.kins[0]!;
  if (kv.groups.length === 1) {
    kv.hitTokens = findKin(kv, slot, only, tokens - 1, kv.draftHead);
    return kv.hitTokens;
  }
  kv.hitTokens = reconcile(kv, slot, tokens - 1);
  return kv.hitTokens;
}

/** Each kind accepts the length or shortens it, until all agree; with one full kind and one other, once is enough. */
function reconcile(kv: KvCache, slot: number, most: number): number {
  const { kins } = kv;
  const simple = kins.length === 2 && kins[0]!.kind === 'full';
  const dropped = new Set<number>();
  let fullHit = -1;
  let length = most;
  let longest = 0;
  for (;;) {
    let current = length;
    for (let k = 0; k < kins.length; k++) {
      const kin = kins[k]!;
      if (kin.kind === 'full' && fullHit >= 0) {
        current = Math.min(current, fullHit);
        continue;
      }
      const drop = kv.draftHead && !dropped.has(k);
      const found = findKin(kv, slot, kin, drop ? Math.min(current + kin.blockSize, most) : current, drop);
      if (drop) {
        dropped.add(k);
      } else if (found < current) {
        dropped.clear();
      }
      current = found;
      if (kin.kind === 'full') {
        fullHit = found;
      }
      longest = Math.max(longest, current);
    }
    if (current >= length) {
      break;
    }
    length = current;
    if (simple) {
      break;
    }
  }
  trimFull(kv, length);
  kv.junctions[slot] = longest > length ? longest : 0;
  return length;
}

function trimFull(kv: KvCache, length: number): void {
  for (const kin of kv.kins) {
    if (kin.kind === 'full') {
      for (const group of kin.members) {
        kv.hitCounts[group] = Math.min(kv.hitCounts[group]!, Math.ceil(length / kin.blockSize));
      }
    }
  }
}

function findKin(kv: KvCache, slot: number, kin: Kin, most: number, drop: boolean): number {
  const blocks = Math.floor(most / kin.blockSize);
  for (const group of kin.members) {
    if (kv.hits[group]!.length < blocks) {
      kv.hits[group] = grown(kv.hits[group]!, Math.max(blocks, kv.hits[group]!.length * 2));
    }
  }
  let count: number;
  switch (kin.kind) {
    case 'sliding':
      count = findWindow(kv, slot, kin, blocks, drop);
      break;
    case 'snapshots':
      count = findState(kv, slot, kin, blocks);
      break;
    case 'chunked':
      count = findRun(kv, slot, kin, (Math.floor(most / kin.window) * kin.window) / kin.blockSize, blocks);
      count = aligned(kv, kin, count);
      break;
    default:
      count = findRun(kv, slot, kin, 0, blocks);
      count = aligned(kv, kin, drop && count > 0 ? count - 1 : count);
  }
  for (const group of kin.members) {
    kv.hitCounts[group] = count;
  }
  return count * kin.blockSize;
}

/** Largest number of blocks, at most `count`, that ends on the common alignment. */
function aligned(kv: KvCache, kin: Kin, count: number): number {
  const each = kv.alignment / kin.blockSize;
  return count - (count % each);
}

/** All members' blocks for logical block `i`, or false. */
function findEverywhere(kv: KvCache, slot: number, kin: Kin, i: number): boolean {
  const at = ((i + 1) * kin.factor - 1) * 2;
  const hashes = hashUpTo(kv, slot, (i + 1) * kin.factor);
  const lo = hashes[at]!;
  const hi = hashes[at + 1]!;
  for (const group of kin.members) {
    const block = findBlock(kv.pool, lo, hi, group);
    if (block < 0) {
      return false;
    }
    kv.hits[group]![i] = block;
  }
  return true;
}

function setNull(kv: KvCache, kin: Kin, from: number, end: number): void {
  for (const group of kin.members) {
    kv.hits[group]!.fill(NULL_BLOCK, from, end);
  }
}

/** From the front: hashes are chained, so the first miss ends the run. Blocks before `start` count without looking. */
function findRun(kv: KvCache, slot: number, kin: Kin, start: number, blocks: number): number {
  const from = Math.min(Math.floor(start), blocks);
  setNull(kv, kin, 0, from);
  let count = from;
  while (count < blocks && findEverywhere(kv, slot, kin, count)) {
    count++;
  }
  return count;
}

/** The last snapshot on the common alignment: one state is all that is needed. */
function findState(kv: KvCache, slot: number, kin: Kin, blocks: number): number {
  const each = kv.alignment / kin.blockSize;
  for (let i = blocks - 1; i >= 0; i--) {
    if ((i + 1) % each === 0 && findEverywhere(kv, slot, kin, i)) {
      setNull(kv, kin, 0, i);
      return i + 1;
    }
  }
  return 0;
}

/** From the back: the last place with enough blocks in a row to fill the window; at the front fewer will do. */
function findWindow(kv: KvCache, slot: number, kin: Kin, blocks: number, drop: boolean): number {
  const need = windowBlocks(kin, drop);
  const each = kv.alignment / kin.blockSize;
  let row = 0;
  let count = -1;
  for (let i = blocks - 1; i >= 0; i--) {
    if (!findEverywhere(kv, slot, kin, i)) {
      row = 0;
      continue;
    }
    if (row === 0 && (drop ? i : i + 1) % each !== 0) {
      continue;
    }
    if (++row >= need) {
      setNull(kv, kin, 0, i);
      count = i + row;
      break;
    }
  }
  if (count < 0) {
    count = aligned(kv, kin, row);
  }
  return drop && count > 0 ? aligned(kv, kin, count - 1) : count;
}
