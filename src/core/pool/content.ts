// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction

/**
 * What a request's tokens are, without storing them. A token is a pair (source, value); a run is `count` tokens of one
 * source with consecutive values. Source 0 is the vocabulary: the value is a token id. Any other source stands for text
 * that nobody else has (a chat's system prompt, an image, one request's output): its values are positions in it.
 * Two requests share a prefix exactly where their pairs are equal.
 */
export interface Run {
  readonly source: number;
  readonly first: number;
  readonly count: number;
}

/** All runs of all requests, one after the other. */
export interface Contents {
  sources: Int32Array;
  firsts: Int32Array;
  counts: Int32Array;
  /** Runs in use. */
  size: number;
}

export const createContents = (capacity = 1024): Contents => ({
  sources: new Int32Array(capacity),
  firsts: new Int32Array(capacity),
  counts: new Int32Array(capacity),
  size: 0,
});

export function grown(array: Int32Array, capacity: number): Int32Array {
  const larger = new Int32Array(capacity);
  larger.set(array);
  return larger;
}

export function addRun(contents: Contents, source: number, first: number, count: number): void {
  if (contents.size === contents.sources.length) {
    const capacity = contents.size * 2;
    contents.sources = grown(contents.sources, capacity);
    contents.firsts = grown(contents.firsts, capacity);
    contents.counts = grown(contents.counts, capacity);
  }
  const at = contents.size++;
  contents.sources[at] = source;
  contents.firsts[at] = first;
  contents.counts[at] = count;
}

/** Token ids as runs: `[5, 6, 7, 9]` becomes 5…7 and 9. */
export function runsOfTokens(tokens: readonly number[]): readonly Run[] {
  const runs: { source: number; first: number; count: number }[] = [];
  for (const token of tokens) {
    const last = runs.at(-1);
    if (last && last.first + last.count === token) {
      last.count++;
    } else {
      runs.push({ source: 0, first: token, count: 1 });
    }
  }
  return runs;
}

/**
 * Walks a request's tokens block by block: its prompt's runs, then its output. Reused for one request after another.
 * `lo`, `hi` are the chained hash of everything up to the last block taken.
 */
export interface Reader {
  lo: number;
  hi: number;
  run: number;
  offset: number;
  /** Index of the next token. */
  position: number;
}

export const createReader = (): Reader => ({ lo: 0, hi: 0, run: 0, offset: 0, position: 0 });

/** One request as a reader needs it. */
export interface Text {
  readonly contents: Contents;
  readonly firstRun: number;
  readonly promptTokens: number;
  /** Source of the output; its values count from 0. With `outputStep` 0 every output token is (source, outputFirst). */
  readonly outputSource: number;
  readonly outputFirst: number;
  readonly outputStep: 0 | 1;
  /** LoRA adapter, 0 for none: part of every block's hash. */
  readonly adapter: number;
  /** Cache salt, 0 for none: part of the first block's hash, and so of all that follow. */
  readonly salt: number;
}

const RUN = 0x2545f491;
const TOKEN = 0x6c8e9cf5;
const ADAPTER = 0x1b873593;
const SALT = 0x27d4eb2f;

function fold(reader: Reader, kind: number, value: number): void {
  let lo = Math.imul(reader.lo ^ Math.imul(value, 0x85ebca6b) ^ kind, 0x9e3779b1);
  lo ^= lo >>> 15;
  let hi = Math.imul((reader.hi + value) ^ ((lo << 13) | (lo >>> 19)), 0xc2b2ae35);
  hi ^= hi >>> 16;
  reader.lo = lo;
  reader.hi = hi;
}

export function startReading(reader: Reader, text: Text): void {
  reader.lo = 0x3c6ef372;
  reader.hi = 0x510e527f;
  reader.run = text.firstRun;
  reader.offset = 0;
  reader.position = 0;
}

/**
 * Chains the next `size` tokens into the hash (64 bits in two halves: at 10^5 resident blocks a false hit is a matter of
 * 10^−14 a lookup). A block of one consecutive run is folded as (source, first value); any other token by token. The
 * choice depends on the tokens alone, so equal tokens always have equal hashes. Extra keys as vLLM has them
 * (v1/core/kv_cache_utils.py): adapter in every block, salt in the first; an image is a source of its own, which gives
 * its identifier and its offset in the block.
 */
export function hashNextBlock(reader: Reader, text: Text, size: number): void {
  if (text.adapter !== 0) {
    fold(reader, ADAPTER, text.adapter);
  }
  if (text.salt !== 0 && reader.position === 0) {
    fold(reader, SALT, text.salt);
  }
  const { contents, promptTokens } = text;
  if (reader.position + size <= promptTokens) {
    const run = reader.run;
    const left = contents.counts[run]! - reader.offset;
    if (left >= size) {
      foldRun(reader, contents.sources[run]!, contents.firsts[run]! + reader.offset);
      reader.position += size;
      reader.offset += size;
      if (left === size) {
        reader.run++;
        reader.offset = 0;
      }
      return;
    }
  } else if (reader.position >= promptTokens && text.outputStep === 1) {
    foldRun(reader, text.outputSource, text.outputFirst + reader.position - promptTokens);
    reader.position += size;
    return;
  }
  hashMixedBlock(reader, text, size);
}

function foldRun(reader: Reader, source: number, first: number): void {
  fold(reader, RUN, source);
  fold(reader, RUN, first);
}

/** Tokens of a block that is not plainly one run; the buffers are shared, calls do not nest. */
let blockSources = new Int32Array(256);
let blockValues = new Int32Array(256);

function hashMixedBlock(reader: Reader, text: Text, size: number): void {
  if (blockSources.length < size) {
    blockSources = new Int32Array(size);
    blockValues = new Int32Array(size);
  }
  let consecutive = true;
  for (let i = 0; i < size; i++) {
    readToken(reader, text, i);
    consecutive &&= i === 0 || (blockSources[i] === blockSources[i - 1] && blockValues[i] === blockValues[i - 1]! + 1);
  }
  if (consecutive) {
    foldRun(reader, blockSources[0]!, blockValues[0]!);
    return;
  }
  for (let i = 0; i < size; i++) {
    fold(reader, TOKEN, blockSources[i]!);
    fold(reader, TOKEN, blockValues[i]!);
  }
}

function readToken(reader: Reader, text: Text, into: number): void {
  const { contents, promptTokens } = text;
  if (reader.position < promptTokens) {
    blockSources[into] = contents.sources[reader.run]!;
    blockValues[into] = contents.firsts[reader.run]! + reader.offset;
    if (++reader.offset === contents.counts[reader.run]) {
      reader.run++;
      reader.offset = 0;
    }
  } else {
    blockSources[into] = text.outputSource;
    blockValues[into] = text.outputFirst + text.outputStep * (reader.position - promptTokens);
  }
  reader.position++;
}
