/** Figures as rows show them: the interval of every estimate, and the exact number of every exact byte count. */
import type { Figure } from '../core/figure';
import { formatBytes, isExact, KiB, withCommas } from '../core/units';
import { intervalOf, inUnit } from './amounts';

export const isEstimated = (figure: Figure): boolean => figure.range !== undefined && !isExact(figure.range);

const noun = { bytes: '', share: '', count: '', tokens: 'token', blocks: 'block', requests: 'request' } as const;

/** `82,969 blocks`, `98.4 %`; estimated: `about 52.31 GiB, estimated 51.90 to 52.56 GiB`. */
export function wordsOf(figure: Figure): string {
  const { value, unit, range } = figure;
  const word = noun[unit] && ` ${noun[unit]}${value === 1 ? '' : 's'}`;
  return isEstimated(figure)
    ? `about ${inUnit(value, unit)}${word}, estimated ${intervalOf(range, unit)}`
    : `${inUnit(value, unit)}${word}`;
}

/** The value alone, where a heading says the unit and its own column the interval. */
export const numberOf = (figure: Figure): string =>
  `${isEstimated(figure) ? 'about ' : ''}${inUnit(figure.value, figure.unit)}`;

/** `40,960 bytes (40 KiB)`: both, so that the number can be held against a log. */
export function exactBytes(bytes: number): string {
  const exact = `${withCommas(Math.round(bytes))} bytes`;
  return Math.abs(bytes) < KiB ? exact : `${exact} (${formatBytes(bytes)})`;
}
