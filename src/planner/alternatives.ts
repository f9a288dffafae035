/** What other values of an option would come to: the launch planned anew with each, and thrown away. */
import { engineOf } from '../core/engines';
import { availability, defaultOf, type OptionSpec } from '../core/engines/option';
import { readOptionValue } from '../core/engines/option-read';
import { GiB } from '../core/units';
import type { Launch, LaunchOption } from '../launch/launch';
import { type Lines, linesOf } from '../launch/lines';
import { type Overrides, type Plan, type PlanContext, planLaunch } from '../planner';

/** Option → value as it is written; null = not set. */
export type OptionChanges = Readonly<Record<string, string | null>>;

/** Plans a launch with other values of options, or on another GPU. The text is neither changed nor read again. */
export type TryOptions = (plan: Plan, changes: OptionChanges, flags?: Overrides) => Plan;

/** The same text and context as the plans that are held against each other. */
export function tryingOn(text: string, context: PlanContext): TryOptions {
  let lines: Lines | undefined;
  return (plan, changes, flags) => {
    lines ??= linesOf(text);
    const flagged = flags ? { ...context.flags, ...flags } : context.flags;
    const tried = planLaunch(launchWith(plan.launch, changes), lines, { ...context, flags: flagged, scratch: true });
    return doubtful(plan) && tried.starts === true ? { ...tried, starts: 'unknown' } : tried;
  };
}

/** Doubts that come from the file around the launch (a shared card, a config that is not at hand) stay with it. */
const doubtful = ({ starts, findings }: Plan): boolean =>
  starts === 'unknown' && findings.some((f) => f.refuses === 'perhaps');

/** The launch as it would be read with these options: one that stands somewhere keeps its place. */
export function launchWith(launch: Launch, changes: OptionChanges): Launch {
  const kept = launch.options.filter((o) => changes[o.name] === undefined);
  const added = Object.entries(changes).flatMap(([name, raw]) => (raw === null ? [] : [optionAs(launch, name, raw)]));
  return { ...launch, options: [...kept, ...added] };
}

function optionAs(launch: Launch, name: string, raw: string): LaunchOption {
  const written = launch.options.findLast((o) => o.name === name);
  const spec = written?.spec ?? specOf(launch.engine, name);
  const place = written ?? { range: launch.head, nameRange: launch.head };
  const value = spec ? readOptionValue(spec, raw) : { value: raw };
  return {
    ...place,
    name,
    spec,
    raw,
    origin: 'flag',
    unresolved: undefined,
    value: undefined,
    error: undefined,
    ...value,
  };
}

const specOf = (engine: string, name: string): OptionSpec | undefined =>
  engineOf(engine)?.options.find((o) => o.name === name);

export interface Alternative {
  /** As it is written; null = not set. */
  readonly raw: string | null;
  readonly isOwn: boolean;
  readonly plan: Plan;
}

/** The option as it is, beside its neighbours and the launch without it; the smallest first. */
export function alternatives(plan: Plan, option: LaunchOption, tryOptions: TryOptions): readonly Alternative[] {
  const { spec } = option;
  if (!spec || option.value === undefined) {
    return [];
  }
  const version = plan.engine.version.text;
  const planned = (raw: string | null): Alternative => ({
    raw,
    isOwn: false,
    plan: tryOptions(plan, { [option.name]: raw }),
  });
  const { value } = option;
  // A variable is shown as what it holds.
  const raw = typeof value === 'number' || typeof value === 'string' ? String(value) : option.raw;
  const own: Alternative = { raw, isOwn: true, plan: tryOptions(plan, {}) };
  const [below, above] = neighbours(spec, option, version);
  const rows = [...below.map(planned), own, ...above.map(planned)];
  const isDefault = defaultOf(spec, version)?.value === option.value;
  return distinct(spec.role === 'model' || isDefault ? rows : [...rows, planned(null)], spec.role === 'kv-dtype');
}

/** Formats have many names for the same bytes: one of each is enough. */
function distinct(rows: readonly Alternative[], bySize: boolean): readonly Alternative[] {
  if (!bySize) {
    return rows;
  }
  const seen = new Set([rows.find((r) => r.isOwn)?.plan.kv?.layout.bytesPerToken.value]);
  return rows
    .filter(({ isOwn, plan }) => {
      const bytes = plan.kv?.layout.bytesPerToken.value;
      const isNew = !seen.has(bytes) && plan.planned;
      seen.add(bytes);
      return isOwn || isNew;
    })
    .slice(0, MOST);
}

const MOST = 4;

type Neighbours = readonly [below: readonly string[], above: readonly string[]];

const NONE: Neighbours = [[], []];

function neighbours(spec: OptionSpec, option: LaunchOption, version: string): Neighbours {
  const value = option.value;
  if (spec.type === 'flag' && typeof value === 'boolean') {
    return [[], [String(!value)]];
  }
  if (spec.role === 'kv-dtype') {
    const others = [...(spec.values ?? []), ...(spec.words ?? [])].filter(
      (v) => v !== String(value) && v !== 'None' && availability(spec, version, v) === 'ok',
    );
    return [[], others];
  }
  return typeof value === 'number' ? steps(spec, value) : NONE;
}

/** One step down and one up: hundredths of a share, a GiB of memory, half and double of what is counted. */
function steps(spec: OptionSpec, value: number): Neighbours {
  const taken = (step: number): readonly string[] => {
    const raw = String(Number(step.toFixed(4)));
    return step !== value && step > 0 && 'value' in readOptionValue(spec, raw) ? [raw] : [];
  };
  switch (spec.role) {
    case 'memory-share':
      return [taken(value - 0.01), taken(value + 0.01)];
    case 'kv-memory':
      return spec.unit === 'bytes' ? [taken(value - GiB), taken(value + GiB)] : NONE;
    case 'max-length':
    case 'block-size':
    case 'tensor':
    case 'pipeline':
    case 'data':
    case 'max-sequences':
    case 'batch-tokens':
      return [taken(Math.floor(value / 2)), taken(value * 2)];
    default:
      return NONE;
  }
}
