// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Clock } from './clock';
import { createHeap, popHeap, pushHeap } from './queues';
import { type Scheduler, STATUS } from './scheduler';

/** Sums over a run. */
export interface Totals {
  steps: number;
  /** Sum over steps of the requests scheduled in each. */
  requestSteps: number;
  prefillTokens: number;
  decodeTokens: number;
  preemptions: number;
  finished: number;
  rejected: number;
  swappedOut: number;
  swappedIn: number;
  copied: number;
  peakRunning: number;
  peakWaiting: number;
  /** Most room owned at any step, in tokens of room. */
  peakOwned: number;
  /** Time integrals (seconds × what they say), from samples. */
  seconds: number;
  ownedSeconds: number;
  heldSeconds: number;
  cachedSeconds: number;
  runningSeconds: number;
  waitingSeconds: number;
}

export interface Rejection {
  readonly request: number;
  readonly why: string;
}

/** A run in progress. `advance` takes one step; false when nothing is left to do. */
export interface Simulation {
  readonly scheduler: Scheduler;
  readonly totals: Totals;
  readonly rejections: Rejection[];
  readonly now: () => number;
  readonly advance: () => boolean;
  /** Steps until the end or until `steps` more are done; true when more is left. */
  readonly run: (steps?: number) => boolean;
}

export interface SimulationOptions {
  readonly clock: Clock;
  /** Room is sampled every so many steps; 1 is exact. */
  readonly sampleEvery?: number;
  /** Between a step's decisions and its end, when everything it allocated is held; also when it allocated nothing. */
  readonly onStep?: (now: number) => void;
}

const REJECTIONS_KEPT = 100;

/** Delivers arrivals, steps the scheduler and moves time. The same for every engine. */
export function createSimulation(scheduler: Scheduler, options: SimulationOptions): Simulation {
  const { requests, step } = scheduler;
  const { traffic, arrived, status } = requests;
  const { sampleEvery = 8, clock, onStep } = options;
  const totals = emptyTotals();
  const rejections: Rejection[] = [];
  const followers = followersOf(traffic.after, traffic.count);
  const due = createHeap((a, b) => (arrived[a]! - arrived[b]! || a - b) < 0);
  let next = 0;
  let now = 0;
  let sampledAt = 0;

  function reject(request: number, why: string): void {
    status[request] = STATUS.rejected;
    totals.rejected++;
    if (rejections.length < REJECTIONS_KEPT) {
      rejections.push({ request, why });
    }
    requests.finished[request] = now;
    release(request);
  }

  /** What waited for this request to end comes after its think time. */
  function release(request: number): void {
    for (let f = followers.first[request]!; f >= 0; f = followers.next[f]!) {
      arrived[f] = now + traffic.arrivals[f]!;
      pushHeap(due, f);
    }
  }

  function enqueue(request: number): void {
    const why = scheduler.enqueue(request);
    if (why !== undefined) {
      reject(request, why);
    }
  }

  function skipFollowers(): void {
    while (next < traffic.count && traffic.after[next]! >= 0) {
      next++;
    }
  }

  /** Time of the next arrival, or Infinity. */
  function nextArrival(): number {
    skipFollowers();
    const independent = next < traffic.count ? traffic.arrivals[next]! : Number.POSITIVE_INFINITY;
    return due.size > 0 ? Math.min(independent, arrived[due.items[0]!]!) : independent;
  }

  function deliver(): void {
    for (let at = nextArrival(); at <= now; at = nextArrival()) {
      if (due.size > 0 && arrived[due.items[0]!] === at) {
        enqueue(popHeap(due));
      } else {
        arrived[next] = at;
        enqueue(next++);
      }
    }
  }

  function sampleRoom(): void {
    const space = scheduler.space();
    const elapsed = now - sampledAt;
    totals.seconds += elapsed;
    totals.ownedSeconds += space.owned * elapsed;
    totals.heldSeconds += space.held * elapsed;
    totals.cachedSeconds += space.cached * elapsed;
    totals.runningSeconds += scheduler.running() * elapsed;
    totals.waitingSeconds += scheduler.waiting() * elapsed;
    sampledAt = now;
  }

  function count(): void {
    totals.steps++;
    totals.requestSteps += step.count;
    totals.prefillTokens += step.prefillTokens;
    totals.decodeTokens += step.decodeTokens;
    totals.preemptions += step.preemptedCount;
    totals.swappedOut += step.swappedOut;
    totals.swappedIn += step.swappedIn;
    totals.copied += step.copied;
    totals.peakRunning = Math.max(totals.peakRunning, scheduler.running());
    totals.peakWaiting = Math.max(totals.peakWaiting, scheduler.waiting());
    totals.peakOwned = Math.max(totals.peakOwned, scheduler.owned());
  }

  function advance(): boolean {
    deliver();
    if (scheduler.running() === 0 && scheduler.waiting() === 0) {
      const at = nextArrival();
      if (at === Number.POSITIVE_INFINITY) {
        sampleRoom();
        return false;
      }
      sampleRoom();
      now = at;
      deliver();
    }
    scheduler.schedule(now);
    count();
    if (step.count === 0 && step.finishedCount === 0 && scheduler.running() === 0) {
      // Nobody runs, nothing is held, and still the head does not fit: it never will.
      onStep?.(now);
      const request = scheduler.dropHead();
      if (request >= 0) {
        reject(request, 'It does not fit the empty pool.');
      }
      return true;
    }
    now += clock(step);
    onStep?.(now);
    if (totals.steps % sampleEvery === 0) {
      sampleRoom();
    }
    scheduler.commit(now);
    for (let i = 0; i < step.finishedCount; i++) {
      const request = step.finished[i]!;
      if (status[request] === STATUS.rejected) {
        reject(request, 'It was cut off: nothing was left to make room with.');
      } else {
        totals.finished++;
        release(request);
      }
    }
    return true;
  }

  return {
    scheduler,
    totals,
    rejections,
    now: () => now,
    advance,
    run: (steps = Number.POSITIVE_INFINITY) => {
      for (let i = 0; i < steps; i++) {
        if (!advance()) {
          return false;
        }
      }
      return true;
    },
  };
}

/** Who comes after whom, as linked lists in order of index. */
function followersOf(after: Int32Array, count: number): { readonly first: Int32Array; readonly next: Int32Array } {
  const first = new Int32Array(count).fill(-1);
  const next = new Int32Array(count).fill(-1);
  for (let i = count - 1; i >= 0; i--) {
    const before = after[i]!;
    if (before >= 0) {
      next[i] = first[before]!;
      first[before] = i;
    }
  }
  return { first, next };
}

const emptyTotals = (): Totals => ({
  steps: 0,
  requestSteps: 0,
  prefillTokens: 0,
  decodeTokens: 0,
  preemptions: 0,
  finished: 0,
  rejected: 0,
  swappedOut: 0,
  swappedIn: 0,
  copied: 0,
  peakRunning: 0,
  peakWaiting: 0,
  peakOwned: 0,
  seconds: 0,
  ownedSeconds: 0,
  heldSeconds: 0,
  cachedSeconds: 0,
  runningSeconds: 0,
  waitingSeconds: 0,
});

/** How much of a run is done, 0…1: requests that have left, of all. */
export const progressOf = ({ totals, scheduler }: Simulation): number =>
  (totals.finished + totals.rejected) / Math.max(1, scheduler.requests.traffic.count);
