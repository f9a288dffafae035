/** Text of a file or a command line → an option's value, or why the engine will not take it. */
import type { OptionReading, OptionSpec, OptionType, OptionValue } from './option';

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

const DIGITS = String.raw`\d+(?:_\d+)*`;
const FLOAT = new RegExp(String.raw`^[+-]?(?:${DIGITS}\.?(?:${DIGITS})?|\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`);

/** Python's `float(text)`, without infinities and NaN: no option takes those. */
function readFloat(text: string): OptionReading | undefined {
  const trimmed = text.trim();
  return FLOAT.test(trimmed) ? { value: Number(trimmed.replaceAll('_', '')) } : undefined;
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
