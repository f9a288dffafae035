/** Helpers that keep an engine's option rows short. */
import type { DefaultRow, OptionReading, OptionSpec, OptionType } from './option';
import { readInt, words } from './option-read';

const UNSET: readonly DefaultRow[] = [{ value: null }];
const OFF: readonly DefaultRow[] = [{ value: false }];

/** A row with what most rows of a file share left out: its source, and the default of a plain option. */
export type Row = Omit<OptionSpec, 'source' | 'defaults'> & Partial<Pick<OptionSpec, 'source' | 'defaults'>>;

export const tableOf = (source: string, rows: readonly Row[]): readonly OptionSpec[] =>
  rows.map((row) => ({ source, defaults: row.type === 'flag' ? OFF : UNSET, ...row }));

/** An option without an effect on the KV cache. */
export type PlainRow = readonly [name: string, type: OptionType, summary: string, more?: Partial<OptionSpec>];

export const plainTable = (source: string, rows: readonly PlainRow[]): readonly OptionSpec[] =>
  tableOf(
    source,
    rows.map(([name, type, summary, more]) => ({ name, type, summary, ...more })),
  );

/** Whole numbers with white space or commas between, in brackets or not: `[128, 32768]`. */
export function readIntList(text: string): OptionReading {
  const all = words(text.replace(/[[\],]/g, ' '));
  const values = all.map((word) => readInt(word)).flatMap((n) => (n && 'value' in n ? [n.value as number] : []));
  return values.length === all.length && all.length > 0
    ? { value: values }
    : { error: `must be whole numbers, such as [128, 32768], not "${text}"` };
}
