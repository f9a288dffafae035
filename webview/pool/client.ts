/** The page's side of the pool's worker: at most one question about the picture under way, one simulation for the page. */
import { startWorker } from '../worker';
import { type Answer, type Command, type Loaded, readToPage, type Scenario, type Shown } from './protocol';

/** Where to go: so many steps from here, or to an index, or to where the simulation can be asked. */
export type Move =
  | { readonly kind: 'step'; readonly steps: number }
  | { readonly kind: 'seek'; readonly index: number }
  | { readonly kind: 'settle' };

export interface PoolClient {
  /** Replaces whatever is simulated. Undefined: something else was loaded meanwhile. */
  load(scenario: Scenario, at: number): Promise<Loaded | { readonly error: string } | undefined>;
  /** Asks for a picture; while one is under way, what is asked is gathered into the next. */
  move(move: Move, selected: number): void;
  /** Whether a picture is under way. */
  busy(): boolean;
  inspect(world: number, cell: number): Promise<Extract<Answer, { type: 'inspected' }> | undefined>;
  /** Whether the one simulation alive is this client's. */
  isHolder(): boolean;
  dispose(): void;
}

export interface PoolListener {
  onShown(shown: Shown): void;
  onProgress(index: number, goal: number): void;
  /** So much of the trace has been read, 0…1. */
  onReading(share: number): void;
  onError(text: string): void;
}

/** The worker of this page; views take turns with it, and only the one that is seen uses it. */
let shared: Promise<Worker> | undefined;
let last = 0;
/** Whose simulation is alive. */
let holder: symbol | undefined;

function workerOf(): Promise<Worker> {
  shared ??= startWorker('pool-worker').catch((error: unknown) => {
    shared = undefined; // it may be asked for again
    throw error;
  });
  return shared;
}

export function createPoolClient(mark: symbol, listener: PoolListener): PoolClient {
  const waiting = new Map<number, (answer: Answer) => void>();
  let worker: Worker | undefined;
  let underWay = false;
  let next: { move: Move; selected: number } | undefined;
  let current: Shown | undefined;
  let spare: ArrayBuffer[] = [];
  let generation = 0;
  let gone = false;

  const hear = ({ data }: MessageEvent<unknown>): void => {
    const message = readToPage(data);
    if (message?.kind === 'progress' && waiting.has(message.id)) {
      listener.onProgress(message.index, message.goal);
    } else if (message?.kind === 'reading' && waiting.has(message.id)) {
      listener.onReading(message.share);
    } else if (message?.kind === 'answer') {
      waiting.get(message.id)?.(message.answer);
      waiting.delete(message.id);
    }
  };
  /** The worker broke down: whoever waits is told, and the next scenario is run in a new one. */
  const onError = (): void => {
    worker?.terminate();
    worker = undefined;
    shared = undefined;
    for (const done of waiting.values()) {
      done({ type: 'failed', error: 'The simulation stopped. Another choice starts it again.' });
    }
    waiting.clear();
  };

  async function ask(command: Command, transfer: ArrayBuffer[] = []): Promise<Answer> {
    try {
      const started = await workerOf();
      if (gone) {
        return { type: 'failed', error: '' };
      }
      if (worker !== started) {
        worker = started;
        started.addEventListener('message', hear);
        started.addEventListener('error', onError);
      }
    } catch (error) {
      return { type: 'failed', error: error instanceof Error ? error.message : String(error) };
    }
    const id = ++last;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      worker?.postMessage({ id, command }, transfer);
    });
  }

  async function fetchPicture({ move, selected }: { move: Move; selected: number }): Promise<void> {
    underWay = true;
    const mine = generation;
    const buffers = spare;
    spare = [];
    const asked: Command =
      move.kind === 'step'
        ? { type: 'step', steps: move.steps, selected, buffers }
        : move.kind === 'seek'
          ? { type: 'seek', index: move.index, selected, buffers }
          : { type: 'settle', selected, buffers };
    const answer = await ask(asked, buffers);
    underWay = false;
    if (mine !== generation || gone || holder !== mark) {
      return;
    }
    if (answer.type === 'shown') {
      spare = current ? buffersOf(current) : [];
      current = answer;
      listener.onShown(answer);
    } else if (answer.type === 'failed') {
      listener.onError(answer.error);
    }
    const following = next;
    next = undefined;
    if (following) {
      void fetchPicture(following);
    }
  }

  return {
    async load(scenario, at) {
      const mine = ++generation;
      holder = mark;
      next = undefined;
      current = undefined;
      spare = [];
      const answer = await ask({ type: 'load', scenario, at });
      if (mine !== generation || gone || holder !== mark) {
        return undefined;
      }
      underWay = false;
      return answer.type === 'loaded' ? answer : { error: answer.type === 'failed' ? answer.error : 'No answer.' };
    },
    move(move, selected) {
      if (gone || holder !== mark) {
        return;
      }
      if (!underWay) {
        void fetchPicture({ move, selected });
      } else {
        next = { move: next ? joined(next.move, move) : move, selected };
      }
    },
    busy: () => underWay,
    isHolder: () => holder === mark,
    async inspect(world, cell) {
      const answer = holder === mark ? await ask({ type: 'inspect', world, cell }) : undefined;
      return answer?.type === 'inspected' ? answer : undefined;
    },
    dispose() {
      gone = true;
      worker?.removeEventListener('message', hear);
      worker?.removeEventListener('error', onError);
      waiting.clear();
      if (holder === mark) {
        holder = undefined;
      }
    },
  };
}

const buffersOf = ({ pictures }: Shown): ArrayBuffer[] =>
  pictures.flatMap(({ meta, owner, logical }) => [meta, owner, logical].map(({ buffer }) => buffer as ArrayBuffer));

/** Two moves asked for while a third was under way. */
function joined(first: Move, second: Move): Move {
  if (second.kind === 'settle') {
    return first;
  }
  if (first.kind === 'step' && second.kind === 'step') {
    return { kind: 'step', steps: first.steps + second.steps };
  }
  return first.kind === 'seek' && second.kind === 'step'
    ? { kind: 'seek', index: Math.max(0, first.index + second.steps) }
    : second;
}
