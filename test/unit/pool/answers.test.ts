import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answersOf,
  BLOCK_SIZES,
  blockSizeStudy,
  contiguousAnswer,
  createSimulation,
  createVllmV1,
  fixedClock,
  generateTraffic,
  headroomOf,
  pagedAnswer,
  type RequestSpec,
  recomputeAgainstSwap,
  residencyStudy,
  rooflineClock,
  ruleOfThumb,
  runsOfTokens,
  runWorld,
  savedPrefillSeconds,
  trafficBuilder,
  type VllmV1Options,
  type WorldOptions,
} from '../../../src/core/pool';
import { runs, someTraffic, traceOf } from './support';

const clock = fixedClock(0.02);
const options: VllmV1Options = {
  blocks: 1001,
  groups: [{ kind: 'full', blockSize: 4 }],
  batchTokens: 256,
  maxSequences: 32,
  maxLength: 4096,
};

const requests = (...specs: readonly RequestSpec[]) => {
  const builder = trafficBuilder('by hand');
  specs.forEach((spec, i) => {
    builder.add({ arrival: 10 * i, ...spec });
  });
  return builder.build();
};
const prompt = (...tokens: number[]) => runsOfTokens(tokens);

describe('why a lookup misses', () => {
  const first = { prompt: prompt(1, 2, 3, 4, 5, 6, 7, 8, 9), output: 2 };
  const filler = { prompt: [{ source: 77, first: 0, count: 70 }], output: 1 };
  it.each<[string, RequestSpec[], number, string]>([
    ['all that could be found was', [first, { ...first }], 1001, 'complete'],
    ['the text goes its own way', [first, { prompt: prompt(1, 2, 3, 4, 9, 9, 9, 9, 9), output: 1 }], 1001, 'diverges'],
    ['nothing began like this', [first, { prompt: prompt(8, 2, 3, 4, 5, 6), output: 1 }], 1001, 'first-block-differs'],
    [
      'three tokens are no block',
      [first, { prompt: prompt(1, 2, 3, 9, 9, 9), output: 1 }],
      1001,
      'shorter-than-a-block',
    ],
    ['somebody needed the room', [first, filler, { ...first }], 20, 'evicted'],
    ['another adapter', [first, { ...first, adapter: 3 }], 1001, 'adapter-or-salt'],
    [
      'another salt',
      [
        { ...first, salt: 1 },
        { ...first, salt: 2 },
      ],
      1001,
      'adapter-or-salt',
    ],
  ])('%s', (_, specs, blocks, reason) => {
    const { prefix } = pagedAnswer(requests(...specs), { ...options, blocks }, clock);
    const found = Object.entries(prefix.reasons ?? {}).filter(([, { requests: count }]) => count > 0);
    const others = specs.length - 1;
    expect(found.map(([name]) => name)).toContain(reason);
    expect(found.reduce((sum, [, { requests: count }]) => sum + count, 0)).toBe(others + 1);
    expect(found.reduce((sum, [, { tokens }]) => sum + tokens, 0)).toBe(prefix.promptTokens - prefix.hitTokens);
  });
});

describe('headroom', () => {
  it('in a pool of that size nobody waits for memory or is preempted; without caching it takes the very decisions of an unconstrained one', () => {
    fc.assert(
      fc.property(someTraffic, fc.constantFrom(0, 0.01, 0.2), fc.boolean(), (traffic, watermark, caching) => {
        const given = { ...options, watermark, caching };
        const { blocks, peakBlocks } = headroomOf(traffic, given, clock);
        const run = (count: number, mark: number) => {
          const scheduler = createVllmV1(traffic, { ...given, watermark: mark, blocks: count });
          createSimulation(scheduler, { clock }).run();
          return scheduler;
        };
        const tight = run(blocks, watermark);
        expect(tight.requests.preemptions.every((count) => count === 0)).toBe(true);
        expect(tight.kv.shortages).toBe(0);
        expect(blocks).toBeGreaterThan(peakBlocks);
        if (!caching) {
          expect(traceOf(tight)).toBe(traceOf(run(100_000, 0)));
        }
      }),
      runs(100),
    );
  });

  it('one block less and somebody has to wait or give way', () => {
    const traffic = generateTraffic({
      requests: 50,
      seed: 3,
      arrivals: { kind: 'at-once' },
      prompt: { kind: 'uniform', low: 10, high: 80 },
      output: { kind: 'uniform', low: 10, high: 80 },
    });
    const { blocks } = headroomOf(traffic, { ...options, caching: false }, clock);
    const run = (count: number) => {
      const scheduler = createVllmV1(traffic, { ...options, caching: false, blocks: count });
      createSimulation(scheduler, { clock }).run();
      return traceOf(scheduler);
    };
    expect(run(blocks)).toBe(run(50_000));
    expect(run(blocks - 1)).not.toBe(run(50_000));
  });
});

