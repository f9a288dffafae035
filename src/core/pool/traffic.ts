import { addRun, type Contents, createContents, type Run } from './content';

/** Requests in order of arrival, struct of arrays. Times in seconds. */
export interface Traffic {
  readonly name: string;
  readonly count: number;
  /** When it arrives; behind another request (`after`), how long after that one's end: the think time. */
  readonly arrivals: Float64Array;
  /** Index of the request whose end brings this one, or −1. Always smaller than the own index. */
  readonly after: Int32Array;
  readonly prompts: Int32Array;
  /** Tokens it will generate (the true length; an engine only knows `limits`). */
  readonly outputs: Int32Array;
  /** Tokens it may generate (max_tokens): what an engine that reserves to the end reserves. */
  readonly limits: Int32Array;
  readonly contents: Contents;
  readonly firstRuns: Int32Array;
  readonly outputSources: Int32Array;
  readonly adapters: Int32Array;
  readonly salts: Int32Array;
  /** Lower is served first, where the policy looks at it. */
  readonly priorities: Int32Array;
  /** Sequences sampled from the prompt (n, or beam width). */
  readonly samples: Int32Array;
  /** Every output token is this token id: only to replay recordings made so. */
  readonly constantOutput?: number;
  /** The conversation a request belongs to, or −1. */
  readonly sessions: Int32Array;
}

/** One request as a person writes it down. */
export interface RequestSpec {
  readonly arrival?: number;
  readonly after?: number;
  /** Runs of the prompt; their counts add up to its length. */
  readonly prompt: readonly Run[];
  readonly output: number;
  readonly limit?: number;
  readonly outputSource?: number;
  readonly adapter?: number;
  readonly salt?: number;
  readonly priority?: number;
  readonly samples?: number;
  readonly session?: number;
}

/** Sources from here down are outputs: request i generates the text −1 − i, which no other request has. */
export const outputSourceOf = (request: number): number => -1 - request;

export interface TrafficBuilder {
  readonly add: (spec: RequestSpec) => number;
  readonly build: () => Traffic;
}

/** Collects requests one by one; the arrays double as they fill. */
export function trafficBuilder(name: string, constantOutput?: number): TrafficBuilder {
  const contents = createContents(16);
  const columns = createColumns(256);
  let capacity = 256;
  let count = 0;
  let latest = Number.NEGATIVE_INFINITY;
  const add = (spec: RequestSpec): number => {
    if (count === capacity) {
      capacity *= 2;
      growColumns(columns, capacity);
    }
    const at = count++;
    const after = spec.after ?? -1;
    const arrival = spec.arrival ?? 0;
    if (after >= at || !(arrival >= 0)) {
      throw new RangeError(`request ${at} cannot come at ${arrival} after request ${after}`);
    }
    if (after < 0) {
      latest = Math.max(latest, arrival);
    }
    columns.firstRuns[at] = contents.size;
    let prompt = 0;
    for (const run of spec.prompt) {
      if (run.count > 0) {
        addRun(contents, run.source, run.first, run.count);
        prompt += run.count;
      }
    }
    columns.arrivals[at] = after < 0 ? latest : arrival;
    columns.after[at] = after;
    columns.prompts[at] = prompt;
    columns.outputs[at] = spec.output;
    columns.limits[at] = spec.limit ?? spec.output;
    columns.outputSources[at] = constantOutput === undefined ? (spec.outputSource ?? outputSourceOf(at)) : 0;
    columns.adapters[at] = spec.adapter ?? 0;
    columns.salts[at] = spec.salt ?? 0;
    columns.priorities[at] = spec.priority ?? 0;
    columns.samples[at] = spec.samples ?? 1;
    columns.sessions[at] = spec.session ?? -1;
    return at;
  };
  return { add, build: () => ({ name, count, contents, constantOutput, ...trimmed(columns, count) }) };
}

/**
 * The same traffic for engines that do not fork: n samples of a prompt are n requests, which share what the prefix cache
 * lets them share (vLLM V1, SGLang). Whoever comes after a request comes after its last sample.
 */
