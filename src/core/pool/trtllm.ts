// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { createReader, type Reader, startReading, type Text } from './content';
import { atDeque, createDeque, popFront, pushBack, pushFront } from './queues';
import { createReuseMatcher } from './reuse-match';
import {
  createReuseTree,
  DEFAULT_PRIORITY,
  type Entry,
  expirePriorities,
  freeBlocks,
  letGo,
  onboard,
  type ReuseTree,
  referTo,
  storeEntry,
  takeDeviceBlock,
  takeOver,
} from './reuse-tree';
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
  textOf,
} from './scheduler';
import type { Traffic } from './traffic';

export type CapacityPolicy = 'guaranteed-no-evict' | 'max-utilization' | 'static-batch';

/** Priority of a range of a request's tokens, for a time. */
export interface Retention {
  readonly start: number;
  /** Exclusive; undefined: to the end. */
  readonly end?: number;
  readonly priority: number;
  readonly seconds?: number;
}

export interface TrtllmOptions {
  readonly blocks: number;
  /** tokens_per_block. */
  readonly blockSize: number;
  readonly hostBlocks?: number;
  readonly policy?: CapacityPolicy;
  /** enable_block_reuse, enable_partial_reuse, copy_on_partial_reuse. */
  readonly reuse?: boolean;
  readonly partialReuse?: boolean;
  readonly copyOnPartialReuse?: boolean;
  readonly offloadPriority?: number;
  readonly retention?: readonly Retention[];
  readonly maxBatch: number;
  /** max_num_tokens. */
  readonly batchTokens: number;
  readonly maxLength: number;
  readonly chunkedPrefill?: boolean;
}

export interface Trtllm extends Scheduler {
  readonly tree: ReuseTree;
  /** A request's blocks, first to last; `entries[i]` says which of them lie in the tree. */
  readonly holdingOf: (request: number) => {
    readonly blocks: readonly number[];
    readonly entries: readonly (Entry | undefined)[];
  };
  readonly runningList: () => number[];
}

interface Holding {
  blocks: number[];
  entries: (Entry | undefined)[];
  /** Blocks of the beginning that are in the tree already, and the entry they end at. */
  stored: number;
  end: Entry;
  readonly reader: Reader;
  readonly text: Text;
}

/** Requests passed over in one step; the engine passes over any number. */
const MOST_SKIPPED = 256;

