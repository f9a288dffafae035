/** What flags, directives, the file and settings ask for, in that order of precedence. */
import { ENGINES, engineNamed } from '../core/engines';
import type { Engine, Fix, Given, Hardware, Workload } from '../core/engines/engine';
import type { Origin } from '../core/figure';
import { findGpu, findInstance, nearestGpus } from '../core/hardware/find-gpu';
import { exactly, MiB, parseBytes } from '../core/units';
import type { DirectiveKey, Launch, TextRange } from '../launch/launch';
import type { Lines } from '../launch/lines';
import type { PlanContext } from '../planner';
import type { Located } from './findings';

export interface Asked {
  readonly text: string;
  readonly origin: Origin;
  readonly range?: TextRange;
}

export type Ask = ReadonlyMap<DirectiveKey, Asked>;

export function asksOf(launch: Launch, lines: Lines, context: PlanContext): Ask {
  const asks = new Map<DirectiveKey, Asked>();
  const take = (overrides: PlanContext['flags'], kind: 'flag' | 'setting') => {
    for (const [key, text] of Object.entries(overrides ?? {})) {
      asks.set(key as DirectiveKey, { text, origin: { kind, text: kind === 'flag' ? `--${key}` : 'setting' } });
    }
  };
  take(context.settings, 'setting');
  const { gpu, nodes = 1 } = launch.hardware;
  const machine = gpu && findInstance(gpu.text);
  // A machine named by its type alone is the launch's, with all its GPUs.
  const count = launch.hardware.count ?? (machine && { value: machine.count * nodes, range: gpu.range });
  if (gpu) {
    asks.set('gpu', { text: gpu.text, range: gpu.range, origin: fromFile('file', lines.line(gpu.range.start)) });
  }
  if (count) {
    asks.set('gpus', {
      text: String(count.value),
      range: count.range,
      origin: fromFile('file', lines.line(count.range.start)),
    });
  }
  for (const { key, value, valueRange } of launch.directives) {
    asks.set(key, { text: value, range: valueRange, origin: fromFile('directive', lines.line(valueRange.start)) });
  }
  take(context.flags, 'flag');
  return asks;
}

const fromFile = (kind: 'file' | 'directive', line: number): Origin => ({
  kind,
  text: `${kind === 'file' ? 'line' : 'directive, line'} ${line}`,
  line,
});

const bad = (
  found: Located[],
  asked: Asked,
  message: string,
  severity: 'error' | 'warning' = 'error',
  fixes: readonly Fix[] = [],
): undefined => {
  found.push({ finding: { code: 'bad-directive', severity, message, fixes, refuses: false }, range: asked.range });
  return undefined;
};

/** Largest count that makes sense of anything here: keeps absurd numbers out of loops. */
const MOST = 10_000_000;

function count(ask: Ask, key: DirectiveKey, found: Located[]): number | undefined {
  const asked = ask.get(key);
  if (!asked) {
    return undefined;
  }
  const wrong = countError(key, asked.text);
  return wrong === undefined ? Number(asked.text) : bad(found, asked, wrong);
}

/** Why a text is no count; undefined where it is one. */
export function countError(name: string, text: string): string | undefined {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 && value <= MOST && text.trim() !== ''
    ? undefined
    : `${name} must be a whole number from 1 to ${MOST}, not “${text}”.`;
}

function bytes(ask: Ask, key: DirectiveKey, found: Located[]): number | undefined {
  const asked = ask.get(key);
  if (!asked) {
    return undefined;
  }
  const value = parseBytes(asked.text);
  if (value === undefined) {
    return bad(found, asked, `${key} must be bytes (54375000000, 58.11GiB, 80GB), not “${asked.text}”.`);
  }
  if (value === 0 && key === 'gpu-memory') {
    return bad(found, asked, `${key} must be above 0.`);
  }
  if (value > 0 && value < MiB) {
    bad(
      found,
      asked,
      `${key} is ${value} bytes: a bare number counts bytes. Write ${asked.text}GiB for GiB.`,
      'warning',
      [{ title: `Write ${asked.text}GiB`, option: key, value: `${asked.text}GiB`, directive: true }],
    );
  }
  return value;
}

/** 600 tokens in and 250 out unless asked: a chat request. */
export function workloadOf(ask: Ask, found: Located[]): Workload {
  return { prompt: count(ask, 'prompt', found) ?? 600, output: count(ask, 'output', found) ?? 250 };
}

/** Said by somebody, or the usual lengths. */
export function workloadOrigins(ask: Ask): readonly Origin[] {
  const said = (['prompt', 'output'] as const).flatMap((key) => {
    const asked = ask.get(key);
    return asked ? [{ ...asked.origin, text: `${key} ${asked.text}: ${asked.origin.text}` }] : [];
  });
  return said.length === 2
    ? said
    : [...said, { kind: 'default', text: 'workload: 600 prompt, 250 output unless given' }];
}

export function givenOf(ask: Ask, found: Located[]): Given {
  return {
    kvMemory: bytes(ask, 'kv-memory', found),
    weights: bytes(ask, 'weights', found),
    activations: bytes(ask, 'activations', found),
    graphs: bytes(ask, 'graphs', found),
    other: bytes(ask, 'other', found),
  };
}

/** Undefined when nothing names a GPU or its memory; a name that is not known is a finding. */
export function hardwareOf(launch: Launch, ask: Ask, found: Located[]): Hardware | undefined {
  const name = ask.get('gpu');
  const memory = bytes(ask, 'gpu-memory', found);
  const gpu = name && findGpu(name.text);
  if (name && !gpu) {
    const near = nearestGpus(name.text, 3);
    const like = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '';
    bad(
      found,
      name,
      `The GPU “${name.text.slice(0, 120)}” is not known.${like} Its memory can be given instead (gpu-memory).`,
      'warning',
      near.map((value) => ({ title: `Say that the GPU is ${value}`, option: 'gpu', value, directive: true })),
    );
  }
  if (!gpu && memory === undefined) {
    return undefined;
  }
  const origin = (memory === undefined ? name : ask.get('gpu-memory'))?.origin ?? { kind: 'file', text: launch.file };
  return {
    gpu,
    name: gpu?.name ?? name?.text ?? 'GPU',
    count: count(ask, 'gpus', found),
    memory: memory === undefined ? (gpu as NonNullable<typeof gpu>).memory : exactly(memory),
    origin,
  };
}

/** `engine=vllm@0.27` or `engine=0.27`; else what the file names. */
export function versionOf(
  launch: Launch,
  ask: Ask,
  engine: Engine,
  found: Located[],
): { readonly text: string; readonly origin: Origin } | undefined {
  const asked = ask.get('engine');
  if (asked) {
    const [name, version] = asked.text.includes('@') ? asked.text.split('@', 2) : [undefined, asked.text];
    const named = name === undefined ? undefined : engineNamed(name);
    const own = name === undefined || named?.id === engine.id;
    if (name !== undefined && !named) {
      const known = ENGINES.map(({ id }) => id).join(', ');
      bad(found, asked, `There is no engine “${name.slice(0, 120)}”: known are ${known}.`, 'warning');
    }
    const text = engineNamed(version ?? '') ? undefined : version;
    if (own && text) {
      return { text, origin: asked.origin };
    }
  }
  return (
    launch.version && {
      text: launch.version.text,
      origin: { kind: 'file', text: `image or package of ${launch.title}` },
    }
  );
}
