// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Misses, MissReason } from './misses';
import { type Requests, STATUS } from './scheduler';
import type { Simulation } from './simulation';

/** How values are spread; seconds where they are times. */
export interface Spread {
  readonly count: number;
  readonly mean: number;
  readonly median: number;
  readonly p90: number;
  readonly p99: number;
  readonly most: number;
}

function spreadOf(values: Float64Array): Spread {
  const sorted = values.slice().sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const sum = sorted.reduce((a, b) => a + b, 0);
  const count = sorted.length;
  return { count, mean: count > 0 ? sum / count : 0, median: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) };
}

/** What a run says. Shares are 0…1 of the pool, averaged over time. */
export interface RunAnswer {
  readonly scheduler: string;
  readonly requests: { readonly all: number; readonly finished: number; readonly rejected: number };
  readonly inFlight: { readonly mean: number; readonly peak: number };
  readonly waiting: { readonly mean: number; readonly peak: number };
  /** Of the room: owned by somebody, of that filled; findable though nobody owns it; the most owned at any step. */
  readonly room: {
    readonly totalTokens: number;
    readonly owned: number;
    readonly held: number;
    readonly cached: number;
    readonly free: number;
    readonly peakOwned: number;
  };
  readonly prefix: {
    readonly promptTokens: number;
    readonly hitTokens: number;
    readonly rate: number;
    /** Requests and tokens by reason, where the scheduler keeps count. */
    readonly reasons: Readonly<Record<MissReason, { readonly requests: number; readonly tokens: number }>> | undefined;
  };
  readonly preemptions: {
    readonly count: number;
    readonly requests: number;
    readonly recomputedTokens: number;
    readonly swappedOutBlocks: number;
    readonly swappedInBlocks: number;
    readonly copiedBlocks: number;
  };
  /** Everything in seconds rests on the clock: with the roofline clock it is *estimated*, and faces say so. */
  readonly times: {
    readonly seconds: number;
    readonly queueing: Spread;
    readonly timeToFirstToken: Spread;
    readonly timePerOutputToken: Spread;
    /** Seconds that preempted requests waited to come back. */
    readonly stalls: Spread;
    readonly requestsPerSecond: number;
    readonly outputTokensPerSecond: number;
  };
  readonly steps: number;
  readonly requestSteps: number;
}

export function answersOf(simulation: Simulation): RunAnswer {
  const { scheduler, totals } = simulation;
  const { requests } = scheduler;
  const seconds = totals.seconds || 1;
  const total = scheduler.space().total;
  const share = (integral: number) => integral / seconds / total;
  return {
    scheduler: scheduler.name,
    requests: { all: requests.traffic.count, finished: totals.finished, rejected: totals.rejected },
    inFlight: { mean: totals.runningSeconds / seconds, peak: totals.peakRunning },
    waiting: { mean: totals.waitingSeconds / seconds, peak: totals.peakWaiting },
    room: {
      totalTokens: total,
      owned: share(totals.ownedSeconds),
      held: share(totals.heldSeconds),
      cached: share(totals.cachedSeconds),
      free: 1 - share(totals.ownedSeconds) - share(totals.cachedSeconds),
      peakOwned: totals.peakOwned / total,
    },
    prefix: prefixOf(requests, 'misses' in scheduler ? (scheduler.misses as Misses | undefined) : undefined),
    preemptions: {
      count: totals.preemptions,
      requests: requests.preemptions.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0),
      recomputedTokens: requests.recomputed.reduce((a, b) => a + b, 0),
      swappedOutBlocks: totals.swappedOut,
      swappedInBlocks: totals.swappedIn,
      copiedBlocks: totals.copied,
    },
    times: timesOf(requests, simulation.now()),
    steps: totals.steps,
    requestSteps: totals.requestSteps,
  };
}

function prefixOf({ traffic, admitted, hitTokens }: Requests, misses: Misses | undefined): RunAnswer['prefix'] {
  let prompt = 0;
  let hit = 0;
  for (let i = 0; i < traffic.count; i++) {
    if (admitted[i]! >= 0) {
      prompt += traffic.prompts[i]!;
      hit += hitTokens[i]!;
    }
  }
  const reasons = misses && reasonsOf(misses);
  return { promptTokens: prompt, hitTokens: hit, rate: prompt > 0 ? hit / prompt : 0, reasons };
}

const reasonsOf = ({ requests, tokens }: Misses) =>
  Object.fromEntries(
    Object.entries(requests).map(([reason, count]) => [
      reason,
      { requests: count, tokens: tokens[reason as MissReason] },
    ]),
  ) as Record<MissReason, { requests: number; tokens: number }>;

function timesOf(requests: Requests, now: number): RunAnswer['times'] {
  const { traffic, status, arrived, admitted, firstToken, finished, tokens, preemptions, stalled } = requests;
  const queueing: number[] = [];
  const first: number[] = [];
  const between: number[] = [];
  const stalls: number[] = [];
  let output = 0;
  let done = 0;
  for (let i = 0; i < traffic.count; i++) {
    const generated = tokens[i]! - traffic.prompts[i]!;
    output += generated;
    if (admitted[i]! >= 0) {
      queueing.push(admitted[i]! - arrived[i]!);
    }
    if (firstToken[i]! >= 0) {
      first.push(firstToken[i]! - arrived[i]!);
    }
    if (status[i] === STATUS.finished) {
      done++;
      if (generated > 1) {
        between.push((finished[i]! - firstToken[i]!) / (generated - 1));
      }
    }
    if (preemptions[i]! > 0) {
      stalls.push(stalled[i]!);
    }
  }
  const seconds = now || 1;
  return {
    seconds: now,
    queueing: spreadOf(Float64Array.from(queueing)),
    timeToFirstToken: spreadOf(Float64Array.from(first)),
    timePerOutputToken: spreadOf(Float64Array.from(between)),
    stalls: spreadOf(Float64Array.from(stalls)),
    requestsPerSecond: done / seconds,
    outputTokensPerSecond: output / seconds,
  };
}
