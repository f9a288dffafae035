/**
 * A plan at work: the pool and the scheduler of its engine serve traffic, beside contiguous slabs on the same bytes. The
 * rules are the core's; here a plan becomes their options, and one replica is run.
 */
import {
  answersOf,
  BLOCK_SIZES,
  type BlockSizeRow,
  blockSizeStudy,
  type Clock,
  type ContiguousAnswer,
  contiguousAnswer,
  createSimulation,
  createWorld,
  fixedClock,
  type Headroom,
  headroomOf,
  type Machine,
  progressOf,
  type ResidencyRow,
  type RunAnswer,
  residencyStudy,
  rooflineClock,
  type Trace,
  type Traffic,
  type WorldOptions,
} from './core/pool';
import { type BenchResult, kernelTimes } from './core/pool/kernel-result';
import type { Plan } from './planner';
import { type Estimated, machineOf } from './simulate/machine';
import { type TrafficAsked, trafficOf } from './simulate/traffic';
import { contiguousOf, type PlannedWorld, worldOf } from './simulate/world';

export type { TrafficAsked } from './simulate/traffic';

export interface Simulated {
  readonly plan: Plan;
  /** Absent where it is not simulated; `reason` says why. */
  readonly run?: SimulatedRun;
  readonly reason?: string;
}

/** One replica's run. */
export interface SimulatedRun {
  readonly traffic: {
    readonly requests: number;
    /** Averages. */
    readonly promptTokens: number;
    readonly outputTokens: number;
    /** Seconds from the first to the last that comes of its own accord: 0 is all at once. */
    readonly seconds: number;
  };
  readonly replicas: number;
  /** Blocks that requests can get, and tokens of one. */
  readonly blocks: number;
  readonly blockSize: number;
  /** The engine's own world: blocks, or slots where it has no blocks. */
  readonly paged: RunAnswer;
  readonly slots: boolean;
  /** Why the first refused request was refused. */
  readonly refusal?: string;
  /** Generations cut short because their slot was full; only where the engine does that. */
  readonly truncated?: number;
  readonly contiguous?: ContiguousAnswer & { readonly slab: number; readonly slabs: number };
  /** Only for vLLM V1. */
  readonly headroom?: Headroom;
  /** Only for vLLM V1 with one block table. */
  readonly blockSizes?: readonly BlockSizeRow[];
  /** What becomes of conversations between turns, by think time. Only for vLLM V1, and traffic that has conversations. */
  readonly residency?: readonly ResidencyRow[];
  /** False: the speed of the GPU is not known, and the times of the answers mean nothing. */
  readonly timed: boolean;
  readonly notes: readonly string[];
}

/** How much of one launch's run is done, 0…1. */
export type Progress = (share: number) => void;

/** Seconds of every step where the GPU's speed is not known. */
const UNKNOWN_STEP = 0.02;
/** Steps between two looks at the progress. */
const STRIDE = 500;
/** Traffic is served again several times for the studies: longer traffic is not. */
const STUDIED_REQUESTS = 20_000;
/** Bookkeeping of a study's smallest blocks: about 200 MB. */
const STUDIED_BLOCKS = 2 ** 22;

/** Measured times of the attention kernel, by block size, and whose they are. */
export interface Kernel {
  readonly times: ReadonlyMap<number, number>;
  readonly note: string;
}

export function kernelOf(result: BenchResult): Kernel {
  const { adapter, date, shape } = result;
  const name =
    adapter.description || [adapter.vendor, adapter.device || adapter.architecture].filter(Boolean).join(' ');
  const software = adapter.fallback ? ', software that plays a GPU' : '';
  return {
    times: kernelTimes(result),
    note:
      `Kernel times are of ${name || 'an adapter that does not say its name'}${software}, measured on ${date.slice(0, 10)} ` +
      `(${shape.dtype}, head dim ${shape.headDim}): not of the GPU that serves.`,
  };
}

export function simulate(plan: Plan, asked: TrafficAsked, progress?: Progress, kernel?: Kernel): Simulated {
  const world = worldOf(plan);
  if ('reason' in world) {
    return { plan, reason: world.reason };
  }
  const traffic = trafficOf(plan, asked);
  if (traffic.count === 0) {
    return { plan, reason: 'There is no request to serve.' };
  }
  const found = machineOf(plan);
  const speed = 'machine' in found ? found : undefined;
  const clock = clockOf(speed);
  const { options } = world;
  const studied = studies(traffic, options, clock, speed?.machine, kernel);
  return {
    plan,
    run: {
      traffic: sizesOf(traffic),
      replicas: plan.placement?.replicas ?? 1,
      blocks: world.blocks,
      blockSize: world.blockSize,
      slots: options.engine === 'llama.cpp',
      ...served(traffic, options, clock, progress),
      contiguous: withoutPaging(plan, traffic, options, clock),
      ...studied,
      timed: speed !== undefined,
      notes: [
        ...notesOf(plan, world, traffic, asked),
        ...(kernel && studied.blockSizes ? [kernel.note] : []),
        ...(kernel && !studied.blockSizes
          ? ['Block sizes are not compared for this launch: the kernel times are not used.']
          : []),
        ...('reason' in found ? [`${found.reason} Every step is taken to last as long.`] : found.notes),
      ],
    },
  };
}

