/** Several worlds that serve the same traffic, played in step with one another: what the worker runs. */
import {
  type Clock,
  createPlayer,
  createWorld,
  type Player,
  type Traffic,
  tablesOf,
  type WorldOptions,
} from '../../src/core/pool';

export interface StageWorld {
  readonly title: string;
  readonly options: WorldOptions;
}

export interface StageSpec {
  readonly worlds: readonly StageWorld[];
  readonly traffic: Traffic;
  readonly clock: Clock;
  /** Tokens of one drawn cell where the memory has no blocks of its own. */
  readonly cellTokens: number;
}

/**
 * The first world leads: one step of the stage is one of its steps, and the others are shown at the step they compute at
 * that time. When its run has ended, the others go on, the one that lies behind first.
 */
export interface Stage {
  readonly players: () => readonly Player[];
  readonly index: () => number;
  /** The earliest index that is remembered, and the latest that was ever reached. */
  readonly first: () => number;
  readonly reached: () => number;
  readonly ended: () => boolean;
  readonly forward: () => boolean;
  readonly back: () => boolean;
  /** Goes to an index, wherever it lies. Each turn of the generator is one step of work. */
  readonly seek: (index: number) => Generator<void>;
  /** The simulations stand where the pictures do: tables and hashes can be asked for. */
  readonly isLive: () => boolean;
  readonly goLive: () => Generator<void>;
  /** World by world, a request's tables. Only where `isLive`. */
  readonly tables: (request: number) => readonly (readonly (readonly number[])[])[];
}

/** Bytes of history of each world; what lies before is run again when somebody goes there. */
const MEMORY = 32 * 2 ** 20;
/** Positions that nobody can go to any more are let go in batches. */
const FORGOTTEN_AT_ONCE = 1024;
/** Cells painted before the place that is gone to, so that stepping back from it is quick. */
const PAINTED_BEFORE = 2 ** 23;

export function createStage(spec: StageSpec): Stage {
  let players: Player[] = [];
  /** By index from `start`: the index of each player's frame. */
  let positions: number[][] = [];
  let start = 0;
  let dropped = 0;
  let at = 0;
  let reached = 0;

  const leader = (): Player => players[0] as Player;
  const followers = (): Player[] => players.slice(1);
  const note = (): void => {
    positions.push(players.map((player) => player.frame().index));
    reached = Math.max(reached, at);
  };

  /** Runs everything anew, unseen up to an index. */
  function open(from: number): void {
    const world = (options: WorldOptions) => createWorld(spec.traffic, options, spec.cellTokens);
    const [first, ...others] = spec.worlds;
    if (!first) {
      throw new RangeError('A stage needs a world.');
    }
    players = []; // one simulation at a time: the old ones go before the new ones are made
    const leading = createPlayer(world(first.options), spec.clock, { memoryBytes: MEMORY, from: (i) => i >= from });
    const { now } = leading.frame();
    players = [
      leading,
      ...others.map(({ options }) =>
        createPlayer(world(options), spec.clock, { memoryBytes: MEMORY, from: (_, time) => time >= now }),
      ),
    ];
    at = leading.frame().index;
    start = at;
    dropped = at;
    positions = [];
    note();
  }

  function advance(): boolean {
    if (leader().forward()) {
      const { now } = leader().frame();
      for (const follower of followers()) {
        while (follower.frame().now < now && follower.forward()) {}
      }
      return true;
    }
    const behind = followers()
      .filter((follower) => !follower.ended())
      .sort((a, b) => a.frame().now - b.frame().now)[0];
    return behind?.forward() ?? false;
  }

  function place(index: number): void {
    at = index;
    const wanted = positions[index - start] ?? [];
    players.forEach((player, i) => {
      player.seek(wanted[i] ?? 0);
    });
  }

  const lastKnown = (): number => start + positions.length - 1;

  function forward(): boolean {
    if (at < lastKnown()) {
      place(at + 1);
      return true;
    }
    if (!advance()) {
      return false;
    }
    at++;
    note();
    return true;
  }

  function first(): number {
    const isRemembered = (index: number) =>
      players.every((player, i) => player.first() <= (positions[index - start]?.[i] ?? 0));
    while (!isRemembered(dropped)) {
      dropped++;
    }
    if (dropped - start > FORGOTTEN_AT_ONCE) {
      positions.splice(0, dropped - start);
      start = dropped;
    }
    return dropped;
  }

  function back(): boolean {
    if (at <= first()) {
      return false;
    }
    place(at - 1);
    return true;
  }

  const window = (): number =>
    Math.min(256, Math.ceil(PAINTED_BEFORE / Math.max(1, ...players.map(({ view }) => view.cells))));

  function* seek(index: number): Generator<void> {
    if (index < first() || index > lastKnown() + 4 * window()) {
      open(Math.max(0, index - window()));
    }
    while (at < index && forward()) {
      yield;
    }
    while (at > index && back()) {
      yield;
    }
  }

  const isLive = (): boolean => players.every((player) => player.frame().index === player.last());

  function* goLive(): Generator<void> {
    if (!isLive()) {
      const index = at;
      open(Math.max(0, index - window()));
      yield* seek(index);
    }
  }

  const leaderCount = (): number => leader().world.scheduler.requests.traffic.count;
  /** Where one world forks and another does not, requests have the same number up to the first that does. */
  const forked = spec.traffic.samples.findIndex((several) => several > 1);
  const firstFork = forked < 0 ? Number.POSITIVE_INFINITY : forked;

  open(0);
  return {
    players: () => players,
    index: () => at,
    first,
    reached: () => reached,
    ended: () => players.every((player) => player.ended()),
    forward,
    back,
    seek,
    isLive,
    goLive,
    tables: (request) =>
      players.map(({ world }) => {
        const { count } = world.scheduler.requests.traffic;
        const known = request >= 0 && request < count && (request <= firstFork || count === leaderCount());
        return known ? tablesOf(world, request) : [];
      }),
  };
}
