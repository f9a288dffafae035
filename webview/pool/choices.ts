/** What can be tried in the Pool view: traffic and rules, kept over a reload, and the scenario they make with a launch. */
import * as v from 'valibot';
import type { PoolPart } from '../../src/dashboard/protocol';
import type { TraceFile } from '../trace-reader';
import { ARENA_POLICIES, policiesOf, withPolicies } from './policies';
import type { LaunchScenario } from './protocol';

export type Simulated = Extract<PoolPart, { kind: 'world' }>;

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e9));

/** Absent: as usual. */
const choices = v.object({
  requests: v.optional(count),
  /** Requests a second, of the whole deployment. */
  rate: v.optional(count),
  lengths: v.optional(v.picklist(['fixed', 'varied'])),
  turns: v.optional(count),
  shared: v.optional(count),
  samples: v.optional(count),
  seed: v.optional(count),
  policies: v.optional(v.record(v.string(), v.string())),
  arena: v.optional(v.record(v.string(), v.string())),
});

export type Choices = v.InferOutput<typeof choices>;

/** Of a state that an earlier page kept, what can be used. */
export function readChoices(state: unknown): Choices {
  const result = v.safeParse(choices, state);
  return result.success ? result.output : {};
}

/** Seconds between two turns of a conversation, on average. */
const THINK_SECONDS = 5;
const MOST_REQUESTS = 20_000;
/** Seconds of every step where the GPU's speed is not known. */
const UNKNOWN_STEP = 0.02;

export function usual(part: Simulated): Required<Omit<Choices, 'rate' | 'policies' | 'arena'>> {
  const each = Math.max(1, Math.ceil((part.prompt + part.output) / Math.max(1, part.blockSize)));
  const fit = Math.max(1, Math.floor(part.blocks / each));
  return {
    // Half as many again as fit, so that the pool fills and somebody has to wait.
    requests: Math.min(2000, Math.max(24, Math.ceil(fit * 1.5))),
    lengths: 'varied',
    turns: 1,
    shared: 0,
    samples: 1,
    seed: 1,
  };
}

export function scenarioOf(part: Simulated, chosen: Choices, trace: TraceFile | undefined): LaunchScenario {
  const { requests, lengths, turns, shared, samples, seed } = { ...usual(part), ...chosen };
  const world = withPolicies(part.world, policiesOf(part.world), chosen.policies ?? {});
  const arena = part.contiguous && withPolicies(part.contiguous, ARENA_POLICIES, chosen.arena ?? {});
  const rate = chosen.rate ? chosen.rate / part.replicas : undefined;
  return {
    kind: 'launch',
    worlds: [
      { title: world.engine === 'llama.cpp' ? 'Slots' : 'Paged', options: world },
      ...(arena ? [{ title: 'Contiguous', options: { engine: 'contiguous' as const, ...arena } }] : []),
    ],
    // A cell of the arena stands for as many tokens as a block, so that equal areas are equal memory.
    cellTokens: cellTokensOf(part),
    traffic: trace
      ? { kind: 'trace', file: trace, seed, rate: chosen.rate || undefined, replicas: part.replicas }
      : {
          kind: 'generated',
          requests: Math.min(MOST_REQUESTS, Math.max(1, requests)),
          seed,
          rate,
          prompt: part.prompt,
          output: part.output,
          lengths,
          turns: Math.max(1, turns),
          thinkSeconds: THINK_SECONDS,
          maxLength: part.maxLength,
          sharedTokens: shared,
          samples: Math.min(64, Math.max(1, samples)),
          priorities: 'policy' in world && world.policy === 'priority' ? 3 : 1,
        },
    clock: part.machine
      ? { kind: 'estimated', machine: part.machine, stages: Math.max(1, part.stages) }
      : { kind: 'fixed', seconds: UNKNOWN_STEP },
  };
}

/** Slots are as long as a request may become: their cells stand for less. */
const cellTokensOf = ({ world, blockSize }: Simulated): number =>
  world.engine === 'llama.cpp' ? 16 : Math.max(1, blockSize);
