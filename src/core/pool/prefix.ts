// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Traffic } from './traffic';

/** Walks the runs of one request's tokens: its prompt, then its output. */
export interface RunCursor {
  readonly traffic: Traffic;
  readonly request: number;
  /** Tokens in all. */
  readonly length: number;
  position: number;
  source: number;
  first: number;
  /** Tokens left of the current run. */
  left: number;
  run: number;
}

export function openRuns(traffic: Traffic, request: number, length: number): RunCursor {
  const cursor: RunCursor = {
    traffic,
    request,
    length,
    position: 0,
    source: 0,
    first: 0,
    left: 0,
    run: traffic.firstRuns[request]! - 1,
  };
  loadRun(cursor);
  return cursor;
}

function loadRun(cursor: RunCursor): void {
  const { traffic, request, length, position } = cursor;
  const prompt = traffic.prompts[request]!;
  if (position < Math.min(prompt, length)) {
    const run = ++cursor.run;
    cursor.source = traffic.contents.sources[run]!;
    cursor.first = traffic.contents.firsts[run]!;
    cursor.left = Math.min(traffic.contents.counts[run]!, length - position);
  } else if (position < length) {
    const constant = traffic.constantOutput;
    cursor.source = traffic.outputSources[request]!;
    cursor.first = constant ?? position - prompt;
    cursor.left = constant === undefined ? length - position : 1;
  } else {
    cursor.left = 0;
  }
}

export function advanceRuns(cursor: RunCursor, tokens: number): void {
  cursor.position += tokens;
  cursor.first += tokens;
  cursor.left -= tokens;
  if (cursor.left === 0) {
    loadRun(cursor);
  }
}

/** Tokens at the front that two requests have in common: of `a` its first `aLength`, of `b` its first `bLength`. */
export function commonPrefix(traffic: Traffic, a: number, aLength: number, b: number, bLength: number): number {
  const one = openRuns(traffic, a, aLength);
  const other = openRuns(traffic, b, bLength);
  let common = 0;
  while (one.left > 0 && other.left > 0 && one.source === other.source && one.first === other.first) {
    const both = Math.min(one.left, other.left);
    common += both;
    advanceRuns(one, both);
    advanceRuns(other, both);
  }
  return common;
}
