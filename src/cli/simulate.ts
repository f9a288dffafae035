/** `kv-planner simulate`: each launch serves traffic, generated or from a trace. */
import type { SimulatedFile, TrafficSaid } from '../report/simulate-json';
import type { Kernel, TrafficAsked } from '../simulate';
import { readBench } from './bench';
import type { ExitCode, Io } from './io';
import { type FilesAsked, failures, planFiles, where } from './plan-files';
import { readTrace } from './trace';

export const SIMULATE_FORMATS = ['text', 'json'] as const;

export interface SimulateOptions extends FilesAsked {
  /** A file of requests; without it they are generated. */
  readonly trace?: string;
  /** Most requests of the trace, or how many to generate; all replicas together. */
  readonly requests?: number;
  /** Requests a second, all replicas together. */
  readonly rate?: number;
  readonly seed: number;
  /** Turns of a conversation; without it every request stands alone. */
  readonly turns?: number;
  /** Seconds between two turns, on average. */
  readonly think: number;
  /** A result of the kernel benchmark, for the block sizes. */
  readonly bench?: string;
  /** Tokens that all generated prompts begin with. */
  readonly system?: number;
  readonly format: (typeof SIMULATE_FORMATS)[number];
}

const REQUESTS = 1000;

export async function simulate(options: SimulateOptions, io: Io): Promise<ExitCode> {
  const { said, failed: noTrace } = await trafficOf(options, io);
  const { kernel, failed: noBench } = await kernelOf(options, io);
  const failed = noTrace || noBench;
  const files = said ? await simulated(options, said, kernel, io) : [];
  if (options.format === 'json') {
    const { simulateJson } = await import('../report/simulate-json');
    io.out(`${JSON.stringify(simulateJson(files, said ?? { seed: options.seed }), undefined, 2)}\n`);
  } else if (said) {
    io.out((await import('../report/simulate-text')).simulateText(files, said, io));
  }
  const unplanned = failures(files, io);
  const skipped = files.flatMap((f) => f.simulated).filter((s) => s.plan.planned && !s.run);
  for (const { plan, reason } of skipped) {
    io.note(`${where(plan)}: not simulated: ${reason}`);
  }
  return failed || unplanned || skipped.length > 0 ? 1 : 0;
}

interface TrafficRead {
  /** Undefined where the trace could not be read. */
  readonly said?: TrafficSaid;
  readonly failed: boolean;
}

async function trafficOf(options: SimulateOptions, io: Io): Promise<TrafficRead> {
  const { trace: file, requests, rate, seed, turns, think, system: sharedTokens } = options;
  if (file === undefined) {
    const chat = turns === undefined ? undefined : { turns, thinkSeconds: think };
    return { said: { requests: requests ?? REQUESTS, rate, seed, chat, sharedTokens }, failed: false };
  }
  const { trace, error } = await readTrace(file, { rate, seed, mostRequests: requests });
  for (const { line, message } of trace?.problems ?? []) {
    io.note(`${file}:${line}: ${message}`);
  }
  const untold = (trace?.problemCount ?? 0) - (trace?.problems.length ?? 0);
  if (untold > 0) {
    io.note(`${file}: ${untold} more rows were left out`);
  }
  if (error !== undefined) {
    io.note(`${file}: ${error}`);
  }
  const said = trace && { trace: { file, read: trace }, requests: trace.traffic.count, rate, seed };
  return { said, failed: error !== undefined };
}

/** A file that cannot be used is said, and the rest is still simulated. */
async function kernelOf(
  { bench }: SimulateOptions,
  io: Io,
): Promise<{ readonly kernel?: Kernel; readonly failed: boolean }> {
  if (bench === undefined) {
    return { failed: false };
  }
  const read = await readBench(bench);
  if ('error' in read) {
    io.note(`${bench}: ${read.error}`);
    return { failed: true };
  }
  const { kernelOf: kernel } = await import('../simulate');
  return { kernel: kernel(read.result), failed: false };
}

async function simulated(
  options: SimulateOptions,
  said: TrafficSaid,
  kernel: Kernel | undefined,
  io: Io,
): Promise<SimulatedFile[]> {
  const { simulate: run } = await import('../simulate');
  const asked: TrafficAsked = {
    trace: said.trace?.read,
    requests: said.requests ?? REQUESTS,
    rate: said.rate,
    seed: said.seed,
    chat: said.chat,
    sharedTokens: said.sharedTokens,
  };
  const progress = progressBar(io);
  const files = (await planFiles(options, io)).map(
    (file): SimulatedFile => ({
      ...file,
      simulated: file.result.plans.map((plan) => run(plan, asked, progress, kernel)),
    }),
  );
  io.progress?.('');
  return files;
}

const BAR = 30;
/** Milliseconds before a run counts as long, and between two drawings. */
const PATIENCE = 500;

/** Draws over itself, on a terminal only, and not before the run has taken a while. */
function progressBar(io: Io): ((share: number) => void) | undefined {
  const { progress } = io;
  if (!progress) {
    return undefined;
  }
  let next = Date.now() + PATIENCE;
  return (share) => {
    if (Date.now() >= next) {
      next = Date.now() + PATIENCE / 4;
      const full = Math.round(share * BAR);
      progress(`simulating ${'█'.repeat(full)}${'·'.repeat(BAR - full)} ${Math.round(share * 100)} %`);
    }
  };
}
