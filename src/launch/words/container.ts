/** `docker run [flags] IMAGE words`: docker's own flags are not the engine's. */
import type { HardwareHint } from '../launch';
import { type Mapped, part, rangeOf } from '../text/mapped';
import { assignedName, type Variable } from './variable';

export interface ContainerRun {
  readonly image?: Mapped;
  /** `--entrypoint`; absent = the image's own. */
  readonly entry?: readonly Mapped[];
  readonly words: readonly Mapped[];
  readonly environment: readonly Variable[];
  readonly hardware: HardwareHint;
}

/** Flags of `docker run` (and podman's) without a value; all others take one. Docker CLI 28, `cli/command/container/opts.go`. */
const SWITCHES = new Set(
  `--detach --init --interactive --no-healthcheck --oom-kill-disable --privileged --publish-all --quiet --read-only --rm
  --sig-proxy --tty --disable-content-trust --help --use-api-socket --replace --tls-verify --env-host --http-proxy
  --no-hosts --no-hostname --rmi --rootfs --systemd`.split(/\s+/),
);

const SHORT_SWITCHES = /^-[ditPq]+$/;

export function readContainerRun(words: readonly Mapped[]): ContainerRun | undefined {
  const verb = words.findIndex((w, i) => i > 0 && (w.text === 'run' || w.text === 'create' || w.text === 'exec'));
  if (verb === -1 || verb > 4 || words.slice(1, verb).some((w) => w.text === 'compose' || w.text === 'build')) {
    return undefined;
  }
  const found: { entry?: readonly Mapped[]; environment: Variable[]; hardware: HardwareHint } = {
    environment: [],
    hardware: {},
  };
  let i = verb + 1;
  while (i < words.length && (words[i] as Mapped).text.startsWith('-') && words[i]?.text !== '--') {
    i = readFlag(words, i, found);
  }
  if (words[i]?.text === '--') {
    i++;
  }
  const image = words[verb]?.text === 'exec' ? undefined : words[i];
  return { ...found, ...(image ? { image } : { entry: [] }), words: words.slice(i + 1) };
}

function readFlag(
  words: readonly Mapped[],
  index: number,
  found: { entry?: readonly Mapped[]; environment: Variable[]; hardware: HardwareHint },
): number {
  const word = words[index] as Mapped;
  const equals = word.text.startsWith('--') ? word.text.indexOf('=') : -1;
  const name = equals === -1 ? word.text : word.text.slice(0, equals);
  if (equals === -1 && (SWITCHES.has(name) || SHORT_SWITCHES.test(name))) {
    return index + 1;
  }
  const attached = equals === -1 && /^-[a-zA-Z]./.test(name) && !name.startsWith('--');
  const value = attached
    ? part(word, 2, word.text.length)
    : equals === -1
      ? words[index + 1]
      : part(word, equals + 1, word.text.length);
  if (value) {
    use(attached ? name.slice(0, 2) : name, value, found);
  }
  return equals === -1 && !attached ? index + 2 : index + 1;
}

function use(
  name: string,
  value: Mapped,
  found: { entry?: readonly Mapped[]; environment: Variable[]; hardware: HardwareHint },
): void {
  if (name === '--entrypoint') {
    found.entry = value.text === '' ? [] : [value];
  } else if (name === '-e' || name === '--env') {
    const variable = assignedName(value.text);
    if (variable !== undefined) {
      found.environment.push({
        name: variable,
        value: part(value, variable.length + 1, value.text.length),
        word: true,
      });
    }
  } else if (name === '--gpus' || name === '--device') {
    const count = gpuCount(value.text);
    if (count !== undefined) {
      found.hardware = { ...found.hardware, count: { value: count, range: rangeOf(value) } };
    }
  }
}

/** `4`, `count=4`, `"device=0,1"`, `device=GPU-a,GPU-b`; `all` says nothing about the number. */
export function gpuCount(text: string): number | undefined {
  const plain = text.replaceAll('"', '').replaceAll("'", '');
  const count = /^(?:count=)?(\d+)$/.exec(plain)?.[1];
  if (count !== undefined) {
    return Number(count);
  }
  const devices = /device=([^;]+)/.exec(plain)?.[1];
  return devices?.split(',').filter((d) => d !== '' && !d.includes('=')).length;
}
