import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createSimulation,
  createTrtllm,
  type Entry,
  entriesOf,
  fixedClock,
  freeBlocks,
  runsOfTokens,
  STATUS,
  type Trtllm,
  type TrtllmOptions,
  trafficBuilder,
} from '../../../src/core/pool';
import { runs, someTraffic } from './support';

/** Every device block is empty, in the tree or a request's own, once; references count the requests that hold an entry. */
function checkTree(scheduler: Trtllm): void {
  const { tree } = scheduler;
  const seen = new Uint8Array(tree.blocks + 1);
  const mark = (block: number) => {
    seen[block] = (seen[block] ?? 0) + 1;
  };
  tree.empty.forEach(mark);
  const references = new Map<Entry, number>();
  for (const request of scheduler.runningList()) {
    const { blocks, entries } = scheduler.holdingOf(request);
    entries.forEach((entry, i) => {
      if (entry) {
        expect(entry.block).toBe(blocks[i]);
        references.set(entry, (references.get(entry) ?? 0) + 1);
      } else {
        mark(blocks[i] ?? 0);
      }
    });
  }
  let hosted = 0;
  let waiting = 0;
  const inTree = new Set(entriesOf(tree.root));
  for (const entry of new Set([...inTree, ...references.keys()])) {
    expect(entry.references).toBe(references.get(entry) ?? 0);
    expect(entry.alive).toBe(inTree.has(entry));
    hosted += entry.block < 0 ? 1 : 0;
    waiting += entry.block >= 0 && entry.references === 0 ? 1 : 0;
    if (entry.block >= 0) {
      mark(entry.block);
    }
  }
  expect([...seen.subarray(1)].every((count) => count === 1)).toBe(true);
  expect([tree.hostUsed, tree.waiting]).toEqual([hosted, waiting]);
  expect(hosted).toBeLessThanOrEqual(tree.hostBlocks);
}

const someOptions: fc.Arbitrary<TrtllmOptions> = fc.record({
  blocks: fc.integer({ min: 16, max: 90 }),
  blockSize: fc.constantFrom(2, 4, 8),
  hostBlocks: fc.constantFrom(0, 3, 40),
  policy: fc.constantFrom('guaranteed-no-evict' as const, 'max-utilization' as const, 'static-batch' as const),
  reuse: fc.boolean(),
  partialReuse: fc.boolean(),
  copyOnPartialReuse: fc.boolean(),
  retention: fc.constantFrom(
    undefined,
    [{ start: 0, end: 8, priority: 90 }],
    [{ start: 0, priority: 10 }],
    [{ start: 4, end: 20, priority: 80, seconds: 0.5 }],
  ),
  maxBatch: fc.constantFrom(2, 16),
  batchTokens: fc.constantFrom(64, 128),
  maxLength: fc.constant(120),
  chunkedPrefill: fc.boolean(),
});

function run(scheduler: Trtllm, check = false) {
  const simulation = createSimulation(scheduler, {
    clock: fixedClock(0.02),
    onStep: () => {
      if (check) {
        checkTree(scheduler);
      }
    },
  });
  expect(simulation.run(20_000), 'it ends').toBe(false);
  return simulation.totals;
}

describe('TensorRT-LLM', () => {
  it('conserves blocks on the device and the host; guaranteed no evict never pauses', () => {
    fc.assert(
      fc.property(someTraffic, someOptions, (traffic, options) => {
        const scheduler = createTrtllm(traffic, options);
        const totals = run(scheduler, true);
        const { status } = scheduler.requests;
        expect(status.every((s) => s === STATUS.finished || s === STATUS.rejected)).toBe(true);
        expect(freeBlocks(scheduler.tree)).toBe(options.blocks);
        if (options.policy !== 'max-utilization') {
          expect(totals.preemptions).toBe(0);
        }
      }),
      runs(80),
    );
  });

  const options: TrtllmOptions = { blocks: 2710, blockSize: 32, maxBatch: 2048, batchTokens: 1e6, maxLength: 4096 };

  it.each([
    ['guaranteed-no-evict' as const, 57],
    ['max-utilization' as const, 84],
  ])('%s starts %i of the reference’s requests of 1,000 + 500 in 2,710 blocks of 32', (policy, expected) => {
    const builder = trafficBuilder('alike');
    for (let i = 0; i < 200; i++) {
      builder.add({ prompt: [{ source: 10 + i, first: 0, count: 1000 }], output: 500 });
    }
    const scheduler = createTrtllm(builder.build(), { ...options, policy });
    const simulation = createSimulation(scheduler, { clock: fixedClock(1) });
    simulation.advance();
    expect(scheduler.running()).toBe(expected);
  });

  const prompts = (...texts: readonly (readonly number[])[]) => {
    const builder = trafficBuilder('prompts');
    texts.forEach((tokens, i) => {
      builder.add({ arrival: i * 10, prompt: runsOfTokens(tokens), output: 1 });
    });
    return builder.build();
  };
  const base = [1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 23];

  it.each([
    ['whole blocks, never the last token', base, false, 8],
    ['all but the last token', base, true, 11],
    ['part of a block', [1, 2, 3, 4, 5, 6, 99, 98], true, 6],
    ['nothing', [2, 2, 2, 2], true, 0],
  ])('reuses %s', (_, second, partialReuse, hit) => {
    const scheduler = createTrtllm(prompts(base, second), { ...options, blocks: 20, blockSize: 4, partialReuse });
    run(scheduler, true);
    expect(scheduler.requests.hitTokens[1]).toBe(hit);
  });

  it('a child goes with its parent when the host gives the parent up', () => {
    const scheduler = createTrtllm(
      prompts(
        base.slice(0, 9),
        Array.from({ length: 11 }, (_, i) => 500 + 2 * i),
      ),
      {
        ...options,
        blocks: 3,
        blockSize: 4,
        hostBlocks: 1,
        retention: [
          { start: 0, end: 4, priority: 30 },
          { start: 4, priority: 90 },
        ],
      },
    );
    run(scheduler, true);
    expect(freeBlocks(scheduler.tree)).toBe(3);
    expect(scheduler.tree.hostUsed).toBeLessThanOrEqual(1);
  });

  it('offloads what is worth keeping and brings it back', () => {
    const other = Array.from({ length: 23 }, (_, i) => 500 + 2 * i);
    const hits = (hostBlocks: number, priority: number) => {
      const scheduler = createTrtllm(prompts(base, other, base), {
        ...options,
        blocks: 6,
        blockSize: 4,
        hostBlocks,
        retention: [{ start: 0, priority }],
      });
      run(scheduler, true);
      return [scheduler.requests.hitTokens[2], scheduler.tree.onboards];
    };
    expect(hits(0, 35)).toEqual([0, 0]);
    expect(hits(8, 35)).toEqual([8, 2]);
    expect(hits(8, 29)).toEqual([0, 0]);
  });
});
