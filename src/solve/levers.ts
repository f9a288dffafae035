/** What can be changed to reach a target, in steps from the smallest change on. Option names come by role. */
import { engineOf } from '../core/engines';
import { availability, type OptionRole } from '../core/engines/option';
import { MiB } from '../core/units';
import type { Plan } from '../planner';
import { type Attempt, type Changes, type Demand, gpusOf } from './attempt';

/** Ordered by what a change costs the people who run the server. */
export type LeverKind = 'share' | 'kv-bytes' | 'batch' | 'sequences' | 'block' | 'length' | 'dtype' | 'gpus';

export interface Lever {
  readonly kind: LeverKind;
  /** Steps, smallest first. */
  readonly steps: number;
  /** A larger step serves at least as many requests, so that steps can be searched by halves. */
  readonly monotone: boolean;
  at(step: number): Changes;
}

export type OptionNames = (role: OptionRole, unit?: string) => string | undefined;

/** Names of the options that this version has. */
export function optionNames(plan: Plan): OptionNames {
  const engine = engineOf(plan.engine.id);
  return (role, unit) =>
    engine?.options.find(
      (o) =>
        o.role === role &&
        (unit === undefined || o.unit === unit) &&
        availability(o, plan.engine.version.text) === 'ok',
    )?.name;
}

/** The largest share of a card that is proposed: beyond it too little is left for what the engine does not count. */
const MOST_SHARE = 0.95;
const KV_STEP = 256 * MiB;
/** Below this many tokens a step, prefill becomes slow. */
const LEAST_BATCH = 2048;
const LENGTH_STEP = 16;
const MOST_STEPS = 4096;

export interface Bounds {
  readonly demand: Demand;
  /** KV bytes that a card holds at the largest share, when they are known. */
  readonly kvCeiling?: number;
  /** Most GPUs of all replicas. */
  readonly gpus: number;
}

export function leversOf(base: Attempt, bounds: Bounds): readonly Lever[] {
  const names = optionNames(base.plan);
  const made = [share, kvBytes, batch, sequences, block, length, dtype, gpus];
  return made.flatMap((make) => make(base, bounds, names) ?? []);
}

type Make = (base: Attempt, bounds: Bounds, names: OptionNames) => Lever | undefined;

const numberOf = (plan: Plan, name: string | undefined): number | undefined => {
  const value = name === undefined ? undefined : plan.options.findLast((o) => o.name === name)?.value;
  return typeof value === 'number' ? value : undefined;
};

function listed(kind: LeverKind, values: readonly Changes[], monotone = true): Lever | undefined {
  return values.length === 0
    ? undefined
    : { kind, steps: values.length, monotone, at: (step) => values[step] as Changes };
}

/** KV bytes that the launch or somebody else states leave the share without effect. */
const statesBytes = (plan: Plan, names: OptionNames): boolean =>
  plan.given.kvMemory !== undefined || numberOf(plan, names('kv-memory', 'bytes')) !== undefined;

const share: Make = ({ plan }, _, names) => {
  const option = names('memory-share');
  const now = numberOf(plan, option);
  if (option === undefined || now === undefined || statesBytes(plan, names)) {
    return undefined;
  }
  const first = Math.floor(now * 100 + 1e-9) + 1;
  const last = Math.round(MOST_SHARE * 100);
  return last < first
    ? undefined
    : {
        kind: 'share',
        steps: last - first + 1,
        monotone: true,
        at: (step) => ({ [option]: String((first + step) / 100) }),
      };
};

const kvBytes: Make = ({ plan }, { kvCeiling }, names) => {
  const option = names('kv-memory', 'bytes');
  const bytes = plan.kv?.pool?.bytes;
  // A size that is stated is a sure one: it may do from the low end of an estimate on.
  const now = bytes?.range?.low ?? bytes?.value ?? 0;
  if (option === undefined || kvCeiling === undefined || plan.given.kvMemory !== undefined) {
    return undefined;
  }
  const first = Math.floor(Math.max(0, now) / KV_STEP) + 1;
  const steps = Math.floor(kvCeiling / KV_STEP) - first + 1;
  return steps < 1
    ? undefined
    : { kind: 'kv-bytes', steps, monotone: true, at: (step) => ({ [option]: String((first + step) * KV_STEP) }) };
};

