// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { Text } from './content';
import type { Traffic } from './traffic';

/** Where a request is. */
export const STATUS = {
  unborn: 0,
  waiting: 1,
  running: 2,
  preempted: 3,
  swapped: 4,
  finished: 5,
  rejected: 6,
} as const;

/** What a run knows of each request, by its index in the traffic. Times are the simulation's, in seconds. */
export interface Requests {
  readonly traffic: Traffic;
  readonly status: Uint8Array;
  /** Tokens whose keys and values are in the cache. */
  readonly computed: Int32Array;
  /** Prompt and generated tokens. */
  readonly tokens: Int32Array;
  readonly arrived: Float64Array;
  readonly admitted: Float64Array;
  readonly firstToken: Float64Array;
  readonly finished: Float64Array;
  /** Prompt tokens found in the cache when it was first admitted. */
  readonly hitTokens: Int32Array;
  readonly preemptions: Int32Array;
  /** Tokens that had been computed and were computed again. */
  readonly recomputed: Int32Array;
  /** Tokens it had computed when it was last preempted. */
  readonly lost: Int32Array;
  /** When that was, and the seconds it has waited in all to come back. */
  readonly lostAt: Float64Array;
  readonly stalled: Float64Array;
}

export function createRequests(traffic: Traffic): Requests {
  const { count } = traffic;
  return {
    traffic,
    status: new Uint8Array(count),
    computed: new Int32Array(count),
    tokens: traffic.prompts.slice(0, count),
    arrived: new Float64Array(count).fill(-1),
    admitted: new Float64Array(count).fill(-1),
    firstToken: new Float64Array(count).fill(-1),
    finished: new Float64Array(count).fill(-1),
    hitTokens: new Int32Array(count),
    preemptions: new Int32Array(count),
    recomputed: new Int32Array(count),
    lost: new Int32Array(count),
    lostAt: new Float64Array(count).fill(-1),
    stalled: new Float64Array(count),
  };
}

/** One step: what was scheduled, in order. The arrays are used again by the next step. */
export interface Step {
  /** Requests given tokens, and how many each. */
  readonly requests: Int32Array;
  readonly tokens: Int32Array;
  count: number;
  readonly preempted: Int32Array;
  preemptedCount: number;
  /** Filled by `commit`. */
  readonly finished: Int32Array;
  finishedCount: number;
  /** Tokens of requests that were still behind their known tokens, and of requests that decode. */
  prefillTokens: number;
  decodeTokens: number;
  /** Cached tokens that attention reads: the sum over scheduled requests, decoding and prefilling. */
  decodeContext: number;
  prefillContext: number;
  /** Blocks copied from the device to the host and back (swapping engines). */
  swappedOut: number;
  swappedIn: number;
  /** Blocks copied on the device (copy-on-write). */
  copied: number;
}

export const createStep = (requests: number): Step => ({
  requests: new Int32Array(requests),
  tokens: new Int32Array(requests),
  count: 0,
  preempted: new Int32Array(requests),
  preemptedCount: 0,
  finished: new Int32Array(requests),
  finishedCount: 0,
  prefillTokens: 0,
  decodeTokens: 0,
  decodeContext: 0,
  prefillContext: 0,
  swappedOut: 0,
  swappedIn: 0,
  copied: 0,
});

export function clearStep(step: Step): void {
  step.count = 0;
  step.preemptedCount = 0;
  step.finishedCount = 0;
  step.prefillTokens = 0;
  step.decodeTokens = 0;
  step.decodeContext = 0;
  step.prefillContext = 0;
  step.swappedOut = 0;
  step.swappedIn = 0;
  step.copied = 0;
}

/** An engine's admission and preemption rules over its own allocator. */
export interface Scheduler {
  readonly name: string;
  readonly requests: Requests;
  readonly step: Step;
  /** A request arrives. A text: it is refused, and why. */
  readonly enqueue: (request: number) => string | undefined;
  /** Decides one step: allocates, preempts, fills `step`. */
  readonly schedule: (now: number) => void;
  /** The step has been computed: tokens are sampled, finished requests leave. */
  readonly commit: (now: number) => void;
  readonly running: () => number;
  readonly waiting: () => number;
  /** The head of the queue can never be admitted: takes it out, or −1 when there is none. */
  readonly dropHead: () => number;
  readonly space: () => Space;
  /** Room that somebody owns; the cheap part of `space`. */
  readonly owned: () => number;
}

