/** What `npm run bench:kernels` asks of a result: the GPU's goals and the software adapter's bars. */
import { expect, test } from 'vitest';
import { barsOf } from '../../bench/kernels-report.mjs';
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

function judged(result: ReturnType<typeof aResult>, loud = false) {
  const lines: string[] = [];
  const counts = barsOf(result, { loud, say: (line: string) => lines.push(line) });
  return { ...counts, lines, missed: lines.filter((line) => line.includes('MISSED')) };
}

test('a GPU that reaches every goal', () => {
  expect(judged(onGpu(0.8, { 1: 1.3, 16: 1.1, 32: 1.05 }))).toMatchObject({ good: 7, bad: 0 });
});

test.each<[string, Parameters<typeof onGpu>, RegExp]>([
  ['too little of the bandwidth', [0.72], /read bandwidth: 0\.72 .* at least 0\.75/],
  ['blocks of 256', [0.8, { 256: 1.08 }], /paged 256, random: 1\.08/],
  ['blocks of 16', [0.8, { 16: 1.13 }], /paged 16/],
  ['blocks of 1', [0.8, { 1: 1.38 }], /paged 1, /],
])('a goal is missed when the whole interval is beyond it: %s', (_, [read, cost], what) => {
  const { missed, bad } = judged(onGpu(read, cost));
  expect(bad).toBe(1);
  expect(missed[0]).toMatch(what);
});

test('an interval that reaches the goal misses nothing; what was not measured does', () => {
  expect(judged(onGpu(0.74, { 16: 1.11 })).bad).toBe(0);
  expect(judged({ ...onGpu(0.8), rows: onGpu(0.8).rows.filter(({ kind }) => kind !== 'read') }).missed).toHaveLength(1);
});

test.each<[string, Partial<ReturnType<typeof aResult>>, boolean, RegExp]>([
  ['noise', {}, true, /too noisy/],
  ['the wall clock', { clock: { kind: 'wall' } }, false, /wall clock/],
  ['few rounds', { rounds: 9 }, false, /9 rounds/],
  ['too few bytes', { shape: { ...aResult().shape, bytes: 2 ** 24 } }, false, /16 MiB/],
])('not judged: %s', (_, over, loud, why) => {
  const { good, bad, lines } = judged({ ...onGpu(0.1), ...over }, loud);
  expect([good, bad]).toEqual([0, 0]);
  expect(lines.join()).toMatch(why);
});

test('software that plays a GPU has bars of its own, also under --gpu', () => {
  const result = onGpu(0.1, { 16: 1.7 });
  const soft = judged({ ...result, adapter: { ...result.adapter, fallback: true } });
  expect(soft.missed.join()).toMatch(/split against naive: not measured/);
  expect(soft.missed.join()).toMatch(/paged 16, random: 1\.70/);
  expect(soft.lines.join()).not.toMatch(/bandwidth/);
});