function clockOf(speed: Estimated | undefined): Clock {
  if (!speed) {
    return fixedClock(UNKNOWN_STEP);
  }
  const one = rooflineClock(speed.machine);
  return speed.stages === 1 ? one : (step) => one(step) * speed.stages;
}

function served(
  traffic: Traffic,
  options: WorldOptions,
  clock: Clock,
  progress: Progress | undefined,
): Pick<SimulatedRun, 'paged' | 'refusal' | 'truncated'> {
  const world = createWorld(traffic, options);
  const simulation = createSimulation(world.scheduler, { clock });
  while (simulation.run(STRIDE)) {
    progress?.(progressOf(simulation));
  }
  return {
    paged: answersOf(simulation),
    refusal: simulation.rejections[0]?.why,
    truncated: world.engine === 'llama.cpp' ? world.scheduler.truncated() : undefined,
  };
}

function withoutPaging(plan: Plan, traffic: Traffic, world: WorldOptions, clock: Clock): SimulatedRun['contiguous'] {
  const options = contiguousOf(plan, world);
  return (
    options && {
      ...contiguousAnswer(traffic, options, clock),
      slab: options.maxLength,
      slabs: Math.floor(options.tokens / options.maxLength),
    }
  );
}

function studies(
  traffic: Traffic,
  options: WorldOptions,
  clock: Clock,
  machine: Machine | undefined,
  kernel: Kernel | undefined,
): Pick<SimulatedRun, 'headroom' | 'blockSizes' | 'residency'> {
  if (options.engine !== 'vllm-v1' || traffic.count > STUDIED_REQUESTS) {
    return {};
  }
  const [only, ...others] = options.groups;
  const tokens = (options.blocks - 1) * (only?.blockSize ?? 0);
  const sizes = BLOCK_SIZES.filter((size) => tokens / size <= STUDIED_BLOCKS);
  return {
    headroom: headroomOf(traffic, options, clock),
    ...(only?.kind === 'full' && others.length === 0
      ? { blockSizes: blockSizeStudy(traffic, { ...options, tokens }, clock, sizes, kernel?.times) }
      : {}),
    ...(traffic.sessions.some((session) => session >= 0)
      ? { residency: residencyStudy(traffic, options, clock, machine) }
      : {}),
  };
}

/** Formats whose rows say when they came. */
const timed = (trace: Trace | undefined): boolean => trace?.format === 'mooncake' || trace?.format === 'csv';

const mean = (values: Int32Array): number => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);

const sizesOf = ({ count, prompts, outputs, arrivals, after }: Traffic): SimulatedRun['traffic'] => ({
  requests: count,
  promptTokens: Math.round(mean(prompts)),
  outputTokens: Math.round(mean(outputs)),
  seconds: arrivals.reduce((last, time, i) => ((after[i] ?? -1) < 0 ? Math.max(last, time) : last), 0),
});

/** Answers end at the longest request, and nobody counts them as refused. */
function tooLong({ capacity }: Plan, { prompts, limits }: Traffic): string[] {
  const most = capacity?.maxLength ?? Number.POSITIVE_INFINITY;
  const cut = prompts.filter((prompt, i) => prompt < most && prompt + (limits[i] ?? 0) > most).length;
  return cut === 0
    ? []
    : [
        `${cut} requests ask for more than ${most} tokens in all: their answers are cut there. An API may refuse them instead.`,
      ];
}

function notesOf(plan: Plan, world: PlannedWorld, traffic: Traffic, asked: TrafficAsked): string[] {
  const replicas = plan.placement?.replicas ?? 1;
  const long = world.options.engine === 'vllm-v1' && traffic.count > STUDIED_REQUESTS;
  return [
    ...(replicas > 1 ? [`One of ${replicas} replicas is simulated; requests are dealt to them in turn.`] : []),
    ...(asked.trace?.notes ?? []),
    ...(asked.rate !== undefined && timed(asked.trace) ? ['The trace has its own times: the rate is not used.'] : []),
    ...world.notes,
    ...(long ? ['The traffic is too long for the studies of headroom and block size.'] : []),
    ...tooLong(plan, traffic),
  ];
}
