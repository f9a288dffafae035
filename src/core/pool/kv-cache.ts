// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { type BlockPool, createBlockPool, NULL_BLOCK, ownersOf, releaseBlocks } from './block-pool';
import { createContents, createReader, type Reader, startReading, type Text } from './content';
import type { Misses } from './misses';
import { storeFullBlocks } from './store';
import { extendTables, releaseSkipped, requiredBlocks, skippedTokens, takeHits } from './tables';

/** One group of layers that share a block table. */
export interface GroupSpec {
  /**
   * `state`: one block a request, never reused by another (vLLM's Mamba mode `none`); `snapshots`: states kept at block
   * boundaries, so that prefixes can be reused (mode `align`), which the scheduler's chunks then stop at.
   */
  readonly kind: 'full' | 'sliding' | 'chunked' | 'state' | 'snapshots';
  /** Tokens a block. */
  readonly blockSize: number;
  /** Tokens: the sliding window, or the size of an attention chunk. */
  readonly window?: number;
}

export interface KvCacheOptions {
  /** Blocks of the pool, the null block included. */
  readonly blocks: number;
  readonly groups: readonly GroupSpec[];
  readonly caching?: boolean;
  /** Tokens a request may have (max-model-len). */
  readonly maxLength?: number;
  /** Tokens that may be in flight: caps what a window is charged at admission. */
  readonly inFlightTokens?: number;
  /** Share of the blocks kept free when a waiting request is admitted beside running ones. */
  readonly watermark?: number;
  /** Windowed groups keep hashes every so many tokens; 0: only where a prompt can be replayed; undefined: everywhere. */
  readonly retention?: number;
  /** A draft head (EAGLE, MTP) makes every hit one block shorter. */
  readonly draftHead?: boolean;
  readonly unhashedFirst?: boolean;
  /** Blocks taken beyond need at each growth: 64 tokens' worth in vLLM V1 before 0.8.5, which knew one group. */
  readonly preallocate?: number;
}

/** Groups of equal kind, looked up together. */
export interface Kin {
  readonly kind: GroupSpec['kind'];
  readonly blockSize: number;
  readonly window: number;
  /** Hash blocks in one of this kind's blocks. */
  readonly factor: number;
  readonly members: readonly number[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Block tables over one pool, as vLLM V1's KVCacheManager keeps them (v1/core/kv_cache_manager.py and
 * single_type_kv_cache_manager.py at 0.28). A request that holds or may soon hold blocks has a slot; slots and their
 * arrays are used again, so that a long run makes no garbage.
 */
export interface KvCache {
  readonly pool: BlockPool;
  readonly groups: readonly GroupSpec[];
  readonly kins: readonly Kin[];
  readonly caching: boolean;
  readonly maxLength: number;
  readonly watermarkBlocks: number;
  readonly retention: number | undefined;
  readonly draftHead: boolean;
  readonly preallocate: number;
  /** Tokens one hash covers, and the multiple that hits are rounded to. */
  readonly hashBlock: number;
  readonly alignment: number;
  /** Most blocks a request is charged at admission, by group; Infinity where nothing is recycled. */
  readonly admissionCaps: readonly number[];

  // by slot × group
  readonly tables: Int32Array[];
  readonly lengths: number[];
  readonly stored: number[];
  /** Snapshots: which entry of the table holds the state before the running one; −1 for none. */
  readonly lastStates: number[];
  // by slot
  readonly texts: Writable<Text>[];
  readonly readers: Reader[];
  readonly hashes: Int32Array[];
  readonly hashCounts: number[];
  /** Prompt tokens of the request, and where a shared prefix ends that windowed groups have not kept (0: none). */
  readonly promptTokens: number[];
  readonly junctions: number[];
  readonly freeSlots: number[];
  /** Snapshots stored in this step: nobody can start from them before it is computed. */
  readonly fresh: Set<number>;

