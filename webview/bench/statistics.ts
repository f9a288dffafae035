/** Medians with intervals that assume nothing about how times are spread. */

export interface Interval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Between the two nearest order statistics. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/**
 * The median with the narrowest symmetric pair of order statistics that holds the true one with 95 %: the number of
 * values below it is binomial with one half. Fewer than six values reach no 95 %; then it is all of them.
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b);
  const n = sorted.length;
  let rank = 0;
  for (let below = 0.5 ** n, term = below; below <= 0.025 && rank < n / 2; rank++) {
    term *= (n - rank) / (rank + 1);
    below += term;
  }
  const first = Math.max(0, rank - 1);
  return {
    median: median(sorted),
    low: sorted[first] ?? Number.NaN,
    high: sorted[n - 1 - first] ?? Number.NaN,
  };
}

/** Each round's time of one variant over the base's in the same round: drift and changes of clock cancel. */
export function pairedRatio(times: readonly number[], base: readonly number[]): Interval {
  const ratios = times.map((time, round) => time / (base[round] ?? Number.NaN)).filter(Number.isFinite);
  return medianInterval(ratios);
}

/** Whether a ratio's interval clears that of the same thing measured twice, and one: noise may lie beside it. */
export const isReal = (ratio: Interval, noise: Interval): boolean =>
  ratio.low > Math.max(1, noise.high) || ratio.high < Math.min(1, noise.low);

/** The step of a clock: what all its readings are multiples of. */
export function quantumOf(readings: readonly bigint[]): bigint {
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));
  return readings.reduce((step, reading) => gcd(reading, step), 0n);
}
