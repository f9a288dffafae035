// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { answersOf, type RunAnswer } from './answers';
import type { Clock, Machine } from './clock';
import { recomputeAgainstSwap } from './clock';
import { type ContiguousOptions, type ContiguousWaste, createContiguous } from './contiguous';
import type { Requests } from './scheduler';
import { createSimulation } from './simulation';
import type { Traffic } from './traffic';
import { createVllmV1, type VllmV1, type VllmV1Options } from './vllm-v1';
import { createWorld, type WorldOptions } from './worlds';

/** The rule of thumb for admission: ceil(prompt ÷ block) + 1 free blocks. Shown beside an engine's own rule, never used. */
export const ruleOfThumb = (prompt: number, blockSize: number): number => Math.ceil(prompt / blockSize) + 1;

/** One contiguous run: its answers, and each kind of waste as a share of the arena over time. */
export interface ContiguousAnswer extends RunAnswer {
  readonly waste: ContiguousWaste;
}

export function contiguousAnswer(traffic: Traffic, options: ContiguousOptions, clock: Clock): ContiguousAnswer {
  const scheduler = createContiguous(traffic, options);
  const sums = { reservation: 0, internal: 0, external: 0 };
  let last = 0;
  const simulation = createSimulation(scheduler, {
    clock,
    onStep: (now) => {
      const { reservation, internal, external } = scheduler.waste();
      sums.reservation += reservation * (now - last);
      sums.internal += internal * (now - last);
      sums.external += external * (now - last);
      last = now;
    },
  });
  simulation.run();
  const whole = (last || 1) * scheduler.arena.total;
  return {
    ...answersOf(simulation),
    waste: {
      reservation: sums.reservation / whole,
      internal: sums.internal / whole,
      external: sums.external / whole,
    },
  };
}

/** One paged run of vLLM V1. */
export function pagedAnswer(traffic: Traffic, options: VllmV1Options, clock: Clock): RunAnswer {
  const simulation = createSimulation(createVllmV1(traffic, { explainMisses: true, ...options }), { clock });
  simulation.run();
  return answersOf(simulation);
}

/** One run of any engine's rules. */
export function runWorld(traffic: Traffic, options: WorldOptions, clock: Clock): RunAnswer {
  const simulation = createSimulation(createWorld(traffic, options).scheduler, { clock });
  simulation.run();
  return answersOf(simulation);
}

/** *Estimated* seconds of GPU time that prefix hits saved: what computing those tokens would have taken. */
export function savedPrefillSeconds({ hitTokens }: Requests, machine: Machine): number {
  return hitTokens.reduce(
    (sum, tokens) => sum + (tokens > 0 ? recomputeAgainstSwap(machine, tokens, 0).recomputeSeconds : 0),
    0,
  );
}

export interface Headroom {
  /**
   * The pool, null block and watermark included, at which nothing of this traffic waits for memory; so nothing is preempted
   * either. Smaller pools may also do without preemption, by letting requests wait.
   */
  readonly blocks: number;
  /** Most blocks owned or asked for at once when nothing is short. */
  readonly peakBlocks: number;
  readonly watermarkBlocks: number;
  /** Runs it took to be sure: with prefix caching a smaller pool finds less, which can move the peak. */
  readonly runs: number;
}

/**
 * The unconstrained run's peak plus the watermark. What is asked for at an admission counts with the whole prompt, as
 * the engine asks for it, so that a pool of this size takes every decision the unconstrained one took.
 */
export function headroomOf(traffic: Traffic, options: Omit<VllmV1Options, 'blocks'>, clock: Clock): Headroom {
  const watermark = options.watermark ?? 0;
  const free = runV1(traffic, { ...options, watermark: 0, blocks: unconstrainedBlocks(traffic, options) }, clock);
  const peakBlocks = free.kv.peakDemand;
  let blocks = withWatermark(peakBlocks, watermark);
  for (let runs = 2; ; runs++) {
    const { kv } = runV1(traffic, { ...options, blocks }, clock);
    if (kv.shortages === 0 || runs > 12) {
      return { blocks, peakBlocks, watermarkBlocks: kv.watermarkBlocks, runs };
    }
    blocks = withWatermark(Math.max(kv.peakDemand, Math.ceil((blocks - 1) * 1.03)), watermark);
  }
}

function runV1(traffic: Traffic, options: VllmV1Options, clock: Clock): VllmV1 {
  const scheduler = createVllmV1(traffic, options);
  createSimulation(scheduler, { clock, sampleEvery: 1e9 }).run();
  return scheduler;
}

/** The smallest pool whose blocks, less the null block and ⌊watermark × blocks⌋, are `peak`. */
function withWatermark(peak: number, watermark: number): number {
  let blocks = Math.floor((peak + 1) / (1 - watermark));
  while (blocks - 1 - Math.trunc(watermark * blocks) < peak) {
    blocks++;
  }
  return blocks;
}

/** Enough for everybody who can run at once, and for keeping what they leave behind. */
function unconstrainedBlocks({ count, prompts, limits }: Traffic, options: Omit<VllmV1Options, 'blocks'>): number {
  let all = 1;
  for (const { blockSize } of options.groups) {
    for (let i = 0; i < count; i++) {
      all += Math.ceil((prompts[i]! + limits[i]!) / blockSize) + 1;
    }
  }
  return Math.min(all, MOST_BLOCKS);
}

/** 2^23 blocks of bookkeeping are 400 MB; more than any pool here. */
const MOST_BLOCKS = 2 ** 23;

