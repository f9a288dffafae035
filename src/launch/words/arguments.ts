/** Words after the ones that start an engine → its options, by argparse's rules. */
import type { OptionReading, OptionSpec } from '../../core/engines/option';
import { type FoundOption, findOption } from '../../core/engines/option-find';
import { readOptionValue } from '../../core/engines/option-read';
import type { LaunchEngine } from '../engines';
import type { LaunchOption, Layer, TextRange } from '../launch';
import { layersOf, type Mapped, maybeIn, rangeOf, unresolvedIn } from '../text/mapped';
import { unknownIn } from '../text/placeholder';

export interface ArgumentWords {
  readonly words: readonly Mapped[];
  /** Words went through a shell's quoting (or one like it); false for items of a list. */
  readonly shell: boolean;
  /** The whole file, for values as written. */
  readonly text: string;
  line(offset: number): number;
}

export interface Arguments {
  readonly options: readonly LaunchOption[];
  /** The positional model. */
  readonly model?: { readonly text: string; readonly range: TextRange; readonly unresolved?: string };
}

export function readArguments(input: ArgumentWords, engine: LaunchEngine, positionalModel: boolean): Arguments {
  const options: LaunchOption[] = [];
  let model: Arguments['model'];
  for (let i = 0; i < input.words.length; ) {
    const word = input.words[i] as Mapped;
    if (isFlag(word)) {
      const read = readFlag(input, i, engine);
      const condition = maybeIn(word);
      options.push(...read.options.map((o) => (condition === undefined ? o : conditional(o, condition))));
      i = read.next;
    } else {
      if (positionalModel && !model && (isPlausibleModel(word) || isOnlyModel(input, word, engine))) {
        model = positional(input, word);
        options.push(modelOption(input, word, engine));
      }
      i++;
    }
  }
  return model ? { options, model } : { options };
}

/** Written in one branch only: whether it is given cannot be known. */
function conditional(option: LaunchOption, condition: string): LaunchOption {
  const { value: _, error: __, ...rest } = option;
  return { ...rest, unresolved: option.unresolved ?? condition };
}

