// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { NULL_BLOCK, storeBlock } from './block-pool';
import { grown, hashNextBlock } from './content';
import type { Kin, KvCache } from './kv-cache';
import { noteSeen } from './misses';

/** Computes the slot's chained hashes up to `count` hash blocks; each is computed once. */
export function hashUpTo(kv: KvCache, slot: number, count: number): Int32Array {
  let hashes = kv.hashes[slot]!;
  let done = kv.hashCounts[slot]!;
  if (done < count) {
    if (hashes.length < count * 2) {
      hashes = grown(hashes, Math.max(count * 2, hashes.length * 2));
      kv.hashes[slot] = hashes;
    }
    const reader = kv.readers[slot]!;
    const text = kv.texts[slot]!;
    for (; done < count; done++) {
      hashNextBlock(reader, text, kv.hashBlock);
      hashes[done * 2] = reader.lo;
      hashes[done * 2 + 1] = reader.hi;
    }
    kv.hashCounts[slot] = done;
  }
  return hashes;
}

/** Gives full blocks their hashes, up to `tokens`. */
export function storeFullBlocks(kv: KvCache, slot: number, tokens: number): void {
  const several = kv.groups.length > 1;
  const aligned = several ? tokens - (tokens % kv.alignment) : tokens;
  for (const kin of kv.kins) {
    const limit = several && kv.draftHead && aligned > 0 ? Math.min(tokens, aligned + kin.blockSize) : aligned;
    const full = Math.floor(limit / kin.blockSize);
    for (const group of kin.members) {
      const at = slot * kv.groups.length + group;
      const from = kv.stored[at]!;
      if (from < full) {
        storeRange(kv, slot, kin, group, from, full);
        kv.stored[at] = full;
      }
    }
  }
}

function storeRange(kv: KvCache, slot: number, kin: Kin, group: number, from: number, end: number): void {
  const hashes = hashUpTo(kv, slot, end * kin.factor);
  const table = kv.tables[slot * kv.groups.length + group]!;
  const sparse = kin.kind === 'sliding' || kin.kind === 'snapshots';
  for (let i = from; i < end; i++) {
    const block = table[i]!;
    if (block !== NULL_BLOCK && (!sparse || keepsHash(kv, slot, kin, i))) {
      const hash = ((i + 1) * kin.factor - 1) * 2;
      storeBlock(kv.pool, block, hashes[hash]!, hashes[hash + 1]!, group);
      if (kin.kind === 'snapshots') {
        kv.fresh.add(block);
      }
      if (kv.misses !== undefined) {
        noteSeen(kv.misses, hashes[hash]!, hashes[hash + 1]!);
      }
    }
  }
}

/** Blocks in a row that a hit needs at its end. */
export const windowBlocks = (kin: Kin, draftHead: boolean): number =>
  kin.kind === 'snapshots' ? 1 : Math.ceil((kin.window - 1) / kin.blockSize) + (draftHead ? 1 : 0);

/** Sparse retention: only blocks that can end a hit are worth a hash (vLLM `reachable_block_mask`). */
function keepsHash(kv: KvCache, slot: number, kin: Kin, block: number): boolean {
  const need = windowBlocks(kin, kv.draftHead);
  const shift = kv.draftHead && kin.kind !== 'snapshots' ? 1 : 0;
  const segment = kv.retention === undefined ? kv.alignment : kv.retention;
  if (segment > 0) {
    const each = segment / kin.blockSize;
    if (need >= each || (block >= shift && (block - shift) % each >= each - need)) {
      return true;
    }
  }
  if (kv.retention === undefined) {
    return false;
  }
  return (
    endsAt(kv, kin, block, kv.promptTokens[slot]! - 1, need, shift) ||
    (kv.junctions[slot]! > 0 && endsAt(kv, kin, block, kv.junctions[slot]!, need, shift))
  );
}

function endsAt(kv: KvCache, kin: Kin, block: number, boundary: number, need: number, shift: number): boolean {
  const end = (Math.floor(boundary / kv.alignment) * kv.alignment) / kin.blockSize + shift;
  return block >= end - need && block < end;
}
