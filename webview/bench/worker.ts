/** Runs the benchmark beside the page: the page stays alive whatever the GPU does. */
import { BLOCK_SIZES, type BlockSizeRow, blockSizeStudy, fixedClock, generateTraffic } from '../../src/core/pool';
import { type BenchResult, isNoisy, kernelTimes } from '../../src/core/pool/kernel-result';
import { measureReference } from './cpu';
import { type Gpu, GpuError, messageOf, openGpu, type Trouble } from './device';
import { METHODS } from './measure';
import type { FromWorker, Order, ToWorker } from './messages';
import { type RunWatcher, runBenchmark } from './run';

const scope = self as unknown as {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker): void;
};
const say = (message: FromWorker): void => scope.postMessage(message);

/** The sizes that pools have; the launch's own comes beside them. */
const SIZES = { gpu: BLOCK_SIZES.filter((size) => size !== 2 && size !== 4), cpu: [1, 16, 128] } as const;
/** On the CPU: enough for a picture, not for a verdict. */
const CPU_METHOD = { ...METHODS.cpu, rounds: 9, cap: 30_000 } as const;
/** Milliseconds between two words of progress: the page's drawing shares the GPU. */
const PACE = 500;

let cancelled = false;
let resting = false;
let disturbed = false;
let running = false;

scope.onmessage = ({ data }) => {
  switch (data.kind) {
    case 'look':
      return void look();
    case 'run':
      return void once(() => run(data));
    case 'reference':
      return void once(async () => say({ kind: 'reference', reference: measureReference(() => performance.now()) }));
    case 'cancel':
      cancelled = true;
      return;
    case 'rest':
      resting = data.resting;
      disturbed = true;
      return;
  }
};

async function once(work: () => Promise<void>): Promise<void> {
  if (!running) {
    running = true;
    cancelled = false;
    await work().finally(() => {
      running = false;
    });
  }
}

async function look(): Promise<void> {
  try {
    const gpu = await openGpu(navigator.gpu);
    say({ kind: 'adapter', adapter: gpu.adapter, largestBuffer: gpu.largestBuffer });
    gpu.close();
  } catch (error) {
    tell(error, 'look');
  }
}

function tell(error: unknown, during: 'look' | 'run'): void {
  const trouble = error instanceof GpuError ? error.trouble : 'validation';
  say({ kind: 'trouble', trouble, message: messageOf(error), during });
}

/** What is tried once more, and with how much of the work. */
const SECOND_TRY: Partial<Record<Trouble, number>> = { lost: 0.5, 'out-of-memory': 0.5, slow: 0.25 };

async function run(order: Order): Promise<void> {
  let work = 1;
  for (;;) {
    let gpu: Gpu | undefined;
    try {
      gpu = await openGpu(navigator.gpu);
      const result = await resultOf(gpu, order, work);
      say({ kind: 'done', result, study: studyOf(result, order) });
      return;
    } catch (error) {
      const less = error instanceof GpuError ? SECOND_TRY[error.trouble] : undefined;
      if (less === undefined || work < 1 || cancelled) {
        tell(error, 'run');
        return;
      }
      work = less;
      say({ kind: 'progress', share: 0, what: 'once more with less work' });
    } finally {
      gpu?.close();
    }
  }
}

async function resultOf(gpu: Gpu, { asked, remote, timesAnyway }: Order, work: number): Promise<BenchResult> {
  const { fallback } = gpu.adapter;
  const result = await runBenchmark(
    gpu,
    {
      asked,
      work,
      blockSizes: fallback ? SIZES.cpu : SIZES.gpu,
      method: fallback ? CPU_METHOD : undefined,
      checksOnly: fallback && !timesAnyway,
      where: { runner: 'dashboard', system: navigator.userAgent.slice(0, 500), ...(remote && { remote }) },
    },
    watcher(),
  );
  const again = {
    0.5: 'The GPU device was lost, or had no memory left, the first time: this is half the work.',
    0.25: 'One step took too long the first time: this is a quarter of the work.',
  }[work];
  return again ? { ...result, notes: [...result.notes, again] } : result;
}

function watcher(): RunWatcher {
  let said = 0;
  return {
    async pause() {
      // Lets messages in, a cancel above all.
      do {
        await new Promise((resolve) => setTimeout(resolve, resting ? 200 : 0));
        if (cancelled) {
          throw new GpuError('cancelled', 'Cancelled.');
        }
      } while (resting);
    },
    progress(share, what) {
      const now = performance.now();
      if (now - said >= PACE) {
        said = now;
        say({ kind: 'progress', share, what });
      }
    },
    disturbed() {
      const was = disturbed;
      disturbed = false;
      return was;
    },
  };
}

const STUDIED_REQUESTS = 200;
const STUDIED_BLOCKS = 2 ** 22;

/** What the measured block sizes do to the memory of the launch's own pool. */
function studyOf(result: BenchResult, { world, asked }: Order): readonly BlockSizeRow[] | undefined {
  const times = kernelTimes(result);
  if (world?.engine !== 'vllm-v1' || times.size === 0 || isNoisy(result)) {
    return undefined;
  }
  const [only, ...others] = world.groups;
  if (only?.kind !== 'full' || others.length > 0) {
    return undefined;
  }
  const tokens = (world.blocks - 1) * only.blockSize;
  const traffic = generateTraffic({
    requests: STUDIED_REQUESTS,
    seed: 1,
    arrivals: { kind: 'at-once' },
    prompt: { kind: 'fixed', value: asked.prompt },
    output: { kind: 'fixed', value: Math.max(1, asked.output) },
  });
  const sizes = [...times.keys()].filter((size) => tokens / size <= STUDIED_BLOCKS);
  return blockSizeStudy(traffic, { ...world, tokens }, fixedClock(0.02), sizes, times);
}
