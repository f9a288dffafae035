// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { runsOfTokens } from './content';
import { type Traffic, trafficBuilder } from './traffic';

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

/** What two prompts have in common, in blocks, and why not more. */
export interface SharedPrefix {
  readonly tokens: number;
  readonly blocks: number;
  /** Index of the first token that differs; undefined when one prompt is the other's beginning. */
  readonly differsAt: number | undefined;
  readonly why: 'whole prompt' | 'differs at the front' | 'shorter than a block' | 'differs inside';
}

/** A second prompt behind a first one, as an engine with a prefix cache of blocks sees it: its last token is computed. */
export function sharedPrefix(first: readonly number[], second: readonly number[], blockSize: number): SharedPrefix {
  const builder = trafficBuilder('two prompts');
  builder.add({ prompt: runsOfTokens(first), output: 1 });
  builder.add({ prompt: runsOfTokens(second), output: 1 });
  const tokens = commonPrefix(builder.build(), 0, first.length, 1, second.length);
  const blocks = Math.max(0, Math.floor(Math.min(tokens, second.length - 1) / blockSize));
  const differsAt = tokens < Math.min(first.length, second.length) ? tokens : undefined;
  const inside = blocks > 0 ? 'differs inside' : tokens === 0 ? 'differs at the front' : 'shorter than a block';
  return { tokens, blocks, differsAt, why: differsAt === undefined && blocks > 0 ? 'whole prompt' : inside };
}
