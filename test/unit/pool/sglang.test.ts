import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commonPrefix,
  createRadixCache,
  createSglang,
  createSimulation,
  evictTokens,
  fixedClock,
  generateTraffic,
  insertPrefix,
  lockPath,
  matchPrefix,
  nodesOf,
  openRuns,
  type RadixNode,
  type RadixPolicy,
  runsOfTokens,
  type Sglang,
  STATUS,
  type Traffic,
  trafficBuilder,
} from '../../../src/core/pool';
import { runs, someTraffic, someWorkload, traceOf } from './support';

/** Every page is free, in the tree or a running request's own, once; locks count the requests below. */
function checkPages(scheduler: Sglang, pages: number, pageSize: number): void {
  const { tree } = scheduler;
  const seen = new Uint8Array(pages + 1);
  const mark = (page: number) => {
    seen[page] = (seen[page] ?? 0) + 1;
  };
  let evictable = 0;
  let locked = 0;
  for (const node of nodesOf(tree.root)) {
    node.pages.forEach(mark);
    expect(node.tokens).toBe(node.pages.length * pageSize);
    evictable += node.locks === 0 ? node.tokens : 0;
    locked += node.locks > 0 && node.parent ? node.tokens : 0;
  }
  for (const request of scheduler.runningList()) {
    scheduler
      .pagesOf(request)
      .subarray(scheduler.treeTokens(request) / pageSize)
      .forEach(mark);
  }
  expect(Math.max(...seen)).toBeLessThanOrEqual(1);
  expect(seen.reduce((a, b) => a + b) + scheduler.freePages()).toBe(pages);
  expect([tree.evictable, tree.locked]).toEqual([evictable, locked]);
}

const someOptions = fc.record({
  tokens: fc.integer({ min: 60, max: 500 }),
  pageSize: fc.constantFrom(1, 4),
  radixCache: fc.boolean(),
  eviction: fc.constantFrom<RadixPolicy>('lru', 'lfu', 'slru', 'priority', 'fifo', 'mru', 'filo'),
  maxRunning: fc.constantFrom(2, 20),
  maxLength: fc.constant(120),
  chunk: fc.constantFrom(0, 16, 64),
  prefillTokens: fc.constantFrom(64, 1000),
  conservativeness: fc.constantFrom(0.1, 1),
});

describe('SGLang', () => {
  it('conserves pages, counts locks, ends every request, gives everything back', () => {
    fc.assert(
      fc.property(someTraffic, someOptions, (traffic, options) => {
        const pages = Math.floor(options.tokens / options.pageSize);
        const scheduler = createSglang(traffic, options);
        const simulation = createSimulation(scheduler, {
          clock: fixedClock(0.02),
          onStep: () => checkPages(scheduler, pages, options.pageSize),
        });
        expect(simulation.run(20_000), 'it ends').toBe(false);
        const { status } = scheduler.requests;
        expect(status.every((s) => s === STATUS.finished || s === STATUS.rejected)).toBe(true);
        expect(scheduler.freePages() + scheduler.tree.evictable / options.pageSize).toBe(pages);
        expect(scheduler.tree.locked).toBe(0);
      }),
      runs(200),
    );
  });

  it('does the same with the same seed, and retracts when its bet is lost', () => {
    const traffic = () =>
      generateTraffic({
        requests: 60,
        seed: 4,
        arrivals: { kind: 'poisson', rate: 10 },
        prompt: { kind: 'uniform', low: 4, high: 12 },
        output: { kind: 'uniform', low: 10, high: 200 },
      });
    const run = () => {
      const scheduler = createSglang(traffic(), { tokens: 600, maxRunning: 60, maxLength: 500, conservativeness: 0.1 });
      const simulation = createSimulation(scheduler, { clock: fixedClock(0.02) });
      simulation.run();
      return { trace: traceOf(scheduler), totals: simulation.totals };
    };
    const [one, other] = [run(), run()];
    expect(one).toEqual(other);
    expect(one.totals.preemptions).toBeGreaterThan(0);
    expect(one.totals.finished).toBe(60);
  });
});

