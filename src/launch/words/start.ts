/** A command's words → the engine it starts, through whatever stands before it. */
import type { Binding, StartWords } from '../../core/engines/start-words';
import type { LaunchEngine } from '../engines';
import type { HardwareHint, TextRange } from '../launch';
import { type Mapped, part, rangeOf } from '../text/mapped';
import { type ContainerRun, readContainerRun } from './container';
import { readHostedRun } from './hosted';
import { type Rollout, readRollout } from './hydra';
import { type Image, readImage, tagOf } from './image';
import { slurmHint } from './slurm';
import { assignedName, type Variable } from './variable';

/** What stands around the command: it holds for a script inside it as well. */
export interface Surroundings {
  readonly environment: readonly Variable[];
  readonly hardware: HardwareHint;
  readonly image?: Image;
  /** In a container of its own: variables around the command do not reach it. */
  readonly contained?: true;
}

export interface Start extends Surroundings {
  readonly kind: 'start';
  readonly engine: LaunchEngine;
  /** The words that start the engine. */
  readonly head: TextRange;
  readonly words: readonly Mapped[];
  readonly positionalModel: boolean;
  /** It asks a running server for a model. */
  readonly client?: Client;
  /** A trainer's command: its overrides are the engine's settings. */
  readonly rollout?: Rollout;
  /** The server is a binding's: its words are that one's. */
  readonly binding?: Binding;
}

export type Client = NonNullable<StartWords['clients']>[number];

/** `bash -c "…"`: the commands are inside. */
export interface Script extends Surroundings {
  readonly kind: 'script';
  readonly script: Mapped;
}

export type Found = Start | Script;

export const NOTHING: Surroundings = { environment: [], hardware: {} };

/** The same with more around it. Written out: one shape for every start. */
export function surrounded(
  found: Found,
  environment: readonly Variable[],
  hardware: HardwareHint,
  image = found.image,
): Found {
  const { contained } = found;
  if (found.kind === 'script') {
    return { kind: 'script', environment, hardware, image, contained, script: found.script };
  }
  const { engine, head, words, positionalModel, client, rollout, binding } = found;
  return {
    kind: 'start',
    environment,
    hardware,
    image,
    contained,
    engine,
    head,
    words,
    positionalModel,
    client,
    rollout,
    binding,
  };
}

/** What the nearer one says counts. */
export const nearer = (outer: HardwareHint, inner: HardwareHint): HardwareHint => ({
  gpu: inner.gpu ?? outer.gpu,
  count: inner.count ?? outer.count,
  nodes: inner.nodes ?? outer.nodes,
});

/** Programs that run the rest of their words as a command; their own flags stand before it. */
const WRAPPERS = new Set(
  `accelerate apptainer bwrap caffeinate catchsegv chroot command conda dbus-run-session doas env eval exec firejail gosu
  hatch ionice kubectl mamba micromamba mpiexec mpirun nice nohup nsys ncu numactl nvprof parallel pdm pipenv pixi pm2 poetry
  prime-run prlimit proot ray rye runuser screen script setarch setsid singularity srun ssh stdbuf strace su sudo systemd-run
  systemd-inhibit taskset time timeout tini dumb-init torchrun trap unbuffer unshare uv uvx pipx watch xargs then do tmux wsl`.split(
    /\s+/,
  ),
);

const SHELLS = /^(?:ba|z|da|a|k)?sh$/;
const CONTAINERS = new Set(['docker', 'podman', 'nerdctl']);

export function findStart(words: readonly Mapped[], engines: readonly LaunchEngine[]): Found | undefined {
  return find(words, engines, NOTHING, 0);
}

/** Wrappers inside wrappers are followed this far. */
const MAX_DEPTH = 8;

