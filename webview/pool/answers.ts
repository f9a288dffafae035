/** The worker's side of the protocol, apart from how messages travel: one scenario alive at a time. */
import { cellInfo, type Player, sharesOf, type TraceReader } from '../../src/core/pool';
import type { AboutRequest, Answer, Command, Passed, Picture, Scenario } from './protocol';
import { stagedOf } from './scenario';
import { createStage, type Stage } from './stage';

/** Work on one command, in turns: each ends with the index that is reached and the goal. */
export type Work = Generator<{ readonly index: number; readonly goal: number }, Answer>;

export interface Answers {
  /** `trace`: what a scenario's own trace has been read into. */
  readonly answer: (command: Command, trace?: TraceReader) => Work;
}

export function createAnswers(): Answers {
  let stage: Stage | undefined;

  function* load(scenario: Scenario, at: number, trace: TraceReader | undefined): Work {
    stage = undefined; // the old simulation goes before the new one is made
    const { spec, notes } = stagedOf(scenario, trace);
    const made = createStage(spec);
    stage = made;
    yield* toward(made, made.seek(at), at);
    return {
      type: 'loaded',
      worlds: made.players().map(({ world, view }, i) => ({
        title: spec.worlds[i]?.title ?? '',
        engine: world.engine,
        cells: view.cells,
        deviceCells: view.deviceCells,
        cellTokens: view.cellTokens,
      })),
      requests: spec.traffic.count,
      notes: [...notes],
    };
  }

  function* go(command: Command, trace: TraceReader | undefined): Work {
    if (command.type === 'load') {
      return yield* load(command.scenario, command.at, trace);
    }
    if (!stage) {
      return { type: 'failed', error: 'Nothing is loaded.' };
    }
    switch (command.type) {
      case 'step': {
        const goal = Math.max(0, stage.index() + command.steps);
        return shownOf(stage, yield* toward(stage, stage.seek(goal), goal), command);
      }
      case 'seek':
        return shownOf(stage, yield* toward(stage, stage.seek(command.index), command.index), command);
      case 'settle':
        yield* toward(stage, stage.goLive(), stage.index());
        return shownOf(stage, [], command);
      case 'inspect': {
        yield* toward(stage, stage.goLive(), stage.index());
        const player = stage.players()[command.world];
        const info = player && cellInfo(player.world, player.view, command.cell);
        return { type: 'inspected', index: stage.index(), info };
      }
    }
  }

  return {
    *answer(command, trace) {
      try {
        return yield* go(command, trace);
      } catch (error) {
        return { type: 'failed', error: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

/** So many steps' events are told; of a longer way the last ones. */
const TOLD = 64;

function* toward(
  stage: Stage,
  work: Generator<void>,
  goal: number,
): Generator<{ index: number; goal: number }, Passed[]> {
  const passed: Passed[] = [];
  let frames = stage.players().map((player) => player.frame());
  let before = stage.index();
  for (let next = work.next(); !next.done; next = work.next()) {
    const index = stage.index();
    if (index > before) {
      stage.players().forEach((player, world) => {
        const frame = player.frame();
        if (frame !== frames[world] && frame.events.length > 0) {
          passed.push({ index, world, events: frame.events });
        }
      });
    }
    passed.splice(0, Math.max(0, passed.length - TOLD));
    frames = stage.players().map((player) => player.frame());
    before = index;
    yield { index, goal };
  }
  return passed;
}

function shownOf(stage: Stage, passed: Passed[], asked: { selected: number; buffers: ArrayBuffer[] }): Answer {
  const live = stage.isLive();
  const told = live && asked.selected >= 0;
  const spare = [...asked.buffers];
  return {
    type: 'shown',
    index: stage.index(),
    first: stage.first(),
    reached: stage.reached(),
    ended: stage.ended(),
    pictures: stage.players().map((player) => pictureOf(player, spare)),
    passed,
    tables: told ? stage.tables(asked.selected).map((groups) => groups.map((t) => Int32Array.from(t))) : undefined,
    about: told ? aboutOf(stage, asked.selected) : undefined,
  };
}

function pictureOf({ frame, view, counts, world }: Player, spare: ArrayBuffer[]): Picture {
  return {
    frame: frame(),
    shares: sharesOf(frame(), world.scheduler.space().total),
    counts: counts.slice(),
    meta: copyOf(view.meta, spare),
    owner: copyOf(view.owner, spare),
    logical: copyOf(view.logical, spare),
  };
}

/** Into a buffer that the page has handed back, where one fits. */
function copyOf(source: Int32Array, spare: ArrayBuffer[]): Int32Array<ArrayBuffer> {
  const at = spare.findIndex((buffer) => buffer.byteLength === source.byteLength);
  const [buffer = new ArrayBuffer(source.byteLength)] = at < 0 ? [] : spare.splice(at, 1);
  const copy = new Int32Array(buffer);
  copy.set(source);
  return copy;
}

const NAMES = ['not yet arrived', 'waiting', 'running', 'preempted', 'swapped', 'finished', 'rejected'] as const;

function aboutOf(stage: Stage, request: number): AboutRequest | undefined {
  const requests = stage.players()[0]?.world.scheduler.requests;
  if (!requests || request >= requests.traffic.count) {
    return undefined;
  }
  const at = (values: ArrayLike<number>): number => values[request] ?? 0;
  return {
    request,
    status: NAMES[at(requests.status)] ?? 'waiting',
    prompt: at(requests.traffic.prompts),
    output: at(requests.traffic.outputs),
    computed: at(requests.computed),
    found: at(requests.hitTokens),
    preemptions: at(requests.preemptions),
  };
}
