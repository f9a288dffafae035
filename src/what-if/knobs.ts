/** What can be tried on a launch: each a role, under the name that this engine has for it, with the values that it takes. */
import { engineOf } from '../core/engines';
import { availability, defaultOf, type OptionRole, type OptionSpec, type OptionValue } from '../core/engines/option';
import { boundText, readOptionValue } from '../core/engines/option-read';
import { findGpu, nearestGpus } from '../core/hardware/find-gpu';
import { optionOf } from '../launch/launch';
import type { Plan } from '../planner';
import { countError } from '../planner/asks';

/** Said in a comment: no engine reads them. */
export const DIRECTIVES = ['gpu', 'gpus', 'prompt', 'output'] as const;

export const ROLES = [
  'tensor',
  'pipeline',
  'kv-dtype',
  'block-size',
  'memory-share',
  'max-length',
  'max-sequences',
  'batch-tokens',
] as const satisfies readonly OptionRole[];

export type DirectiveKnob = (typeof DIRECTIVES)[number];
export type RoleKnob = (typeof ROLES)[number];
export type KnobKey = DirectiveKnob | RoleKnob;

/** What is tried, as typed; a key that is absent or empty is left as the file has it. */
export type Changes = Readonly<Partial<Record<KnobKey, string>>>;

export interface Knob {
  readonly key: KnobKey;
  /** Options that it turns; none for what is said in a comment. Most engines have one for a role, some two. */
  readonly options: readonly OptionSpec[];
  /** As the file, a setting or a default has it; empty where nobody says. */
  readonly value: string;
  readonly written: boolean;
  /** Values to pick from; absent where a number or a name is typed. */
  readonly choices?: readonly string[];
  /** What may be typed: `above 0 and at most 1`. */
  readonly bounds?: string;
}

const isDirective = (key: KnobKey): key is DirectiveKnob => (DIRECTIVES as readonly string[]).includes(key);

/** Those that this engine has in this version. */
export function knobsOf(plan: Plan): readonly Knob[] {
  return [...DIRECTIVES.map((key) => directiveKnob(plan, key)), ...ROLES.flatMap((role) => roleKnob(plan, role) ?? [])];
}

function directiveKnob(plan: Plan, key: DirectiveKnob): Knob {
  const { hardware, launch, workload } = plan;
  const count = hardware?.count ?? launch.hardware.count?.value;
  const value = {
    gpu: hardware?.name ?? '',
    gpus: count === undefined ? '' : String(count),
    prompt: String(workload.prompt),
    output: String(workload.output),
  }[key];
  const inFile = { gpu: launch.hardware.gpu, gpus: launch.hardware.count, prompt: undefined, output: undefined }[key];
  return { key, options: [], value, written: inFile !== undefined || launch.directives.some((d) => d.key === key) };
}

/** Options of a role that this version has. */
export function optionsOf(plan: Plan, role: RoleKnob): readonly OptionSpec[] {
  const { id, version } = plan.engine;
  return (engineOf(id)?.options ?? []).filter((o) => o.role === role && availability(o, version.text) === 'ok');
}

function roleKnob(plan: Plan, role: RoleKnob): Knob | undefined {
  const options = optionsOf(plan, role);
  const first = options[0];
  if (!first) {
    return undefined;
  }
  const written = optionOf(plan.launch, first.name);
  return {
    key: role,
    options,
    value: written ? String(written.value ?? written.raw) : defaultText(plan, first),
    written: written !== undefined,
    choices: choicesOf(first, plan.engine.version.text),
    bounds: boundText(first),
  };
}

/** As the plan has it, or as the table does; empty where the engine derives it. */
function defaultText(plan: Plan, spec: OptionSpec): string {
  const planned = plan.options.findLast((o) => o.name === spec.name);
  const value = planned?.value ?? defaultOf(spec, plan.engine.version.text)?.value;
  return value === undefined || value === null ? '' : String(value);
}

/** Values of a list that this version takes. */
function choicesOf(spec: OptionSpec, version: string): readonly string[] | undefined {
  const values = spec.values?.filter((v) => availability(spec, version, v) === 'ok' && takes(spec, v));
  const words = (spec.words ?? []).filter((word) => word !== 'None');
  return values && [...new Set([...values, ...words])];
}

const takes = (spec: OptionSpec, text: string): boolean => 'value' in readOptionValue(spec, text);

/** A value to try, read as the launch would be; or why it cannot be taken. */
export type Read =
  | { readonly values: readonly { readonly spec: OptionSpec; readonly value: OptionValue }[]; readonly text: string }
  | { readonly error: string };

export function readChange(plan: Plan, key: KnobKey, typed: string): Read {
  const text = typed.trim();
  if (isDirective(key)) {
    const error = key === 'gpu' ? gpuError(text) : countError(key, text);
    return error === undefined ? { values: [], text } : { error };
  }
  const options = optionsOf(plan, key);
  if (options.length === 0) {
    return { error: `${plan.engine.title} ${plan.engine.version.text} has no option for it.` };
  }
  const values: { spec: OptionSpec; value: OptionValue }[] = [];
  for (const spec of options) {
    const read = readOptionValue(spec, text);
    if ('error' in read) {
      return { error: `${read.error}.` };
    }
    const available = availability(spec, plan.engine.version.text, read.value);
    if (available !== 'ok') {
      const when = 'since' in available ? `came with ${available.since}` : `is gone since ${available.until}`;
      return { error: `${text} ${when}; this launch runs ${plan.engine.title} ${plan.engine.version.text}.` };
    }
    values.push({ spec, value: read.value });
  }
  return { values, text };
}

function gpuError(text: string): string | undefined {
  if (findGpu(text)) {
    return undefined;
  }
  const near = nearestGpus(text, 3);
  return `The GPU “${text.slice(0, 120)}” is not known.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`;
}