/** What the memory holds right now, in tokens of room. */
export interface Space {
  /** Room in the pool. */
  readonly total: number;
  /** Room that somebody owns, shared room once. */
  readonly owned: number;
  /** Room nobody owns that still holds findable content. */
  readonly cached: number;
  /** Tokens of owned room that hold keys and values. */
  readonly held: number;
}

/** The text of a request, as the hashing reader wants it. */
export function textOf(traffic: Traffic, request: number): Text {
  const constant = traffic.constantOutput;
  return {
    contents: traffic.contents,
    firstRun: traffic.firstRuns[request]!,
    promptTokens: traffic.prompts[request]!,
    outputSource: traffic.outputSources[request]!,
    outputFirst: constant ?? 0,
    outputStep: constant === undefined ? 1 : 0,
    adapter: traffic.adapters[request]!,
    salt: traffic.salts[request]!,
  };
}

/** A request leaves the batch for lack of room; `status` says whether its tokens are gone or on the host. */
export function notePreempted(step: Step, requests: Requests, request: number, status: number, now: number): void {
  requests.preemptions[request]!++;
  requests.status[request] = status;
  requests.lostAt[request] = now;
  step.preempted[step.preemptedCount++] = request;
  if (status === STATUS.preempted) {
    requests.lost[request] = Math.max(requests.lost[request]!, requests.computed[request]!);
    requests.computed[request] = 0;
  }
}

/** It is served (again): `hit` tokens need no computing. */
export function noteAdmitted(requests: Requests, request: number, hit: number, now: number): void {
  requests.status[request] = STATUS.running;
  requests.computed[request] = hit;
  if (requests.admitted[request]! < 0) {
    requests.admitted[request] = now;
    requests.hitTokens[request] = hit;
  } else {
    requests.recomputed[request]! += Math.max(0, requests.lost[request]! - hit);
  }
  noteResumed(requests, request, now);
  requests.lost[request] = 0;
}

export function noteResumed(requests: Requests, request: number, now: number): void {
  if (requests.lostAt[request]! >= 0) {
    requests.stalled[request]! += now - requests.lostAt[request]!;
    requests.lostAt[request] = -1;
  }
  requests.status[request] = STATUS.running;
}

/** One more token; true when the request is done. */
export function sample(requests: Requests, request: number, maxLength: number, now: number): boolean {
  const { tokens, firstToken, traffic } = requests;
  const total = ++tokens[request]!;
  const prompt = traffic.prompts[request]!;
  if (firstToken[request]! < 0) {
    firstToken[request] = now;
  }
  return total - prompt >= traffic.outputs[request]! || total >= maxLength;
}

export function noteFinished(step: Step, requests: Requests, request: number, now: number): void {
  requests.status[request] = STATUS.finished;
  requests.finished[request] = now;
  step.finished[step.finishedCount++] = request;
}

/** Records a request that was given `tokens` in this step, before its computed count moves. */
export function noteScheduled(step: Step, requests: Requests, request: number, tokens: number): void {
  step.requests[step.count] = request;
  step.tokens[step.count++] = tokens;
  countTokens(step, requests, request, tokens, 1);
}

function countTokens(step: Step, requests: Requests, request: number, tokens: number, sign: 1 | -1): void {
  const computed = requests.computed[request]!;
  const known = requests.tokens[request]!;
  if (tokens === 1 && computed + 1 === known && known > requests.traffic.prompts[request]!) {
    step.decodeTokens += sign;
    step.decodeContext += sign * computed;
  } else {
    step.prefillTokens += sign * tokens;
    step.prefillContext += sign * tokens * (computed + tokens / 2);
  }
}

/** Takes a scheduled request out of the step again; tells how many tokens it had been given. */
export function takeBack(step: Step, requests: Requests, request: number): number {
  const at = step.requests.subarray(0, step.count).indexOf(request);
  if (at < 0) {
    return 0;
  }
  const tokens = step.tokens[at]!;
  countTokens(step, requests, request, tokens, -1);
  step.requests.copyWithin(at, at + 1, step.count);
  step.tokens.copyWithin(at, at + 1, step.count);
  step.count--;
  return tokens;
}
