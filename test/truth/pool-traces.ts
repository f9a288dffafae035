/** Replays what vLLM's own KV cache manager and scheduler did, step by step, and compares everything that was recorded. */
import { freeQueue, hasHash, ownersOf, usage } from '../../src/core/pool/block-pool';
import { addRun, createContents, runsOfTokens, type Text } from '../../src/core/pool/content';
import {
  admit,
  closeSlot,
  createKvCache,
  extend,
  type GroupSpec,
  type KvCache,
  openSlot,
} from '../../src/core/pool/kv-cache';
import { lookUp } from '../../src/core/pool/lookup';
import { tableOf } from '../../src/core/pool/tables';
import { trafficBuilder } from '../../src/core/pool/traffic';
import { createVllmV1, type VllmV1 } from '../../src/core/pool/vllm-v1';
import { readTruth } from './vectors';

type Tokens = readonly ({ readonly from: number; readonly to: number } | readonly number[])[];

interface PoolInput {
  readonly op: 'admit' | 'admit both' | 'append' | 'continue' | 'free';
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly tokens?: Tokens;
  readonly token?: number;
  readonly chunk?: number;
  readonly fullSequenceMustFit?: boolean;
  readonly hasScheduledRequests?: boolean;
  readonly before?: readonly PoolInput[];
}

interface PoolState {
  readonly tables: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly free: readonly number[];
  readonly cached: readonly number[];
  readonly usage: number;
  readonly ref: Readonly<Record<string, number>>;
}

export interface PoolScenario {
  readonly name: string;
  readonly config: {
    readonly blocks: number;
    readonly blockSize: number;
    readonly caching: boolean;
    readonly watermark: number;
    readonly maxLength?: number;
    readonly inFlightTokens?: number;
    readonly retentionInterval?: number;
    readonly groups: readonly { readonly kind: GroupSpec['kind']; readonly window?: number }[];
  };
  readonly steps: readonly {
    readonly note: string;
    readonly input: PoolInput;
    readonly result?: { readonly admitted: boolean; readonly hitTokens?: number };
    readonly sharedPrefixBoundary?: number;
    readonly after?: PoolState;
  }[];
}

export const poolScenarios = (): readonly PoolScenario[] =>
  readTruth<{ readonly scenarios: readonly PoolScenario[] }>('pool-traces.json').scenarios;

const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;

const flatten = (tokens: Tokens): number[] =>
  tokens.flatMap((part) =>
    'from' in part ? Array.from({ length: part.to - part.from }, (_, i) => part.from + i) : part,
  );

/** A request of the recording: everything it has so far is its text. */
interface Sequence {
  slot: number;
  tokens: number[];
  computed: number;
  readonly promptTokens: number;
}

const textOfTokens = (tokens: readonly number[]): Text => {
  const contents = createContents(8);
  for (const { source, first, count } of runsOfTokens(tokens)) {
    addRun(contents, source, first, count);
  }
  return {
    contents,
    firstRun: 0,
    promptTokens: tokens.length,
    outputSource: 0,
    outputFirst: 0,
    outputStep: 1,
    adapter: 0,
    salt: 0,
  };
};

/** Yields each step with what the recording says and what this pool did. */
export function* replayPool({ config, steps }: PoolScenario) {
  const kv = createKvCache({
    ...config,
    groups: config.groups.map((group) => ({ ...group, blockSize: config.blockSize })),
    retention: config.retentionInterval,
  });
  const sequences = new Map<string, Sequence>();
  for (const { note, input, result, sharedPrefixBoundary, after } of steps) {
    const [outcome, junction] = apply(kv, sequences, input);
    yield {
      note,
      expected: { result: result ?? undefined, junction: sharedPrefixBoundary, after },
      actual: {
        result: result && { ...outcome, ...('hitTokens' in result ? {} : { hitTokens: undefined }) },
        junction: sharedPrefixBoundary === undefined ? undefined : junction,
        // After a single token the recording shows that request's table alone.
        after: after && stateOf(kv, sequences, input.op === 'append' ? input.id : undefined),
      },
    };
  }
}

