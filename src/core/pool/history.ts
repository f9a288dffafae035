// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Clock } from './clock';
import { createSimulation, type Simulation } from './simulation';
import { cellFill, cellOwners, cellState, createView, type PoolView, paint } from './view';
import { schedulerOf, type World } from './worlds';

/** What happened in one step. */
export interface Frame {
  /** Steps since the run began; 0 is the empty pool. */
  readonly index: number;
  readonly now: number;
  readonly running: number;
  readonly waiting: number;
  readonly finished: number;
  /** Tokens of room: owned, held, findable. */
  readonly owned: number;
  readonly held: number;
  readonly cached: number;
  readonly scheduledTokens: number;
  readonly preempted: readonly number[];
  readonly ended: readonly number[];
  readonly copied: number;
  readonly swappedOut: number;
  readonly swappedIn: number;
}

/** Plays a run forwards, remembers it, and goes back in it. `view` is always the state of `frame`. */
export interface Player {
  readonly world: World;
  readonly simulation: Simulation;
  readonly view: PoolView;
  readonly frame: () => Frame;
  /** The frames that can be gone to. */
  readonly first: () => number;
  readonly last: () => number;
  /** One step on: from memory, or by running the simulation. False at the end of the run. */
  readonly forward: () => boolean;
  readonly back: () => boolean;
  readonly seek: (index: number) => void;
}

/** Cell, then meta, owner and logical index before and after. */
const CHANGE = 7;

interface Recorded {
  readonly frame: Frame;
  readonly changes: Int32Array;
}

export function createPlayer(world: World, clock: Clock, memoryBytes = 64 * 2 ** 20): Player {
  const view = createView(world);
  const next = createView(world);
  const simulation = createSimulation(schedulerOf(world), { clock, sampleEvery: 1, onStep: () => paint(world, next) });
  const recorded: Recorded[] = [{ frame: frameOf(simulation, 0), changes: new Int32Array(0) }];
  let dropped = 0;
  let bytes = 0;
  let at = 0;
  let over = false;

  function run(): boolean {
    const { steps } = simulation.totals;
    if (over) {
      return false;
    }
    while (!over && simulation.totals.steps === steps) {
      over = !simulation.advance();
    }
    if (over) {
      paint(world, next); // the last frame is the pool after everybody has left
    }
    const changes = difference(view, next);
    recorded.push({ frame: frameOf(simulation, at + 1), changes });
    bytes += changes.byteLength;
    while (bytes > memoryBytes && recorded.length > 2) {
      bytes -= recorded.shift()!.changes.byteLength;
      dropped++;
    }
    return true;
  }

  function forward(): boolean {
    if (at - dropped === recorded.length - 1 && !run()) {
      return false;
    }
    at++;
    apply(view, recorded[at - dropped]!.changes, 4);
    return true;
  }

  function back(): boolean {
    if (at <= dropped) {
      return false;
    }
    apply(view, recorded[at - dropped]!.changes, 1);
    at--;
    return true;
  }

  return {
    world,
    simulation,
    view,
    frame: () => recorded[at - dropped]!.frame,
    first: () => dropped,
    last: () => dropped + recorded.length - 1,
    forward,
    back,
    seek: (index) => {
      while (at < index && forward()) {}
      while (at > index && back()) {}
    },
  };
}

function difference(before: PoolView, after: PoolView): Int32Array {
  const changes: number[] = [];
  for (let cell = 0; cell < before.cells; cell++) {
    if (
      before.meta[cell] !== after.meta[cell] ||
      before.owner[cell] !== after.owner[cell] ||
      before.logical[cell] !== after.logical[cell]
    ) {
      changes.push(cell, before.meta[cell]!, before.owner[cell]!, before.logical[cell]!);
      changes.push(after.meta[cell]!, after.owner[cell]!, after.logical[cell]!);
    }
  }
  return Int32Array.from(changes);
}

function apply(view: PoolView, changes: Int32Array, side: 1 | 4): void {
  for (let i = 0; i < changes.length; i += CHANGE) {
    const cell = changes[i]!;
    view.meta[cell] = changes[i + side]!;
    view.owner[cell] = changes[i + side + 1]!;
    view.logical[cell] = changes[i + side + 2]!;
  }
}

/** The picture is that of the step while it is computed: what it finishes is still held. */
function frameOf({ scheduler, totals, now }: Simulation, index: number): Frame {
  const { step } = scheduler;
  const { owned, held, cached } = scheduler.space();
  return {
    index,
    now: now(),
    running: scheduler.running(),
    waiting: scheduler.waiting(),
    finished: totals.finished,
    owned,
    held,
    cached,
    scheduledTokens: step.prefillTokens + step.decodeTokens,
    preempted: [...step.preempted.subarray(0, step.preemptedCount)],
    ended: [...step.finished.subarray(0, step.finishedCount)],
    copied: step.copied,
    swappedOut: step.swappedOut,
    swappedIn: step.swappedIn,
  };
}

/** A frame as JSON: the same seed gives the same text, drawn or not. Free cells are left out. */
export function frameJson({ frame, view }: Pick<Player, 'frame' | 'view'>): string {
  const cells: (readonly number[])[] = [];
  for (let cell = 0; cell < view.cells; cell++) {
    const meta = view.meta[cell]!;
    if (meta !== 0) {
      cells.push([cell, cellState(meta), cellFill(meta), cellOwners(meta), view.owner[cell]!, view.logical[cell]!]);
    }
  }
  return JSON.stringify({ ...frame(), cells });
}
