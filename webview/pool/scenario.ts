/** From what the page asks for to a stage: traffic, worlds and clock. */
import {
  type Clock,
  dealTraffic,
  fixedClock,
  generateTraffic,
  type Lengths,
  rooflineClock,
  scenesOf,
  type TraceReader,
  type Traffic,
} from '../../src/core/pool';
import type { ClockChoice, GeneratedTraffic, Scenario, TrafficChoice } from './protocol';
import type { StageSpec } from './stage';

export interface Staged {
  readonly spec: StageSpec;
  /** What the reader should know of the traffic. */
  readonly notes: readonly string[];
}

/** Throws with what a person can mend: a trace without requests, a scene that does not exist. */
export function stagedOf(scenario: Scenario, trace?: TraceReader): Staged {
  if (scenario.kind === 'scene') {
    const scene = scenesOf(scenario.figures)[scenario.scene];
    if (!scene) {
      throw new RangeError('There is no such scene.');
    }
    const { worlds, traffic } = scene;
    return { spec: { worlds, traffic, clock: fixedClock(1), cellTokens: 4 }, notes: [] };
  }
  const { worlds, cellTokens, clock } = scenario;
  const { traffic, notes, problem } = trafficOf(scenario.traffic, trace);
  if (traffic.count === 0) {
    throw new RangeError(['There is no request to serve.', problem ?? ''].join(' ').trim());
  }
  return { spec: { worlds, traffic, clock: clockOf(clock), cellTokens }, notes };
}

function clockOf(choice: ClockChoice): Clock {
  if (choice.kind === 'fixed') {
    return fixedClock(choice.seconds);
  }
  const one = rooflineClock(choice.machine);
  return choice.stages === 1 ? one : (step) => one(step) * choice.stages;
}

interface Made {
  readonly traffic: Traffic;
  readonly notes: readonly string[];
  /** The first of the rows that could not be read. */
  readonly problem?: string;
}

function trafficOf(choice: TrafficChoice, trace: TraceReader | undefined): Made {
  if (choice.kind === 'generated') {
    return { traffic: generated(choice), notes: [] };
  }
  if (!trace) {
    throw new RangeError('The trace has not been read.');
  }
  const { traffic, notes, problems, problemCount } = trace.end({ seed: choice.seed, rate: choice.rate });
  const [first] = problems;
  const problem = first && `Line ${first.line}: ${first.message}`;
  const left = problemCount === 1 ? 'One row was left out.' : `${problemCount} rows were left out.`;
  return {
    traffic: choice.replicas === 1 ? traffic : dealTraffic(traffic, choice.replicas),
    notes: problem ? [...notes, `${left} ${problem}`] : notes,
    problem,
  };
}

/** The spread of mixed traffic's lengths, as the logarithm's standard deviation. */
const SPREAD = 0.6;

function generated(choice: GeneratedTraffic): Traffic {
  const { maxLength, turns } = choice;
  const lengths = (mean: number): Lengths =>
    choice.lengths === 'fixed'
      ? { kind: 'fixed', value: mean }
      : { kind: 'lognormal', mean, spread: SPREAD, low: 1, high: Math.max(mean, Math.floor(maxLength / 2)) };
  return generateTraffic({
    requests: choice.requests,
    seed: choice.seed,
    arrivals: choice.rate === undefined ? { kind: 'at-once' } : { kind: 'poisson', rate: choice.rate },
    prompt: lengths(choice.prompt),
    output: lengths(choice.output),
    sharedPrefix: choice.sharedTokens > 0 ? { tokens: choice.sharedTokens } : undefined,
    chat:
      turns > 1
        ? { turns: { kind: 'fixed', value: turns }, thinkSeconds: choice.thinkSeconds, maxTokens: maxLength }
        : undefined,
    samples: choice.samples > 1 ? choice.samples : undefined,
    priorities: choice.priorities > 1 ? choice.priorities : undefined,
  });
}
