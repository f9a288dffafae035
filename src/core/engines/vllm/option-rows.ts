/** Helpers that keep vLLM's option rows short, and its own readings of values. */
import type { DefaultRow, OptionReading, OptionSpec, OptionType } from '../option';
import { readInt, readJson, safeInteger, words } from '../option-read';

/** Not set, and the engine then does nothing about it. */
const UNSET: readonly DefaultRow[] = [{ value: null }];
export const OFF: readonly DefaultRow[] = [{ value: false }];

/** Words of an option whose config field may be None. */
export const OR_NONE = ['None'] as const;

/** A row with what most rows of a file share left out: its source, and the default of a plain flag. */
export type Row = Omit<OptionSpec, 'source' | 'defaults'> & Partial<Pick<OptionSpec, 'source' | 'defaults'>>;

export const rowsOf = (source: string, rows: readonly Row[]): readonly OptionSpec[] =>
  rows.map((row) => ({ source, defaults: row.type === 'flag' ? OFF : UNSET, ...row }));

/** An option without an effect on the KV cache. */
export type PlainRow = readonly [name: string, type: OptionType, summary: string, more?: Partial<OptionSpec>];

export const plainRows = (source: string, rows: readonly PlainRow[]): readonly OptionSpec[] =>
  rowsOf(
    source,
    rows.map(([name, type, summary, more]) => ({ name, type, summary, ...more })),
  );

const SUFFIXES = 'kmgt';

/**
 * Integers with a suffix: lower case counts in powers of 1000 and may have decimals, upper case in powers of 1024
 * and may not. (`vllm/utils/argparse_utils.py :: human_readable_int`, 0.28)
 */
export function readHumanInt(text: string): OptionReading {
  const trimmed = text.trim();
  const match = /^(\d+(?:\.\d+)?)([kmgt])$/i.exec(trimmed);
  if (!match) {
    return readInt(trimmed) ?? { error: `must be a whole number such as 32768, 32k or 32K, not "${text}"` };
  }
  const [, number = '', suffix = ''] = match;
  const power = SUFFIXES.indexOf(suffix.toLowerCase()) + 1;
  if (SUFFIXES.includes(suffix)) {
    return safeInteger(Math.trunc(Number(number) * 1000 ** power));
  }
  return number.includes('.')
    ? { error: `takes no decimals with ${suffix} (powers of 1024): did you mean ${number}${suffix.toLowerCase()}?` }
    : safeInteger(Number(number) * 1024 ** power);
}

/** A maximum length: `auto` and `-1` let the engine pick the longest that fits. Both read as `auto`. */
export const readLength = (text: string): OptionReading =>
  /^\s*(?:-1|auto)\s*$/i.test(text) ? { value: 'auto' } : readHumanInt(text);

/** Whole numbers with white space between. */
export function readInts(text: string): OptionReading {
  const numbers = words(text).map((word) => readInt(word));
  const values = numbers.flatMap((n) => (n && 'value' in n && typeof n.value === 'number' ? [n.value] : []));
  return values.length === numbers.length
    ? { value: values }
    : { error: `must be whole numbers with spaces between, not "${text}"` };
}

/** JSON, or `image=4,video=1` as old versions wrote it. */
export function readLimits(text: string): OptionReading {
  if (!/^\s*\w+=\d+(?:,\w+=\d+)*\s*$/.test(text)) {
    return readJson(text);
  }
  const pairs = text
    .trim()
    .split(',')
    .map((pair) => pair.split('='));
  return { value: Object.fromEntries(pairs.map(([key = '', count]) => [key, Number(count)])) };
}

/** A level, or a JSON object: `-O3`, `-O '{"cudagraph_mode": "NONE"}'`. */
export const readCompilation = (text: string): OptionReading =>
  /^\s*[0-3]\s*$/.test(text) ? { value: Number(text) } : readJson(text);

/** Where a row was read: a file of the vLLM package, and the version. */
export const sourceOf = (file: string, version = '0.28'): string => `vllm/${file}, ${version}`;