function apply(
  kv: KvCache,
  sequences: Map<string, Sequence>,
  input: PoolInput,
): [{ admitted: boolean; hitTokens?: number }, number] {
  for (const first of input.before ?? []) {
    apply(kv, sequences, first);
  }
  const id = input.id ?? '';
  const known = sequences.get(id);
  switch (input.op) {
    case 'admit both':
      for (const each of input.ids ?? []) {
        apply(kv, sequences, { ...input, op: 'admit', id: each });
      }
      return [{ admitted: true }, 0];
    case 'admit':
      return admitNew(kv, sequences, id, input);
    case 'free':
      if (known) {
        closeSlot(kv, known.slot);
        sequences.delete(id);
      }
      return [{ admitted: true }, 0];
    case 'append': {
      let admitted = true;
      for (const token of input.tokens ? flatten(input.tokens) : [input.token ?? 0]) {
        admitted = known !== undefined && appendToken(kv, known, token);
      }
      return [{ admitted }, 0];
    }
    case 'continue': {
      const chunk = input.chunk ?? 0;
      const admitted = known !== undefined && extend(kv, known.slot, known.computed, chunk, known.tokens.length);
      if (known && admitted) {
        known.computed += chunk;
      }
      return [{ admitted }, 0];
    }
  }
}

function admitNew(
  kv: KvCache,
  sequences: Map<string, Sequence>,
  id: string,
  input: PoolInput,
): [{ admitted: boolean; hitTokens: number }, number] {
  const tokens = flatten(input.tokens ?? []);
  const slot = openSlot(kv, textOfTokens(tokens));
  const hitTokens = lookUp(kv, slot, tokens.length);
  const junction = kv.junctions[slot] ?? 0;
  const fresh = Math.min(input.chunk ?? Number.POSITIVE_INFINITY, tokens.length - hitTokens);
  const admitted = admit(kv, slot, fresh, tokens.length, {
    wholeMustFit: input.fullSequenceMustFit ?? false,
    othersRun: input.hasScheduledRequests ?? true,
  });
  if (admitted) {
    sequences.set(id, { slot, tokens, computed: hitTokens + fresh, promptTokens: tokens.length });
  } else {
    closeSlot(kv, slot);
  }
  return [{ admitted, hitTokens }, junction];
}

/** The recording knows each appended token only when it comes: the text grows, and what was hashed stays hashed. */
function appendToken(kv: KvCache, sequence: Sequence, token: number): boolean {
  sequence.tokens.push(token);
  const { slot, tokens } = sequence;
  const { contents } = textOfTokens(tokens);
  const text = kv.texts[slot];
  const reader = kv.readers[slot];
  if (!text || !reader) {
    return false;
  }
  text.contents = contents;
  text.promptTokens = tokens.length;
  // The runs before the reader's position are the same as before; find its place among the new ones.
  reader.run = 0;
  reader.offset = reader.position;
  while (reader.run < contents.size && reader.offset >= (contents.counts[reader.run] ?? 0)) {
    reader.offset -= contents.counts[reader.run] ?? 0;
    reader.run++;
  }
  const admitted = extend(kv, slot, sequence.computed, 1, tokens.length);
  if (admitted) {
    sequence.computed++;
  }
  return admitted;
}

function stateOf(kv: KvCache, sequences: ReadonlyMap<string, Sequence>, only?: string): PoolState {
  const { pool } = kv;
  const ids = Array.from({ length: pool.blocks - 1 }, (_, i) => i + 1);
  return {
    tables: Object.fromEntries(
      [...sequences]
        .filter(([id]) => only === undefined || id === only)
        .map(([id, { slot }]) => [id, kv.groups.map((_, group) => [...tableOf(kv, slot, group)])]),
    ),
    free: freeQueue(pool),
    cached: ids.filter((block) => hasHash(pool, block)),
    usage: round6(usage(pool)),
    ref: Object.fromEntries(
      ids.filter((block) => ownersOf(pool, block) > 0).map((block) => [block, ownersOf(pool, block)]),
    ),
  };
}

