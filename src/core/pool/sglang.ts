// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { openRuns } from './prefix';
import { atDeque, createDeque, popFront, pushBack } from './queues';
import { createRadixCache, lockPath, matchPrefix, type RadixCache, type RadixNode, type RadixPolicy } from './radix';
import {
  clearStep,
  createRequests,
  createStep,
  noteAdmitted,
  noteFinished,
  notePreempted,
  noteScheduled,
  type Scheduler,
  type Space,
  STATUS,
  sample,
} from './scheduler';
import {
  closeHolding,
  createPageKeeper,
  growHolding,
  heldPages,
  makeFree,
  namespaceOf,
  openHolding,
  storeHolding,
} from './token-pages';
import type { Traffic } from './traffic';

export interface SglangOptions {
  /** max_total_num_tokens: room in tokens. */
  readonly tokens: number;
  /** --page-size. */
  readonly pageSize?: number;
  /** --disable-radix-cache turns it off. */
  readonly radixCache?: boolean;
  readonly eviction?: RadixPolicy;
  readonly maxRunning: number;
  readonly maxLength: number;
  /** --chunked-prefill-size; 0 is off. */
  readonly chunk?: number;
  /** --max-prefill-tokens. */
  readonly prefillTokens?: number;
  /** --schedule-conservativeness. */
  readonly conservativeness?: number;
}

export interface Sglang extends Scheduler {
  readonly tree: RadixCache;
  readonly pagesOf: (request: number) => Int32Array;
  readonly runningList: () => number[];
  readonly freePages: () => number;
  readonly newTokenRatio: () => number;
  /** Tokens of a request's pages that the tree holds (and others may share). */
  readonly treeTokens: (request: number) => number;
}

/** managers/schedule_policy.py: `CLIP_MAX_NEW_TOKENS`; managers/schedule_batch.py: retract steps. */
const CLIP = 4096;
const RETRACT_STEPS = 20;

/**
 * SGLang's scheduler (managers/scheduler.py, schedule_policy.py, schedule_batch.py at 0.5.18): prefills before decodes,
 * admission by a bet on how much running requests will still generate (`new_token_ratio`), retraction when it is lost.
 */