/** Fewer tokens in one step: less memory for activations, and less that windows reserve. */
const batch: Make = ({ plan }, _, names) => {
  const option = names('batch-tokens');
  const now = numberOf(plan, option) ?? 0;
  const values: Changes[] = [];
  for (let tokens = now / 2; option !== undefined && tokens >= LEAST_BATCH; tokens /= 2) {
    values.push({ [option]: String(Math.floor(tokens)) });
  }
  return listed('batch', values);
};

/** No more sequences than are asked for: the sampler's memory is sized for them. */
const sequences: Make = ({ plan }, { demand }, names) => {
  const option = names('max-sequences');
  const needed = Math.ceil(demand.concurrency / (plan.placement?.replicas ?? 1));
  return option !== undefined && (numberOf(plan, option) ?? 0) > needed
    ? listed('sequences', [{ [option]: String(needed) }])
    : undefined;
};

const block: Make = ({ plan }, _, names) => {
  const option = names('block-size');
  const written = plan.launch.options.some((o) => o.name === option);
  const now = numberOf(plan, option) ?? 0;
  const values: Changes[] = [];
  for (let size = now / 2; option !== undefined && written && size >= 16 && Number.isInteger(size); size /= 2) {
    values.push({ [option]: String(size) });
  }
  return listed('block', values);
};

/** A shorter longest request, where it does not start: down to what the target needs. */
const length: Make = ({ plan }, { demand }, names) => {
  const option = names('max-length');
  const now = plan.capacity?.maxLength;
  if (option === undefined || now === undefined || now <= demand.length || plan.starts === true) {
    return undefined;
  }
  const stride = LENGTH_STEP * Math.ceil((now - demand.length) / LENGTH_STEP / MOST_STEPS);
  const steps = Math.ceil((now - demand.length) / stride);
  const first = Math.ceil(now / LENGTH_STEP) * LENGTH_STEP;
  return {
    kind: 'length',
    steps,
    monotone: true,
    at: (step) => ({ [option]: String(Math.max(demand.length, first - (step + 1) * stride)) }),
  };
};

/** One byte per element where there are two. */
const dtype: Make = ({ plan }, _, names) => {
  const option = names('kv-dtype');
  const spec = engineOf(plan.engine.id)?.options.find((o) => o.name === option);
  const wide = /16$/.test(plan.kv?.layout.dtype.value ?? '');
  return option !== undefined && wide && spec?.values?.includes('fp8')
    ? listed('dtype', [{ [option]: 'fp8' }])
    : undefined;
};

/** Largest tensor parallel size that is proposed: the GPUs of one machine. */
const ONE_MACHINE = 8;

/** More GPUs for each replica, more replicas, or both: fewest GPUs first. */
const gpus: Make = ({ plan, gpus: used }, bounds, names) => {
  const { placement, model } = plan;
  const tensor = names('tensor');
  // Where attention is data parallel, the option means something else.
  const data = (placement?.attentionData ?? 1) > 1 ? undefined : names('data');
  if (!placement || !model || tensor === undefined || bounds.gpus <= used) {
    return undefined;
  }
  const found: { readonly gpus: number; readonly changes: Changes }[] = [];
  for (let t = placement.tensor; t <= Math.max(ONE_MACHINE, placement.tensor); t++) {
    const most = Math.floor((bounds.gpus * placement.attentionData) / (t * placement.pipeline));
    for (let d = placement.replicas; model.attentionHeads % t === 0 && d <= most; d++) {
      const changes = {
        ...(t === placement.tensor ? {} : { [tensor]: String(t) }),
        ...(d === placement.replicas || data === undefined ? {} : { [data]: String(d) }),
      };
      if (Object.keys(changes).length > 0 && (d === placement.replicas || data !== undefined)) {
        found.push({ gpus: gpusOf({ ...placement, tensor: t, replicas: d }), changes });
      }
    }
  }
  found.sort((a, b) => a.gpus - b.gpus || Object.keys(a.changes).length - Object.keys(b.changes).length);
  return listed(
    'gpus',
    found.map((f) => f.changes),
    false,
  );
};
