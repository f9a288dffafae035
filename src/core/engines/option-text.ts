/** An option's row in words, for every face that shows one. */
import type { DefaultRow, OptionSpec, OptionType } from './option';
import { boundText, readOptionValue } from './option-read';

const TYPES: Readonly<Record<OptionType, string>> = {
  int: 'whole number',
  'human-int': 'whole number',
  float: 'number',
  string: 'text',
  enum: '',
  flag: 'no value',
  json: 'JSON',
  list: 'words',
};

/** A value with what it stands for: `8 (int8)`. */
export function valueText(spec: OptionSpec | undefined, value: string): string {
  const meaning = spec?.meanings?.[value];
  return meaning === undefined ? value : `${value} (${meaning})`;
}

/** What the option takes: `number above 0 and at most 1 (share)`. */
export function takesText(spec: OptionSpec): string {
  const values = (spec.values ?? []).map((value) => withSince(spec, value, valueText(spec, value)));
  const others = (spec.words ?? []).map((word) => withSince(spec, word));
  const kind = values.length > 0 ? values.join(', ') : TYPES[spec.type] + suffixesText(spec);
  const unit = spec.unit === undefined ? '' : ` (${spec.unit})`;
  const bounds = boundText(spec);
  return [`${kind}${bounds === undefined ? '' : ` ${bounds}`}${unit}`, ...others].join(', or ');
}

/** Numbers with the suffixes that this engine reads: `, 32k or 32K`. */
function suffixesText(spec: OptionSpec): string {
  const read =
    spec.type === 'human-int' ? ['32k', '32K', '32Ki'].filter((text) => 'value' in readOptionValue(spec, text)) : [];
  return read.length === 0 ? '' : `, ${read.join(' or ')}`;
}

function withSince(spec: OptionSpec, value: string, text = value): string {
  const since = spec.valuesSince?.[value];
  return since === undefined ? text : `${text} (since ${since})`;
}

/** One default in words; a text says more than its value. */
function defaultText(row: DefaultRow): string {
  if (row.text !== undefined) {
    return row.text;
  }
  const { value } = row;
  if (value === null || value === undefined) {
    return 'not set';
  }
  if (Array.isArray(value) && value.length === 0) {
    return 'none';
  }
  return typeof value === 'boolean'
    ? value
      ? 'on'
      : 'off'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : `${value}`;
}

/** Every default, oldest first: `0.9; since 0.21 0.92`. */
export const defaultsText = (spec: OptionSpec): string =>
  spec.defaults.map((row) => (row.since === undefined ? '' : `since ${row.since} `) + defaultText(row)).join('; ');

/** `since 0.10, gone in 0.27`, or nothing. */
export function versionsText(spec: OptionSpec): string {
  const since = spec.since === undefined ? [] : [`since ${spec.since}`];
  const until = spec.until === undefined ? [] : [`gone in ${spec.until}`];
  return [...since, ...until].join(', ');
}
