/** The words of an engine's own command: a program, a module of Python, a client, a trainer. */
import type { LaunchEngine } from '../engines';
import type { TextRange } from '../launch';
import { type Mapped, rangeOf } from '../text/mapped';
import { readRollout } from './hydra';
import { nearer, type Start, type Surroundings, started } from './start';

/** Of a program on Windows too. */
export const basename = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '');

/** The engine whose command these words are. */
export function startOf(
  program: string,
  words: readonly Mapped[],
  engines: readonly LaunchEngine[],
  around: Surroundings,
): Start | undefined {
  for (const engine of engines) {
    const asking = clientOf(program, words, engine, around);
    if (asking) {
      return asking;
    }
    const length = commandLength(program, words, engine) || commonLength(program, words, engine);
    const count = length || moduleLength(program, words, engine);
    if (count > 0) {
      const rest = words.slice(count);
      if (engine.start.otherCommands?.includes(rest[0]?.text ?? '')) {
        return undefined;
      }
      if (asksForHelp(rest)) {
        return undefined;
      }
      // A module with a sub-command is the command itself.
      const isDirect = length > 0 || !words[count - 1]?.text.includes('.');
      const positionalModel = isDirect && engine.start.positionalModel;
      const head = words.slice(0, count);
      const binding = engine.start.bindings?.find((b) => head.some((w) => w.text === b.module));
      return { ...started(around, engine, headRange(head), rest, positionalModel), ...(binding && { binding }) };
    }
  }
  return undefined;
}

export const asksForHelp = (words: readonly Mapped[]): boolean =>
  words.some((w) => w.text === '--help' || w.text === '-h' || w.text === '--version');

const PYTHON = /^(?:python[\d.]*|pypy3?)$/;

/** A trainer in Python that starts the engine itself. */
export function rolloutOf(
  program: string,
  words: readonly Mapped[],
  engines: readonly LaunchEngine[],
  around: Surroundings,
): Start | undefined {
  const rollout = PYTHON.test(program) ? readRollout(words, engines) : undefined;
  if (!rollout) {
    return undefined;
  }
  const hardware = nearer(around.hardware, rollout.hardware);
  const start = started({ ...around, hardware }, rollout.engine, headRange(words.slice(0, 3)), [], false);
  return { ...start, rollout };
}

/** Its flags are the client's own; of its words the first is the model. */
function clientOf(
  program: string,
  words: readonly Mapped[],
  engine: LaunchEngine,
  around: Surroundings,
): Start | undefined {
  const client = engine.start.clients?.find((c) => isCommand(c.words, program, words));
  const length = client?.words.length ?? 0;
  const model = client && words.slice(length).find((w) => !w.text.startsWith('-'));
  return client && model
    ? { ...started(around, engine, headRange(words.slice(0, length)), [model], true), client }
    : undefined;
}

/** The program by its name, and the words after it as they are. */
const isCommand = (command: readonly string[], program: string, words: readonly Mapped[]): boolean =>
  command[0] === program && command.every((w, i) => i === 0 || words[i]?.text === w);

function headRange(words: readonly Mapped[]): TextRange {
  const ranges = words.map((w) => rangeOf(w));
  const start = ranges[0]?.start ?? 0;
  return { start, end: Math.max(start, ranges.at(-1)?.end ?? start) };
}

/** How many words are one of the engine's commands; the longest one counts. */
const commandLength = (program: string, words: readonly Mapped[], engine: LaunchEngine): number =>
  engine.start.commands.reduce((most, c) => (isCommand(c, program, words) ? Math.max(most, c.length) : most), 0);

/** `./server -m model.gguf`. */
function commonLength(program: string, words: readonly Mapped[], { start }: LaunchEngine): number {
  const { commonCommand: common } = start;
  return common?.name === program && words.slice(1).some((w) => common.beside.test(w.text)) ? 1 : 0;
}

/** `python -u -m MODULE`, or the module's file. */
function moduleLength(program: string, words: readonly Mapped[], engine: LaunchEngine): number {
  if (!PYTHON.test(program) && program !== 'torchrun') {
    return 0;
  }
  for (let i = 1; i < words.length; i++) {
    const text = words[i]?.text ?? '';
    if (text === '-m') {
      const length = moduleWords(words, i + 1, engine);
      return length === 0 ? 0 : i + 1 + length;
    }
    if (text === '-W' || text === '-X') {
      i++;
    } else if (!text.startsWith('-') && program !== 'torchrun') {
      return engine.start.modules.some((m) => !m.includes(' ') && isFileOf(text, m)) ? i + 1 : 0;
    }
  }
  return 0;
}

/** A module may need a word after it: `vllm.entrypoints.cli.main serve`. */
function moduleWords(words: readonly Mapped[], at: number, engine: LaunchEngine): number {
  const split = engine.start.modules.map((m) => m.split(' '));
  return split.find((m) => m.every((w, i) => words[at + i]?.text === w))?.length ?? 0;
}

const isFileOf = (path: string, module: string): boolean => {
  const file = `${module.replaceAll('.', '/')}.py`;
  return path === file || path.endsWith(`/${file}`);
};
