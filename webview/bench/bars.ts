/** What is asked of a result of `npm run bench:kernels`. The dashboard reports, and judges nobody's GPU. */
import { type BenchResult, isNoisy } from '../../src/core/pool/kernel-result';
import { SMALL_BYTES } from './fit';
import type { Interval } from './statistics';

export interface Bar {
  readonly what: string;
  /** Absent where it was not measured. */
  readonly interval?: Interval;
  readonly most?: number;
  readonly least?: number;
  /** The whole interval is beyond the bar, or there is none. */
  readonly missed: boolean;
}

type Row = BenchResult['rows'][number];

const ROUNDS = 21;

/** The bars of f16 with head dim 128, or why there are none. */
export function judge(result: BenchResult): { readonly bars: readonly Bar[] } | { readonly why: string } {
  const why = excuse(result);
  return why ? { why } : { bars: result.adapter.fallback ? softwareBars(result) : gpuGoals(result) };
}

function excuse(result: BenchResult): string | undefined {
  const { adapter, shape, clock, noise, rounds } = result;
  if (shape.dtype !== 'f16' || shape.headDim !== 128) {
    return 'only f16 with head dim 128 is';
  }
  if (clock.kind === 'wall') {
    return 'only the wall clock is there';
  }
  if (!noise || rounds < ROUNDS) {
    return `${rounds} rounds, fewer than ${ROUNDS}`;
  }
  if (isNoisy(result)) {
    return `too noisy: contiguous against itself is ${noise.median.toFixed(2)}`;
  }
  return !adapter.fallback && shape.bytes < SMALL_BYTES
    ? `${(shape.bytes / 2 ** 20).toFixed(0)} MiB of keys and values, fewer than ${SMALL_BYTES / 2 ** 20}`
    : undefined;
}

/** By the processor's time. */
function softwareBars({ rows }: BenchResult): Bar[] {
  const naive = ratioOf(rows, 'naive');
  const split = naive && { median: 1 / naive.median, low: 1 / naive.high, high: 1 / naive.low };
  return [atMost('split against naive', split, 0.5), paged(rows, 16, 'random', 1.5), paged(rows, 1, 'sequential', 1.3)];
}

function gpuGoals({ rows }: BenchResult): Bar[] {
  // The read's time over that of contiguous attention is the share of the bandwidth that attention reaches.
  const reached = ratioOf(rows, 'read');
  const least = 0.75;
  const share = {
    what: 'contiguous, of the measured read bandwidth',
    interval: reached,
    least,
    missed: !reached || reached.high < least,
  };
  const large = [32, 64, 128, 256].map((size) => paged(rows, size, 'random', 1.05));
  return [share, ...large, paged(rows, 16, 'random', 1.1), paged(rows, 1, 'random', 1.35)];
}

const ratioOf = (rows: readonly Row[], kind: Row['kind'], order?: Row['order'], size?: number): Interval | undefined =>
  rows.find((row) => row.kind === kind && row.order === order && row.blockSize === size)?.ratio;

const atMost = (what: string, interval: Interval | undefined, most: number): Bar => ({
  what,
  interval,
  most,
  missed: !interval || interval.low > most,
});

const paged = (rows: readonly Row[], size: number, order: Row['order'], most: number): Bar =>
  atMost(`paged ${size}, ${order}`, ratioOf(rows, 'paged', order, size), most);
