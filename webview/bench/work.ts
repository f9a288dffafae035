/** The work list of a step: every sequence cut into chunks, so that ragged batches fill the machine. */
import type { Placement, Shape } from './shape';

export interface WorkList {
  /** Five numbers each: sequence, begin, end, base, dense; see wgsl/common.wgsl. */
  readonly items: Uint32Array;
  readonly count: number;
  /** Of each sequence: its first item, and how many. */
  readonly spans: Uint32Array;
}

const FIELDS = 5;

/** `chunk` tokens to an item at most; a sequence without tokens has no item. */
export function workList({ lengths }: Shape, { bases }: Placement, chunk: number): WorkList {
  const items: number[] = [];
  const spans: number[] = [];
  let dense = 0;
  lengths.forEach((length, sequence) => {
    const count = Math.ceil(length / chunk);
    spans.push(items.length / FIELDS, count);
    for (let n = 0; n < count; n++) {
      items.push(sequence, n * chunk, Math.min(length, (n + 1) * chunk), bases[sequence] ?? 0, dense);
    }
    dense += length;
  });
  return { items: Uint32Array.from(items), count: items.length / FIELDS, spans: Uint32Array.from(spans) };
}

/** One item for each sequence, empty ones too: `begin` to its end, or for one token its place. */
export function wholeSequences({ lengths }: Shape, { bases }: Placement, begin: 'start' | 'last' = 'start'): WorkList {
  let dense = 0;
  const items = lengths.flatMap((length, sequence) => {
    dense += length;
    return [sequence, begin === 'start' ? 0 : length - 1, length, bases[sequence] ?? 0, dense - length];
  });
  return { items: Uint32Array.from(items), count: lengths.length, spans: new Uint32Array() };
}

export const LONGEST_CHUNK = 512;

/** The longest chunk that still gives every core several: how many cores there are, WebGPU does not tell. */
export function chunkFor({ lengths, kvHeads }: Shape, tiles: number, enough: number): number {
  const groups = (chunk: number): number =>
    lengths.reduce((sum, length) => sum + Math.ceil(length / chunk), 0) * kvHeads * tiles;
  return [LONGEST_CHUNK, 256].find((chunk) => groups(chunk) >= enough) ?? 128;
}
