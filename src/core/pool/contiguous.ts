// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { type Arena, allocateSlab, createArena, type Fit, freeSlab, slabSize, unusableRoom } from './arena';
import { atDeque, createDeque, popFront, pushBack } from './queues';
import {
  clearStep,
  createRequests,
  createStep,
  noteAdmitted,
  noteFinished,
  noteScheduled,
  type Scheduler,
  type Space,
  STATUS,
  sample,
} from './scheduler';
import type { Traffic } from './traffic';

export interface ContiguousOptions {
  /** Room for keys and values, in tokens. */
  readonly tokens: number;
  readonly maxLength: number;
  readonly fit: Fit;
  /** Continuous: requests join at every step (Orca). Static: a batch runs until its last request ends. */
  readonly batching: 'continuous' | 'static';
  readonly maxSequences: number;
  readonly batchTokens: number;
}

/** The three ways a contiguous arena wastes room, in tokens at one moment (Kwon et al., SOSP 2023, figure 3). */
export interface ContiguousWaste {
  /** Set aside for tokens the request is still going to produce. */
  readonly reservation: number;
  /** Set aside and never used: behind the request's true end, or held for a batch that has not ended. */
  readonly internal: number;
  /** Free, but in pieces too small for the request at the head of the queue. */
  readonly external: number;
}

export interface Contiguous extends Scheduler {
  readonly arena: Arena;
  /** Where a request's slab lies, or −1; and how long it is. */
  readonly slabOf: (request: number) => { readonly start: number; readonly size: number } | undefined;
  readonly waste: () => ContiguousWaste;
  /** What the request at the head of the queue wants; 0 when nobody waits. */
  readonly headSize: () => number;
  readonly runningList: () => number[];
}

/** The world before paging: one slab per request, as long as it may become. Nothing is shared, nothing preempted. */
export function createContiguous(traffic: Traffic, options: ContiguousOptions): Contiguous {
  const { maxLength, batching, maxSequences, batchTokens } = options;
  const arena = createArena(options.tokens, options.fit, maxLength);
  const requests = createRequests(traffic);
  const step = createStep(Math.min(maxSequences, traffic.count) + 1);
  const { computed, tokens, status } = requests;
  const queue = createDeque();
  const starts = new Int32Array(traffic.count).fill(-1);
  let running: number[] = [];

  /** What the request may become at most: the arena has to promise that. */
  const reserve = (request: number) => Math.min(maxLength, traffic.prompts[request]! + traffic.limits[request]!);

  function admitWaiting(now: number): void {
    if (batching === 'static' && running.length > 0) {
      return;
    }
    while (queue.size > 0 && running.length < maxSequences) {
      const request = atDeque(queue, 0);
      const start = allocateSlab(arena, reserve(request));
      if (start < 0) {
        return;
      }
      popFront(queue);
      starts[request] = start;
      noteAdmitted(requests, request, 0, now);
      running.push(request);
    }
  }

  function schedule(now: number): void {
    clearStep(step);
    admitWaiting(now);
    let budget = batchTokens;
    for (const request of running) {
      const fresh = status[request] === STATUS.running ? Math.min(tokens[request]! - computed[request]!, budget) : 0;
      if (fresh > 0) {
        noteScheduled(step, requests, request, fresh);
        budget -= fresh;
      }
    }
    for (let i = 0; i < step.count; i++) {
      computed[step.requests[i]!]! += step.tokens[i]!;
    }
  }

  function commit(now: number): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      if (computed[request] === tokens[request] && sample(requests, request, maxLength, now)) {
        noteFinished(step, requests, request, now);
      }
    }
    const ended = batching === 'continuous' || running.every((request) => status[request] === STATUS.finished);
    if (step.finishedCount > 0 && ended) {
      for (const request of running) {
        if (status[request] === STATUS.finished) {
          freeSlab(arena, starts[request]!, reserve(request));
          starts[request] = -1;
        }
      }
      running = running.filter((request) => starts[request]! >= 0);
    }
  }

  function enqueue(request: number): string | undefined {
    const size = slabSize(arena, reserve(request));
    if (traffic.prompts[request]! >= maxLength || size > arena.total) {
      return `A request of ${traffic.prompts[request]} and up to ${traffic.limits[request]} tokens does not fit ${Math.min(maxLength, arena.total)} tokens.`;
    }
    status[request] = STATUS.waiting;
    pushBack(queue, request);
    return undefined;
  }

  function waste(): ContiguousWaste {
    let reservation = 0;
    let internal = 0;
    for (const request of running) {
      const size = slabSize(arena, reserve(request));
      const end = Math.min(maxLength, traffic.prompts[request]! + traffic.outputs[request]!);
      if (status[request] === STATUS.finished) {
        internal += size;
      } else {
        reservation += end - computed[request]!;
        internal += size - end;
      }
    }
    return { reservation, internal, external: queue.size > 0 ? unusableRoom(arena, reserve(atDeque(queue, 0))) : 0 };
  }

  const owned = () => running.reduce((sum, request) => sum + slabSize(arena, reserve(request)), 0);

  function space(): Space {
    const held = running.reduce((sum, r) => sum + (status[r] === STATUS.running ? computed[r]! : 0), 0);
    return { total: arena.total, owned: owned(), cached: 0, held };
  }

  return {
    name: batching === 'static' ? 'static batching' : 'contiguous',
    arena,
    requests,
    step,
    enqueue,
    schedule,
    commit,
    running: () => running.length,
    waiting: () => queue.size,
    dropHead: () => (queue.size > 0 ? popFront(queue) : -1),
    space,
    owned,
    waste,
    headSize: () => (queue.size > 0 ? slabSize(arena, reserve(atDeque(queue, 0))) : 0),
    slabOf: (request) =>
      starts[request]! < 0 ? undefined : { start: starts[request]!, size: slabSize(arena, reserve(request)) },
    runningList: () => [...running],
  };
}
