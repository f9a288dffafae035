/** The option that a flag or a key means, by argparse's rules. */
import { availability, type OptionSpec } from './option';

/** Lookups of one table, built once. */
export interface OptionIndex {
  /** Names and aliases of options, without dashes. */
  readonly long: ReadonlyMap<string, OptionSpec>;
  /** Short forms with their dash. */
  readonly short: ReadonlyMap<string, OptionSpec>;
  /** What each flag means that is written as the table has it, with its dashes: nearly all of them are. */
  readonly written: ReadonlyMap<string, FoundOption>;
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
    written: new Map(
      table.flatMap(flagsOf).map(([flag, spec]) => [flag, { spec, negated: false, abbreviated: false }]),
    ),
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

const flagsOf = (spec: OptionSpec): readonly (readonly [string, OptionSpec])[] =>
  [...[spec.name, ...(spec.aliases ?? [])].map((name) => `--${dashed(name)}`), ...(spec.short ?? [])].map((flag) => [
    flag,
    spec,
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
  const written = index.written.get(flag);
  if (written) {
    return written;
  }
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
