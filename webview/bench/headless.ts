/** The benchmark outside the dashboard, for `npm run bench:kernels`: the same kernels in Node and on a bare page. */
import type { BenchResult } from '../../src/core/pool/kernel-result';
import type { HostClock } from './clock';
import { openGpu } from './device';
import { runBenchmark } from './run';
import { type Check, FULL, type Matrix, QUICK } from './verify';

export { judge } from './bars';
export { PUBLISHED } from './published';

export interface Job {
  readonly dtype: string;
  readonly headDim: number;
  /** What is checked before the times; the timed kernels themselves are checked in any case. */
  readonly matrix?: 'full' | 'quick';
  readonly checksOnly?: boolean;
}

export interface Setting {
  readonly runner: 'node' | 'browser';
  readonly system: string;
  readonly clock?: HostClock;
  readonly say: (line: string) => void;
}

const MATRICES = { full: FULL, quick: QUICK, none: { pairs: [], cases: [], blockSizes: [] } } as const satisfies Record<
  string,
  Matrix
>;
/** Four sequences of about a thousand tokens on the software adapter; what a GPU can hold on a GPU. */
const LAUNCHES = {
  cpu: { heads: 8, kvHeads: 2, blockSize: 16, prompt: 1024, output: 0 },
  gpu: { heads: 32, kvHeads: 8, blockSize: 16, prompt: 4096, output: 0 },
} as const;
const BLOCK_SIZES = { cpu: [1, 16, 128], gpu: [1, 8, 16, 32, 64, 128, 256] } as const;

export async function runJobs(gpu: GPU | undefined, jobs: readonly Job[], { runner, system, clock, say }: Setting) {
  const device = await openGpu(gpu);
  const { vendor, device: name, description, fallback } = device.adapter;
  say(`${runner}: ${[vendor, name, description].filter(Boolean).join(' / ')}`);
  const results: BenchResult[] = [];
  const wrong: string[] = [];
  const machine = fallback ? 'cpu' : 'gpu';
  for (const { dtype, headDim, matrix = 'none', checksOnly } of jobs) {
    const options = {
      asked: { ...LAUNCHES[machine], dtype, headDim },
      blockSizes: BLOCK_SIZES[machine],
      matrix: MATRICES[matrix],
      checksOnly,
      // The processor's time is that of a GPU only where it plays one.
      clock: fallback ? clock : undefined,
      where: { runner, system },
    };
    const watcher = {
      pause: async () => {},
      progress: () => {},
      check: (check: Check) => {
        if (!check.ok) {
          wrong.push(explain(check));
        }
      },
    };
    results.push(await runBenchmark(device, options, watcher));
  }
  device.close();
  return { results, wrong };
}

const explain = ({ kernel, shape, dtype, headDim, error }: Check): string =>
  `${kernel}, ${shape}, ${dtype}, head dim ${headDim}: ${error}`;
