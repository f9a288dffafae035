/** One setting of an engine, described once: the row feeds the reader, the plan, the hover, completion and the docs. */

export type OptionValue =
  | string
  | number
  | boolean
  | null
  | readonly OptionValue[]
  | { readonly [key: string]: OptionValue };

export type OptionType =
  /** Plain integer. */
  | 'int'
  /** Integer with the suffixes this engine reads. */
  | 'human-int'
  | 'float'
  | 'string'
  | 'enum'
  /** `--x` / `--no-x`, no value. */
  | 'flag'
  | 'json'
  /** Takes words up to the next flag. */
  | 'list';

export type OptionUnit =
  | 'tokens'
  | 'bytes'
  | 'GiB'
  | 'MiB'
  | 'GB'
  | 'share'
  | 'requests'
  | 'blocks'
  | 'layers'
  | 'GPUs';

/** What an option decides, in any engine's words: lets a face say what it does to a plan without knowing the engine. */
export type OptionRole =
  | 'model'
  | 'max-length'
  | 'memory-share'
  | 'kv-memory'
  | 'kv-dtype'
  | 'dtype'
  | 'block-size'
  | 'tensor'
  | 'pipeline'
  | 'data'
  | 'max-sequences'
  | 'batch-tokens'
  | 'prefix-cache'
  | 'flash-attention';

/**
 * `card`: what the server may use of the whole card. `free`: the pool, of what weights (and a profile run, if there is
 * one) leave free. `weights-and-pool`: what weights and pool may take of what was free before.
 */
export type ShareOf = 'card' | 'free' | 'weights-and-pool';

/** A default from a version on; rows are oldest first and the last one that applies wins. */
export interface DefaultRow {
  /** First version it holds for; absent = from the first known. */
  readonly since?: string;
  /** Absent when the default is derived: then `text` says how. */
  readonly value?: OptionValue;
  readonly text?: string;
}

export interface OptionSpec {
  /** Long flag without leading dashes, as the engine writes it: the canonical name. A key inside a file's section is dotted. */
  readonly name: string;
  /** Other long flags, without dashes. */
  readonly aliases?: readonly string[];
  /** Short forms with their dash: `-tp`. */
  readonly short?: readonly string[];
  readonly type: OptionType;
  readonly values?: readonly string[];
  /** What a value stands for that does not say it itself: `8` for `int8`. */
  readonly meanings?: Readonly<Record<string, string>>;
  /** First version of a value or word, where it is younger than the option. */
  readonly valuesSince?: Readonly<Record<string, string>>;
  /** Words accepted beside the type: `auto`. The word `None` reads as null: not set. */
  readonly words?: readonly string[];
  readonly unit?: OptionUnit;
  /** Inclusive bounds; `above` and `below` are the exclusive ones. */
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly below?: number;
  readonly defaults: readonly DefaultRow[];
  readonly role?: OptionRole;
  /** What a memory share is a share of: two engines mean the same by it or they do not. */
  readonly shareOf?: ShareOf;
  /** A flag that switches off what its role is about. */
  readonly negative?: true;
  /** A length of all requests together, where other engines ask for that of one. */
  readonly ofAll?: true;
  /** Environment variable that sets it. */
  readonly env?: string;
  readonly since?: string;
  /** First version without it. */
  readonly until?: string;
  /** One sentence: what it is. */
  readonly summary: string;
  /** One sentence: what it does to the KV cache; absent when nothing. */
  readonly effect?: string;
  /** Engine file and version the row was read from. */
  readonly source: string;
  /** What it says without a value, where it may stand alone. */
  readonly bare?: OptionValue;
  /** Reads a value where the type's own reading is not this engine's. Its error goes on from the option's name. */
  readonly read?: (text: string) => OptionReading;
}

export type OptionReading = { readonly value: OptionValue } | { readonly error: string };

/** Lookups of one table, built once. */
export interface OptionIndex {
  /** Names and aliases of options, without dashes. */
  readonly long: ReadonlyMap<string, OptionSpec>;
  /** Short forms with their dash. */
  readonly short: ReadonlyMap<string, OptionSpec>;
  /** Every long form argparse knows, `no-` forms of flags among them, for abbreviations. */
  readonly forms: readonly LongForm[];
}

interface LongForm {
  readonly text: string;
  /** The text with dashes for underscores: engines differ in which they write, and files too. */
  readonly key: string;
  readonly spec: OptionSpec;
  readonly negated: boolean;
}

