/** Helpers that keep SGLang's option rows short, and its own reading of whole numbers. */
import type { DefaultRow, OptionReading, OptionSpec, OptionType } from '../option';
import { readInt, safeInteger } from '../option-read';

const UNSET: readonly DefaultRow[] = [{ value: null }];
const OFF: readonly DefaultRow[] = [{ value: false }];

/** A row with what most rows of a file share left out: its source, and the default of a plain flag. */
type Row = Omit<OptionSpec, 'source' | 'defaults'> & Partial<Pick<OptionSpec, 'source' | 'defaults'>>;

export const rowsOf = (source: string, rows: readonly Row[]): readonly OptionSpec[] =>
  rows.map((row) => ({ source, defaults: row.type === 'flag' ? OFF : UNSET, ...row }));

/** An option without an effect on the KV cache. */
type PlainRow = readonly [name: string, type: OptionType, summary: string, more?: Partial<OptionSpec>];

export const plainRows = (source: string, rows: readonly PlainRow[]): readonly OptionSpec[] =>
  rowsOf(
    source,
    rows.map(([name, type, summary, more]) => ({ name, type, summary, ...more })),
  );

const THOUSANDS = 'kMGT';

/**
 * `k M G T` count in powers of 1000 and may have decimals; `Ki Mi Gi Ti` in powers of 1024 and may not. Case counts:
 * `K` and `m` are no suffixes. Source: SGLang 0.5.18, srt/utils/common.py :: human_readable_int.
 */
export function readHumanInt(text: string): OptionReading {
  const trimmed = text.trim();
  const match = /^(\d+(?:\.\d+)?)([kMGT]|[KMGT]i)$/.exec(trimmed);
  if (!match) {
    const other = /^\d+(?:\.\d+)?[kmgt]i?$/i.test(trimmed)
      ? `takes k, M, G, T (thousands) or Ki, Mi, Gi, Ti (1024), not "${text}"`
      : `must be a whole number such as 32768, 32k or 32Ki, not "${text}"`;
    return readInt(trimmed) ?? { error: other };
  }
  const [, number = '', suffix = ''] = match;
  if (suffix.endsWith('i')) {
    return number.includes('.')
      ? { error: `takes no decimals with ${suffix} (powers of 1024)` }
      : safeInteger(Number(number) * 1024 ** ('KMGT'.indexOf(suffix[0] as string) + 1));
  }
  return safeInteger(Math.trunc(Number(number) * 1000 ** (THOUSANDS.indexOf(suffix) + 1)));
}

/** Where a row was read: a file of the SGLang package, and the version. */
export const sourceOf = (file: string, version = '0.5.18'): string => `sglang/srt/${file}, ${version}`;