export interface BlockSizeRow {
  readonly blockSize: number;
  /** Room in the last blocks that nothing fills, as a share of what is owned, over time. */
  readonly tailWaste: number;
  /** Tokens of tail at the end of a request, on average; at most the block size less one. */
  readonly tailTokens: number;
  /** Table entries of one request at its end, on average. */
  readonly tableEntries: number;
  /** Share of prompt tokens found in the cache. */
  readonly hitRate: number;
  readonly preemptions: number;
  /** Time of the attention kernel relative to the fastest size, from a benchmark result; undefined without one. */
  readonly kernelCost: number | undefined;
}

/** The same traffic and the same bytes at different block sizes. */
export function blockSizeStudy(
  traffic: Traffic,
  options: Omit<VllmV1Options, 'blocks' | 'groups'> & { readonly tokens: number },
  clock: Clock,
  sizes: readonly number[] = BLOCK_SIZES,
  kernel?: ReadonlyMap<number, number>,
): readonly BlockSizeRow[] {
  const fastest = Math.min(...(kernel?.values() ?? []));
  return sizes.map((blockSize) => {
    const blocks = Math.floor(options.tokens / blockSize) + 1;
    const groups = [{ kind: 'full' as const, blockSize }];
    const { room, prefix, preemptions } = pagedAnswer(traffic, { ...options, blocks, groups }, clock);
    const time = kernel?.get(blockSize);
    return {
      blockSize,
      tailWaste: room.owned > 0 ? 1 - room.held / room.owned : 0,
      ...tailsOf(traffic, blockSize),
      hitRate: prefix.rate,
      preemptions: preemptions.count,
      kernelCost: time === undefined ? undefined : time / fastest,
    };
  });
}

export const BLOCK_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const;

function tailsOf({ count, prompts, outputs }: Traffic, blockSize: number) {
  let tail = 0;
  let entries = 0;
  for (let i = 0; i < count; i++) {
    const tokens = prompts[i]! + outputs[i]! - 1; // the last token is never cached
    const blocks = Math.ceil(tokens / blockSize);
    entries += blocks;
    tail += blocks * blockSize - tokens;
  }
  return { tailTokens: tail / (count || 1), tableEntries: entries / (count || 1) };
}

/** Chat turns that came back after a think time of this many seconds. */
export interface ResidencyRow {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** Share of turns whose whole earlier conversation (its full blocks) was still cached. */
  readonly survival: number;
  /** Share of the earlier conversations' tokens that was still cached. */
  readonly cachedShare: number;
  /** Keeping the blocks through the think time: blocks × seconds a turn, on average. */
  readonly keepBlockSeconds: number;
  /** Computing the conversation again, *estimated* seconds of the GPU a turn; undefined without a machine. */
  readonly recomputeSeconds: number | undefined;
  readonly advice: 'prefix cache' | 'keep resident' | 'recompute';
}

const THINK_BOUNDS = [0, 1, 3, 10, 30, 100, 300, 1000, Number.POSITIVE_INFINITY];

/**
 * What becomes of a session between turns, measured on a run: freed blocks stay findable until somebody needs them.
 * Keeping them would hold blocks × think time; computing again holds the whole pool's work for a while. The advice is
 * the prefix cache where it survives at least half the time, otherwise the cheaper of the two in blocks × seconds.
 */
export function residencyStudy(
  traffic: Traffic,
  options: VllmV1Options,
  clock: Clock,
  machine?: Machine,
): readonly ResidencyRow[] {
  const { requests, kv } = runV1(traffic, options, clock);
  const blockSize = kv.groups[0]!.blockSize;
  const bins = THINK_BOUNDS.slice(1).map((to, i) => ({
    from: THINK_BOUNDS[i]!,
    to,
    turns: 0,
    survived: 0,
    cached: 0,
    tokens: 0,
    blockSeconds: 0,
    recompute: 0,
  }));
  for (let i = 0; i < traffic.count; i++) {
    const before = traffic.after[i]!;
    if (
      before < 0 ||
      traffic.sessions[i]! < 0 ||
      traffic.sessions[i] !== traffic.sessions[before] ||
      requests.admitted[i]! < 0
    ) {
      continue;
    }
    const think = traffic.arrivals[i]!;
    const bin = bins.find(({ from, to }) => think >= from && think < to)!;
    const earlier = traffic.prompts[before]! + traffic.outputs[before]! - 1;
    const whole = Math.floor(earlier / blockSize) * blockSize;
    bin.turns++;
    bin.tokens += whole;
    bin.cached += Math.min(whole, requests.hitTokens[i]!);
    bin.survived += requests.hitTokens[i]! >= whole ? 1 : 0;
    bin.blockSeconds += Math.ceil(earlier / blockSize) * think;
    bin.recompute += machine ? recomputeAgainstSwap(machine, earlier, 0).recomputeSeconds : 0;
  }
  return bins
    .filter(({ turns }) => turns > 0)
    .map(({ from, to, turns, survived, cached, tokens, blockSeconds, recompute }) => {
      const survival = survived / turns;
      const keepBlockSeconds = blockSeconds / turns;
      const recomputeSeconds = machine ? recompute / turns : undefined;
      const cheaperToKeep =
        recomputeSeconds !== undefined && keepBlockSeconds < recomputeSeconds * (kv.pool.blocks - 1) * (1 - survival);
      return {
        from,
        to,
        turns,
        survival,
        cachedShare: tokens > 0 ? cached / tokens : 0,
        keepBlockSeconds,
        recomputeSeconds,
        advice: survival >= 0.5 ? 'prefix cache' : cheaperToKeep ? 'keep resident' : 'recompute',
      };
    });
}