export interface FoundOption {
  readonly spec: OptionSpec;
  /** Written as `--no-x`. */
  readonly negated: boolean;
  /** Written as an unambiguous beginning of the name. */
  readonly abbreviated: boolean;
  /** Keys of a dotted flag: `--speculative-config.method` → `['method']`; only for json options. */
  readonly path?: readonly string[];
  /** The dotted flag ends with `+`: its value is appended to a list. */
  readonly append?: true;
  /** A value written on to a one-letter flag: `-O3` → `3`. */
  readonly attached?: string;
}

export interface AmbiguousOption {
  /** Flags it could mean, with their dashes. */
  readonly ambiguous: readonly string[];
}

const indexes = new WeakMap<readonly OptionSpec[], OptionIndex>();

export function optionIndex(table: readonly OptionSpec[]): OptionIndex {
  const known = indexes.get(table);
  if (known) {
    return known;
  }
  const forms = table.flatMap(longForms);
  const index: OptionIndex = {
    long: new Map(forms.filter((f) => !f.negated).map((f) => [f.key, f.spec])),
    short: new Map(table.flatMap((spec) => (spec.short ?? []).map((s) => [s, spec]))),
    forms,
  };
  indexes.set(table, index);
  return index;
}

const longForms = (spec: OptionSpec): readonly LongForm[] =>
  [spec.name, ...(spec.aliases ?? [])].flatMap((text) => [
    { text, key: dashed(text), spec, negated: false },
    ...(spec.type === 'flag' ? [{ text: `no-${text}`, key: dashed(`no-${text}`), spec, negated: true }] : []),
  ]);

const dashed = (text: string): string => text.replaceAll('_', '-');

/** Whether a file's key opens a section whose keys are options: the table then has them dotted. */
export const hasSection = (table: readonly OptionSpec[], key: string): boolean =>
  optionIndex(table).forms.some((f) => f.key.startsWith(`${dashed(key)}.`));

/**
 * The option a flag means, by argparse's rules. `flag` has no `=value`; without dashes it is read as a long flag
 * (a YAML key). Underscores up to the first dot equal dashes. `version` decides which options an abbreviation can
 * mean; without it, the ones the newest version has.
 */
export function findOption(
  table: readonly OptionSpec[],
  flag: string,
  version?: string,
): FoundOption | AmbiguousOption | undefined {
  const index = optionIndex(table);
  const isShort = flag.startsWith('-') && !flag.startsWith('--');
  const nested = isShort || !flag.includes('.') ? undefined : index.long.get(dashed(flag.replace(/^--/, '')));
  if (nested) {
    return { spec: nested, negated: false, abbreviated: false };
  }
  // A one-letter flag may carry a value with dots in it: `-O{"x": 1.5}`.
  const [head = '', ...path] = isShort && !/^-\w+\./.test(flag) ? [flag] : flag.replace(/^--/, '').split('.');
  const found = isShort ? findShort(index, head) : findLong(index, dashed(head), version);
  if (!found || 'ambiguous' in found || path.length === 0) {
    return found;
  }
  return found.spec.type === 'json' && !found.negated ? { ...found, ...dottedPath(path) } : undefined;
}

function dottedPath(path: readonly string[]): Pick<FoundOption, 'path' | 'append'> {
  const last = path.at(-1) ?? '';
  return last.endsWith('+') ? { path: [...path.slice(0, -1), last.slice(0, -1)], append: true } : { path };
}

function findLong(
  index: OptionIndex,
  name: string,
  version: string | undefined,
): FoundOption | AmbiguousOption | undefined {
  const spec = index.long.get(name);
  if (spec) {
    return { spec, negated: false, abbreviated: false };
  }
  const negated = name.startsWith('no-') ? index.long.get(name.slice(3)) : undefined;
  if (negated?.type === 'flag') {
    return { spec: negated, negated: true, abbreviated: false };
  }
  if (name === '') {
    return undefined;
  }
  const matches = index.forms.filter((f) => f.key.startsWith(name) && isThere(f.spec, version));
  return oneOf(
    matches.map((f) => ({ text: `--${f.text}`, found: { spec: f.spec, negated: f.negated, abbreviated: true } })),
  );
}

