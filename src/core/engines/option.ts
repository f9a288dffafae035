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
