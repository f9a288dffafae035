/** The command line of a binding's server: flags, and variables in capitals, that are called as the binding's keywords. */

import type { OptionReading, OptionSpec } from '../../core/engines/option';
import { readOptionValue } from '../../core/engines/option-read';
import type { Binding } from '../../core/engines/start-words';
import type { LaunchEngine } from '../engines';
import type { Insertion, LaunchOption } from '../launch';
import { defaultOption } from '../python/calls';
import { layersOf, rangeOf } from '../text/mapped';
import { unknownIn } from '../text/placeholder';
import { type Arguments, type ArgumentWords, readArguments } from './arguments';
import type { Start } from './start';

/** What is not said is as the binding's server has it, which is not as the engine's own has it. */
export function bindingArguments(input: ArgumentWords, start: Start, binding: Binding): Arguments {
  const { options } = readArguments(input, { ...start.engine, options: [] }, false);
  const keywords = options.map((o) => o.name.replaceAll('-', '_'));
  const isPart = binding.repository !== undefined && keywords.includes(binding.repository.keyword);
  const said = options.map((o, i) => {
    const keyword = keywords[i] as string;
    const as = isPart && keyword === binding.repository?.file ? binding.repository.as : keyword;
    return named(o, as, start.engine, binding);
  });
  return { options: said };
}

/** What variables say, and what neither they nor the words (`said`) do. */
export function bindingVariables(
  input: ArgumentWords,
  start: Start,
  binding: Binding,
  said: readonly LaunchOption[],
): readonly LaunchOption[] {
  const variables = start.environment.flatMap(({ name, value, word }): readonly LaunchOption[] => {
    if (binding.keywords?.[name.toLowerCase()] === undefined) {
      return [];
    }
    const range = rangeOf(value);
    const unresolved = unknownIn(value);
    const place = { range, nameRange: range, valueRange: range, line: input.line(range.start) };
    const layers = layersOf(value, 0, value.text.length, input.shell && word === true);
    const raw = input.text.slice(range.start, range.end);
    const option = { name, raw, origin: 'env' as const, ...place, layers };
    const read = unresolved === undefined ? { value: value.text } : { unresolved };
    return [named({ ...option, ...read }, name.toLowerCase(), start.engine, binding)];
  });
  const given = new Set([...said, ...variables].map((o) => o.name));
  const at = { head: start.head, line: input.line };
  const defaults = Object.entries(binding.defaults ?? {}).filter(([name]) => !given.has(name));
  return [...defaults.map(([name, value]) => defaultOption(start.engine, name, value, at)), ...variables];
}

/** The engine's option for a keyword, with its value as the engine calls it. */
function named(
  option: LaunchOption,
  keyword: string,
  engine: LaunchEngine,
  { keywords, values }: Binding,
): LaunchOption {
  const name = keywords?.[keyword];
  const spec = name === undefined ? undefined : engine.options.find((o) => o.name === name);
  if (!spec) {
    return option;
  }
  const { value, ...rest } = option;
  const known = { ...rest, name: spec.name, spec };
  return typeof value === 'string' ? { ...known, ...reading(spec, value, values?.[spec.name] ?? {}) } : known;
}

function reading(spec: OptionSpec, text: string, values: Readonly<Record<string, string>>): OptionReading {
  const truth = /^(?:1|on|t|true|y|yes)$/i.test(text)
    ? 'True'
    : /^(?:0|off|f|false|n|no)$/i.test(text)
      ? 'False'
      : text;
  if (spec.type === 'flag') {
    return /^(?:True|False)$/.test(truth) ? { value: truth === 'True' } : { error: `${spec.name} takes true or false` };
  }
  return readOptionValue(spec, values[text] ?? values[truth] ?? text);
}

/** Another flag, by the binding's name; none that takes a truth value, which is no word of the engine's, nor another model. */
export function bindingInsertion(
  insertion: Insertion | undefined,
  { keywords, values }: Binding,
  engine: LaunchEngine,
): Insertion | undefined {
  const takesValue = (name: string) => {
    const spec = engine.options.find((o) => o.name === name);
    return (
      spec?.type !== 'flag' &&
      spec?.role !== 'model' &&
      name !== engine.start.modelOption &&
      values?.[name]?.True === undefined
    );
  };
  const pairs = Object.entries(keywords ?? {}).filter(([, name]) => takesValue(name));
  const names = Object.fromEntries(pairs.map(([keyword, name]) => [name, keyword]));
  return insertion && { ...insertion, names, only: new RegExp(`^(?:${Object.values(names).join('|')})$`) };
}