function find(
  words: readonly Mapped[],
  engines: readonly LaunchEngine[],
  around: Surroundings,
  depth: number,
): Found | undefined {
  const first = words[0];
  if (!first || depth > MAX_DEPTH) {
    return undefined;
  }
  // No flag starts anything, whatever path stands in it.
  if (first.text.startsWith('-')) {
    return undefined;
  }
  const program = basename(first.text);
  const direct = startedBy(program, words, engines, around);
  if (direct) {
    return direct;
  }
  const hosted = readHostedRun(program, words);
  if (CONTAINERS.has(program) || hosted) {
    return inContainer(hosted ?? readContainerRun(words), engines, around, depth);
  }
  return WRAPPERS.has(program) ? wrapped(words, program, engines, around, depth) : undefined;
}

/** What the program does with the words that it begins. */
const startedBy = (
  program: string,
  words: readonly Mapped[],
  engines: readonly LaunchEngine[],
  around: Surroundings,
): Found | undefined =>
  startOf(program, words, engines, around) ??
  scriptOf(program, words, around) ??
  rolloutOf(program, words, engines, around);

/** Of a program on Windows too. */
const basename = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '');

function wrapped(
  words: readonly Mapped[],
  program: string,
  engines: readonly LaunchEngine[],
  around: Surroundings,
  depth: number,
): Found | undefined {
  const environment = [...around.environment];
  const outer = program === 'srun' ? onCluster(words, engines, around) : around;
  const sif = SIF.has(program) ? inSif(words, engines, around, depth) : undefined;
  if (sif) {
    return sif;
  }
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Mapped;
    const name = assignedName(word.text);
    if (name !== undefined && (program === 'env' || program === 'sudo')) {
      environment.push({ name, value: part(word, name.length + 1, word.text.length), word: true });
      continue;
    }
    const inner = basename(word.text);
    const rest = words.slice(i);
    const now = { ...outer, environment };
    const found = word.text.startsWith('-') ? undefined : startedBy(inner, rest, engines, now);
    if (found) {
      return found;
    }
    if (CONTAINERS.has(inner) || WRAPPERS.has(inner)) {
      return find(rest, engines, now, depth + 1);
    }
    if (/\s/.test(word.text) && RUNS_TEXT.has(program)) {
      return { kind: 'script', ...now, script: word };
    }
  }
  return undefined;
}

/** `srun --gres=gpu:h100:8 --container-image=IMAGE`. */
function onCluster(words: readonly Mapped[], engines: readonly LaunchEngine[], around: Surroundings): Surroundings {
  const at = words.findIndex((w) => w.text.startsWith('--container-image'));
  const word = words[at];
  const attached = word?.text.startsWith('--container-image=');
  const written = word && attached ? part(word, '--container-image='.length, word.text.length) : words[at + 1];
  const image = word && written ? readImage(written, engines) : undefined;
  return { ...around, hardware: nearer(around.hardware, slurmHint(words)), ...(image ? { image } : {}) };
}

const SIF = new Set(['singularity', 'apptainer']);

/** `apptainer run docker://IMAGE words`; with `exec` the words are a command, as behind any wrapper. */
function inSif(
  words: readonly Mapped[],
  engines: readonly LaunchEngine[],
  around: Surroundings,
  depth: number,
): Found | undefined {
  const at = words.findIndex((w) => w.text.startsWith('docker://'));
  const word = words[at];
  const name = word && part(word, 'docker://'.length, word.text.length);
  const image = name && readImage(name, engines);
  return words[1]?.text === 'run' && image
    ? startInImage(undefined, words.slice(at + 1), engines, { ...around, image }, name, depth)
    : undefined;
}

/** Programs that hand a word to a shell. */
const RUNS_TEXT = new Set(['eval', 'pm2', 'screen', 'script', 'ssh', 'su', 'tmux', 'watch']);

