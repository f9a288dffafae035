import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BlockPool,
  createContiguous,
  createLlamaSlots,
  createSimulation,
  createVllmV0,
  createVllmV1,
  findBlock,
  fixedClock,
  freeQueue,
  freeRoom,
  type GroupSpec,
  hashOf,
  type KvCache,
  NULL_BLOCK,
  ownersOf,
  type SequencePool,
  STATUS,
  sequenceTable,
  type Traffic,
  tableOf,
  type VllmV1,
  type VllmV1Options,
} from '../../../src/core/pool';
import { runs, someTraffic, traceOf } from './support';

const BLOCK = 4;

const someGroups: fc.Arbitrary<readonly GroupSpec[]> = fc.constantFrom<readonly GroupSpec[]>(
  [{ kind: 'full', blockSize: BLOCK }],
  [{ kind: 'sliding', blockSize: BLOCK, window: 10 }],
  [
    { kind: 'full', blockSize: BLOCK },
    { kind: 'sliding', blockSize: BLOCK, window: 8 },
  ],
  [
    { kind: 'full', blockSize: BLOCK },
    { kind: 'chunked', blockSize: BLOCK, window: 16 },
    { kind: 'sliding', blockSize: BLOCK, window: 5 },
  ],
  [
    { kind: 'full', blockSize: 2 * BLOCK },
    { kind: 'sliding', blockSize: BLOCK, window: 8 },
  ],
  [
    { kind: 'full', blockSize: BLOCK },
    { kind: 'state', blockSize: BLOCK },
  ],
  [
    { kind: 'full', blockSize: BLOCK },
    { kind: 'snapshots', blockSize: BLOCK },
  ],
);

const someOptions: fc.Arbitrary<VllmV1Options> = fc.record({
  blocks: fc.integer({ min: 8, max: 90 }),
  groups: someGroups,
  batchTokens: fc.constantFrom(8, 32, 64),
  maxSequences: fc.constantFrom(2, 5, 16),
  maxLength: fc.constantFrom(80, 120),
  inFlightTokens: fc.constant(64),
  caching: fc.boolean(),
  watermark: fc.constantFrom(0, 0.1),
  retention: fc.constantFrom(undefined, 0, 16),
  policy: fc.constantFrom('fcfs' as const, 'priority' as const),
  reserveWholePrompt: fc.boolean(),
  draftHead: fc.boolean(),
  unhashedFirst: fc.boolean(),
  preallocate: fc.constantFrom(0, 0, 3),
});

/** Every block is in the free queue or owned, once; counts equal owners; what the hash table says is true. */
function checkCache(kv: KvCache, slots: readonly number[]): void {
  const { pool } = kv;
  const owners = new Int32Array(pool.blocks);
  for (const slot of slots) {
    kv.groups.forEach((_, group) => {
      for (const block of tableOf(kv, slot, group)) {
        owners[block] = (owners[block] ?? 0) + 1;
      }
    });
  }
  owners[NULL_BLOCK] = 1;
  expect(Int32Array.from(owners, (_, block) => ownersOf(pool, block))).toEqual(owners);
  const free = freeQueue(pool);
  expect(free.length).toBe(pool.free);
  expect(new Set(free).size).toBe(free.length);
  expect(free.every((block) => owners[block] === 0)).toBe(true);
  expect(free.length + owners.filter((count) => count > 0).length).toBe(pool.blocks);
  checkHashes(pool);
}

function checkHashes(pool: BlockPool): void {
  let hashed = 0;
  let reusable = 0;
  for (let block = 1; block < pool.blocks; block++) {
    const hash = hashOf(pool, block);
    if (hash) {
      hashed++;
      reusable += ownersOf(pool, block) === 0 ? 1 : 0;
      expect(findBlock(pool, hash.lo, hash.hi, hash.group)).toBeGreaterThan(0);
    }
  }
  expect(pool.hashed).toBe(hashed);
  expect(pool.reusable).toBe(reusable);
}

/** A running request writes at its end only: that block is its own. */
function checkWrites(scheduler: VllmV1): void {
  const { kv, requests } = scheduler;
  for (const request of scheduler.runningList()) {
    kv.groups.forEach(({ blockSize, kind }, group) => {
      const table = tableOf(kv, scheduler.slotOf(request), group);
      const next = kind === 'state' ? 0 : Math.floor((requests.computed[request] ?? 0) / blockSize);
      const block = table[next];
      if (block !== undefined) {
        expect(ownersOf(kv.pool, block)).toBe(1);
      }
    });
  }
}

function endsOf(scheduler: { readonly requests: { readonly status: Uint8Array } }): boolean {
  return scheduler.requests.status.every((status) => status === STATUS.finished || status === STATUS.rejected);
}

function runV1(traffic: Traffic, options: VllmV1Options, check: boolean): VllmV1 {
  const scheduler = createVllmV1(traffic, options);
  const simulation = createSimulation(scheduler, {
    clock: fixedClock(0.02),
    sampleEvery: 1,
    onStep: () => {
      if (check) {
        checkCache(
          scheduler.kv,
          scheduler.runningList().map((request) => scheduler.slotOf(request)),
        );
        checkWrites(scheduler);
      }
    },
  });
  expect(simulation.run(20_000), 'it ends').toBe(false);
  return scheduler;
}