/** `-tp`, its abbreviation `-t`, and a one-letter flag with its value attached, `-O3`. */
function findShort(index: OptionIndex, flag: string): FoundOption | AmbiguousOption | undefined {
  const spec = index.short.get(flag);
  if (spec) {
    return { spec, negated: false, abbreviated: false };
  }
  if (flag.length < 2) {
    return undefined;
  }
  const longer = [...index.short]
    .filter(([text]) => text.startsWith(flag))
    .map(([text, s]) => ({ text, found: { spec: s, negated: false, abbreviated: true } }));
  const letter = index.short.get(flag.slice(0, 2));
  const attached = letter
    ? [{ text: flag.slice(0, 2), found: { spec: letter, negated: false, abbreviated: false, attached: flag.slice(2) } }]
    : [];
  return oneOf([...longer, ...attached]);
}

/** Two forms of the same option are no ambiguity. */
function oneOf(
  matches: readonly { readonly text: string; readonly found: FoundOption }[],
): FoundOption | AmbiguousOption | undefined {
  const first = matches[0]?.found;
  const same = matches.every((m) => m.found.spec === first?.spec && m.found.negated === first.negated);
  return same ? first : { ambiguous: matches.map((m) => m.text) };
}

const isThere = (spec: OptionSpec, version: string | undefined): boolean =>
  version === undefined ? spec.until === undefined : availability(spec, version) === 'ok';

/** Whether that version has the option (and takes the value); `until` is the first version without it. */
export function availability(
  spec: OptionSpec,
  version: string,
  value?: OptionValue,
): 'ok' | { since: string } | { until: string } {
  const valueSince = typeof value === 'string' ? spec.valuesSince?.[value] : undefined;
  for (const since of [spec.since, valueSince]) {
    if (since !== undefined && compareVersions(version, since) < 0) {
      return { since };
    }
  }
  return spec.until !== undefined && compareVersions(version, spec.until) >= 0 ? { until: spec.until } : 'ok';
}

/** The default that holds in that version. */
export const defaultOf = (spec: OptionSpec, version: string): DefaultRow | undefined =>
  spec.defaults.findLast((row) => row.since === undefined || compareVersions(version, row.since) >= 0);

/**
 * Below 0 when `a` is older. Dotted numbers; a `v`, and suffixes such as `rc1`, `.post1` and `+cu129`, do not count.
 * A build number (`b5890`) is older than any release. What is no version (`main`, `nightly`) is newer than all.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionNumbers(a), versionNumbers(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x, y] = [left[i] ?? 0, right[i] ?? 0];
    if (x !== y) {
      return x < y ? -1 : 1;
    }
  }
  return 0;
}

const versions = new Map<string, readonly number[]>();

/** The same few versions are compared again and again; names from files must not grow the table without end. */
function versionNumbers(text: string): readonly number[] {
  const known = versions.get(text);
  if (known) {
    return known;
  }
  if (versions.size > 500) {
    versions.clear();
  }
  const numbers = parseVersion(text);
  versions.set(text, numbers);
  return numbers;
}

function parseVersion(text: string): readonly number[] {
  const build = /^\s*b(\d+)/.exec(text)?.[1];
  const numbers = build === undefined ? /^\s*v?(\d+(?:\.\d+)*)/.exec(text)?.[1] : `0.0.${build}`;
  return numbers === undefined ? [Number.POSITIVE_INFINITY] : numbers.split('.').map(Number);
}

type Reader = (spec: OptionSpec, text: string) => OptionReading;

/** What a Python command line takes `text` for, or why it will not take it. A flag without a value is the empty text. */
export function readOptionValue(spec: OptionSpec, text: string): OptionReading {
  const word = spec.words?.find((w) => w === text.trim());
  if (word === 'None' || (text === '' && spec.words?.includes('None'))) {
    return { value: null };
  }
  if (word !== undefined) {
    return { value: word };
  }
  const reading = spec.read ? spec.read(text) : READERS[spec.type](spec, text);
  if ('error' in reading) {
    return { error: `${spec.name} ${reading.error}` };
  }
  const broken = brokenBound(spec, reading.value);
  return broken === undefined ? reading : { error: `${spec.name} must be ${broken}, not ${text.trim()}` };
}

/** Errors here go on from the option's name. */
const READERS: Readonly<Record<OptionType, Reader>> = {
  int: (spec, text) => readInt(text) ?? notA('a whole number', spec, text),
  'human-int': (spec, text) => readInt(text) ?? notA('a whole number', spec, text),
  float: (spec, text) => readFloat(text) ?? notA('a number', spec, text),
  string: (_spec, text) => ({ value: text }),
  enum: (spec, text) => (spec.values?.includes(text) ? { value: text } : notOneOf(spec, text)),
  flag: (_spec, text) => readFlag(text),
  json: (_spec, text) => readJson(text),
  list: (_spec, text) => ({ value: words(text) }),
};

