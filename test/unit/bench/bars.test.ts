/** What `npm run bench:kernels` asks of a result: the GPU's goals and the software adapter's bars. */
import { expect, test } from 'vitest';
import { judge } from '../../../webview/bench/bars';
import { aResult, aRow, plainRow } from './aResult';

const SIZES = [1, 16, 32, 64, 128, 256];
/** Of a GPU: reading takes this share of contiguous attention's time, blocks of a size cost that. */
const onGpu = (read: number, cost: Record<number, number> = {}) =>
  aResult({
    rows: [
      ...['contiguous' as const, 'again' as const].map((kind) => plainRow(kind, 1)),
      ...SIZES.map((size) => aRow(size, cost[size] ?? 1)),
      plainRow('read', read),
    ],
  });

function missedOf(result: ReturnType<typeof aResult>): string[] {
  const verdict = judge(result);
  expect(verdict).toHaveProperty('bars');
  return 'bars' in verdict ? verdict.bars.filter(({ missed }) => missed).map(({ what }) => what) : [];
}

test('a GPU that reaches every goal', () => {
  const result = onGpu(0.8, { 1: 1.3, 16: 1.1, 32: 1.05 });
  expect(missedOf(result)).toEqual([]);
  expect((judge(result) as { bars: unknown[] }).bars).toHaveLength(7);
});

test.each<[number, Parameters<typeof onGpu>[1], string]>([
  [0.72, {}, 'contiguous, of the measured read bandwidth'],
  [0.8, { 256: 1.08 }, 'paged 256, random'],
  [0.8, { 16: 1.13 }, 'paged 16, random'],
  [0.8, { 1: 1.38 }, 'paged 1, random'],
])('a goal is missed when the whole interval is beyond it: %d, %o', (read, cost, what) => {
  expect(missedOf(onGpu(read, cost))).toEqual([what]);
});

test('an interval that reaches the goal misses nothing; what was not measured does', () => {
  expect(missedOf(onGpu(0.74, { 16: 1.11 }))).toEqual([]);
  const rows = onGpu(0.8).rows.filter(({ kind }) => kind !== 'read');
  expect(missedOf({ ...onGpu(0.8), rows })).toEqual(['contiguous, of the measured read bandwidth']);
});

test.each<[Partial<ReturnType<typeof aResult>>, RegExp]>([
  [{ noise: { median: 1.3, low: 1.1, high: 1.4 } }, /too noisy: .*1\.30/],
  [{ clock: { kind: 'wall' } }, /wall clock/],
  [{ rounds: 9 }, /9 rounds/],
  [{ shape: { ...aResult().shape, bytes: 2 ** 24 } }, /16 MiB/],
  [{ shape: { ...aResult().shape, dtype: 'int8' } }, /f16/],
])('not judged, and why: %#', (over, why) => {
  expect(judge({ ...onGpu(0.1), ...over })).toEqual({ why: expect.stringMatching(why) });
});

test('software that plays a GPU has bars of its own, whatever was asked for', () => {
  const result = onGpu(0.1, { 16: 1.7 });
  const soft = { ...result, adapter: { ...result.adapter, fallback: true } };
  expect(missedOf(soft)).toEqual(['split against naive', 'paged 16, random', 'paged 1, sequential']);
});
