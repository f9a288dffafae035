/** The pool's simulation, in a thread of its own: a file apart, started from a blob. */
import type { TraceReader } from '../../src/core/pool';
import { createTraceStore } from '../trace-reader';
import { type Answers, createAnswers, type Work } from './answers';
import { type Answer, readToWorker, type ToPage, type ToWorker } from './protocol';

/** Of a worker's global scope, what is used here. */
interface Port {
  postMessage(message: ToPage, transfer: ArrayBuffer[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<unknown>) => void): void;
}

/** Milliseconds of work between two looks at the mail: a newer scenario stops an older one's way. */
const SLICE = 40;

const port = globalThis as unknown as Port;
const answers: Answers = createAnswers();
const traces = createTraceStore();
const waiting: ToWorker[] = [];
let busy = false;

port.addEventListener('message', ({ data }) => {
  const message = readToWorker(data);
  if (!message) {
    const id = idOf(data);
    if (id !== undefined) {
      tell(id, { type: 'failed', error: 'The page asked for something unknown.' });
    }
    return;
  }
  waiting.push(message);
  if (!busy) {
    busy = true;
    void serve();
  }
});

const idOf = (data: unknown): number | undefined =>
  typeof data === 'object' && data !== null && 'id' in data && typeof data.id === 'number' ? data.id : undefined;

async function serve(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { id } = next;
    tell(id, await answerTo(next));
  }
  busy = false;
}

const OVERTAKEN: Answer = { type: 'failed', error: 'Something else was loaded.' };
const isOvertaken = (): boolean => waiting.some(({ command }) => command.type === 'load');

async function answerTo({ id, command }: ToWorker): Promise<Answer> {
  let trace: TraceReader | undefined;
  if (command.type === 'load' && command.scenario.kind === 'launch' && command.scenario.traffic.kind === 'trace') {
    const { file } = command.scenario.traffic;
    try {
      const onShare = (share: number): void => port.postMessage({ kind: 'reading', id, share }, []);
      trace = await traces.read(file, onShare, () => !isOvertaken());
    } catch (error) {
      return {
        type: 'failed',
        error: `${file.name} could not be read: ${error instanceof Error ? error.message : error}`,
      };
    }
    if (!trace) {
      return OVERTAKEN;
    }
  }
  return finish(id, answers.answer(command, trace));
}

async function finish(id: number, work: Work): Promise<Answer> {
  let pause = performance.now() + SLICE;
  for (;;) {
    const turn = work.next();
    if (turn.done) {
      return turn.value;
    }
    if (performance.now() >= pause) {
      port.postMessage({ kind: 'progress', id, ...turn.value }, []);
      await new Promise((resolve) => setTimeout(resolve));
      if (isOvertaken()) {
        return OVERTAKEN;
      }
      pause = performance.now() + SLICE;
    }
  }
}

function tell(id: number, answer: Answer): void {
  const pictures = answer.type === 'shown' ? answer.pictures : [];
  const transfer = pictures.flatMap(({ meta, owner, logical }) => [meta, owner, logical].map(({ buffer }) => buffer));
  port.postMessage({ kind: 'answer', id, answer }, transfer as ArrayBuffer[]);
}
