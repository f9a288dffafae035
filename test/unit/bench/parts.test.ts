/** What the benchmark rests on, without a GPU: tables, work, storage, reference, statistics, sizes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureReference } from '../../../webview/bench/cpu';
import { fitShape, slotsFor } from '../../../webview/bench/fit';
import { wordsOf } from '../../../webview/bench/kernels';
import { poolPlacement } from '../../../webview/bench/pool-table';
import { attend, headOutput, relativeError, storageError } from '../../../webview/bench/reference';
import { rowOf, type Shape } from '../../../webview/bench/shape';
import { isReal, median, medianInterval, pairedRatio, quantumOf } from '../../../webview/bench/statistics';
import { contentOf, fromHalf, imagesOf, loadRow, toHalf } from '../../../webview/bench/storage';
import { contiguous, paged, sharing, swapped } from '../../../webview/bench/tables';
import { chunkFor, workList } from '../../../webview/bench/work';

const shape: Shape = { heads: 4, kvHeads: 2, headDim: 64, dtype: 'f16', lengths: [5, 0, 33, 17] };

describe('tables', () => {
  const rows = (placement: ReturnType<typeof contiguous>): number[] =>
    shape.lengths.flatMap((length, sequence) =>
      Array.from({ length }, (_, token) => [0, 1].map((head) => rowOf(placement, 2, sequence, token, head))).flat(),
    );

  test.each(['HND', 'NHD'] as const)('every token of %s has a row of its own, inside the pool', (layout) => {
    for (const size of [1, 2, 16, 64, 256]) {
      for (const placement of [
        contiguous(shape, layout),
        paged(shape, size, 'sequential', layout),
        paged(shape, size, 'random', layout, { slots: 1024 }),
        poolPlacement(shape, size, layout, 2048),
      ]) {
        const found = rows(placement);
        expect(new Set(found).size).toBe(found.length);
        expect(Math.max(...found)).toBeLessThan(placement.slots * shape.kvHeads);
      }
    }
  });

  test('a pool that has served leaves its blocks out of order', () => {
    const long = { ...shape, lengths: [400, 700, 300, 500] };
    const { table } = poolPlacement(long, 16, 'HND', 2560);
    const steps = table.slice(1).map((block, i) => block - (table[i] ?? 0));
    expect(steps.filter((step) => step !== 1).length).toBeGreaterThan(8);
    expect(table).not.toContain(0); // vLLM's null block
  });

  test('sharing and the control change only what they say', () => {
    const placement = paged(shape, 4, 'random', 'HND');
    const shared = sharing(placement, shape, 8).table;
    expect([...shared.slice(2, 4)]).toEqual([...placement.table.slice(0, 2)]);
    const wrong = swapped(placement, shape).table;
    expect([...wrong].filter((block, i) => block !== placement.table[i]).length).toBe(2);
  });
});

test('the work list covers every token once, and spans say whose items are whose', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(700), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(64, 128, 512),
      (lengths, chunk) => {
        const some = { ...shape, lengths };
        const { items, count, spans } = workList(some, contiguous(some, 'HND'), chunk);
        lengths.forEach((length, sequence) => {
          const [first = 0, many = 0] = spans.slice(2 * sequence);
          let reached = 0;
          for (let n = first; n < first + many; n++) {
            const [whose, begin, end = 0] = items.slice(5 * n);
            expect([whose, begin]).toEqual([sequence, reached]);
            expect(end - reached).toBeLessThanOrEqual(chunk);
            reached = end;
          }
          expect(reached).toBe(length);
        });
        expect(spans.filter((_, i) => i % 2 === 1).reduce((a, b) => a + b, 0)).toBe(count);
      },
    ),
  );
});

describe('storage', () => {
  test('every float16 survives the way there and back', () => {
    const all = Array.from({ length: 0x7c00 }, (_, half) => half);
    expect(all.filter((half) => toHalf(fromHalf(half)) !== half)).toEqual([]);
    expect(all.filter((half) => toHalf(-fromHalf(half)) !== (half | 0x8000))).toEqual([]);
  });

  test('float16 rounds to the nearest, ties to even, and overflows to infinity', () => {
    expect([2049, 2051, 65519, 65520, 2 ** -25, 2 ** -24 * 1.5].map(toHalf)).toEqual([
      toHalf(2048),
      toHalf(2052),
      0x7bff,
      0x7c00,
      0,
      2,
    ]);
  });

  test.each([
    ['f32', 0, 0],
    ['f16', 1e-5, 2e-3],
    ['int8', 1e-3, 4e-2],
  ] as const)('%s changes an output by a little', (dtype, low, high) => {
    const error = storageError(dtype, 128);
    expect(error).toBeGreaterThanOrEqual(low);
    expect(error).toBeLessThanOrEqual(high);
  });

  test('slots of nobody are poisoned', () => {
    for (const dtype of ['f32', 'f16', 'int8'] as const) {
      const some = { ...shape, dtype, lengths: [3] };
      const { keys } = imagesOf(some, contentOf(some), paged(some, 16, 'sequential', 'NHD'));
      expect(Math.abs(loadRow(keys, dtype, 64, 31)[0] ?? 0)).toBeGreaterThan(60_000);
      expect(Math.abs(loadRow(keys, dtype, 64, 5)[0] ?? 0)).toBeLessThan(10);
    }
  });
});

describe('reference', () => {
  test('two tokens by hand', () => {
    const query = Float32Array.from([2, 0, 0, 0]);
    const keys = [
      [Math.log(3), 0, 0, 0],
      [0, 0, 0, 0],
    ];
    const values = [
      [4, 0, 0, 0],
      [0, 8, 0, 0],
    ];
    const output = attend(
      query,
      2,
      (token) => keys[token] ?? [],
      (token) => values[token] ?? [],
    );
    // Scores 2·ln 3 ÷ √4 = ln 3 and 0: weights 3/4 and 1/4.
    expect(output[0]).toBeCloseTo(3, 6);
    expect(output[1]).toBeCloseTo(2, 6);
  });

  test('no placement changes it', () => {
    const content = contentOf(shape);
    const outputs = [contiguous(shape, 'HND'), paged(shape, 4, 'random', 'NHD')].map((placement) =>
      headOutput(shape, placement, imagesOf(shape, content, placement), content.queries.subarray(0, 64), 2, 3),
    );
    expect(outputs[0]).toEqual(outputs[1]);
  });

  test('as a measurement: the same through every table, and ratios of the same clock are one', () => {
    let now = 0;
    const { same, paged: rows, milliseconds } = measureReference(() => now++);
    expect(same).toBe(true);
    expect(milliseconds).toBe(1);
    expect(rows.map(({ ratio }) => ratio.median)).toEqual([1, 1, 1]);
  });

  test('an output that is not finite is infinitely wrong', () => {
    expect(relativeError(Float32Array.from([1, Number.NaN]), Float64Array.from([1, 1]))).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('statistics', () => {
  // Order statistics of the sign test: n = 10 gives the 2nd and 9th (97.9 %), 21 the 6th and 16th (97.3 %).
  test.each([
    [10, 2, 9],
    [21, 6, 16],
    [31, 10, 22],
    [5, 1, 5],
  ])('the interval of %i values is from the %i. to the %i.', (n, low, high) => {
    const values = Array.from({ length: n }, (_, i) => i + 1);
    expect(medianInterval(values.toReversed())).toEqual({ median: median(values), low, high });
  });

  test('pairs cancel a drift', () => {
    const base = [1, 2, 4, 8, 16, 32, 64];
    expect(
      pairedRatio(
        base.map((t) => 1.25 * t),
        base,
      ),
    ).toEqual({ median: 1.25, low: 1.25, high: 1.25 });
  });

  test('a difference is real only when it clears the noise', () => {
    const noise = { median: 1, low: 0.95, high: 1.06 };
    expect(isReal({ median: 1.1, low: 1.05, high: 1.2 }, noise)).toBe(false);
    expect(isReal({ median: 1.1, low: 1.07, high: 1.2 }, noise)).toBe(true);
    // Noise that lies beside one makes no difference out of none.
    expect(isReal({ median: 1, low: 0.99, high: 1.01 }, { median: 1.03, low: 1.02, high: 1.04 })).toBe(false);
  });

  test('the step of a clock', () => {
    expect(quantumOf([65536n * 7n, 65536n * 12n, 0n])).toBe(65536n);
  });
});

describe('sizes', () => {
  const asked = { heads: 64, kvHeads: 8, headDim: 128, dtype: 'auto', blockSize: 16, prompt: 600, output: 250 };
  const gpu = { largestBuffer: 2 ** 30, fallback: false };

  test('what fits is taken as it is, and is more than any cache', () => {
    const { shape: fitted, changes } = fitShape(asked, gpu);
    expect(changes).toEqual([]);
    expect(fitted).toMatchObject({ heads: 64, kvHeads: 8, headDim: 128, dtype: 'f16' });
    const tokens = fitted.lengths.reduce((a, b) => a + b, 0);
    expect(tokens * 2 * 8 * 256).toBeGreaterThan(128 * 2 ** 20);
    expect(tokens * 8 * 256 * 1.2).toBeLessThan(gpu.largestBuffer);
  });

  test('everything that is changed is said', () => {
    const odd = { heads: 71, kvHeads: 1, headDim: 80, dtype: 'fp8_e4m3', blockSize: 784, prompt: 100_000, output: 0 };
    const { shape: fitted, blockSize, changes } = fitShape(odd, { largestBuffer: 2 ** 27, fallback: true });
    expect(fitted).toMatchObject({ headDim: 128, dtype: 'int8' });
    expect(blockSize).toBe(256);
    expect(changes.join('\n')).toMatch(
      /int8.*fp8_e4m3.*128 numbers instead of 80.*256 tokens instead of 784.*instead of 100000/s,
    );
  });

  test('whatever is asked for, no buffer is larger than the adapter allows', () => {
    const heads = fc.tuple(fc.constantFrom(1, 2, 8, 16, 128), fc.constantFrom(1, 7, 16, 128));
    const kind = fc.tuple(fc.constantFrom(64, 128, 256), fc.constantFrom('f32', 'f16', 'int8'));
    const size = fc.tuple(fc.constantFrom(1, 16, 100, 1000, 100_000), fc.constantFrom(2 ** 27, 2 ** 28, 2 ** 30));
    fc.assert(
      fc.property(heads, kind, size, fc.boolean(), ([kvHeads, group], [headDim, dtype], [prompt, largest], soft) => {
        const wish = { heads: kvHeads * group, kvHeads, headDim, dtype, blockSize: 16, prompt, output: 0 };
        const { shape: fitted } = fitShape(wish, { largestBuffer: largest, fallback: soft });
        const cache = slotsFor(fitted.lengths) * fitted.kvHeads * wordsOf(fitted.dtype, headDim) * 16;
        const tiles = Math.ceil(fitted.heads / fitted.kvHeads / 4);
        const { count } = workList(fitted, contiguous(fitted, 'HND'), chunkFor(fitted, tiles, 2048));
        expect(cache).toBeLessThanOrEqual(largest);
        expect(count * fitted.heads * (headDim + 4) * 4).toBeLessThanOrEqual(largest);
        expect(cache).toBeLessThanOrEqual(2 ** 29);
      }),
    );
  });

  test('a GPU with small buffers gets less', () => {
    const small = fitShape(asked, { largestBuffer: 2 ** 24, fallback: false });
    expect(small.shape.lengths.reduce((a, b) => a + b, 0) * 8 * 256 * 1.2).toBeLessThan(2 ** 24);
  });
});
