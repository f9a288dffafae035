/** Rounds on a clock that is made up: what is left out, and what is begun anew. */
import { expect, test } from 'vitest';
import type { PassClock } from '../../../webview/bench/clock';
import type { Gpu } from '../../../webview/bench/device';
import { type Method, measure, type Watcher } from '../../../webview/bench/measure';
import type { Kind, Variant } from '../../../webview/bench/variants';

const METHOD: Method = { rounds: 9, target: 10, most: 50, cap: 60_000 };
const watcher: Watcher = { pause: async () => {}, progress: () => {} };
const gpu = { adapter: { fallback: false } } as Gpu;

/** A clock that says of each kind what it takes; `kinds` are what it goes by, call after call, the last from then on. */
function setUp(
  steps: Partial<Record<Kind, number>>,
  kinds: readonly (readonly [number, 'timestamps' | 'wall'])[] = [],
) {
  const variants = Object.keys(steps).map((kind) => ({ kind, step: { dispatches: [kind] } }) as unknown as Variant);
  let calls = 0;
  const clock: PassClock = {
    kind: () => kinds.findLast(([from]) => calls >= from)?.[1] ?? 'timestamps',
    quantum: () => undefined,
    async time([kind], times) {
      calls++;
      const scale = clock.kind() === 'wall' ? 3 : 1;
      return scale * times * (steps[kind as unknown as Kind] ?? 0);
    },
  };
  return { variants, clock };
}

const kindsOf = (measured: Awaited<ReturnType<typeof measure>>) => measured.map(({ variant }) => variant.kind);

test('a naive step that is too long for a drawn window is left out, any other is an error', async () => {
  const slowNaive = setUp({ contiguous: 8, naive: 400 });
  const measured = await measure(gpu, slowNaive.clock, slowNaive.variants, METHOD, watcher);
  expect(kindsOf(measured)).toEqual(['contiguous']);
  expect(measured[0]?.times).toEqual(Array(9).fill(8));
  const slow = setUp({ contiguous: 60 });
  await expect(measure(gpu, slow.clock, slow.variants, METHOD, watcher)).rejects.toThrow(/60 ms/);
});

test('on software the naive step is measured however long it takes', async () => {
  const soft = { adapter: { fallback: true } } as Gpu;
  const { clock, variants } = setUp({ contiguous: 60, naive: 400 });
  expect(kindsOf(await measure(soft, clock, variants, METHOD, watcher))).toEqual(['contiguous', 'naive']);
});

test('when the clock is given up in the middle, no time of the first one stays', async () => {
  const { clock, variants } = setUp({ contiguous: 10, again: 10 }, [[12, 'wall']]);
  for (const { times } of await measure(gpu, clock, variants, METHOD, watcher)) {
    expect(times).toEqual(Array(9).fill(30));
  }
});

test('disturbed rounds do not count, and there is an end to them', async () => {
  const { clock, variants } = setUp({ contiguous: 10 });
  const measured = await measure(gpu, clock, variants, METHOD, { ...watcher, disturbed: () => true });
  expect(measured[0]?.times).toEqual([]);
});
