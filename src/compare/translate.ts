/** One engine's options in another engine's words, by what an option decides; what has no counterpart is listed. */
import type { Engine } from '../core/engines/engine';
import { availability, type OptionRole, type OptionSpec, type OptionValue, type ShareOf } from '../core/engines/option';
import { readOptionValue } from '../core/engines/option-read';
import type { Launch, LaunchOption } from '../launch/launch';

export interface Translated {
  readonly options: readonly LaunchOption[];
  /** Which option became which. */
  readonly carried: readonly Carried[];
  readonly leftOut: readonly LeftOut[];
}

export interface Carried {
  readonly from: string;
  readonly to: string;
  /** As the target reads it. */
  readonly value: OptionValue;
}

export interface LeftOut {
  readonly option: string;
  readonly raw: string;
  readonly why: string;
}

/** Words that engines have for the same number format; the first that the other engine takes is it. */
const FORMATS: readonly (readonly string[])[] = [
  ['fp8', 'fp8_e4m3', 'fp8_e4m3fn'],
  ['fp8_e5m2'],
  ['int8', 'q8_0'],
  ['int4', 'q4_0'],
  ['nvfp4'],
  ['bfloat16', 'bf16'],
  ['float16', 'half', 'f16'],
  ['float32', 'float', 'f32'],
];

/** `version` is the target's. The model is planned as it is, so it is not translated. */
export function translate(launch: Launch, source: Engine, target: Engine, version: string): Translated {
  const options: LaunchOption[] = [];
  const carried: Carried[] = [];
  const leftOut: LeftOut[] = [];
  for (const option of lastOnes(launch.options)) {
    const outcome = translateOne(option, source, target, version);
    if ('why' in outcome) {
      leftOut.push({ option: option.name, raw: option.raw, why: outcome.why });
      continue;
    }
    for (const made of outcome.options) {
      const before = options.find((o) => o.name === made.name);
      if (before) {
        // Keys and values, where the other engine has one format for both.
        if (before.value !== made.value) {
          leftOut.push({ option: option.name, raw: option.raw, why: `${made.name} is ${before.raw} for both` });
        }
        continue;
      }
      options.push(made);
      if (made.value !== undefined) {
        carried.push({ from: option.name, to: made.name, value: made.value });
      }
    }
  }
  return { options, carried, leftOut };
}

/** Of repeated options the last counts; those that decide nothing about the cache, and the model, are left aside. */
function lastOnes(options: readonly LaunchOption[]): readonly LaunchOption[] {
  return options.filter(
    (o, i) =>
      o.spec?.effect !== undefined &&
      o.spec.role !== 'model' &&
      !options.slice(i + 1).some((later) => later.name === o.name),
  );
}

type Outcome = { readonly options: readonly LaunchOption[] } | { readonly why: string };

function translateOne(option: LaunchOption, source: Engine, target: Engine, version: string): Outcome {
  const spec = option.spec as OptionSpec;
  const { role } = spec;
  if (role === undefined) {
    return { why: `not translated: say it to ${target.title} in its own words` };
  }
  const found = counterparts(target, role, spec, version);
  if (found.length === 0) {
    return { why: `${target.title} has no option for it` };
  }
  if (option.unresolved !== undefined || option.value === undefined) {
    return { options: found.slice(0, 1).map((to) => moved(option, to, undefined)) };
  }
  if (isAuto(option.value, spec)) {
    return { options: [] };
  }
  const share = shareClash(spec, found[0] as OptionSpec, source, target);
  if (share !== undefined) {
    return { why: share };
  }
  const to = found[0] as OptionSpec;
  if (spec.ofAll !== to.ofAll) {
    const [all, one] = spec.ofAll ? [spec, to] : [to, spec];
    return { why: `${all.name} is of all requests together, ${one.name} of one` };
  }
  const all = role === 'kv-dtype' ? found : found.slice(0, 1);
  const made = all.flatMap((to) => {
    const value = valueFor(option.value as OptionValue, spec, to);
    return value === undefined ? [] : [moved(option, to, value)];
  });
  return made.length > 0
    ? { options: made }
    : { why: `${target.title} does not take ${String(option.raw)} as ${found[0]?.name}` };
}

/** What every engine does of its own accord is not said to the other one. */
const isAuto = (value: OptionValue, { role }: OptionSpec): boolean =>
  value === 'auto' || (role === 'kv-dtype' && value === 0);

/** Options of the role that this version has, in the same unit where the role comes in several. */
function counterparts(target: Engine, role: OptionRole, spec: OptionSpec, version: string): readonly OptionSpec[] {
  return target.options.filter(
    (o) =>
      o.role === role &&
      availability(o, version) === 'ok' &&
      (role !== 'kv-memory' || (o.unit ?? '') === (spec.unit ?? '')),
  );
}

const SHARES: Readonly<Record<ShareOf, string>> = {
  card: 'what the server may use of the card',
  free: 'the pool, of what weights leave free',
  'weights-and-pool': 'what weights and pool take of the memory free before',
};

function shareClash(from: OptionSpec, to: OptionSpec, source: Engine, target: Engine): string | undefined {
  if (from.role !== 'memory-share' || from.shareOf === to.shareOf || !from.shareOf || !to.shareOf) {
    return undefined;
  }
  return `another share: in ${source.title} ${SHARES[from.shareOf]}; ${to.name} of ${target.title} is ${SHARES[to.shareOf]}`;
}

/** What a share means, for people. */
export const shareMeaning = (spec: OptionSpec | undefined): string | undefined => spec?.shareOf && SHARES[spec.shareOf];

function valueFor(value: OptionValue, from: OptionSpec, to: OptionSpec): OptionValue | undefined {
  if (from.role === 'kv-dtype' || from.role === 'dtype') {
    return formatFor(value, from, to);
  }
  if (from.role === 'prefix-cache' || from.role === 'flash-attention') {
    return switchFor(value, from, to);
  }
  if (typeof value !== 'number' && typeof value !== 'boolean') {
    return undefined;
  }
  const read = readOptionValue(to, String(value));
  return 'value' in read ? read.value : undefined;
}

/** On or off, whatever the option's own words and whether it names the thing or its absence. */
function switchFor(value: OptionValue, from: OptionSpec, to: OptionSpec): OptionValue | undefined {
  const word = String(value).toLowerCase();
  const on = /^(?:true|on|1)$/.test(word) ? true : /^(?:false|off|0)$/.test(word) ? false : undefined;
  if (on === undefined) {
    return undefined;
  }
  const read = readOptionValue(to, String(on !== (from.negative !== to.negative)));
  return 'value' in read ? read.value : undefined;
}

/** The format that the source means by its value, in a word that the target takes. */
function formatFor(value: OptionValue, from: OptionSpec, to: OptionSpec): OptionValue | undefined {
  const means = (word: string) => {
    const read = readOptionValue(from, word);
    return 'value' in read && read.value === value;
  };
  const own = FORMATS.filter((words) => words.some(means));
  for (const word of own.flat()) {
    const read = readOptionValue(to, word);
    if ('value' in read) {
      return read.value;
    }
  }
  return undefined;
}

/** The same place in the file, under the other engine's name. */
function moved(option: LaunchOption, to: OptionSpec, value: OptionValue | undefined): LaunchOption {
  const { error: _, ...rest } = option;
  return { ...rest, name: to.name, spec: to, value, raw: value === undefined ? option.raw : String(value) };
}
