// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Clock } from './clock';
import { grown } from './content';
import { createEventLog, type PoolEvent } from './events';
import { createPainter } from './paint';
import { createSimulation, type Simulation } from './simulation';
import { CELL_STATES, cellFill, cellOwners, cellState, createView, type PoolView } from './view';
import { schedulerOf, type World } from './worlds';

/** Room that holds nothing, in tokens, by why. */
export interface FrameWaste {
  /** The rest of last blocks. */
  readonly tail: number;
  /** Set aside for tokens still to come. */
  readonly reservation: number;
  /** Set aside and never filled. */
  readonly internal: number;
  /** Free, but in pieces too small for the request that waits. */
  readonly external: number;
}

/** One step: what is there while it is computed, as the picture shows it, and what happened in it. */
export interface Frame {
  /** Steps since the run began; 0 is the empty pool. */
  readonly index: number;
  readonly now: number;
  readonly running: number;
  readonly waiting: number;
  readonly finished: number;
  readonly rejected: number;
  /** Tokens of room: owned, held, findable. */
  readonly owned: number;
  readonly held: number;
  readonly cached: number;
  readonly waste: FrameWaste;
  readonly scheduledTokens: number;
  readonly preempted: readonly number[];
  readonly ended: readonly number[];
  readonly copied: number;
  readonly swappedOut: number;
  readonly swappedIn: number;
  readonly events: readonly PoolEvent[];
}

/** Parts of the pool's room, 0…1. */
export interface RoomShares {
  readonly held: number;
  readonly cached: number;
  readonly tail: number;
  readonly reservation: number;
  readonly internal: number;
  readonly external: number;
  /** All kinds of waste together. */
  readonly wasted: number;
}

export function sharesOf({ held, cached, waste }: Frame, room: number): RoomShares {
  const share = (tokens: number): number => (room > 0 ? tokens / room : 0);
  return {
    held: share(held),
    cached: share(cached),
    tail: share(waste.tail),
    reservation: share(waste.reservation),
    internal: share(waste.internal),
    external: share(waste.external),
    wasted: share(waste.tail + waste.reservation + waste.internal + waste.external),
  };
}

/** Plays a run forwards, remembers it, and goes back in it. `view` is always the state of `frame`. */
export interface Player {
  readonly world: World;
  readonly simulation: Simulation;
  readonly view: PoolView;
  /** Cells of the view by state. */
  readonly counts: Uint32Array;
  readonly frame: () => Frame;
  /** The frames that can be gone to. */
  readonly first: () => number;
  readonly last: () => number;
  /** The run has ended, and its last frame is the one that is shown. */
  readonly ended: () => boolean;
  /** One step on: from memory, or by running the simulation. False at the end of the run. */
  readonly forward: () => boolean;
  readonly back: () => boolean;
  readonly seek: (index: number) => void;
}

export interface PlayerOptions {
  /** How much history is kept. */
  readonly memoryBytes?: number;
  /** Where the history begins: steps run unseen until this is true of one, of its index and of the time it ends. */
  readonly from?: (index: number, now: number) => boolean;
}

/** About what a frame itself takes in memory, beside its changes and the lists in its events. */
const FRAME_BYTES = 600;

/** Cell, then meta, owner and logical index before and after. */
const CHANGE = 7;

interface Recorded {
  readonly frame: Frame;
  readonly changes: Int32Array;
}

const bytesOf = ({ frame, changes }: Recorded): number =>
  FRAME_BYTES +
  changes.byteLength +
  8 * frame.events.reduce((sum, event) => sum + ('cells' in event ? event.cells.length : 8), 0);

