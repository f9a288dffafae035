/** A command's words → the engine it starts, through whatever stands before it. */
import type { LaunchEngine } from '../engines';
import { type Mapped, part, rangeOf } from '../text/mapped';
import { asksForHelp, basename, rolloutOf, startOf } from './command';
import { type ContainerRun, readContainerRun } from './container';
import { readHostedRun } from './hosted';
import { readImage, tagOf } from './image';
import { slurmHint } from './slurm';
import { type Found, NOTHING, nearer, type Script, type Surroundings, started } from './start';
import { assignedName } from './variable';

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
