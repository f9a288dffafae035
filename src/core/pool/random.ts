import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** A seeded source of numbers in [0, 1): the same seed gives the same run on every machine. */
export type Random = () => number;

export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed | 0);
  for (let i = 0; i < 16; i++) {
    generator.next(); // near seeds start alike
  }
  return () => uniformFloat64(generator);
}

/** Mean 1. */
export const exponential = (random: Random): number => -Math.log(1 - random());

/** Standard normal, by Box and Muller; the second value is dropped to keep the stream simple. */
const normal = (random: Random): number => Math.sqrt(2 * exponential(random)) * Math.cos(2 * Math.PI * random());

/** How long something is, in tokens or turns. */
export type Lengths =
  | { readonly kind: 'fixed'; readonly value: number }
  | { readonly kind: 'uniform'; readonly low: number; readonly high: number }
  | { readonly kind: 'exponential'; readonly mean: number; readonly low?: number; readonly high?: number }
  /** `spread` is the standard deviation of the logarithm; 1 is usual for prompts of mixed traffic. */
  | {
      readonly kind: 'lognormal';
      readonly mean: number;
      readonly spread: number;
      readonly low?: number;
      readonly high?: number;
    };

/** One length: a whole number, at least 1 and inside the bounds. */
export function drawLength(lengths: Lengths, random: Random): number {
  switch (lengths.kind) {
    case 'fixed':
      return bounded(lengths.value);
    case 'uniform':
      return bounded(lengths.low + Math.floor(random() * (lengths.high - lengths.low + 1)), lengths.low, lengths.high);
    case 'exponential':
      return bounded(lengths.mean * exponential(random), lengths.low, lengths.high);
    case 'lognormal': {
      const { mean, spread, low, high } = lengths;
      return bounded(mean * Math.exp(spread * normal(random) - (spread * spread) / 2), low, high);
    }
  }
}

const bounded = (value: number, low = 1, high = 2 ** 30): number =>
  Math.max(1, Math.min(Math.round(high), Math.max(Math.round(low), Math.round(value))));

/** Index 0 … count − 1, the first ones the most popular (Zipf with exponent 1). */
export function popular(count: number, random: Random): number {
  return Math.min(count - 1, Math.floor((count + 1) ** random()) - 1);
}
