/** Figures in words, one way for every face: the unit always said, an estimate never shown as exact. */
import type { Figure, Unit } from '../core/figure';
import { type Estimate, formatBytes, isExact, withCommas } from '../core/units';

const rounded = (value: number): string => withCommas(Number(value.toFixed(2)));

export const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

/** A value in its unit; a lone number for requests, blocks and counts, whose noun the sentence says. */
export function inUnit(value: number, unit: Unit): string {
  switch (unit) {
    case 'bytes':
      return formatBytes(Math.round(value));
    case 'share':
      return percent(value);
    default:
      return rounded(value);
  }
}

/** The interval of an estimate, `55.20 to 59.00 GiB`; empty when the value is exact. */
export function intervalOf(range: Estimate | undefined, unit: Unit): string {
  if (!range || isExact(range)) {
    return '';
  }
  const low = inUnit(range.low, unit);
  const high = inUnit(range.high, unit);
  if (low === high) {
    return high; // narrower than it is shown
  }
  const suffix = / [^ ]+$/.exec(high)?.[0] ?? '';
  return `${suffix && low.endsWith(suffix) ? low.slice(0, -suffix.length) : low} to ${high}`;
}

/** The value alone, marked when it is an estimate: `~57.10 GiB`. For places with no room for the interval. */
export const shortAmount = (figure: Figure): string =>
  `${figure.range && !isExact(figure.range) ? '~' : ''}${inUnit(figure.value, figure.unit)}`;

/** An estimate with its interval, for a sentence: `~1,589 (1,530 to 1,620)`. */
export function withInterval(figure: Figure): string {
  const interval = intervalOf(figure.range, figure.unit);
  return interval ? `${shortAmount(figure)} (${interval})` : shortAmount(figure);
}