export interface SchedulerScenario {
  readonly name: string;
  readonly config: {
    readonly N: number;
    readonly bs: number;
    readonly T: number;
    readonly seqs: number;
    readonly I?: number;
    readonly caching?: boolean;
    readonly reserve?: boolean;
    readonly policy?: 'fcfs' | 'priority';
    readonly watermark?: number;
  };
  readonly groups:
    | string
    | readonly { readonly kind: string; readonly block_size: number; readonly sliding_window: number | null }[];
  readonly arrivals: readonly {
    readonly step: number;
    readonly id: string;
    readonly prompt: readonly number[];
    readonly max_tokens: number;
    readonly priority: number;
  }[];
  readonly sampled_token: number;
  readonly steps: readonly SchedulerState[];
}

interface SchedulerState {
  readonly step: number;
  readonly sched: Readonly<Record<string, number>>;
  readonly preempted: readonly string[];
  readonly running: readonly string[];
  readonly waiting: readonly string[];
  readonly free: readonly number[];
  readonly tables: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly computed: Readonly<Record<string, number>>;
  readonly tokens: Readonly<Record<string, number>>;
  readonly usage: number;
}

export const schedulerScenarios = (): readonly SchedulerScenario[] =>
  readTruth<{ readonly scenarios: readonly SchedulerScenario[] }>('scheduler-traces.json').scenarios;

export function* replayScheduler({ config, groups, arrivals, sampled_token, steps }: SchedulerScenario) {
  const builder = trafficBuilder('recorded', sampled_token);
  for (const { prompt, max_tokens, priority, step } of arrivals) {
    builder.add({ arrival: step, prompt: runsOfTokens(prompt), output: max_tokens, priority });
  }
  const scheduler = createVllmV1(builder.build(), {
    blocks: config.N,
    groups: groupsOf(groups, config.bs),
    batchTokens: config.T,
    maxSequences: config.seqs,
    caching: config.caching,
    reserveWholePrompt: config.reserve,
    policy: config.policy,
    watermark: config.watermark,
    inFlightTokens: config.I,
    retention: 0,
  });
  const names = arrivals.map(({ id }) => id);
  for (const expected of steps) {
    arrivals.forEach((arrival, request) => {
      if (arrival.step === expected.step) {
        scheduler.requests.arrived[request] = arrival.step;
        scheduler.enqueue(request);
      }
    });
    scheduler.schedule(expected.step);
    const sched = scheduledOf(scheduler, names);
    scheduler.commit(expected.step);
    yield { expected, actual: { step: expected.step, sched, ...schedulerState(scheduler, names) } };
  }
}

const groupsOf = (groups: SchedulerScenario['groups'], blockSize: number): readonly GroupSpec[] =>
  typeof groups === 'string'
    ? [{ kind: 'full', blockSize }]
    : groups.map(({ block_size, sliding_window }) => ({
        kind: sliding_window === null ? 'full' : 'sliding',
        blockSize: block_size,
        window: sliding_window ?? undefined,
      }));

const scheduledOf = ({ step }: VllmV1, names: readonly string[]): Record<string, number> =>
  Object.fromEntries(Array.from({ length: step.count }, (_, i) => [names[step.requests[i] ?? -1], step.tokens[i]]));

function schedulerState(scheduler: VllmV1, names: readonly string[]) {
  const { kv, requests, step } = scheduler;
  const name = (request: number) => names[request] ?? '?';
  const running = scheduler.runningList();
  const waiting = scheduler.waitingList();
  const present = names
    .map((_, request) => request)
    .filter((request) => running.includes(request) || waiting.includes(request));
  return {
    preempted: [...step.preempted.subarray(0, step.preemptedCount)].map(name),
    running: running.map(name),
    waiting: waiting.map(name),
    free: freeQueue(kv.pool),
    tables: Object.fromEntries(
      running.map((request) => [
        name(request),
        kv.groups.map((_, group) => [...tableOf(kv, scheduler.slotOf(request), group)]),
      ]),
    ),
    computed: Object.fromEntries(present.map((request) => [name(request), requests.computed[request]])),
    tokens: Object.fromEntries(present.map((request) => [name(request), requests.tokens[request]])),
    usage: round6(usage(kv.pool)),
  };
}