/** TensorRT-LLM's capacity scheduler and block manager (batch_manager/capacityScheduler.cpp, kvCacheManager.cpp, 1.0). */
export function createTrtllm(traffic: Traffic, options: TrtllmOptions): Trtllm {
  const { blockSize, maxBatch, batchTokens, maxLength, policy = 'guaranteed-no-evict', reuse = true } = options;
  const { partialReuse = true, copyOnPartialReuse = true, chunkedPrefill = false } = options;
  const tree = createReuseTree(options);
  const requests = createRequests(traffic);
  const step = createStep(Math.min(traffic.count, maxBatch) + 1);
  const { computed, tokens, status } = requests;
  const matcher = createReuseMatcher(tree, requests, blockSize, reuse);
  const queue = createDeque();
  const holdings: (Holding | undefined)[] = [];
  let running: number[] = [];

  const ends = (request: number) => Math.min(maxLength, traffic.prompts[request]! + traffic.limits[request]!);
  const toCompletion = (request: number) => Math.ceil(ends(request) / blockSize);

  function take(): number {
    return takeDeviceBlock(tree);
  }

  /** Blocks the request would take from the free ones: hits that others hold already cost nothing. */
  const cost = (needed: number, found: readonly Entry[]) =>
    needed - found.reduce((sum, entry) => sum + (entry.references > 0 ? 1 : 0), 0);

  function start(request: number, found: readonly Entry[], now: number): void {
    const text = textOf(traffic, request);
    const reader = createReader();
    startReading(reader, text);
    const holding: Holding = { blocks: [], entries: [], stored: found.length, end: tree.root, reader, text };
    // All hits are held before any block is taken, so that taking one cannot lose another.
    const held = found.filter((entry) => entry.block >= 0);
    for (const entry of held) {
      referTo(tree, entry);
    }
    let hits = 0;
    for (const entry of found) {
      if (entry.block < 0 && !bringBack(entry)) {
        break;
      }
      matcher.nextKey(reader, text);
      holding.blocks.push(entry.block);
      holding.entries.push(entry);
      holding.end = entry;
      hits++;
    }
    const missed = new Set(found.slice(hits));
    for (const entry of held) {
      if (missed.has(entry)) {
        letGo(tree, entry);
      }
    }
    holding.stored = hits;
    holdings[request] = holding;
    let matched = hits * blockSize;
    if (reuse && partialReuse && hits === found.length) {
      matched += reusePartly(request, holding, matched);
    }
    noteAdmitted(requests, request, matched, now);
    running.push(request);
  }

  /** An entry on the host comes back into a device block; it may have been given up while one was made free. */
  function bringBack(entry: Entry): boolean {
    const block = take();
    if (block < 0) {
      return false;
    }
    if (!entry.alive) {
      tree.empty.push(block);
      return false;
    }
    onboard(tree, entry, block);
    referTo(tree, entry);
    step.swappedIn++;
    return true;
  }

  function reusePartly(request: number, holding: Holding, from: number): number {
    const found = matcher.partial(request, holding.end, from);
    if (!found || found.entry.block < 0) {
      return 0;
    }
    const { entry, common } = found;
    if (entry.references === 0 && entry.children.size === 0) {
      holding.blocks.push(takeOver(tree, entry));
    } else if (copyOnPartialReuse) {
      referTo(tree, entry);
      const block = take();
      letGo(tree, entry);
      if (block < 0) {
        return 0;
      }
      holding.blocks.push(block);
      step.copied++;
      tree.watch?.copied.push(entry.block, block);
    } else {
      return 0;
    }
    holding.entries.push(undefined);
    return common;
  }

  function grow(request: number, length: number): boolean {
    const holding = holdings[request]!;
    while (holding.blocks.length < Math.ceil(length / blockSize)) {
      const block = take();
      if (block < 0) {
        return false;
      }
      holding.blocks.push(block);
      holding.entries.push(undefined);
    }
    return true;
  }

  /** Puts full blocks that are computed into the tree; where it has them already, the request keeps its own copy aside. */
  function store(request: number, now: number): void {
    const holding = holdings[request]!;
    const full = Math.floor(computed[request]! / blockSize);
    for (; reuse && holding.stored < full; holding.stored++) {
      const i = holding.stored;
      const key = matcher.nextKey(holding.reader, holding.text);
      const present = holding.end.children.get(key);
      const { priority, seconds } = retentionAt(i * blockSize);
      const expires = seconds === undefined ? Number.POSITIVE_INFINITY : now + seconds;
      if (!holding.end.alive) {
        continue; // what it would hang on has left the tree
      }
      if (present) {
        holding.end = present;
      } else {
        const text = { request, start: i * blockSize, priority, expires };
        holding.end = storeEntry(tree, holding.end, key, holding.blocks[i]!, text);
        holding.entries[i] = holding.end;
      }
    }
  }

  function retentionAt(token: number): { readonly priority: number; readonly seconds?: number } {
    const range = options.retention?.find(
      ({ start: from, end }) => token >= from && token < (end ?? Number.POSITIVE_INFINITY),
    );
    return range ?? { priority: DEFAULT_PRIORITY };
  }

  /** Last block first, so that children wait before their parents. */
  function release(request: number): void {
    const { blocks, entries } = holdings[request]!;
    for (let i = blocks.length - 1; i >= 0; i--) {
      const entry = entries[i];
      if (entry) {
        letGo(tree, entry);
      } else {
        tree.empty.push(blocks[i]!);
      }
    }
    holdings[request] = undefined;
  }

  function pause(request: number, now: number): void {
    store(request, now);
    release(request);
    notePreempted(step, requests, request, STATUS.preempted, now);
    running = running.filter((other) => other !== request);
    pushFront(queue, request);
  }

  /** What running requests may still take: the promise of guaranteed no evict. */
  function promised(): number {
    return running.reduce(
      (sum, request) => sum + Math.max(0, toCompletion(request) - holdings[request]!.blocks.length),
      0,
    );
  }

  /** Max utilisation: whoever started last is paused until the others' next step fits. */
  function pauseForNextStep(now: number): void {
    const need = () =>
      running.reduce(
        (sum, request) =>
          sum +
          Math.max(0, Math.ceil(Math.min(tokens[request]!, maxLength) / blockSize) - holdings[request]!.blocks.length),
        0,
      );
    while (running.length > 0 && need() > freeBlocks(tree)) {
      pause(running.at(-1)!, now);
    }
  }

  function admitWaiting(now: number): void {
    if (policy === 'static-batch' && running.length > 0) {
      return;
    }
    const making = new Set(running.filter((r) => computed[r]! < traffic.prompts[r]!).map(nextToMake));
    const skipped: number[] = [];
    while (queue.size > 0 && running.length < maxBatch && skipped.length < MOST_SKIPPED) {
      const request = atDeque(queue, 0);
      const found = matcher.match(request);
      const first = matcher.keyOf(request, found.length);
      if (first !== undefined && making.has(first)) {
        skipped.push(popFront(queue)); // worth waiting for: somebody computes the very block it would start with
        continue;
      }
      if (!fits(request, found)) {
        break;
      }
      popFront(queue);
      start(request, found, now);
      making.add(first);
      if (!grow(request, tokens[request]!)) {
        pause(request, now);
        break;
      }
    }
    while (skipped.length > 0) {
      pushFront(queue, skipped.pop()!);
    }
  }

  function fits(request: number, found: readonly Entry[]): boolean {
    if (policy === 'max-utilization') {
      return cost(Math.ceil((tokens[request]! + 1) / blockSize), found) <= freeBlocks(tree);
    }
    return cost(toCompletion(request), found) + promised() <= freeBlocks(tree);
  }

  const nextToMake = (request: number): string | undefined => matcher.keyOf(request, holdings[request]!.stored);

  function schedule(now: number): void {
    clearStep(step);
    const offloaded = tree.offloads;
    expirePriorities(tree, now);
    if (policy === 'max-utilization') {
      pauseForNextStep(now);
    }
    if (step.preemptedCount === 0) {
      admitWaiting(now);
    }
    let budget = batchTokens;
    for (const decoding of [true, false]) {
      for (const request of running) {
        const rest = tokens[request]! - computed[request]!;
        const isDecode = rest === 1 && tokens[request]! > traffic.prompts[request]!;
        const inChunks = chunkedPrefill || rest > batchTokens;
        const fresh = rest <= budget ? rest : inChunks ? Math.floor(budget / blockSize) * blockSize : 0;
        if (isDecode === decoding && fresh > 0 && grow(request, computed[request]! + fresh)) {
          noteScheduled(step, requests, request, fresh);
          budget -= fresh;
        }
      }
    }
    step.swappedOut += tree.offloads - offloaded;
    for (let i = 0; i < step.count; i++) {
      computed[step.requests[i]!]! += step.tokens[i]!;
    }
  }

  function commit(now: number): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      const done = computed[request] === tokens[request];
      const contextEnds = done && (step.tokens[i]! > 1 || requests.firstToken[request]! < 0);
      const ended = done && sample(requests, request, maxLength, now);
      if (contextEnds || ended) {
        store(request, now);
      }
      if (ended) {
        release(request);
        noteFinished(step, requests, request, now);
      }
    }
    if (step.finishedCount > 0) {
      running = running.filter((request) => status[request] === STATUS.running);
    }
  }

  function enqueue(request: number): string | undefined {
    const prompt = traffic.prompts[request]!;
    const longest = Math.min(maxLength, tree.blocks * blockSize);
    if (prompt >= longest || (!chunkedPrefill && prompt > batchTokens)) {
      return `The prompt of ${prompt} tokens exceeds ${prompt >= longest ? `max_seq_len (${longest})` : `max_num_tokens (${batchTokens})`}.`;
    }
    status[request] = STATUS.waiting;
    pushBack(queue, request);
    return undefined;
  }

  const owned = () => (tree.blocks - freeBlocks(tree)) * blockSize;

  function space(): Space {
    const tails = running.reduce(
      (sum, r) => sum + Math.max(0, holdings[r]!.blocks.length * blockSize - computed[r]!),
      0,
    );
    return { total: tree.blocks * blockSize, owned: owned(), cached: tree.waiting * blockSize, held: owned() - tails };
  }

  return {
    name: `TensorRT-LLM, ${policy.replaceAll('-', ' ')}`,
    tree,
    requests,
    step,
    enqueue,
    schedule,
    commit,
    running: () => running.length,
    waiting: () => queue.size,
    dropHead: () => (queue.size > 0 ? popFront(queue) : -1),
    space,
    owned,
    holdingOf: (request) => holdings[request] ?? { blocks: [], entries: [] },
    runningList: () => [...running],
  };
}
