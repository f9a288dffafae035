/** One whole benchmark: checks, then times, then the result. */
import { BENCH_SCHEMA, type BenchResult } from '../../src/core/pool/kernel-result';
import { type HostClock, passClock, wallClock } from './clock';
import { type Gpu, messageOf } from './device';
import { type Asked, type Fitted, fitShape, SMALL_BYTES } from './fit';
import { driftOf, FEWEST_ROUNDS, METHODS, type Method, measure, rowsOf, type Watcher } from './measure';
import { storageError } from './reference';
import { totalTokens } from './shape';
import { openBench, tuningFor, uniqueBytes } from './step';
import { setUp } from './variants';
import { type Check, type Matrix, QUICK, TOLERANCE, verify } from './verify';

export interface RunOptions {
  readonly asked: Asked;
  readonly blockSizes: readonly number[];
  /** Checks before the times; those of the step's own dtype and head dim where absent. */
  readonly matrix?: Matrix;
  readonly method?: Partial<Method>;
  readonly clock?: HostClock;
  readonly where: BenchResult['where'];
  /** 1, or less after the device was lost. */
  readonly work?: number;
  /** No times, only checks. */
  readonly checksOnly?: boolean;
}

export interface RunWatcher extends Watcher {
  check?(check: Check): void;
}

export async function runBenchmark(gpu: Gpu, options: RunOptions, watcher: RunWatcher): Promise<BenchResult> {
  const { work = 1 } = options;
  const room = { largestBuffer: gpu.largestBuffer, fallback: gpu.adapter.fallback, work };
  const fitted = fitShape(options.asked, room);
  const matrix = options.matrix ?? { ...QUICK, pairs: [fitted.shape] };
  const checking = openBench(gpu, tuningFor(gpu, 'check'));
  const checks = await verify(checking, matrix, {
    check: (check) => watcher.check?.(check),
    progress: (share) => watcher.progress(share * CHECKS_SHARE, 'checking the kernels'),
    pause: () => watcher.pause(),
  });
  const base = resultOf(gpu, options, fitted, checks);
  if (base.checks.wrong > 0 || options.checksOnly) {
    return base;
  }
  return { ...base, ...(await timed(gpu, options, fitted, base, watcher)) };
}

/** JSON has no infinity. */
const finite = (error: number): number => Math.min(error, Number.MAX_VALUE);

const LEFT_OUT = 'The naive kernel is not timed: one step of it takes longer than is good for a GPU that also draws.';

/** Of the progress. */
const CHECKS_SHARE = 0.3;

async function timed(
  gpu: Gpu,
  options: RunOptions,
  { shape, blockSize }: Fitted,
  base: BenchResult,
  watcher: RunWatcher,
): Promise<Partial<BenchResult>> {
  const bench = openBench(gpu, tuningFor(gpu, 'time'));
  const method = { ...METHODS[gpu.adapter.fallback ? 'cpu' : 'gpu'], ...options.method };
  const clock = passClock(gpu, options.clock ?? wallClock);
  try {
    watcher.progress(CHECKS_SHARE, 'placing keys and values');
    const blockSizes = [...new Set([...options.blockSizes, blockSize])].sort((a, b) => a - b);
    const setup = await gpu.checked('placing keys and values', () => setUp(bench, shape, { blockSizes, blockSize }));
    const errors = await setup.check();
    const wrong = errors.filter(({ error }) => !(error <= TOLERANCE));
    const checks = {
      ...base.checks,
      count: base.checks.count + errors.length,
      wrong: wrong.length,
      worst: finite(Math.max(base.checks.worst, ...errors.map(({ error }) => error))),
    };
    if (wrong.length > 0) {
      return { checks };
    }
    const measured = await measure(gpu, clock, setup.variants, method, {
      ...watcher,
      progress: (share, what) => watcher.progress(CHECKS_SHARE + (1 - CHECKS_SHARE) * share, what),
    });
    const rounds = Math.min(...measured.map(({ times }) => times.length));
    if (rounds < FEWEST_ROUNDS) {
      const why = `Only ${rounds} rounds were left undisturbed, too few to say anything by.`;
      return { checks, notes: [...base.notes, why] };
    }
    const rows = rowsOf(measured, uniqueBytes(shape));
    const left = setup.variants.length > measured.length ? [LEFT_OUT] : [];
    const quantum = clock.quantum();
    return {
      checks,
      notes: [...base.notes, ...left],
      clock: { kind: clock.kind(), ...(quantum && { quantumNanoseconds: quantum }) },
      rounds,
      drift: driftOf(measured[0]?.times ?? []),
      noise: rows.find(({ kind }) => kind === 'again')?.ratio,
      rows: [...rows],
    };
  } finally {
    try {
      bench.clear();
    } catch (error) {
      watcher.progress(1, messageOf(error)); // a lost device has freed them itself
    }
  }
}

function resultOf(
  gpu: Gpu,
  options: RunOptions,
  { shape, blockSize, changes }: Fitted,
  checks: readonly Check[],
): BenchResult {
  const { heads, kvHeads, headDim, dtype, lengths } = shape;
  const bytes = uniqueBytes(shape);
  const attention = checks.filter(({ kernel }) => !kernel.startsWith('control'));
  return {
    schema: BENCH_SCHEMA,
    date: new Date().toISOString(),
    where: options.where,
    adapter: gpu.adapter,
    clock: { kind: 'wall' },
    shape: {
      heads,
      kvHeads,
      headDim,
      dtype,
      sequences: lengths.length,
      tokens: totalTokens(shape),
      bytes,
      blockSize,
      changes: [...changes],
    },
    checks: {
      count: checks.length,
      wrong: checks.filter(({ ok }) => !ok).length,
      worst: finite(attention.reduce((worst, { error }) => Math.max(worst, error), 0)),
      tolerance: TOLERANCE,
      storage: storageError(dtype, headDim),
    },
    rounds: 0,
    rows: [],
    notes: notesOf(gpu, bytes),
  };
}

function notesOf(gpu: Gpu, bytes: number): string[] {
  if (gpu.adapter.fallback) {
    return ['A program plays the GPU on the CPU: the checks count, the times describe this CPU and no GPU.'];
  }
  return bytes < SMALL_BYTES
    ? [`Only ${(bytes / 2 ** 20).toFixed(0)} MiB of keys and values: part of them may stay in the GPU’s cache.`]
    : [];
}
