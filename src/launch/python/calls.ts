/** A call that starts an engine → its options: keywords, objects of keywords, and what the binding sets itself. */

import type { OptionReading, OptionSpec, OptionValue } from '../../core/engines/option';
import { findOption } from '../../core/engines/option-find';
import { readOptionValue } from '../../core/engines/option-read';
import type { PythonCall } from '../../core/engines/start-words';
import type { LaunchEngine } from '../engines';
import type { Launch, LaunchOption, TextRange } from '../launch';
import { pythonText } from '../yaml/python';
import { asOption, asText, type Given, type MapEntry, type Placed, type Value } from './values';

export interface EngineCall {
  readonly engine: LaunchEngine;
  readonly call: PythonCall;
}

/** `vllm.engine.arg_utils.AsyncEngineArgs`: the first part of the module and the name say which engine it is. */
export function engineCall(path: string, engines: readonly LaunchEngine[]): EngineCall | undefined {
  const [module = '', ...rest] = path.split('.');
  for (const engine of engines) {
    for (const call of engine.start.python ?? []) {
      if (call.module === module && call.names.some((n) => rest.join('.') === n || rest.join('.').endsWith(`.${n}`))) {
        return { engine, call };
      }
    }
  }
  return undefined;
}

export interface OptionPlace {
  readonly text: string;
  readonly head: TextRange;
  line(offset: number): number;
}

export function callOptions({ engine, call }: EngineCall, args: Given, at: OptionPlace): readonly LaunchOption[] {
  const options = [...positional(call, args), ...args.keywords].flatMap((k) =>
    keyword(k, '', { engine, call, at }, args),
  );
  const given = new Set(options.map((o) => o.name));
  const defaults = Object.entries(call.defaults ?? {}).filter(([name]) => !given.has(name));
  return [...defaults.map(([name, value]) => defaultOption(engine, name, value, at)), ...options];
}

const positional = (call: PythonCall, args: Given): readonly MapEntry[] =>
  args.positional.flatMap((value, i) => {
    const key = call.positional?.[i];
    return key === undefined ? [] : [{ ...value, key, keyRange: value.range }];
  });

interface Context extends EngineCall {
  readonly at: OptionPlace;
}

/** `prefix` is the object the key stands in, with its dot. */
function keyword(entry: MapEntry, prefix: string, c: Context, args: Given): readonly LaunchOption[] {
  const key = prefix + entry.key;
  const inner = innerEntries(entry.value);
  if (inner && prefix === '' && c.call.holders?.includes(key)) {
    return inner.flatMap((e) => keyword(e, '', { ...c, call: { ...c.call, only: undefined } as PythonCall }, args));
  }
  const sections = Object.keys(c.call.keywords ?? {}).some((k) => k.startsWith(`${key}.`));
  if (inner && (sections || isSection(c.engine, key))) {
    return inner.flatMap((e) => keyword(e, `${key}.`, c, args));
  }
  const name = c.call.keywords?.[key] ?? key;
  if (c.call.only && c.call.keywords?.[key] === undefined) {
    return [];
  }
  const found = findOption(c.engine.options, `--${name}`);
  const spec =
    found && !('ambiguous' in found) && !found.abbreviated && !found.negated && !found.path ? found.spec : undefined;
  return [option(entry, spec?.name ?? name.replaceAll('_', '-'), spec, c)];
}

/** `KvCacheConfig(dtype="fp8")`, `{"dtype": "fp8"}` and `dict(dtype="fp8")` alike. */
function innerEntries(value: Value): readonly MapEntry[] | undefined {
  return value.kind === 'map' ? value.entries : value.kind === 'made' ? value.given.keywords : undefined;
}

const isSection = (engine: LaunchEngine, key: string): boolean =>
  engine.options.some((o) => [o.name, ...(o.aliases ?? [])].some((n) => n.startsWith(`${key}.`)));

function option(entry: MapEntry, name: string, spec: OptionSpec | undefined, c: Context): LaunchOption {
  const { range: valueRange, keyRange } = entry;
  const apart = keyRange.start === valueRange.start || valueRange.start < keyRange.start;
  const end = entry.literal ? Math.max(entry.layers.at(-1)?.range.end ?? 0, valueRange.end) : valueRange.end;
  return {
    name,
    ...(spec ? { spec } : {}),
    raw: c.at.text.slice(valueRange.start, valueRange.end),
    origin: 'file',
    line: c.at.line(keyRange.start),
    range: apart ? keyRange : { start: keyRange.start, end: Math.max(end, keyRange.end) },
    nameRange: keyRange,
    valueRange,
    layers: entry.layers,
    ...reading(entry, name, spec, c.call),
  };
}

function reading(
  placed: Placed,
  name: string,
  spec: OptionSpec | undefined,
  call: PythonCall,
): Pick<LaunchOption, 'value' | 'unresolved' | 'error'> {
  if (placed.maybe !== undefined) {
    return { unresolved: placed.maybe };
  }
  const read = asOption(placed.value);
  if ('unresolved' in read) {
    return read;
  }
  const other = spec && call.values?.[spec.name]?.[asText(placed.value) ?? pythonText(read.value)];
  const value = other ?? read.value;
  return spec ? typed(spec, name, value) : { value };
}

/** The other way round: by the engine's value, what is written for it in Python. Of several, a literal. */
export const spellingsOf = (values: NonNullable<PythonCall['values']>): NonNullable<Launch['spellings']> =>
  Object.fromEntries(
    Object.entries(values).map(([option, named]) => [
      option,
      Object.fromEntries(
        Object.entries(named)
          .filter(([written]) => /^(?:-?\d+|True|False)$/.test(written))
          .map(([written, value]) => [value, written.toLowerCase()]),
      ),
    ]),
  );

/** `None` is not set; a flag is `True` or `False`. */
function typed(spec: OptionSpec, name: string, value: OptionValue): OptionReading {
  if (value === null) {
    return { value: null };
  }
  if (spec.type === 'flag') {
    return typeof value === 'boolean'
      ? { value }
      : { error: `${name} is a flag: True or False, not ${pythonText(value)}` };
  }
  if (spec.type === 'list' && spec.read === undefined && Array.isArray(value)) {
    return { value: value.map((v) => pythonText(v)) };
  }
  return readOptionValue(spec, pythonText(value));
}

/** What the binding's own default says, where the server's is another: it stands nowhere in the file. */
export function defaultOption(
  engine: LaunchEngine,
  name: string,
  value: OptionValue,
  at: Omit<OptionPlace, 'text'>,
): LaunchOption {
  const spec = engine.options.find((o) => o.name === name);
  const place = { range: at.head, nameRange: at.head, line: at.line(at.head.start) };
  const how = 'the default of the Python binding';
  return { name, ...(spec ? { spec } : {}), value, raw: String(value), origin: 'default', how, ...place };
}