/** An unknown `$ARGS` may hold anything: it is not taken for the model unless it is the only thing it can be. */
const isPlausibleModel = (word: Mapped): boolean =>
  word.text !== '' &&
  !/[:;,[]$/.test(word.text) &&
  (unresolvedIn(word) === undefined || /MODEL|[{(]|^\$[0-9]/i.test(word.text));

/** The first word, which a template prints, where no flag names the model. */
const isOnlyModel = ({ words }: ArgumentWords, word: Mapped, { start }: LaunchEngine): boolean =>
  word === words[0] &&
  /^·+(?!.*(?:ARGS|FLAGS|OPTIONS))\w.*·$/i.test(word.text) &&
  !words.some((w) => w.text.startsWith(`--${start.modelOption}`));

function positional(input: ArgumentWords, word: Mapped): NonNullable<Arguments['model']> {
  const unresolved = unknownIn(word);
  const range = rangeOf(word);
  return unresolved === undefined
    ? { text: word.text, range }
    : { text: input.text.slice(range.start, range.end), range, unresolved };
}

function modelOption(input: ArgumentWords, word: Mapped, engine: LaunchEngine): LaunchOption {
  const spec = specOf(engine, `--${engine.start.modelOption}`)?.spec;
  const range = rangeOf(word);
  const base = { name: engine.start.modelOption, spec, range, nameRange: range, origin: 'file' as const };
  return valued(input, base, { words: [word], from: 0 }, (text) => ({ value: text }));
}

/** `-1` is a value; a word with a space in it is never a flag. */
function isFlag(word: Mapped): boolean {
  const text = word.text;
  return text.length > 1 && text[0] === '-' && !/^-(\d|\.\d)/.test(text) && !/^[^=]*\s/.test(text);
}

function specOf(engine: LaunchEngine, flag: string): FoundOption | undefined {
  const found = findOption(engine.options, flag);
  return found && !('ambiguous' in found) ? found : undefined;
}

interface FlagRead {
  readonly options: readonly LaunchOption[];
  readonly next: number;
}

function readFlag(input: ArgumentWords, index: number, engine: LaunchEngine): FlagRead {
  const word = input.words[index] as Mapped;
  const equals = word.text.indexOf('=');
  const flag = equals === -1 ? word.text : word.text.slice(0, equals);
  if (flag === '--' || unresolvedIn(word, 0, flag.length) !== undefined) {
    return { options: [], next: index + 1 };
  }
  const found = optionNamed(engine, flag);
  if (found && !('ambiguous' in found)) {
    return readKnown(input, index, flag, found);
  }
  const nameRange = rangeOf(word, 0, flag.length);
  const base = { name: bareName(flag), range: nameRange, nameRange, origin: 'file' as const, raw: '' };
  if (found) {
    const error = `${flag} is ambiguous: it could be ${found.ambiguous.join(', ')}`;
    const value = unknownValue(input, index, equals);
    return { options: [withRaw(input, { ...base, error }, value)], next: value.next };
  }
  const value = unknownValue(input, index, equals);
  const reading = (text: string): OptionReading => ({ value: text });
  const option =
    value.words.length === 0
      ? { ...base, line: input.line(nameRange.start), value: true }
      : valued(input, base, value, reading);
  return { options: [option], next: value.next };
}

/** A beginning of a name is the option only where the engine reads its words as argparse does. */
function optionNamed(engine: LaunchEngine, flag: string): ReturnType<typeof findOption> {
  const found = findOption(engine.options, flag);
  const isBeginning = found !== undefined && ('ambiguous' in found || found.abbreviated);
  return isBeginning && engine.start.exactFlags ? undefined : found;
}

/** The long flag as written, in the spelling of names. */
function bareName(flag: string): string {
  const [head = '', ...path] = flag.replace(/^--?/, '').split('.');
  return [head.replaceAll('_', '-'), ...path].join('.');
}

type Base = Pick<LaunchOption, 'name' | 'spec' | 'range' | 'nameRange' | 'origin'>;

/** Words that hold a value: the first from character `from` on, the others whole. */
interface ValueWords {
  readonly words: readonly Mapped[];
  readonly from: number;
}

function readKnown(input: ArgumentWords, index: number, flag: string, found: FoundOption): FlagRead {
  const word = input.words[index] as Mapped;
  const attached = found.attached;
  const head = attached === undefined ? flag.length : flag.length - attached.length;
  const name = found.path ? `${found.spec.name}.${found.path.join('.')}` : found.spec.name;
  const nameRange = rangeOf(word, 0, head);
  const base: Base = { name, spec: found.spec, range: nameRange, nameRange, origin: 'file' };
  const inWord = attached !== undefined || word.text.length > flag.length;
  if (found.spec.type === 'flag' && !found.path) {
    return { options: [flagOption(input, base, word, inWord ? flag.length + 1 : -1, found.negated)], next: index + 1 };
  }
  const value = inWord
    ? { words: [word], from: attached === undefined ? flag.length + 1 : head, next: index + 1 }
    : following(input, index + 1, found.spec.type === 'list' && !found.path);
  if (value.words.length === 0 && found.spec.bare !== undefined) {
    const option = { ...base, raw: '', value: found.spec.bare, line: input.line(nameRange.start) };
    return { options: [option], next: index + 1 };
  }
  if (value.words.length === 0) {
    const error = `${flag} expects a value`;
    return { options: [{ ...base, raw: '', line: input.line(nameRange.start), error }], next: index + 1 };
  }
  return { options: [valued(input, base, value, reader(found))], next: value.next };
}

function reader(found: FoundOption): (text: string) => OptionReading {
  return found.path ? readDotted : (text) => readOptionValue(found.spec, text);
}

/** A dotted key's value is JSON where it can be, else text. */
export function readDotted(text: string): OptionReading {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text };
  }
}

function flagOption(input: ArgumentWords, base: Base, word: Mapped, valueFrom: number, negated: boolean): LaunchOption {
  if (valueFrom === -1) {
    return { ...base, raw: '', value: !negated, line: input.line(base.nameRange.start) };
  }
  return valued(input, base, { words: [word], from: valueFrom }, () => ({
    error: `${base.name} is a flag and takes no value`,
  }));
}

/** The next word, or for a list all words up to the next flag. */
function following(input: ArgumentWords, from: number, list: boolean): ValueWords & { readonly next: number } {
  let next = from;
  while (next < input.words.length && !isFlag(input.words[next] as Mapped) && (list || next === from)) {
    next++;
  }
  return { words: input.words.slice(from, next), from: 0, next };
}

function unknownValue(input: ArgumentWords, index: number, equals: number): ValueWords & { readonly next: number } {
  return equals === -1
    ? following(input, index + 1, false)
    : { words: [input.words[index] as Mapped], from: equals + 1, next: index + 1 };
}

function withRaw(
  input: ArgumentWords,
  base: Base & { readonly error: string; readonly raw: string },
  value: ValueWords,
): LaunchOption {
  return value.words.length === 0
    ? { ...base, line: input.line(base.nameRange.start) }
    : valued(input, base, value, () => ({ error: base.error }));
}

function valued(
  input: ArgumentWords,
  base: Base,
  value: ValueWords,
  read: (text: string) => OptionReading,
): LaunchOption {
  const first = value.words[0] as Mapped;
  const last = value.words.at(-1) as Mapped;
  const valueRange =
    value.words.length === 1
      ? rangeOf(first, value.from)
      : { start: value.from === 0 ? first.extent.start : rangeOf(first, value.from).start, end: last.extent.end };
  const { nameRange } = base;
  const outcome = readingOf(base.spec, value, read);
  // One shape for every option: these objects are made by the hundred.
  return {
    name: base.name,
    spec: base.spec,
    raw: input.text.slice(valueRange.start, valueRange.end),
    value: outcome.value,
    unresolved: outcome.unresolved,
    error: outcome.error,
    origin: base.origin,
    line: input.line(nameRange.start),
    range:
      valueRange.start < nameRange.start
        ? nameRange
        : { start: nameRange.start, end: Math.max(nameRange.end, valueRange.end) },
    nameRange,
    valueRange,
    layers:
      value.words.length === 1
        ? layersOf(first, value.from, first.text.length, input.shell)
        : input.shell
          ? first.layers
          : listLayers(first, valueRange),
  };
}

/** Several quoted items are replaced by one, quotes and all. */
function listLayers(first: Mapped, whole: TextRange): readonly Layer[] {
  const all = [...first.layers, ...(first.segments[0]?.outer ?? [])];
  const last = all.at(-1);
  const quotes =
    (last?.kind === 'python-string' || last?.kind === 'yaml-double') &&
    last.range.start === first.extent.start &&
    last.range.end === first.extent.end;
  return quotes ? [...all.slice(0, -1), { kind: 'python-word', range: whole }] : [{ kind: 'pieces', range: whole }];
}

type Outcome = Pick<LaunchOption, 'value' | 'unresolved' | 'error'>;

function readingOf(spec: OptionSpec | undefined, value: ValueWords, read: (text: string) => OptionReading): Outcome {
  for (const [i, word] of value.words.entries()) {
    const unresolved = unknownIn(word, i === 0 ? value.from : 0);
    if (unresolved !== undefined) {
      return { unresolved };
    }
  }
  const texts = value.words.map((w, i) => (i === 0 ? w.text.slice(value.from) : w.text));
  return readTexts(spec, texts, read);
}

/** The words are a list as they stand: a word may hold a space. */
const readTexts = (
  spec: OptionSpec | undefined,
  texts: readonly string[],
  read: (text: string) => OptionReading,
): OptionReading => (spec?.type === 'list' && spec.read === undefined ? { value: texts } : read(texts.join(' ')));