describe('vLLM V1', () => {
  it('conserves blocks, counts owners, writes nothing shared, gives everything back', () => {
    fc.assert(
      fc.property(someTraffic, someOptions, (traffic, options) => {
        const scheduler = runV1(traffic, options, true);
        expect(endsOf(scheduler)).toBe(true);
        expect(scheduler.kv.pool.free).toBe(options.blocks - 1);
      }),
      runs(200),
    );
  });

  it('does the same with the same seed, watched or not', () => {
    fc.assert(
      fc.property(someTraffic, someOptions, (traffic, options) => {
        expect(traceOf(runV1(traffic, options, false))).toBe(traceOf(runV1(traffic, options, false)));
      }),
      runs(50),
    );
  });
});

function checkSequences(pool: SequencePool, sequences: readonly number[]): void {
  const owners = new Int32Array(pool.blocks);
  for (const sequence of sequences) {
    for (const block of sequenceTable(pool, sequence)) {
      owners[block] = (owners[block] ?? 0) + 1;
    }
  }
  expect(pool.references).toEqual(owners);
  expect(new Set(pool.stack.subarray(0, pool.free)).size).toBe(pool.free);
  expect(pool.free + owners.filter((count) => count > 0).length).toBe(pool.blocks - 1);
}

describe('vLLM V0', () => {
  it('conserves blocks through forks, copies on write, swaps and recomputation', () => {
    const options = fc.record({
      blocks: fc.integer({ min: 20, max: 120 }),
      blockSize: fc.constant(BLOCK),
      hostBlocks: fc.constantFrom(0, 30, 300),
      batchTokens: fc.constant(128),
      maxSequences: fc.constantFrom(4, 16),
      maxLength: fc.constant(120),
      watermark: fc.constantFrom(0, 0.01, 0.1),
      several: fc.constantFrom('samples' as const, 'beams' as const),
      preemption: fc.constantFrom(undefined, 'recompute' as const, 'swap' as const),
    });
    fc.assert(
      fc.property(someTraffic, options, (traffic, given) => {
        const scheduler = createVllmV0(traffic, given);
        const all = Array.from({ length: traffic.count }, (_, i) => i);
        const inState = (swapped: boolean) =>
          all
            .filter((request) => (scheduler.requests.status[request] === STATUS.swapped) === swapped)
            .flatMap((request) => scheduler.sequencesOf(request));
        const simulation = createSimulation(scheduler, {
          clock: fixedClock(0.02),
          onStep: () => {
            checkSequences(scheduler.pool, inState(false));
            checkSequences(scheduler.host, inState(true));
          },
        });
        expect(simulation.run(20_000), 'it ends').toBe(false);
        expect(scheduler.pool.free).toBe(given.blocks - 1);
        expect(scheduler.host.free).toBe(given.hostBlocks);
      }),
      runs(60),
    );
  });
});

describe('the contiguous arena', () => {
  it('never overlaps slabs, accounts for every token and gives everything back', () => {
    const options = fc.record({
      tokens: fc.integer({ min: 130, max: 900 }),
      maxLength: fc.constant(120),
      fit: fc.constantFrom('slots' as const, 'first-fit' as const, 'best-fit' as const),
      batching: fc.constantFrom('continuous' as const, 'static' as const),
      maxSequences: fc.constantFrom(3, 20),
      batchTokens: fc.constant(64),
    });
    fc.assert(
      fc.property(someTraffic, options, (traffic, given) => {
        const scheduler = createContiguous(traffic, given);
        const before = freeRoom(scheduler.arena);
        const simulation = createSimulation(scheduler, {
          clock: fixedClock(0.02),
          sampleEvery: 1,
          onStep: () => {
            const slabs = scheduler
              .runningList()
              .map((request) => scheduler.slabOf(request) ?? { start: -1, size: 0 })
              .sort((a, b) => a.start - b.start);
            slabs.forEach(({ start, size }, i) => {
              expect(start + size).toBeLessThanOrEqual(slabs[i + 1]?.start ?? given.tokens);
            });
            const { owned, held } = scheduler.space();
            const { reservation, internal } = scheduler.waste();
            expect(held + reservation + internal).toBe(owned);
            expect(owned + freeRoom(scheduler.arena)).toBe(before);
          },
        });
        expect(simulation.run(20_000), 'it ends').toBe(false);
        expect(freeRoom(scheduler.arena)).toBe(before);
        expect(scheduler.arena.sizes.length).toBe(1);
      }),
      runs(200),
    );
  });
});

describe('llama.cpp slots', () => {
  it('never hold more than their cells and end every request', () => {
    const options = fc.record({
      slots: fc.integer({ min: 1, max: 6 }),
      cells: fc.integer({ min: 40, max: 300 }),
      unified: fc.boolean(),
      batchTokens: fc.constantFrom(16, 64),
    });
    fc.assert(
      fc.property(someTraffic, options, (traffic, given) => {
        const scheduler = createLlamaSlots(traffic, given);
        const simulation = createSimulation(scheduler, {
          clock: fixedClock(0.02),
          onStep: () => {
            const cells = scheduler.slots.map((slot) => slot.cells);
            expect(Math.max(...cells)).toBeLessThanOrEqual(given.cells);
            if (given.unified) {
              expect(cells.reduce((a, b) => a + b)).toBeLessThanOrEqual(given.cells);
            }
          },
        });
        expect(simulation.run(20_000), 'it ends').toBe(false);
        expect(endsOf(scheduler)).toBe(true);
      }),
      runs(200),
    );
  });
});
