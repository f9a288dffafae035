// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Run } from './content';
import { createRandom, drawLength, exponential, type Lengths, popular, type Random } from './random';
import { outputSourceOf, type Traffic, type TrafficBuilder, trafficBuilder } from './traffic';

export type Arrivals =
  /** Independent arrivals, so many a second on average. */
  | { readonly kind: 'poisson'; readonly rate: number }
  /** The same mean, but in bursts: `burst` requests at a time, on average. */
  | { readonly kind: 'bursts'; readonly rate: number; readonly burst: number }
  /** So many clients, each with one request at a time and `think` seconds between them (mean, exponential). */
  | { readonly kind: 'closed'; readonly clients: number; readonly think?: number }
  | { readonly kind: 'at-once' };

export interface WorkloadSpec {
  readonly requests: number;
  readonly seed: number;
  readonly arrivals: Arrivals;
  /** Tokens of the prompt that are the request's own: with chats, of each turn's message. */
  readonly prompt: Lengths;
  readonly output: Lengths;
  /** System prompts: `variants` of them, the first the most used. */
  readonly sharedPrefix?: { readonly tokens: number; readonly variants?: number };
  /** Conversations: each turn's prompt is everything said before and a new message. */
  readonly chat?: { readonly turns: Lengths; readonly thinkSeconds: number; readonly maxTokens?: number };
  /** Requests are of so many priorities, drawn evenly; only some schedulers look at them. */
  readonly priorities?: number;
  /** Sequences per prompt. */
  readonly samples?: number;
  /** What max_tokens says over the true output length (1: the same). */
  readonly limitFactor?: number;
  /** Share of requests with a LoRA adapter, spread over so many. */
  readonly adapters?: { readonly share: number; readonly count: number };
}

/** Source numbers: system prompts take the first ones, messages what follows. */
const FIRST_MESSAGE = 1 << 20;

export function generateTraffic(spec: WorkloadSpec): Traffic {
  const random = createRandom(spec.seed);
  const builder = trafficBuilder('generated');
  const pace = createPace(spec.arrivals, random);
  for (let made = 0, session = 0; made < spec.requests; session++) {
    made += addSession(spec, builder, random, pace, made, session);
  }
  return builder.build();
}

interface Pace {
  readonly next: (index: number) => { readonly arrival: number; readonly after: number };
  /** The client's last request ended up at this index. */
  readonly done: (index: number) => void;
}

function createPace(arrivals: Arrivals, random: Random): Pace {
  let now = 0;
  let left = 0;
  const lastOf: number[] = [];
  let client = 0;
  switch (arrivals.kind) {
    case 'poisson':
      return {
        next: () => {
          now += exponential(random) / arrivals.rate;
          return { arrival: now, after: -1 };
        },
        done: () => {},
      };
    case 'bursts':
      return {
        next: () => {
          if (left-- <= 0) {
            left = Math.round(exponential(random) * (arrivals.burst - 1));
            now += (exponential(random) * (left + 1)) / arrivals.rate;
          }
          return { arrival: now, after: -1 };
        },
        done: () => {},
      };
    case 'closed':
      return {
        next: () => {
          const after = lastOf[client] ?? -1;
          return { arrival: after < 0 ? 0 : (arrivals.think ?? 0) * exponential(random), after };
        },
        done: (index) => {
          lastOf[client] = index;
          client = (client + 1) % arrivals.clients;
        },
      };
    default:
      return { next: () => ({ arrival: 0, after: -1 }), done: () => {} };
  }
}

/** One request, or one conversation; tells how many requests it added. */
function addSession(
  spec: WorkloadSpec,
  builder: TrafficBuilder,
  random: Random,
  pace: Pace,
  made: number,
  session: number,
): number {
  const turns = Math.min(spec.requests - made, spec.chat ? drawLength(spec.chat.turns, random) : 1);
  const prompt: Run[] = [];
  if (spec.sharedPrefix) {
    const { tokens, variants = 1 } = spec.sharedPrefix;
    prompt.push({ source: 1 + popular(variants, random), first: 0, count: tokens });
  }
  const withAdapter = spec.adapters !== undefined && random() < spec.adapters.share;
  const adapter = withAdapter ? 1 + popular(spec.adapters?.count ?? 1, random) : 0;
  const priority = spec.priorities === undefined ? 0 : Math.floor(random() * spec.priorities);
  let length = prompt.reduce((sum, { count }) => sum + count, 0);
  let { arrival, after } = pace.next(made);
  let added = 0;
  while (added < turns) {
    const index = made + added;
    const message = drawLength(spec.prompt, random);
    const output = drawLength(spec.output, random);
    if (added > 0 && spec.chat?.maxTokens !== undefined && length + message + output > spec.chat.maxTokens) {
      break;
    }
    prompt.push({ source: FIRST_MESSAGE + index, first: 0, count: message });
    builder.add({
      arrival,
      after,
      prompt,
      output,
      limit: Math.ceil(output * (spec.limitFactor ?? 1)),
      adapter,
      priority,
      samples: spec.samples,
      session: spec.chat ? session : -1,
    });
    prompt.push({ source: outputSourceOf(index), first: 0, count: output });
    length += message + output;
    added++;
    after = index;
    arrival = (spec.chat?.thinkSeconds ?? 0) * exponential(random);
  }
  pace.done(made + added - 1);
  return added;
}

/**
 * Requests shaped like the public Mooncake conversation trace (FAST 2025 release): prompts are chains of 512-token
 * chunks, about two in five requests continue an earlier conversation, the rest start with one of a few system prompts.
 * Means 7,600 in and 180 out unless given.
 */
export function mooncakeLike(spec: {
  readonly requests: number;
  readonly seed: number;
  readonly arrivals: Arrivals;
  readonly prompt?: number;
  readonly output?: number;
}): Traffic {
  const random = createRandom(spec.seed);
  const builder = trafficBuilder('Mooncake-like');
  const pace = createPace(spec.arrivals, random);
  const input: Lengths = { kind: 'lognormal', mean: spec.prompt ?? 7600, spread: 0.9, low: 64, high: 120_000 };
  const output: Lengths = { kind: 'lognormal', mean: spec.output ?? 180, spread: 0.8, low: 1, high: 2000 };
  /** The latest conversations: their chunks, to be continued. */
  const open: number[][] = [];
  let fresh = 1000;
  for (let index = 0; index < spec.requests; index++) {
    const length = drawLength(input, random);
    const wanted = Math.ceil(length / CHUNK);
    const continued = open.length > 0 && random() < 0.4 ? open[Math.floor(random() * open.length)]! : undefined;
    const chunks = continued ? continued.slice(0, Math.max(1, wanted - 1)) : [1 + popular(50, random)];
    while (chunks.length < wanted) {
      chunks.push(fresh++);
    }
    const prompt = chunks.map((source, i) => ({ source, first: 0, count: Math.min(CHUNK, length - i * CHUNK) }));
    const { arrival, after } = pace.next(index);
    builder.add({ arrival, after, prompt, output: drawLength(output, random) });
    pace.done(index);
    open[index % OPEN] = chunks;
  }
  return builder.build();
}

const CHUNK = 512;
const OPEN = 400;