  // what the last lookup found
  readonly hits: Int32Array[];
  readonly hitCounts: number[];
  hitTokens: number;
  /** Most blocks that were owned or asked for at once, the whole prompt of whoever was admitted counted. */
  peakDemand: number;
  /** Times that an admission or a running request found too few free blocks. */
  shortages: number;
  /** Remembers what was stored, to tell why a lookup missed. */
  misses: Misses | undefined;
}

const NO_TEXT: Text = {
  contents: createContents(1),
  firstRun: 0,
  promptTokens: 0,
  outputSource: 0,
  outputFirst: 0,
  outputStep: 1,
  adapter: 0,
  salt: 0,
};

export function createKvCache(options: KvCacheOptions): KvCache {
  const { groups, maxLength = 2 ** 30, inFlightTokens = maxLength, watermark = 0 } = options;
  const caching = (options.caching ?? true) && groups.every((group) => group.kind !== 'state');
  const paged = groups.filter((group) => group.kind !== 'state').map((group) => group.blockSize);
  const hashBlock = paged.reduce(greatestCommonDivisor, paged[0] ?? 1);
  return {
    pool: createBlockPool({ blocks: options.blocks, caching, unhashedFirst: options.unhashedFirst }),
    groups,
    kins: kinsOf(groups, hashBlock),
    caching,
    maxLength,
    watermarkBlocks: Math.trunc(watermark * options.blocks),
    retention: options.retention,
    draftHead: options.draftHead ?? false,
    preallocate: options.preallocate ?? 0,
    hashBlock,
    alignment: paged.reduce((a, b) => (a * b) / greatestCommonDivisor(a, b), 1),
    admissionCaps: groups.map((group) => admissionCap(group, inFlightTokens, maxLength)),
    tables: [],
    lengths: [],
    stored: [],
    lastStates: [],
    texts: [],
    readers: [],
    hashes: [],
    hashCounts: [],
    promptTokens: [],
    junctions: [],
    freeSlots: [],
    fresh: new Set(),
    hits: groups.map(() => new Int32Array(64)),
    hitCounts: groups.map(() => 0),
    hitTokens: 0,
    peakDemand: 0,
    shortages: 0,
    misses: undefined,
  };
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/** Full attention comes first: its hit bounds the others. */
function kinsOf(groups: readonly GroupSpec[], hashBlock: number): readonly Kin[] {
  const kins = new Map<string, Kin & { members: number[] }>();
  groups.forEach(({ kind, blockSize, window = 0 }, group) => {
    const key = `${kind} ${blockSize} ${window}`;
    const kin = kins.get(key) ?? { kind, blockSize, window, factor: blockSize / hashBlock, members: [] };
    kin.members.push(group);
    kins.set(key, kin);
  });
  return [...kins.values()].sort((a, b) => Number(a.kind !== 'full') - Number(b.kind !== 'full'));
}

/** v1/kv_cache_interface.py: `max_admission_blocks_per_request`. */
function admissionCap({ kind, window = 0, blockSize }: GroupSpec, inFlight: number, maxLength: number): number {
  switch (kind) {
    case 'sliding':
      return Math.ceil(Math.min(window - 1 + inFlight, maxLength) / blockSize) + 1;
    case 'chunked':
      return Math.ceil(Math.min(window + inFlight, maxLength) / blockSize);
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** A slot with empty tables for the request whose text is copied in. */
export function openSlot(kv: KvCache, text: Text): number {
  const slot = kv.freeSlots.pop() ?? addSlot(kv);
  Object.assign(kv.texts[slot]!, text);
  startReading(kv.readers[slot]!, kv.texts[slot]!);
  kv.hashCounts[slot] = 0;
  kv.promptTokens[slot] = text.promptTokens;
  kv.junctions[slot] = 0;
  return slot;
}

function addSlot(kv: KvCache): number {
  const slot = kv.texts.length;
  kv.texts.push({ ...NO_TEXT });
  kv.readers.push(createReader());
  kv.hashes.push(new Int32Array(128));
  kv.hashCounts.push(0);
  kv.promptTokens.push(0);
  kv.junctions.push(0);
  for (let group = 0; group < kv.groups.length; group++) {
    kv.tables.push(new Int32Array(64));
    kv.lengths.push(0);
    kv.stored.push(0);
    kv.lastStates.push(-1);
  }
  return slot;
}

/** Frees what the slot holds: per group, last block first, so that a prompt's beginning is evicted last. */
export function closeSlot(kv: KvCache, slot: number): void {
  const base = slot * kv.groups.length;
  for (let at = base; at < base + kv.groups.length; at++) {
    const length = kv.lengths[at]!;
    releaseBlocks(kv.pool, kv.tables[at]!, length - 1, length, -1);
    kv.lengths[at] = 0;
    kv.stored[at] = 0;
    kv.lastStates[at] = -1;
  }
  kv.freeSlots.push(slot);
}

/** Free blocks that giving this request room for `tokens` would use, counting hits that nobody holds right now. */
function blocksToAllocate(kv: KvCache, slot: number, tokens: number, computed: number, capped: boolean): number {
  let sum = 0;
  for (let group = 0; group < kv.groups.length; group++) {
    const held = kv.lengths[slot * kv.groups.length + group]!;
    let required = requiredBlocks(kv, group, tokens);
    if (capped && required > kv.admissionCaps[group]!) {
      required = kv.admissionCaps[group]!;
    }
    const hits = held > 0 ? 0 : kv.hitCounts[group]!;
    if (kv.groups[group]!.kind === 'snapshots') {
      if (hits > 0 && kv.fresh.has(kv.hits[group]![hits - 1]!)) {
        return Number.POSITIVE_INFINITY;
      }
      // Only the state at the end takes a block, however far it is.
      required = Math.min(required, held + hits + 1);
    }
    if (held > 0) {
      sum += Math.max(required - held, 0);
      continue;
    }
    const skipped = Math.floor(skippedTokens(kv, group, computed) / kv.groups[group]!.blockSize);
    sum += Math.max(required - Math.max(skipped, hits), 0);
    for (let i = skipped, found = kv.hits[group]!; i < hits; i++) {
      if (found[i] !== NULL_BLOCK && ownersOf(kv.pool, found[i]!) === 0) {
        sum++;
      }
    }
  }
  return sum;
}

export interface Admission {
  /** The whole known sequence must fit before the first chunk is admitted (scheduler-reserve-full-isl). */
  readonly wholeMustFit: boolean;
  /** Other requests run: the watermark counts. */
  readonly othersRun: boolean;
}

/**
 * Room for a waiting request's first chunk, after `lookUp` on the same slot: `fresh` tokens behind the hits. `tokens` is
 * all the request has so far. False leaves everything as it was.
 */
export function admit(kv: KvCache, slot: number, fresh: number, tokens: number, rule: Admission): boolean {
  const computed = kv.hitTokens;
  const spare = kv.pool.free - (rule.othersRun ? kv.watermarkBlocks : 0);
  const end = Math.min(computed + fresh, kv.maxLength);
  const whole = rule.wholeMustFit ? blocksToAllocate(kv, slot, Math.min(tokens, kv.maxLength), computed, true) : 0;
  const first = blocksToAllocate(kv, slot, end, computed, false);
  if (Math.max(whole, first) > spare) {
    kv.shortages++;
    return false;
  }
  noteDemand(kv, Math.max(whole, first));
  takeHits(kv, slot, computed);
  extendTables(kv, slot, end);
  if (kv.caching) {
    storeFullBlocks(kv, slot, Math.min(end, tokens));
  }
  return true;
}

/** Room for `fresh` more tokens of a request that runs. False: the pool is short; windows are trimmed all the same. */
export function extend(kv: KvCache, slot: number, computed: number, fresh: number, tokens: number): boolean {
  const end = Math.min(computed + fresh, kv.maxLength);
  releaseSkipped(kv, slot, computed);
  const need = blocksToAllocate(kv, slot, end, computed, false);
  if (need > 0) {
    if (need > kv.pool.free) {
      kv.shortages++;
      return false;
    }
    noteDemand(kv, need);
  }
  extendTables(kv, slot, end);
  if (kv.caching) {
    storeFullBlocks(kv, slot, Math.min(end, tokens));
  }
  return true;
}

function noteDemand(kv: KvCache, blocks: number): void {
  kv.peakDemand = Math.max(kv.peakDemand, kv.pool.blocks - 1 - kv.pool.free + blocks);
}
