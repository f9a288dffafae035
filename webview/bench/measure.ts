/** Rounds of all variants, each round in an order of its own, and what they say. */
import type { PassClock } from './clock';
import { type Gpu, GpuError } from './device';
import { type Interval, isReal, median, pairedRatio } from './statistics';
import { randomOf, shuffle } from './tables';
import type { Variant } from './variants';

export interface Method {
  readonly rounds: number;
  /** Milliseconds that one pass of a variant should last, and at most. */
  readonly target: number;
  readonly most: number;
  /** Milliseconds for all of it; fewer rounds are made when it is over. */
  readonly cap: number;
}

export const METHODS = {
  /** A pass of 5 ms holds the error of a clock that steps in 65 µs below 3 %. */
  gpu: { rounds: 31, target: 10, most: 50, cap: 60_000 },
  cpu: { rounds: 21, target: 5, most: 2000, cap: 120_000 },
} as const satisfies Record<string, Method>;

/** Below these there is no interval to speak of. */
export const FEWEST_ROUNDS = 7;
const PILOT_LIMIT = 50;

export interface Watcher {
  /** Throws when it was cancelled; waits while it should. */
  pause(): Promise<void>;
  progress(share: number, what: string): void;
  /** Whether the round just measured was disturbed: the page was hidden. */
  disturbed?(): boolean;
}

export interface Measured {
  readonly variant: Variant;
  /** Milliseconds of one step, by round. */
  readonly times: readonly number[];
}

export async function measure(
  gpu: Gpu,
  clock: PassClock,
  all: readonly Variant[],
  method: Method,
  watcher: Watcher,
): Promise<readonly Measured[]> {
  const repetitions = new Map<Variant, number>();
  for (const variant of all) {
    await watcher.pause();
    const times = await calibrate(gpu, clock, variant, method);
    if (times) {
      repetitions.set(variant, times);
    }
  }
  const variants = [...repetitions.keys()];
  const times = new Map(variants.map((variant) => [variant, [] as number[]]));
  let kind = clock.kind();
  const random = randomOf(5);
  const end = Date.now() + method.cap;
  let kept = 0;
  for (let tries = 0; kept < method.rounds && tries < method.rounds * 3; tries++) {
    if (Date.now() > end && kept >= FEWEST_ROUNDS) {
      break;
    }
    watcher.progress(kept / method.rounds, `round ${kept + 1} of ${method.rounds}`);
    const round = new Map<Variant, number>();
    for (const index of shuffle(
      variants.map((_, i) => i),
      random,
    )) {
      const variant = variants[index];
      if (variant) {
        await watcher.pause();
        const repeats = repetitions.get(variant) ?? 1;
        round.set(variant, (await clock.time(variant.step.dispatches, repeats)) / repeats);
      }
    }
    if (clock.kind() !== kind) {
      // The GPU's clock was given up: times of two clocks are no pairs.
      kind = clock.kind();
      kept = 0;
      times.forEach((some) => {
        some.length = 0;
      });
      continue;
    }
    if (watcher.disturbed?.()) {
      continue;
    }
    kept++;
    for (const [variant, time] of round) {
      times.get(variant)?.push(time);
    }
  }
  return variants.map((variant) => ({ variant, times: times.get(variant) ?? [] }));
}

/**
 * One dispatch first, then at most four times as many at each step, until a pass lasts long enough. A step that takes too
 * long for a machine that draws a window is an error; the naive one, which is known to be slow, is left out.
 */
async function calibrate(
  gpu: Gpu,
  clock: PassClock,
  { step, kind }: Variant,
  method: Method,
): Promise<number | undefined> {
  let times = 1;
  let elapsed = await clock.time(step.dispatches, times); // the first may compile
  elapsed = await clock.time(step.dispatches, times);
  if (elapsed > PILOT_LIMIT && !gpu.adapter.fallback) {
    if (kind === 'naive') {
      return undefined;
    }
    throw new GpuError('slow', `One step takes ${elapsed.toFixed(0)} ms on this GPU: the work is too large for it.`);
  }
  while (elapsed < method.target && times < 4096) {
    const grow = Math.min(
      4,
      method.target / Math.max(elapsed, method.target / 4),
      method.most / Math.max(elapsed, 1e-3),
    );
    if (grow < 1.2) {
      break;
    }
    times = Math.ceil(times * grow);
    elapsed = await clock.time(step.dispatches, times);
  }
  return times;
}

/** One row of the answer. */
export interface Row {
  readonly kind: Variant['kind'];
  readonly order?: Variant['order'];
  readonly blockSize?: number;
  /** Time over that of contiguous, round by round. */
  readonly ratio: Interval;
  /** Of one step. */
  readonly milliseconds: number;
  /** Unique bytes of keys and values a second. */
  readonly gigabytesPerSecond: number;
  /** Time of the sequential read over this one's. */
  readonly roofline: number;
  /** Its interval clears that of contiguous against itself. */
  readonly real: boolean;
}

/** Medians of the first and the second half of the rounds: a machine that gets slower shows. */
export const driftOf = (times: readonly number[]): number => {
  const half = Math.floor(times.length / 2);
  return median(times.slice(half)) / median(times.slice(0, half));
};

export function rowsOf(measured: readonly Measured[], bytes: number): readonly Row[] {
  const timesOf = (kind: Variant['kind']): readonly number[] =>
    measured.find(({ variant }) => variant.kind === kind && variant.order === undefined)?.times ?? [];
  const base = timesOf('contiguous');
  const noise = pairedRatio(timesOf('again'), base);
  const reading = timesOf('read');
  return measured.map(({ variant: { kind, order, blockSize }, times }) => {
    const ratio = pairedRatio(times, base);
    const milliseconds = median(times);
    return {
      kind,
      ...(order && { order, blockSize }),
      ratio,
      milliseconds,
      gigabytesPerSecond: bytes / milliseconds / 1e6,
      roofline: pairedRatio(reading, times).median,
      real: kind !== 'contiguous' && kind !== 'again' && isReal(ratio, noise),
    };
  });
}