/** The engine whose command these words are. */
function startOf(
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

const asksForHelp = (words: readonly Mapped[]): boolean =>
  words.some((w) => w.text === '--help' || w.text === '-h' || w.text === '--version');

const PYTHON = /^(?:python[\d.]*|pypy3?)$/;

/** A trainer in Python that starts the engine itself. */
function rolloutOf(
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

/** A start of this engine with these options, whatever words there are. */
export function started(
  { environment, hardware, image, contained }: Surroundings,
  engine: LaunchEngine,
  head: TextRange,
  words: readonly Mapped[],
  positionalModel: boolean,
): Start {
  return { kind: 'start', environment, hardware, image, contained, engine, head, words, positionalModel };
}

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

/** `sh -c SCRIPT`, `bash -lc SCRIPT`, `bash -e -c SCRIPT`, `bash -lc -- SCRIPT`: the first word that is no flag of the shell's. */
function scriptOf(program: string, words: readonly Mapped[], around: Surroundings): Script | undefined {
  if (!SHELLS.test(program)) {
    return undefined;
  }
  let takesScript = false;
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Mapped;
    if (word.text === '--') {
      const script = words[i + 1];
      return takesScript && script ? { kind: 'script', ...around, script } : undefined;
    }
    if (!/^[-+]/.test(word.text) && word.text !== 'pipefail') {
      return takesScript ? { kind: 'script', ...around, script: word } : undefined;
    }
    takesScript ||= /^-[a-z]*c[a-z]*$/.test(word.text);
  }
  return undefined;
}

function inContainer(
  run: ContainerRun | undefined,
  engines: readonly LaunchEngine[],
  around: Surroundings,
  depth: number,
): Found | undefined {
  if (!run) {
    return undefined;
  }
  const image = run.image && readImage(run.image, engines);
  const now: Surroundings = {
    environment: run.environment,
    contained: true,
    hardware: nearer(around.hardware, run.hardware),
    ...(image ? { image } : around.image ? { image: around.image } : {}),
  };
  return startInImage(run.entry, run.words, engines, now, run.image, depth);
}

/** The words given to a container: a command of their own, or options of the engine its image starts. */
export function startInImage(
  entry: readonly Mapped[] | undefined,
  words: readonly Mapped[],
  engines: readonly LaunchEngine[],
  around: Surroundings,
  imageWord?: Mapped,
  depth = 0,
): Found | undefined {
  const found = find([...(entry ?? []), ...words], engines, around, depth + 1);
  if (found) {
    return found;
  }
  const engine = around.image?.engine;
  const first = words[0]?.text ?? '';
  if (
    entry !== undefined ||
    !engine ||
    !imageWord ||
    asksForHelp(words) ||
    engine.start.imageEntry.length === 0 ||
    isProgram(first) ||
    !isFirstWord(engine, imageWord, first)
  ) {
    return undefined;
  }
  const positionalModel = engine.start.positionalModel && !engine.start.imageEntry.includes('-m');
  // The word that the entry point asks for is no option of the engine.
  const given = firstWordRule(engine, imageWord) ? words.slice(1) : words;
  const binding = around.image?.binding;
  return { ...started(around, engine, rangeOf(imageWord), given, positionalModel), ...(binding && { binding }) };
}

/** `ollama/ollama pull m`, `llama.cpp:full --convert`: the entry point does something else then. */
function isFirstWord(engine: LaunchEngine, image: Mapped, first: string): boolean {
  const rule = firstWordRule(engine, image);
  return rule === undefined || rule.word.test(first);
}

const firstWordRule = ({ start }: LaunchEngine, image: Mapped) =>
  start.imageFirst?.find((r) => r.tag.test(tagOf(image.text)));

/** `docker run IMAGE bash` starts no engine. */
const isProgram = (word: string): boolean =>
  SHELLS.test(basename(word)) ||
  (/^(?:\/|python|nvidia-smi$|sleep$|tail$|ls$|cat$|pip$|env$)/.test(word) &&
    !/^\/(?:models?|data|mnt|root|workspace|cache)\b/.test(word));
