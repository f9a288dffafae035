// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
/** What a prefix cache is worth to a launch: of two prompts, and of traffic. */
import { answersOf, type RunAnswer } from './answers';
import { type Clock, fixedClock, type Machine, recomputeAgainstSwap } from './clock';
import type { Run } from './content';
import { createSimulation } from './simulation';
import { type ResidencyRow, residencyStudy } from './studies';
import { type Traffic, trafficBuilder } from './traffic';
import { createWorld, type WorldOptions } from './worlds';

export interface PromptSizes {
  readonly first: number;
  readonly second: number;
  /** Tokens that both begin with. */
  readonly shared: number;
}

export interface PromptReuse {
  /** Tokens of the second prompt that need no computing. */
  readonly hitTokens: number;
  /** *Estimated* seconds that computing them would take; undefined without a machine. */
  readonly savedSeconds: number | undefined;
  /** The engine refuses one of them: why. */
  readonly refused?: string;
}

/** The second prompt right behind the first, by the engine's own rules on an otherwise empty pool. */
export function promptReuse(
  { first, second, shared }: PromptSizes,
  options: WorldOptions,
  machine?: Machine,
): PromptReuse {
  const builder = trafficBuilder('two prompts');
  const own = (source: number, from: number, count: number): Run[] =>
    count > 0 ? [{ source, first: from, count }] : [];
  const prompt = (source: number, length: number): Run[] => [
    ...own(1, 0, Math.min(shared, length)),
    ...own(source, 0, length - shared),
  ];
  const before = builder.add({ prompt: prompt(2, first), output: 1 });
  builder.add({ prompt: prompt(3, second), output: 1, after: before });
  const simulation = createSimulation(createWorld(builder.build(), options).scheduler, { clock: fixedClock(1) });
  simulation.run();
  const hitTokens = simulation.scheduler.requests.hitTokens[1]!;
  return {
    hitTokens,
    savedSeconds: machine && (hitTokens > 0 ? recomputeAgainstSwap(machine, hitTokens, 0).recomputeSeconds : 0),
    ...(simulation.rejections[0] && { refused: simulation.rejections[0].why }),
  };
}

/** The same rules without keeping anything for later prompts. */
export function withoutReuse(options: WorldOptions): WorldOptions {
  switch (options.engine) {
    case 'vllm-v1':
      return { ...options, caching: false };
    case 'sglang':
      return { ...options, radixCache: false };
    case 'tensorrt-llm':
      return { ...options, reuse: false };
    case 'llama.cpp':
      return { ...options, cachePrompt: false };
    default:
      return options;
  }
}

export interface TrafficReuse {
  readonly requests: RunAnswer['requests'];
  readonly prefix: RunAnswer['prefix'];
  readonly preemptions: number;
  /** Seconds to the first token, median: as it is, and without a prefix cache. *Estimated*, where the clock is. */
  readonly firstToken: { readonly with: number; readonly without: number };
  /** What becomes of conversations between turns. Only for vLLM V1, and traffic that has conversations. */
  readonly residency: readonly ResidencyRow[];
}

export function trafficReuse(traffic: Traffic, options: WorldOptions, clock: Clock, machine?: Machine): TrafficReuse {
  const served = answersFor(traffic, options, clock);
  const bare = answersFor(traffic, withoutReuse(options), clock);
  const talks = options.engine === 'vllm-v1' && traffic.sessions.some((session) => session >= 0);
  return {
    requests: served.requests,
    prefix: served.prefix,
    preemptions: served.preemptions.count,
    firstToken: { with: served.times.timeToFirstToken.median, without: bare.times.timeToFirstToken.median },
    residency: talks ? residencyStudy(traffic, options, clock, machine) : [],
  };
}

function answersFor(traffic: Traffic, options: WorldOptions, clock: Clock): RunAnswer {
  const simulation = createSimulation(createWorld(traffic, options).scheduler, { clock });
  simulation.run();
  return answersOf(simulation);
}