describe('the answers of a run', () => {
  const chat = generateTraffic({
    requests: 300,
    seed: 5,
    arrivals: { kind: 'poisson', rate: 4 },
    prompt: { kind: 'lognormal', mean: 40, spread: 0.7, high: 200 },
    output: { kind: 'exponential', mean: 40, high: 200 },
    sharedPrefix: { tokens: 64, variants: 2 },
    chat: { turns: { kind: 'uniform', low: 1, high: 5 }, thinkSeconds: 8 },
  });

  it('paged: shares add up, nothing is lost, hits are there', () => {
    const answer = pagedAnswer(chat, options, clock);
    const { owned, held, cached, free, peakOwned } = answer.room;
    expect(answer.requests).toEqual({ all: 300, finished: 300, rejected: 0 });
    expect(owned + cached + free).toBeCloseTo(1, 9);
    expect(held).toBeLessThanOrEqual(owned);
    expect(owned - held).toBeLessThan((3 * answer.inFlight.mean) / (answer.room.totalTokens - 1) + 0.01);
    expect(peakOwned).toBeGreaterThan(owned);
    expect(answer.prefix.rate).toBeGreaterThan(0.3);
    expect(answer.times.timeToFirstToken.median).toBeGreaterThan(0.019);
    expect(answer.times.timePerOutputToken.median).toBeCloseTo(0.02, 2);
  });

  it.each(['slots', 'first-fit', 'best-fit'] as const)('contiguous, %s: the three kinds of waste apart', (fit) => {
    const limit = generateTraffic({
      requests: 200,
      seed: 2,
      arrivals: { kind: 'at-once' },
      prompt: { kind: 'uniform', low: 20, high: 200 },
      output: { kind: 'uniform', low: 10, high: 100 },
      limitFactor: 3,
    });
    const given = { tokens: 5000, maxLength: 512, fit, maxSequences: 64, batchTokens: 512 } as const;
    const { waste, room } = contiguousAnswer(limit, { ...given, batching: 'continuous' }, clock);
    expect(waste.reservation).toBeGreaterThan(0);
    expect(waste.internal).toBeGreaterThan(0.1);
    expect(waste.external > 0.01).toBe(true);
    expect(room.held + waste.reservation + waste.internal + waste.external).toBeLessThanOrEqual(1.01);
    const batch = contiguousAnswer(limit, { ...given, batching: 'static' }, clock);
    expect(batch.times.seconds).toBeGreaterThan(
      contiguousAnswer(limit, { ...given, batching: 'continuous' }, clock).times.seconds,
    );
    const paged = pagedAnswer(limit, { ...options, blocks: 1251 }, clock);
    expect(paged.inFlight.peak).toBeGreaterThan(
      contiguousAnswer(limit, { ...given, batching: 'continuous' }, clock).inFlight.peak,
    );
  });

  it('block sizes: tails below a block, fewer entries, fewer shared tokens', () => {
    const kernel = new Map([
      [16, 2],
      [256, 1],
    ]);
    const rows = blockSizeStudy(chat, { ...options, tokens: 40_000 }, clock, BLOCK_SIZES, kernel);
    rows.forEach((row, i) => {
      const smaller = rows[i - 1];
      expect(row.tailTokens).toBeLessThanOrEqual(row.blockSize - 1);
      expect(row.tableEntries).toBeLessThan(smaller?.tableEntries ?? Number.POSITIVE_INFINITY);
      expect(row.hitRate).toBeLessThanOrEqual((smaller?.hitRate ?? 1) + 0.02);
      expect(row.tailWaste).toBeGreaterThanOrEqual((smaller?.tailWaste ?? 0) - 0.001);
    });
    expect(rows[0]?.tailWaste).toBe(0);
    expect(rows.map(({ kernelCost }) => kernelCost)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      2,
      undefined,
      undefined,
      undefined,
      1,
    ]);
  });

  const machine = {
    bytesPerSecond: 3.35e12,
    operationsPerSecond: 989e12,
    weightBytes: 16e9,
    operationsPerToken: 16e9,
    operationsPerPair: 4 * 32 * 128 * 32,
    bytesPerToken: 131_072,
    bytesPerBlock: 131_072 * 16,
    linkBytesPerSecond: 64e9,
    overheadSeconds: 0.003,
  };

  it('residency: survival falls with think time in a small pool, and stays whole in a large one', () => {
    const large = residencyStudy(chat, { ...options, blocks: 20_001 }, clock, machine);
    const small = residencyStudy(chat, options, clock, machine);
    expect(large.reduce((sum, { turns }) => sum + turns, 0)).toBe(
      [...chat.after].filter((before) => before >= 0).length,
    );
    expect(large.every(({ survival, cachedShare }) => survival === 1 && cachedShare === 1)).toBe(true);
    const survivals = small.map(({ survival }) => survival);
    expect(survivals).toEqual([...survivals].sort((a, b) => b - a));
    expect(small.at(-1)?.survival).toBeLessThan(small[0]?.survival ?? 0);
    expect(small.at(-1)?.advice).not.toBe('prefix cache');
    expect(large[0]?.advice).toBe('prefix cache');
  });

  it('the roofline: reading bounds decodes, computing bounds prefills, swapping beats computing a long prompt again', () => {
    const step = {
      prefillTokens: 0,
      decodeTokens: 1,
      decodeContext: 0,
      prefillContext: 0,
      copied: 0,
      swappedIn: 0,
      swappedOut: 0,
    };
    const time = (part: Partial<typeof step>) => rooflineClock(machine)({ ...step, ...part } as never);
    expect(time({})).toBeCloseTo(0.003 + 16e9 / (3.35e12 * 0.75), 6);
    expect(time({ decodeTokens: 64 })).toBeCloseTo(time({}), 9);
    expect(time({ decodeContext: 1e6 })).toBeGreaterThan(time({}));
    expect(time({ prefillTokens: 8192, decodeTokens: 0 })).toBeCloseTo(0.003 + (16e9 * 8192) / (989e12 * 0.5), 6);
    const { recomputeSeconds, swapSeconds } = recomputeAgainstSwap(machine, 8000, 500);
    expect(swapSeconds).toBeLessThan(recomputeSeconds);
  });

  it('hits save prefill time; every engine answers the same questions', () => {
    const run = (caching: boolean) => {
      const scheduler = createVllmV1(chat, { ...options, caching });
      createSimulation(scheduler, { clock }).run();
      return savedPrefillSeconds(scheduler.requests, machine);
    };
    expect(run(false)).toBe(0);
    expect(run(true)).toBeGreaterThan(0.1);
    const worlds: readonly WorldOptions[] = [
      { engine: 'vllm-v1', ...options },
      { engine: 'vllm-v0', blocks: 1001, blockSize: 4, batchTokens: 4096, maxSequences: 32, maxLength: 4096 },
      { engine: 'sglang', tokens: 4000, maxRunning: 32, maxLength: 3000 },
      { engine: 'tensorrt-llm', blocks: 1000, blockSize: 4, batchTokens: 4096, maxBatch: 32, maxLength: 4096 },
      {
        engine: 'contiguous',
        tokens: 4000,
        maxLength: 1500,
        fit: 'best-fit',
        batching: 'continuous',
        maxSequences: 32,
        batchTokens: 256,
      },
      { engine: 'llama.cpp', slots: 4, cells: 1500 },
    ];
    for (const world of worlds) {
      const answer = runWorld(chat, world, clock);
      expect(answer.requests.finished + answer.requests.rejected, world.engine).toBe(300);
      expect(answer.requests.finished, world.engine).toBeGreaterThan(280);
      expect(answer.room.owned, world.engine).toBeGreaterThan(0);
      expect(answer.prefix.rate > 0.05, world.engine).toBe(world.engine !== 'vllm-v0' && world.engine !== 'contiguous');
    }
  });

  it('answers of a run that preempts: recomputed tokens and stalls', () => {
    const traffic = generateTraffic({
      requests: 40,
      seed: 1,
      arrivals: { kind: 'at-once' },
      prompt: { kind: 'fixed', value: 20 },
      output: { kind: 'fixed', value: 60 },
    });
    const simulation = createSimulation(createVllmV1(traffic, { ...options, blocks: 80, caching: false }), { clock });
    simulation.run();
    const { preemptions, times } = answersOf(simulation);
    expect(preemptions.count).toBeGreaterThan(0);
    expect(preemptions.recomputedTokens).toBeGreaterThan(preemptions.count * 20);
    expect(times.stalls.most).toBeGreaterThan(0);
    expect(times.stalls.count).toBe(preemptions.requests);
  });
});

it('the rule of thumb', () => {
  expect(ruleOfThumb(850, 16)).toBe(55);
});