export function createPlayer(world: World, clock: Clock, options: PlayerOptions = {}): Player {
  const { memoryBytes = 64 * 2 ** 20, from = () => true } = options;
  const next = createView(world);
  const paint = createPainter(world, next);
  let at = 0;
  let seen = from(0, 0);
  let moment = momentOf(world, 0);
  const look = () => {
    paint();
    moment = momentOf(world, simulation.totals.finished);
  };
  const simulation = createSimulation(schedulerOf(world), {
    clock,
    sampleEvery: 1,
    onStep: (now) => {
      log.noteStep();
      if (seen || from(at + 1, now)) {
        look();
      }
    },
  });
  const log = createEventLog(world, simulation);
  let over = false;

  /** One step; at the end of the run, the pool after everybody has left. */
  function step(): Frame {
    const { steps } = simulation.totals;
    while (!over && simulation.totals.steps === steps) {
      over = !simulation.advance();
    }
    if (over) {
      look();
    }
    const idle = simulation.totals.steps === steps; // nothing was left to do: the last step's counts are not this frame's
    return frameOf(simulation, at + 1, moment, log.take(), idle);
  }

  let start = frameOf(simulation, 0, moment, []);
  while (!seen && !over) {
    start = step();
    at++;
    seen = from(at, simulation.now());
  }
  const view: PoolView = { ...next, meta: next.meta.slice(), owner: next.owner.slice(), logical: next.logical.slice() };
  const counts = new Uint32Array(CELL_STATES);
  for (const meta of view.meta) {
    counts[cellState(meta)]!++;
  }
  const recorded: Recorded[] = [{ frame: start, changes: new Int32Array(0) }];
  let dropped = at;
  let bytes = 0;

  function run(): boolean {
    if (over) {
      return false;
    }
    const frame = step();
    const changes = difference(view, next);
    recorded.push({ frame, changes });
    bytes += bytesOf(recorded.at(-1)!);
    while (bytes > memoryBytes && recorded.length > 2) {
      bytes -= bytesOf(recorded.shift()!);
      dropped++;
    }
    return true;
  }

  function forward(): boolean {
    if (at - dropped === recorded.length - 1 && !run()) {
      return false;
    }
    at++;
    apply(view, counts, recorded[at - dropped]!.changes, 4);
    return true;
  }

  function back(): boolean {
    if (at <= dropped) {
      return false;
    }
    apply(view, counts, recorded[at - dropped]!.changes, 1);
    at--;
    return true;
  }

  const last = () => dropped + recorded.length - 1;
  return {
    world,
    simulation,
    view,
    counts,
    frame: () => recorded[at - dropped]!.frame,
    first: () => dropped,
    last,
    ended: () => over && at === last(),
    forward,
    back,
    seek: (index) => {
      while (at < index && forward()) {}
      while (at > index && back()) {}
    },
  };
}

/** What a step changed is gathered here before it is kept; used again, and larger when it has to be. */
let gathered: Int32Array = new Int32Array(1024 * CHANGE);

function difference(before: PoolView, after: PoolView): Int32Array {
  const { cells, meta, owner, logical } = before;
  const { meta: nextMeta, owner: nextOwner, logical: nextLogical } = after;
  let end = 0;
  for (let cell = 0; cell < cells; cell++) {
    if (meta[cell] !== nextMeta[cell] || owner[cell] !== nextOwner[cell] || logical[cell] !== nextLogical[cell]) {
      if (end === gathered.length) {
        gathered = grown(gathered, end * 2);
      }
      gathered[end] = cell;
      gathered[end + 1] = meta[cell]!;
      gathered[end + 2] = owner[cell]!;
      gathered[end + 3] = logical[cell]!;
      gathered[end + 4] = nextMeta[cell]!;
      gathered[end + 5] = nextOwner[cell]!;
      gathered[end + 6] = nextLogical[cell]!;
      end += CHANGE;
    }
  }
  return gathered.slice(0, end);
}

function apply(view: PoolView, counts: Uint32Array, changes: Int32Array, side: 1 | 4): void {
  for (let i = 0; i < changes.length; i += CHANGE) {
    const cell = changes[i]!;
    const meta = changes[i + side]!;
    counts[cellState(view.meta[cell]!)]!--;
    counts[cellState(meta)]!++;
    view.meta[cell] = meta;
    view.owner[cell] = changes[i + side + 1]!;
    view.logical[cell] = changes[i + side + 2]!;
  }
}

type Moment = Pick<Frame, 'running' | 'waiting' | 'finished' | 'owned' | 'held' | 'cached' | 'waste'>;

/** What is counted while a step is computed: what it finishes is still held. */
function momentOf(world: World, finished: number): Moment {
  const scheduler = schedulerOf(world);
  const { owned, held, cached } = scheduler.space();
  return {
    running: scheduler.running(),
    waiting: scheduler.waiting(),
    finished,
    owned,
    held,
    cached,
    waste: wasteOf(world, owned - held),
  };
}

function wasteOf(world: World, empty: number): FrameWaste {
  const none = { tail: 0, reservation: 0, internal: 0, external: 0 };
  switch (world.engine) {
    case 'contiguous':
      return { ...none, ...world.scheduler.waste() };
    case 'llama.cpp': // the rest of a slot is for tokens to come; in a unified stream nothing is set aside
      return { ...none, reservation: empty };
    default:
      return { ...none, tail: empty };
  }
}

function frameOf(
  { scheduler, totals, now }: Simulation,
  index: number,
  moment: Moment,
  events: PoolEvent[],
  idle = false,
): Frame {
  const { step } = scheduler;
  const list = (values: Int32Array, count: number): number[] => (idle ? [] : [...values.subarray(0, count)]);
  return {
    index,
    now: now(),
    ...moment,
    rejected: totals.rejected,
    scheduledTokens: idle ? 0 : step.prefillTokens + step.decodeTokens,
    preempted: list(step.preempted, step.preemptedCount),
    ended: list(step.finished, step.finishedCount),
    copied: idle ? 0 : step.copied,
    swappedOut: idle ? 0 : step.swappedOut,
    swappedIn: idle ? 0 : step.swappedIn,
    events,
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
