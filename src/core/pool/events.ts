// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { STATUS } from './scheduler';
import type { Simulation } from './simulation';
import { watchWorld } from './watch';
import { schedulerOf, type World } from './worlds';

/** Something that happened in a step, as the simulation did it. */
export type PoolEvent =
  /** Given tokens for the first time; `found` tokens of its prompt were in the cache. */
  | { readonly kind: 'admitted'; readonly request: number; readonly found: number }
  /** Given tokens again after it had to give way. */
  | { readonly kind: 'resumed'; readonly request: number }
  /** Gave way; `lost` tokens are to be computed again, or none: they lie on the host. */
  | { readonly kind: 'preempted'; readonly request: number; readonly lost: number; readonly swapped: boolean }
  | { readonly kind: 'finished'; readonly request: number }
  | { readonly kind: 'rejected'; readonly request: number; readonly why: string }
  /** Blocks that were handed out anew and lost content that could still have been found. */
  | { readonly kind: 'evicted'; readonly cells: readonly number[] }
  /** A block that several read was copied before one wrote to it. */
  | { readonly kind: 'copied'; readonly from: number; readonly to: number }
  /** Blocks that went to the host, or came back. */
  | { readonly kind: 'swapped-out' | 'swapped-in'; readonly blocks: number };

export interface EventLog {
  /** To be called in every step, before it is committed. */
  readonly noteStep: () => void;
  /** What happened since it was last asked. */
  readonly take: () => PoolEvent[];
}

const NEVER = 0;
const SERVED = 1;
const GAVE_WAY = 2;

export function createEventLog(world: World, simulation: Simulation): EventLog {
  const { requests, step } = schedulerOf(world);
  const watch = watchWorld(world);
  const known = new Uint8Array(requests.traffic.count);
  let events: PoolEvent[] = [];
  let rejections = 0;
  /** A step was taken since the log was last asked; at the end of a run there is none. */
  let stepped = false;

  function noteServed(): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      if (known[request] === NEVER) {
        events.push({ kind: 'admitted', request, found: requests.hitTokens[request]! });
      } else if (known[request] === GAVE_WAY) {
        events.push({ kind: 'resumed', request });
      }
      known[request] = SERVED;
    }
  }

  function notePreempted(): void {
    for (const request of step.preempted.subarray(0, step.preemptedCount)) {
      const swapped = requests.status[request] === STATUS.swapped;
      events.push({ kind: 'preempted', request, lost: swapped ? 0 : requests.lost[request]!, swapped });
      known[request] = GAVE_WAY;
    }
  }

  function noteBlocks(): void {
    if (watch.evicted.length > 0) {
      events.push({ kind: 'evicted', cells: watch.evicted.splice(0) });
    }
    for (let i = 0; i < watch.copied.length; i += 2) {
      events.push({ kind: 'copied', from: watch.copied[i]!, to: watch.copied[i + 1]! });
    }
    watch.copied.length = 0;
    if (step.swappedOut > 0) {
      events.push({ kind: 'swapped-out', blocks: step.swappedOut });
    }
    if (step.swappedIn > 0) {
      events.push({ kind: 'swapped-in', blocks: step.swappedIn });
    }
  }

  function noteFinished(): void {
    for (const request of step.finished.subarray(0, step.finishedCount)) {
      if (requests.status[request] === STATUS.finished) {
        events.push({ kind: 'finished', request });
      }
    }
  }

  function noteRejected(): void {
    for (; rejections < simulation.rejections.length; rejections++) {
      events.push({ kind: 'rejected', ...simulation.rejections[rejections]! });
    }
  }

  return {
    noteStep: () => {
      stepped = true;
      notePreempted();
      noteServed();
    },
    take: () => {
      if (stepped) {
        noteBlocks(); // some engines still move blocks when a step is committed
        noteFinished();
        stepped = false;
      }
      noteRejected();
      const taken = events;
      events = [];
      return taken;
    },
  };
}
