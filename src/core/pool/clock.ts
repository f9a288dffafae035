import type { Step } from './scheduler';

/** How long a step takes, in seconds. */
export type Clock = (step: Step) => number;

/** Every step takes the same time: what recordings and tests use. */
export const fixedClock =
  (seconds: number): Clock =>
  () =>
    seconds;

/** What the time of a step is estimated from. Everything is per GPU, of the slowest rank. */
export interface Machine {
  /** Memory bandwidth, bytes a second, and dense 16-bit operations a second, as the maker states them. */
  readonly bytesPerSecond: number;
  readonly operationsPerSecond: number;
  /** Weights this GPU reads once a step, in bytes. */
  readonly weightBytes: number;
  /** Operations one token costs on this GPU apart from attention: 2 × its share of the active parameters. */
  readonly operationsPerToken: number;
  /** Operations for one query token over one cached token: 4 × query heads × head size × layers on this GPU. */
  readonly operationsPerPair: number;
  /** Bytes of keys and values of one token on this GPU. */
  readonly bytesPerToken: number;
  /** Bytes of one block on this GPU, for copies and swaps. */
  readonly bytesPerBlock: number;
  /** Host link, bytes a second in one direction. */
  readonly linkBytesPerSecond: number;
  /** Launching a step: scheduler, sampling, collectives. */
  readonly overheadSeconds: number;
}

/**
 * Shares of the stated peaks that are reached in practice; why every time here is an estimate. Round figures, each inside
 * what was published: of the bandwidth 70 to 83 % in paged attention (arXiv:2501.01005), but over whole steps of batch 1 from
 * 81 % on an L4 down to 27 % on an H100 (arXiv:2605.30571: the faster the memory, the less of it); of the operations 76 % at
 * best, for large batches of input tokens (arXiv:2211.05102); of PCIe 60 to 80 %.
 */
const REACHED = { bandwidth: 0.75, operations: 0.5, link: 0.8 } as const;

/**
 * Estimated seconds of one step by the roofline: the larger of reading (weights once, every cached key and value that
 * attention looks at) and computing, plus the overhead and whatever is copied to or from the host.
 */
export function rooflineClock(machine: Machine): Clock {
  const bandwidth = machine.bytesPerSecond * REACHED.bandwidth;
  const operations = machine.operationsPerSecond * REACHED.operations;
  const link = machine.linkBytesPerSecond * REACHED.link;
  return (step) => {
    const tokens = step.prefillTokens + step.decodeTokens;
    const read =
      machine.weightBytes + machine.bytesPerToken * step.decodeContext + 2 * machine.bytesPerBlock * step.copied;
    const pairs = step.decodeContext + step.prefillContext;
    const compute = machine.operationsPerToken * tokens + machine.operationsPerPair * pairs;
    const swap = (Math.max(step.swappedOut, step.swappedIn) * machine.bytesPerBlock) / link;
    return Math.max(read / bandwidth, compute / operations) + machine.overheadSeconds + swap;
  };
}

/** Estimated seconds to compute `tokens` prompt tokens again, against fetching their blocks from the host. */
export function recomputeAgainstSwap(
  machine: Machine,
  tokens: number,
  blocks: number,
): { readonly recomputeSeconds: number; readonly swapSeconds: number } {
  const compute = machine.operationsPerToken * tokens + (machine.operationsPerPair * tokens * tokens) / 2;
  return {
    recomputeSeconds: Math.max(
      compute / (machine.operationsPerSecond * REACHED.operations),
      machine.weightBytes / (machine.bytesPerSecond * REACHED.bandwidth),
    ),
    swapSeconds: (blocks * machine.bytesPerBlock) / (machine.linkBytesPerSecond * REACHED.link),
  };
}
