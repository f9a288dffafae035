/** Units and roundings. Bytes and tokens are integers; every engine here counts GiB = 2^30. */

export const KiB = 2 ** 10;
export const MiB = 2 ** 20;
export const GiB = 2 ** 30;
export const GB = 1e9;

/** An estimate: the value to show, and the interval it lies in. `low === high` is exact. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export const exactly = (value: number): Estimate => ({ value, low: value, high: value });

export const between = (low: number, value: number, high: number): Estimate => ({ value, low, high });

export const isExact = (e: Estimate): boolean => e.low === e.high;

/** Sum of estimates that may err in the same direction: the ends add up. */
export function addEstimates(...terms: readonly Estimate[]): Estimate {
  return terms.reduce((a, b) => between(a.low + b.low, a.value + b.value, a.high + b.high), exactly(0));
}

/** `a − b`: the low end is what is left when everything taken away is at its largest. */
export const subtractEstimates = (a: Estimate, b: Estimate): Estimate =>
  between(a.low - b.high, a.value - b.value, a.high - b.low);

export const ceilDiv = (a: number, b: number): number => Math.ceil(a / b);

/**
 * Python's `'%.{digits}f'`: exact binary ties go to the even digit where JavaScript's `toFixed` rounds them up
 * (3.625 → `3.62`, `toFixed` says `3.63`). A double is such a tie exactly when it is an odd multiple of
 * 2^−(digits + 1): only then is value × 10^digits an odd multiple of one half.
 */
export function toFixedHalfEven(value: number, digits: number): string {
  const halves = Math.abs(value) * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) {
    return value.toFixed(digits);
  }
  const below = Math.floor(Math.abs(value) * 10 ** digits);
  const even = below % 2 === 0 ? below : below + 1;
  return `${value < 0 ? '-' : ''}${(even / 10 ** digits).toFixed(digits)}`;
}

/** Python's `round(x, 2)` as its `str` prints it: at most two decimals, at least one (`16.0`, `4.58`). */
export function pythonRound2(value: number): string {
  const text = toFixedHalfEven(value, 2);
  return text.endsWith('0') ? text.slice(0, -1) : text;
}

/** Groups thousands with commas, as Python's `{:,}` does and as every face here does; at most two decimals. */
export function withCommas(value: number): string {
  const [whole = '', fraction] = String(Number(value.toFixed(2))).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `16.0 GiB`, `640 KiB`, `512 B`: binary units, always labelled. */
export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes);
  if (size >= GiB) {
    return `${(bytes / GiB).toFixed(size >= 100 * GiB ? 1 : 2)} GiB`;
  }
  if (size >= MiB) {
    return `${(bytes / MiB).toFixed(1)} MiB`;
  }
  return size >= KiB ? `${trimZero((bytes / KiB).toFixed(1))} KiB` : `${bytes} B`;
}

const trimZero = (text: string): string => text.replace(/\.0$/, '');

/** Reads `58.11GiB`, `80 GB`, `54375000000` (a bare number is bytes). Undefined when it is none of these. */
export function parseBytes(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?)B|B)?\s*$/i.exec(text);
  if (!match) {
    return undefined;
  }
  const [, digits, prefix, binary] = match;
  const power = prefix ? 'KMGT'.indexOf(prefix.toUpperCase()) + 1 : 0;
  const bytes = Number(digits) * (binary ? 1024 : 1000) ** power;
  return Number.isSafeInteger(Math.floor(bytes)) ? Math.floor(bytes) : undefined;
}