/** Words between white space; none in an empty text. */
export const words = (text: string): readonly string[] => text.split(/\s+/).filter((w) => w !== '');

/** Python's `int(text)`: a sign, single underscores between digits and white space around are taken; `1.0` is not. */
export function readInt(text: string): OptionReading | undefined {
  const digits = text.trim();
  return /^[+-]?\d+(?:_\d+)*$/.test(digits) ? safeInteger(Number(digits.replaceAll('_', ''))) : undefined;
}

/** No option takes more than 2^53, and beyond it a number here is not the one written. */
export const safeInteger = (value: number): OptionReading =>
  Number.isSafeInteger(value) ? { value: value === 0 ? 0 : value } : { error: 'is too large' };

/** Python's `float(text)`, without infinities and NaN: no option takes those. */
function readFloat(text: string): OptionReading | undefined {
  const digits = '\\d+(?:_\\d+)*';
  const pattern = new RegExp(`^[+-]?(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:[eE][+-]?${digits})?$`);
  const trimmed = text.trim();
  return pattern.test(trimmed) ? { value: Number(trimmed.replaceAll('_', '')) } : undefined;
}

function readFlag(text: string): OptionReading {
  const word = text.trim().toLowerCase();
  if (word === '' || word === 'true') {
    return { value: true };
  }
  return word === 'false' ? { value: false } : { error: `is a flag and takes no value, not "${text}"` };
}

/** An object or a list; a bare scalar is no option's value. */
export function readJson(text: string): OptionReading {
  if (nesting(text) > DEEPEST) {
    return { error: `is nested deeper than ${DEEPEST} levels` };
  }
  try {
    const value = JSON.parse(text) as OptionValue;
    return typeof value === 'object' && value !== null
      ? { value }
      : { error: `must be a JSON object, such as {"key": 1}, not ${text.trim()}` };
  } catch (error) {
    return { error: `is not valid JSON: ${jsonReason(text, error)}` };
  }
}

/** Deeper than any option's value, and far from what recursion takes. */
const DEEPEST = 100;

/** Brackets inside strings count too: more than enough is still more than enough. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '{' || character === '[') {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (character === '}' || character === ']') {
      depth -= 1;
    }
  }
  return deepest;
}

/** The parsers of browsers and Node word it differently; the two common slips are named plainly. */
function jsonReason(text: string, error: unknown): string {
  if (text.trim() === '') {
    return 'it is empty';
  }
  if (/^\s*[{[]\s*'/.test(text)) {
    return 'strings need double quotes';
  }
  return error instanceof Error ? error.message : 'it cannot be parsed';
}

const notA = (what: string, spec: OptionSpec, text: string): OptionReading => ({
  error: `must be ${what}${orWords(spec)}, not "${text}"`,
});

function orWords(spec: OptionSpec): string {
  const shown = (spec.words ?? []).filter((w) => w !== 'None');
  return shown.length === 0 ? '' : ` or ${shown.join(' or ')}`;
}

const notOneOf = (spec: OptionSpec, text: string): OptionReading => ({
  error: `must be one of ${[...(spec.values ?? []), ...(spec.words ?? [])].join(', ')}, not "${text}"`,
});

/** The bounds in words when the value breaks them: `above 0 and at most 1`. */
function brokenBound(spec: OptionSpec, value: OptionValue): string | undefined {
  if (typeof value !== 'number') {
    return undefined;
  }
  const broken =
    value < (spec.min ?? Number.NEGATIVE_INFINITY) ||
    value <= (spec.above ?? Number.NEGATIVE_INFINITY) ||
    value > (spec.max ?? Number.POSITIVE_INFINITY) ||
    value >= (spec.below ?? Number.POSITIVE_INFINITY);
  return broken ? boundText(spec) : undefined;
}

/** `between 1 and 8`, `above 0 and at most 1`, `at least 1`; undefined without bounds. */
export function boundText(spec: OptionSpec): string | undefined {
  if (spec.min !== undefined && spec.max !== undefined) {
    return `between ${spec.min} and ${spec.max}`;
  }
  const low =
    spec.min !== undefined ? [`at least ${spec.min}`] : spec.above !== undefined ? [`above ${spec.above}`] : [];
  const high =
    spec.max !== undefined ? [`at most ${spec.max}`] : spec.below !== undefined ? [`below ${spec.below}`] : [];
  return low.length + high.length === 0 ? undefined : [...low, ...high].join(' and ');
}