export function createSglang(traffic: Traffic, options: SglangOptions): Sglang {
  const { maxRunning, maxLength } = options;
  const p = options.pageSize ?? 1;
  const pageCount = Math.floor(options.tokens / p);
  const caching = options.radixCache ?? true;
  const tree = createRadixCache(p, options.eviction);
  const pages = createPageKeeper(tree, pageCount, caching);
  const requests = createRequests(traffic);
  const step = createStep(traffic.count);
  const { computed, tokens, status } = requests;
  const waiting = createDeque();
  const firstRatio = Math.min(0.7 * (options.conservativeness ?? 1), 1);
  const leastRatio = 0.14 * firstRatio;
  let ratio = firstRatio;
  let running: number[] = [];
  let chunked = -1;
  let full = false;

  const ceilPage = (count: number) => Math.ceil(count / p) * p;
  const available = () => pages.free.size * p;
  /** max_new_tokens is cut to what the context and the pool can hold. */
  const limit = (request: number) =>
    Math.min(traffic.limits[request]!, Math.min(maxLength, pageCount * p) - 2 - traffic.prompts[request]!);
  const rest = (request: number) => limit(request) - (tokens[request]! - traffic.prompts[request]!);
  const future = (request: number) => Math.max(0, Math.min(rest(request), CLIP));

  // One prefill round's budgets.
  let offset = 0;
  let chunkLeft = 0;
  let inputLeft = 0;
  const roomLeft = () => available() + tree.evictable - offset;

  /** The pages of `extend` are taken already; what it may generate, and a page more, is promised. */
  function charge(extend: number, generates: number): void {
    offset += generates + p;
    chunkLeft -= ceilPage(extend);
    inputLeft -= ceilPage(extend);
  }

  function prefillChunk(request: number, extend: number): boolean {
    if (!growHolding(pages, request, computed[request]! + extend)) {
      return false;
    }
    noteScheduled(step, requests, request, extend);
    return true;
  }

  function continueChunked(): void {
    const request = chunked;
    const left = tokens[request]! - computed[request]!;
    const extend = Math.min(left, chunkLeft);
    if (prefillChunk(request, extend)) {
      charge(extend, extend < left ? 0 : future(request));
      chunked = extend < left ? request : -1;
      if (extend === left) {
        running.push(request);
      }
    }
  }

  /** `stop` ends the round; `full` also keeps new rounds from being tried until somebody leaves. */
  function addOne(request: number, now: number): 'added' | 'stop' | 'full' {
    const cursor = openRuns(traffic, request, tokens[request]! - 1);
    const found = caching ? matchPrefix(tree, cursor, namespaceOf(traffic, request)) : { node: tree.root, tokens: 0 };
    const extend = tokens[request]! - found.tokens;
    const need = extend + future(request) + p;
    if (need >= roomLeft()) {
      return 'full';
    }
    if (ceilPage(extend) >= inputLeft && step.count > 0) {
      return 'stop';
    }
    lockPath(tree, found.node, 1);
    if (need >= roomLeft()) {
      lockPath(tree, found.node, -1);
      return 'full';
    }
    const whole = ceilPage(extend) <= chunkLeft;
    const part = whole ? extend : Math.floor(chunkLeft / p) * p;
    if (part <= 0) {
      lockPath(tree, found.node, -1);
      return 'stop';
    }
    open(request, found.node, found.tokens, now);
    if (!prefillChunk(request, part)) {
      close(request);
      status[request] = STATUS.waiting;
      computed[request] = 0;
      return 'full';
    }
    charge(part, whole ? future(request) : 0);
    popFront(waiting);
    if (whole) {
      running.push(request);
    } else {
      chunked = request;
    }
    return 'added';
  }

  function open(request: number, node: RadixNode, matched: number, now: number): void {
    openHolding(pages, request, { node, tokens: matched }, tokens[request]!);
    noteAdmitted(requests, request, matched, now);
  }

  const close = (request: number) => closeHolding(pages, request);

  function schedulePrefills(now: number): void {
    if ((full || waiting.size === 0) && chunked < 0) {
      return;
    }
    offset = running.reduce((sum, request) => sum + future(request) * ratio, 0);
    chunkLeft = options.chunk ? options.chunk : Number.POSITIVE_INFINITY;
    inputLeft = options.prefillTokens ?? 16384;
    const before = running.length;
    if (chunked >= 0) {
      continueChunked();
    }
    let seats = maxRunning - before - step.count;
    while (waiting.size > 0 && seats > 0 && chunked < 0) {
      const result = addOne(atDeque(waiting, 0), now);
      if (result !== 'added') {
        full = result === 'full' && (running.length > 0 || step.count > 0);
        return;
      }
      seats--;
      if (roomLeft() <= 0 || inputLeft <= 0 || chunkLeft <= 0) {
        full = roomLeft() <= 0;
        return;
      }
    }
    full ||= seats <= 0;
  }

  function decodeNeed(): number {
    return running.reduce((sum, request) => sum + (computed[request]! % p === 0 ? p : 0), 0);
  }

  function enoughForDecode(): boolean {
    const need = decodeNeed();
    if (need > available()) {
      makeFree(pages, need);
    }
    return need <= available();
  }

  /** The one with the fewest output tokens goes first; of equals, the one with the longest prompt. */
  function retract(now: number): void {
    const generated = (request: number) => tokens[request]! - traffic.prompts[request]!;
    const order = [...running].sort((a, b) => generated(b) - generated(a) || traffic.prompts[a]! - traffic.prompts[b]!);
    let first = true;
    while (order.length > 0 && (first || !enoughForDecode())) {
      first = false;
      if (order.length === 1) {
        return; // one stays; if it does not fit either it is aborted
      }
      const victim = order.pop()!;
      running = running.filter((request) => request !== victim);
      close(victim);
      notePreempted(step, requests, victim, STATUS.preempted, now);
      pushBack(waiting, victim);
    }
    const made = running.reduce((sum, request) => sum + generated(request), 0);
    const limits = running.reduce((sum, request) => sum + limit(request), 0);
    ratio = Math.min(1, (made + RETRACT_STEPS * running.length) / (limits + 1));
    full = false;
  }

  function scheduleDecodes(now: number): void {
    if (running.length === 0) {
      ratio = firstRatio;
      return;
    }
    if (enoughForDecode()) {
      ratio = Math.max(ratio - (firstRatio - leastRatio) / 600, leastRatio);
    } else {
      retract(now);
      if (!enoughForDecode()) {
        abortLast(now);
        return;
      }
    }
    for (const request of running) {
      growHolding(pages, request, computed[request]! + 1);
      noteScheduled(step, requests, request, 1);
    }
  }

  /** "Out of memory even after retracting all other requests in the decode batch." */
  function abortLast(now: number): void {
    for (const request of running) {
      close(request);
      status[request] = STATUS.rejected;
      requests.finished[request] = now;
      step.finished[step.finishedCount++] = request;
    }
    running = [];
  }

  function schedule(now: number): void {
    clearStep(step);
    if (running.length === 0) {
      full = false;
    }
    schedulePrefills(now);
    if (step.count === 0) {
      scheduleDecodes(now);
    }
    for (let i = 0; i < step.count; i++) {
      computed[step.requests[i]!]! += step.tokens[i]!;
    }
  }

  function commit(now: number): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      const prefilled = step.tokens[i]! > 1 || requests.firstToken[request]! < 0;
      const done = computed[request] === tokens[request];
      const ended = done && sample(requests, request, maxLength, now);
      if (prefilled || ended) {
        storeHolding(pages, traffic, request, computed[request]!);
      }
      if (ended) {
        close(request);
        full = false;
        noteFinished(step, requests, request, now);
      }
    }
    if (step.finishedCount > 0) {
      running = running.filter((request) => status[request] === STATUS.running);
    }
  }

  function enqueue(request: number): string | undefined {
    const prompt = traffic.prompts[request]!;
    if (prompt >= maxLength || prompt >= pageCount * p) {
      return `Input length (${prompt} tokens) exceeds the maximum allowed length (${Math.min(maxLength, pageCount * p)} tokens).`;
    }
    status[request] = STATUS.waiting;
    pushBack(waiting, request);
    return undefined;
  }

  const owned = () => (pageCount - pages.free.size) * p - tree.evictable;
  const active = () => (chunked >= 0 ? [...running, chunked] : running);

  function space(): Space {
    const tails = active().reduce((sum, request) => sum + pages.holdings[request]!.count * p - computed[request]!, 0);
    return { total: pageCount * p, owned: owned(), cached: tree.evictable, held: owned() - tails };
  }

  return {
    name: 'SGLang',
    tree,
    requests,
    step,
    enqueue,
    schedule,
    commit,
    running: () => active().length,
    waiting: () => waiting.size,
    dropHead: () => (waiting.size > 0 ? popFront(waiting) : -1),
    space,
    owned,
    pagesOf: (request) => heldPages(pages, request),
    runningList: () => [...active()],
    freePages: () => pages.free.size,
    newTokenRatio: () => ratio,
    treeTokens: (request) => pages.holdings[request]?.inTree ?? 0,
  };
}
