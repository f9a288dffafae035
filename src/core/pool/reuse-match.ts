// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { createReader, hashNextBlock, type Reader, startReading, type Text } from './content';
import { advanceRuns, openRuns } from './prefix';
import type { Entry, ReuseTree } from './reuse-tree';
import { type Requests, textOf } from './scheduler';

/** How a request's beginning is found in the reuse tree. */
export interface ReuseMatcher {
  /** Entries that hold the beginning of the request; the last token is never matched. */
  readonly match: (request: number) => Entry[];
  /** The child whose block begins most like the request goes on, and how many tokens they share. */
  readonly partial: (request: number, parent: Entry, start: number) => PartialMatch | undefined;
  /** Key of a request's full block `index`, if its known tokens fill it and more. */
  readonly keyOf: (request: number, index: number) => string | undefined;
  readonly nextKey: (reader: Reader, text: Text) => string;
}

export interface PartialMatch {
  readonly entry: Entry;
  readonly common: number;
}

export function createReuseMatcher(
  tree: ReuseTree,
  { traffic, tokens }: Requests,
  blockSize: number,
  reuse: boolean,
): ReuseMatcher {
  function nextKey(reader: Reader, text: Text): string {
    hashNextBlock(reader, text, blockSize);
    return `${reader.lo},${reader.hi}`;
  }

  function match(request: number): Entry[] {
    const found: Entry[] = [];
    const text = textOf(traffic, request);
    const reader = createReader();
    startReading(reader, text);
    let at = tree.root;
    for (let end = blockSize; reuse && end < tokens[request]!; end += blockSize) {
      const next = at.children.get(nextKey(reader, text));
      if (!next) {
        break;
      }
      found.push(next);
      at = next;
    }
    return found;
  }

  function partial(request: number, parent: Entry, start: number): PartialMatch | undefined {
    let best: PartialMatch | undefined;
    const most = Math.min(blockSize, tokens[request]! - 1 - start);
    for (const entry of most > 0 ? parent.children.values() : []) {
      const sameKeys =
        traffic.adapters[entry.request] === traffic.adapters[request] &&
        traffic.salts[entry.request] === traffic.salts[request];
      const common = sameKeys ? commonAt(entry.request, request, start, most) : 0;
      if (common > (best?.common ?? 0)) {
        best = { entry, common };
      }
    }
    return best;
  }

  function commonAt(a: number, b: number, start: number, most: number): number {
    const one = openRuns(traffic, a, start + most);
    const other = openRuns(traffic, b, start + most);
    for (const cursor of [one, other]) {
      while (cursor.position < start) {
        advanceRuns(cursor, Math.min(cursor.left, start - cursor.position));
      }
    }
    let common = 0;
    while (one.left > 0 && other.left > 0 && one.source === other.source && one.first === other.first) {
      const both = Math.min(one.left, other.left);
      common += both;
      advanceRuns(one, both);
      advanceRuns(other, both);
    }
    return Math.min(common, most);
  }

  function keyOf(request: number, index: number): string | undefined {
    if (!reuse || (index + 1) * blockSize >= tokens[request]!) {
      return undefined;
    }
    const text = textOf(traffic, request);
    const reader = createReader();
    startReading(reader, text);
    let key = '';
    for (let i = 0; i <= index; i++) {
      key = nextKey(reader, text);
    }
    return key;
  }

  return { match, partial, keyOf, nextKey };
}