it.each([
  [10, 1],
  [9, 2],
])('an exact fit is refused: with %i tokens to come, %i run', (limit, running) => {
  const builder = trafficBuilder('fit');
  builder.add({ prompt: [{ source: 10, first: 0, count: 10 }], output: 10 });
  builder.add({ prompt: [{ source: 11, first: 0, count: 8 }], output: limit });
  const scheduler = createSglang(builder.build(), { tokens: 40, maxRunning: 9, maxLength: 90 });
  createSimulation(scheduler, { clock: fixedClock(1) }).run(1);
  // 40 − (10 + 10 + 1) are left; 8 + limit + 1 must be fewer.
  expect(scheduler.running()).toBe(running);
});

it('two requests that computed the same text at once end up on one copy', () => {
  const builder = trafficBuilder('twins');
  for (const last of [70, 71]) {
    builder.add({
      prompt: [...runsOfTokens([1, 2, 3, 4, 5, 6, 7, 8]), { source: 0, first: last, count: 1 }],
      output: 9,
    });
  }
  const scheduler = createSglang(builder.build(), { tokens: 100, maxRunning: 9, maxLength: 90 });
  createSimulation(scheduler, { clock: fixedClock(1) }).run(1);
  expect(scheduler.running()).toBe(2);
  expect(100 - scheduler.freePages()).toBe(8 + 2);
  const [one = [], two = []] = [0, 1].map((request) => [...scheduler.pagesOf(request)]);
  expect(two.slice(0, 8)).toEqual(one.slice(0, 8));
  expect(two[8]).not.toBe(one[8]);
});

describe('the radix tree', () => {
  const longest = (traffic: Traffic, before: number, request: number, page: number) => {
    let most = 0;
    for (let other = 0; other < before; other++) {
      const whole = (traffic.prompts[other] ?? 0) - ((traffic.prompts[other] ?? 0) % page);
      most = Math.max(most, commonPrefix(traffic, other, whole, request, traffic.prompts[request] ?? 0));
    }
    return most - (most % page);
  };

  it('finds the longest prefix that anybody stored, whole pages', () => {
    fc.assert(
      fc.property(someWorkload, fc.constantFrom(1, 3, 8), (spec, page) => {
        const traffic = generateTraffic({ ...spec, adapters: undefined });
        const tree = createRadixCache(page);
        let next = 1;
        for (let request = 0; request < traffic.count; request++) {
          const length = traffic.prompts[request] ?? 0;
          const found = matchPrefix(tree, openRuns(traffic, request, length), '');
          expect(found.tokens).toBe(longest(traffic, request, request, page));
          const pages = Int32Array.from({ length: Math.ceil(length / page) }, () => next++);
          expect(insertPrefix(tree, openRuns(traffic, request, length), pages, '', 0)).toBe(found.tokens);
        }
        const stored = [...nodesOf(tree.root)].reduce((sum, node) => sum + node.tokens, 0);
        expect(tree.evictable).toBe(stored);
        expect(evictTokens(tree, Number.POSITIVE_INFINITY, () => {})).toBe(stored);
      }),
      runs(200),
    );
  });

  const three = () => {
    const builder = trafficBuilder('three');
    for (const tokens of [
      [1, 2, 3, 4],
      [1, 2, 9, 8],
      [7, 7, 7, 7],
    ]) {
      builder.add({ prompt: runsOfTokens(tokens), output: 1 });
    }
    return builder.build();
  };

  it.each<[RadixPolicy, number]>([
    ['lru', 2],
    ['mru', 1],
    ['lfu', 2],
    ['fifo', 0],
    ['filo', 2],
    ['priority', 1],
  ])('%s evicts its leaf first, never a locked one', (policy, expected) => {
    const traffic = three();
    const tree = createRadixCache(1, policy);
    const leaves: RadixNode[] = [];
    for (const request of [0, 1, 2]) {
      const priority = request === 1 ? 0 : 5;
      insertPrefix(tree, openRuns(traffic, request, 4), Int32Array.of(1, 2, 3, 4), '', priority);
    }
    for (const request of [2, 0, 1]) {
      leaves[request] = matchPrefix(tree, openRuns(traffic, request, 4), '').node;
    }
    for (const request of [0, 1]) {
      insertPrefix(tree, openRuns(traffic, request, 4), Int32Array.of(1, 2, 3, 4), '', 0);
    }
    lockPath(tree, leaves[expected === 2 ? 0 : 2] as RadixNode, 1);
    evictTokens(tree, 1, () => {});
    expect(leaves.map((leaf) => leaf.alive)).toEqual([0, 1, 2].map((request) => request !== expected));
  });
});
