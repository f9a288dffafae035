/** Simulations as JSON, schema `kv-planner/simulate@1`. This file and `schema/simulate.schema.json` spell the contract. */
import type { ContiguousAnswer, ResidencyRow, RunAnswer, Trace } from '../core/pool';
import { linesOf, type Position } from '../launch/lines';
import type { Simulated, SimulatedRun } from '../simulate';
import type { PlannedFile } from './planned';

const SIMULATE_SCHEMA = 'kv-planner/simulate@1';

export interface SimulatedFile extends PlannedFile {
  readonly simulated: readonly Simulated[];
}

/** What was asked for, all replicas together. */
export interface TrafficSaid {
  readonly trace?: { readonly file: string; readonly read: Trace };
  /** Absent where the trace could not be read. */
  readonly requests?: number;
  readonly rate?: number;
  readonly seed: number;
  readonly chat?: { readonly turns: number; readonly thinkSeconds: number };
  readonly sharedTokens?: number;
}

type Places = (offset: number) => Position;

export function simulateJson(files: readonly SimulatedFile[], traffic: TrafficSaid): object {
  return known({
    schema: SIMULATE_SCHEMA,
    traffic: trafficOf(traffic),
    launches: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.simulated.map((simulated) => oneLaunch(simulated, places));
    }),
    problems: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.result.problems.map((p) => ({
        file: p.file,
        line: p.line ?? (p.range && places(p.range.start).line),
        message: p.message,
      }));
    }),
  });
}

function trafficOf({ trace, requests, rate, seed, chat, sharedTokens }: TrafficSaid): object {
  return {
    requests,
    rate,
    seed,
    chat,
    sharedTokens,
    trace: trace && {
      file: trace.file,
      format: trace.read.format,
      rows: trace.read.rows,
      badRows: trace.read.problemCount,
      problems: trace.read.problems,
    },
  };
}

function oneLaunch({ plan, run, reason }: Simulated, places: Places): object {
  return {
    launch: {
      file: plan.launch.file,
      title: plan.launch.title,
      form: plan.launch.form,
      engine: plan.engine.id,
      engineVersion: plan.engine.version.text,
      range: { start: places(plan.launch.range.start), end: places(plan.launch.range.end) },
    },
    model: plan.model?.id,
    workload: { ...plan.workload },
    starts: plan.starts,
    simulated: run !== undefined,
    reason,
    run: run && runOf(run),
  };
}

function runOf(run: SimulatedRun): object {
  const { paged, contiguous, headroom } = run;
  return {
    replicas: run.replicas,
    scheduler: paged.scheduler,
    traffic: run.traffic,
    pool: { blocks: run.blocks, blockSize: run.blockSize },
    fitsWithoutPreempting: fits(run),
    refusal: run.refusal,
    truncated: run.truncated,
    ...answer(paged, run.timed),
    contiguous: contiguous && { ...slabs(contiguous), ...answer(contiguous, run.timed) },
    headroom,
    blockSizes: run.blockSizes?.map((row) => ({
      ...row,
      tailWaste: share(row.tailWaste),
      hitRate: share(row.hitRate),
    })),
    residency: run.residency?.map(residency),
    notes: run.notes,
  };
}

/** Seconds of thinking: no upper end where there is none. */
const residency = ({ from, to, survival, cachedShare, recomputeSeconds, ...rest }: ResidencyRow): object => ({
  fromSeconds: from,
  toSeconds: Number.isFinite(to) ? to : undefined,
  survival: share(survival),
  cachedShare: share(cachedShare),
  estimatedRecomputeSeconds: recomputeSeconds,
  ...rest,
});

/** All of the traffic was served, and nobody had to give way. */
export const fits = ({ paged }: SimulatedRun): boolean =>
  paged.preemptions.count === 0 && paged.requests.finished === paged.requests.all;

const slabs = ({ slab, slabs: count, waste }: ContiguousAnswer & { slab: number; slabs: number }): object => ({
  slabTokens: slab,
  slabs: count,
  waste: { reservation: share(waste.reservation), internal: share(waste.internal), external: share(waste.external) },
});

/** Rounding may carry a sum of shares past its ends. */
const share = (value: number): number => Math.min(1, Math.max(0, value));

function answer({ requests, inFlight, waiting, room, prefix, preemptions, times }: RunAnswer, timed: boolean): object {
  const some = requests.finished > 0;
  return {
    requests,
    inFlight,
    waiting,
    room: {
      tokens: room.totalTokens,
      owned: share(room.owned),
      held: share(room.held),
      cached: share(room.cached),
      free: share(room.free),
      peakOwned: share(room.peakOwned),
    },
    prefix: {
      promptTokens: prefix.promptTokens,
      hitTokens: prefix.hitTokens,
      rate: prefix.promptTokens > 0 ? share(prefix.rate) : undefined,
      misses: prefix.reasons,
    },
    preemptions,
    estimatedTimes: timed && some ? timesOf(times) : undefined,
  };
}

/** A spread of nothing is not known. */
function timesOf({ stalls, timePerOutputToken, ...rest }: RunAnswer['times']): object {
  return {
    ...rest,
    timePerOutputToken: timePerOutputToken.count > 0 ? timePerOutputToken : undefined,
    stalls: stalls.count > 0 ? stalls : undefined,
  };
}

/** The same without the keys whose value is unknown. */
function known<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
