// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { createReader, hashNextBlock, startReading, type Text } from './content';

/** Why the cache did not have (more of) a prompt. */
export const MISS_REASONS = [
  /** Every block that could be reused was. */
  'complete',
  /** A beginning was found; what follows nobody has computed before. */
  'diverges',
  /** No prompt before it began like this. */
  'first-block-differs',
  /** It begins like an earlier prompt, but not for a whole block. */
  'shorter-than-a-block',
  /** It had been computed, and its block has been given to somebody else. */
  'evicted',
  /** The same tokens are there, for another adapter or cache salt. */
  'adapter-or-salt',
] as const;
export type MissReason = (typeof MISS_REASONS)[number];

/**
 * A bounded memory of hashes: each has one place, the latest stays. What it forgets counts as never seen, so *evicted* is
 * a lower bound on very long runs.
 */
interface Seen {
  readonly lo: Int32Array;
  readonly hi: Int32Array;
  readonly mask: number;
}

const createSeen = (size: number): Seen => ({ lo: new Int32Array(size), hi: new Int32Array(size), mask: size - 1 });

const hasSeen = ({ lo, hi, mask }: Seen, a: number, b: number): boolean => lo[a & mask] === a && hi[a & mask] === b;

export interface Misses {
  readonly requests: Record<MissReason, number>;
  /** Prompt tokens that were not found, by reason. */
  readonly tokens: Record<MissReason, number>;
  readonly seen: Seen;
  /** First blocks without adapter and salt, and first tokens. */
  readonly plain: Seen;
  readonly firsts: Seen;
  /** Some request had an adapter or a salt. */
  keyed: boolean;
}

export function createMisses(blocks: number): Misses {
  let size = 1024;
  while (size < Math.min(16 * blocks, 2 ** 22)) {
    size *= 2;
  }
  const none = () => Object.fromEntries(MISS_REASONS.map((reason) => [reason, 0])) as Record<MissReason, number>;
  return {
    requests: none(),
    tokens: none(),
    seen: createSeen(size),
    plain: createSeen(65536),
    firsts: createSeen(65536),
    keyed: false,
  };
}

export function noteSeen({ seen }: Misses, lo: number, hi: number): void {
  seen.lo[lo & seen.mask] = lo;
  seen.hi[lo & seen.mask] = hi;
}

export interface Lookup {
  readonly text: Text;
  readonly blockSize: number;
  readonly hitTokens: number;
  /** Tokens that could have been found: all but the last. */
  readonly mostTokens: number;
  /** Hash of the first block that was not found, when there is one. */
  readonly lo: number;
  readonly hi: number;
}

const reader = createReader();

/** Why this lookup found no more, before the request's own blocks are stored. */
export function missReason(misses: Misses, lookup: Lookup): MissReason {
  const { text, blockSize, hitTokens, mostTokens } = lookup;
  if (hitTokens + blockSize > mostTokens) {
    return 'complete';
  }
  if (hasSeen(misses.seen, lookup.lo, lookup.hi)) {
    return 'evicted';
  }
  if (hitTokens > 0) {
    return 'diverges';
  }
  const [lo, hi] = plainHash(text, blockSize);
  if (hasSeen(misses.plain, lo, hi)) {
    return misses.keyed || isKeyed(text) ? 'adapter-or-salt' : 'evicted'; // without either, `seen` forgot it
  }
  return hasSeen(misses.firsts, ...firstToken(text)) ? 'shorter-than-a-block' : 'first-block-differs';
}

const isKeyed = ({ adapter, salt }: Text): boolean => adapter !== 0 || salt !== 0;

function plainHash(text: Text, blockSize: number): readonly [number, number] {
  const plain = { ...text, adapter: 0, salt: 0 };
  startReading(reader, plain);
  hashNextBlock(reader, plain, blockSize);
  return [reader.lo, reader.hi];
}

/** Spread over the table: tokens of one source would all fall in one place. */
function firstToken({ contents, firstRun }: Text): [number, number] {
  const source = contents.sources[firstRun]!;
  const value = contents.firsts[firstRun]!;
  return [Math.imul(source, 0x9e3779b1) ^ Math.imul(value, 0x85ebca6b) ^ 1, value];
}

/** Counts an admitted request and remembers how it begins. */
export function noteMiss(misses: Misses, reason: MissReason, lookup: Lookup): void {
  misses.requests[reason]++;
  misses.tokens[reason] += lookup.mostTokens + 1 - lookup.hitTokens;
  const { plain, firsts } = misses;
  misses.keyed ||= isKeyed(lookup.text);
  if (lookup.mostTokens >= lookup.blockSize) {
    const [lo, hi] = plainHash(lookup.text, lookup.blockSize);
    plain.lo[lo & plain.mask] = lo;
    plain.hi[lo & plain.mask] = hi;
  }
  const [a, b] = firstToken(lookup.text);
  firsts.lo[a & firsts.mask] = a;
  firsts.hi[a & firsts.mask] = b;
}