export function withoutForks(traffic: Traffic): Traffic {
  const { count, samples } = traffic;
  if (samples.every((several) => several <= 1)) {
    return traffic;
  }
  const builder = trafficBuilder(traffic.name, traffic.constantOutput);
  const lastOf = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const after = traffic.after[i] ?? -1;
    const prompt = promptRuns(traffic, i);
    for (let sample = 0; sample < Math.max(1, samples[i] ?? 1); sample++) {
      lastOf[i] = builder.add({
        arrival: traffic.arrivals[i],
        after: after < 0 ? -1 : lastOf[after],
        prompt,
        output: traffic.outputs[i] ?? 1,
        limit: traffic.limits[i],
        // The first sample is the one a conversation goes on with; the others' texts are nobody else's.
        outputSource: sample === 0 ? traffic.outputSources[i] : SAMPLES - i * 256 - sample,
        adapter: traffic.adapters[i],
        salt: traffic.salts[i],
        priority: traffic.priorities[i],
        session: traffic.sessions[i],
      });
    }
  }
  return builder.build();
}

/** The part of the traffic that one of several replicas serves: requests are dealt in turn, a conversation stays together. */
export function dealTraffic(traffic: Traffic, replicas: number): Traffic {
  const builder = trafficBuilder(traffic.name, traffic.constantOutput);
  /** Index in the new traffic, or −1 where another replica serves it. */
  const moved = new Int32Array(traffic.count).fill(-1);
  let heads = 0;
  for (let i = 0; i < traffic.count; i++) {
    const after = traffic.after[i] ?? -1;
    const mine = after < 0 ? heads++ % replicas === 0 : (moved[after] ?? -1) >= 0;
    if (mine) {
      moved[i] = builder.add({
        arrival: traffic.arrivals[i],
        after: after < 0 ? -1 : moved[after],
        prompt: promptRuns(traffic, i),
        output: traffic.outputs[i] ?? 1,
        limit: traffic.limits[i],
        outputSource: traffic.outputSources[i],
        session: traffic.sessions[i],
      });
    }
  }
  return builder.build();
}

function promptRuns({ contents, firstRuns, prompts }: Traffic, request: number): Run[] {
  const runs: Run[] = [];
  let left = prompts[request] ?? 0;
  for (let run = firstRuns[request] ?? 0; left > 0; run++) {
    const count = contents.counts[run] ?? left;
    runs.push({ source: contents.sources[run] ?? 0, first: contents.firsts[run] ?? 0, count });
    left -= count;
  }
  return runs;
}

/** Sources of further samples' outputs: far below those of requests, `outputSourceOf`. */
const SAMPLES = -(2 ** 30);

interface Columns {
  arrivals: Float64Array;
  after: Int32Array;
  prompts: Int32Array;
  outputs: Int32Array;
  limits: Int32Array;
  firstRuns: Int32Array;
  outputSources: Int32Array;
  adapters: Int32Array;
  salts: Int32Array;
  priorities: Int32Array;
  samples: Int32Array;
  sessions: Int32Array;
}

const INTEGER_COLUMNS = [
  'after',
  'prompts',
  'outputs',
  'limits',
  'firstRuns',
  'outputSources',
  'adapters',
  'salts',
  'priorities',
  'samples',
  'sessions',
] as const;

function createColumns(capacity: number): Columns {
  const integers = Object.fromEntries(INTEGER_COLUMNS.map((key) => [key, new Int32Array(capacity)]));
  return { arrivals: new Float64Array(capacity), ...integers } as Columns;
}

function trimmed(columns: Columns, count: number): Columns {
  const integers = Object.fromEntries(INTEGER_COLUMNS.map((key) => [key, columns[key].subarray(0, count)]));
  return { arrivals: columns.arrivals.subarray(0, count), ...integers } as Columns;
}

function growColumns(columns: Columns, capacity: number): void {
  const arrivals = new Float64Array(capacity);
  arrivals.set(columns.arrivals);
  columns.arrivals = arrivals;
  for (const key of INTEGER_COLUMNS) {
    const larger = new Int32Array(capacity);
    larger.set(columns[key]);
    columns[key] = larger;
  }
}
