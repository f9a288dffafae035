// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { ownersOf } from './block-pool';
import {
  type Admission,
  admit,
  closeSlot,
  createKvCache,
  extend,
  type KvCache,
  type KvCacheOptions,
  openSlot,
} from './kv-cache';
import { lookUp } from './lookup';
import { createMisses, type Lookup, type Misses, missReason, noteMiss } from './misses';
import { atDeque, createDeque, createHeap, popFront, popHeap, pushBack, pushFront, pushHeap } from './queues';
import {
  clearStep,
  createRequests,
  createStep,
  noteAdmitted,
  noteFinished,
  notePreempted,
  noteScheduled,
  type Requests,
  type Scheduler,
  type Space,
  STATUS,
  sample,
  takeBack,
  textOf,
} from './scheduler';
import { hashUpTo } from './store';
import { tableOf } from './tables';
import type { Traffic } from './traffic';

export interface VllmV1Options extends KvCacheOptions {
  /** max-num-batched-tokens: tokens scheduled in one step. */
  readonly batchTokens: number;
  /** max-num-seqs. */
  readonly maxSequences: number;
  readonly policy?: 'fcfs' | 'priority';
  /** scheduler-reserve-full-isl: on since 0.19. */
  readonly reserveWholePrompt?: boolean;
  readonly chunkedPrefill?: boolean;
  /** long-prefill-token-threshold: most tokens of one request in one step; 0 is no limit. */
  readonly longPrefill?: number;
  /** Keep count of why lookups missed. */
  readonly explainMisses?: boolean;
}

export interface VllmV1 extends Scheduler {
  readonly kv: KvCache;
  readonly misses: Misses | undefined;
  readonly slotOf: (request: number) => number;
  readonly runningList: () => number[];
  readonly waitingList: () => number[];
}

/**
 * vLLM V1's scheduler (v1/core/sched/scheduler.py at 0.28), one batch in flight: running requests first, then waiting
 * ones if nothing was preempted; on a full pool the last running request (or the least urgent) is preempted, all its
 * blocks are freed and it starts again from the prefix cache.
 */
export function createVllmV1(traffic: Traffic, options: VllmV1Options): VllmV1 {
  const kv = createKvCache(options);
  const misses = options.explainMisses && kv.caching ? createMisses(kv.pool.blocks) : undefined;
  kv.misses = misses;
  const requests = createRequests(traffic);
  const step = createStep(Math.min(options.maxSequences, traffic.count) + 1);
  const { computed, tokens, status } = requests;
  const byPriority = options.policy === 'priority';
  const comesBefore = (a: number, b: number) => isMoreUrgent(requests, a, b);
  const queue = createDeque();
  const heap = createHeap(comesBefore);
  const running = new Int32Array(step.requests.length);
  const slots = new Int32Array(traffic.count).fill(-1);
  const snapshots = kv.caching
    ? options.groups.find(({ kind, blockSize }) => kind === 'snapshots' && blockSize <= options.batchTokens)
    : undefined;
  const longPrefill = options.longPrefill || Number.POSITIVE_INFINITY;
  const rule: { -readonly [K in keyof Admission]: Admission[K] } = {
    wholeMustFit: options.reserveWholePrompt ?? true,
    othersRun: false,
  };
  let runningCount = 0;
  let candidate = -1;
  let clock = 0;

  const waitingCount = () => (byPriority ? heap.size : queue.size);
  const peek = () => (byPriority ? heap.items[0]! : atDeque(queue, 0));
  const take = () => (byPriority ? popHeap(heap) : popFront(queue));

  /** The head of the queue keeps its slot, and with it its hashes, from one attempt to the next. */
  function slotForHead(request: number): number {
    if (candidate !== request) {
      dropCandidate();
      slots[request] = openSlot(kv, textOf(traffic, request));
      candidate = request;
    }
    return slots[request]!;
  }

  function dropCandidate(): void {
    if (candidate >= 0) {
      closeSlot(kv, slots[candidate]!);
      slots[candidate] = -1;
      candidate = -1;
    }
  }

  function removeRunning(at: number): void {
    running.copyWithin(at, at + 1, runningCount);
    runningCount--;
  }

  function preempt(request: number): void {
    closeSlot(kv, slots[request]!);
    slots[request] = -1;
    notePreempted(step, requests, request, STATUS.preempted, clock);
    if (byPriority) {
      pushHeap(heap, request);
    } else {
      pushFront(queue, request);
    }
  }

  function leastUrgent(): number {
    let worst = 0;
    for (let i = 1; i < runningCount; i++) {
      if (isMoreUrgent(requests, running[worst]!, running[i]!)) {
        worst = i;
      }
    }
    return worst;
  }

  let index = 0;
  let budget = 0;

  /** Room for a running request, preempting others as needed; false when it had to go itself. */
  function makeRoom(request: number, fresh: number): boolean {
    while (!extend(kv, slots[request]!, computed[request]!, fresh, tokens[request]!)) {
      const at = byPriority ? leastUrgent() : runningCount - 1;
      const victim = running[at]!;
      removeRunning(at);
      if (at < index) {
        budget += takeBack(step, requests, victim);
        index--;
      }
      preempt(victim);
      if (victim === request) {
        return false;
      }
    }
    return true;
  }

  /**
   * Where states are kept at block boundaries, chunks of a prefill end on them: the last boundary of what is known, and
   * the place where a shared prefix ends (vLLM `_mamba_block_aligned_split`).
   */
  function chunkOf(request: number, from: number, fresh: number): number {
    const known = tokens[request]!;
    if (!snapshots || from >= Math.max(traffic.prompts[request]!, known - 1)) {
      return fresh;
    }
    const size = snapshots.blockSize;
    const end = from + fresh;
    const last = Math.max(0, known - (known % size) - (kv.draftHead ? size : 0));
    const junction = kv.junctions[slots[request]!]!;
    const stop = junction > from && junction < end ? Math.min(junction, last) : last;
    if (stop > from && stop < end) {
      return stop - from;
    }
    return end < last ? Math.floor(end / size) * size - from : fresh;
  }

  function scheduleRunning(): void {
    for (index = 0; index < runningCount && budget > 0; index++) {
      const request = running[index]!;
      const fresh = chunkOf(
        request,
        computed[request]!,
        Math.min(tokens[request]! - computed[request]!, longPrefill, budget),
      );
      if (fresh === 0) {
        continue;
      }
      if (!makeRoom(request, fresh)) {
        return;
      }
      noteScheduled(step, requests, request, fresh);
      budget -= fresh;
    }
  }

  function scheduleWaiting(now: number): void {
    while (waitingCount() > 0 && budget > 0 && runningCount < options.maxSequences) {
      const request = peek();
      const slot = slotForHead(request);
      const hit = lookUp(kv, slot, tokens[request]!);
      const rest = Math.min(tokens[request]! - hit, longPrefill);
      if (options.chunkedPrefill === false && rest > budget) {
        return;
      }
      const fresh = chunkOf(request, hit, Math.min(rest, budget));
      if (fresh === 0) {
        return;
      }
      rule.othersRun = runningCount > 0;
      const lookup = misses && requests.admitted[request]! < 0 ? lookupOf(kv, slot, hit) : undefined;
      const reason = misses && lookup && missReason(misses, lookup);
      if (!admit(kv, slot, fresh, tokens[request]!, rule)) {
        return;
      }
      if (misses && lookup && reason) {
        noteMiss(misses, reason, lookup);
      }
      take();
      candidate = -1;
      noteAdmitted(requests, request, hit, now);
      running[runningCount++] = request;
      noteScheduled(step, requests, request, fresh);
      budget -= fresh;
    }
  }

  function schedule(now: number): void {
    clearStep(step);
    kv.fresh.clear();
    clock = now;
    budget = options.batchTokens;
    scheduleRunning();
    if (step.preemptedCount === 0) {
      scheduleWaiting(now);
    }
    for (let i = 0; i < step.count; i++) {
      computed[step.requests[i]!]! += step.tokens[i]!;
    }
  }

  function finish(request: number, now: number): void {
    closeSlot(kv, slots[request]!);
    slots[request] = -1;
    noteFinished(step, requests, request, now);
  }

  function commit(now: number): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      if (computed[request] === tokens[request] && sample(requests, request, kv.maxLength, now)) {
        finish(request, now);
      }
    }
    if (step.finishedCount > 0) {
      let kept = 0;
      for (let i = 0; i < runningCount; i++) {
        if (status[running[i]!] === STATUS.running) {
          running[kept++] = running[i]!;
        }
      }
      runningCount = kept;
    }
  }

  function enqueue(request: number): string | undefined {
    const prompt = traffic.prompts[request]!;
    if (prompt >= kv.maxLength) {
      status[request] = STATUS.rejected;
      return `The prompt of ${prompt} tokens leaves no room in a maximum length of ${kv.maxLength}.`;
    }
    if (prompt === 0) {
      status[request] = STATUS.rejected;
      return 'The prompt is empty.';
    }
    status[request] = STATUS.waiting;
    if (byPriority) {
      pushHeap(heap, request);
    } else {
      pushBack(queue, request);
    }
    return undefined;
  }

  function dropHead(): number {
    if (waitingCount() === 0) {
      return -1;
    }
    dropCandidate();
    const request = take();
    status[request] = STATUS.rejected;
    return request;
  }

  return {
    name: 'vLLM V1',
    kv,
    misses,
    requests,
    step,
    enqueue,
    schedule,
    commit,
    running: () => runningCount,
    waiting: waitingCount,
    dropHead,
    space: () => spaceOf(kv, requests, running, runningCount, slots),
    owned: () => (kv.pool.blocks - 1 - kv.pool.free) * kv.groups[0]!.blockSize,
    slotOf: (request) => slots[request]!,
    runningList: () => [...running.subarray(0, runningCount)],
    waitingList: () =>
      byPriority
        ? [...heap.items.subarray(0, heap.size)].sort((a, b) => (comesBefore(a, b) ? -1 : 1))
        : Array.from({ length: queue.size }, (_, i) => atDeque(queue, i)),
  };
}

/** Smaller priority value, then earlier arrival. */
const isMoreUrgent = ({ traffic: { priorities }, arrived }: Requests, a: number, b: number): boolean =>
  (priorities[a]! - priorities[b]! || arrived[a]! - arrived[b]! || a - b) < 0;

/** What the first group's lookup found, and the hash of the block where it ended. */
function lookupOf(kv: KvCache, slot: number, hitTokens: number): Lookup {
  const text = kv.texts[slot]!;
  const { blockSize } = kv.groups[0]!;
  const mostTokens = text.promptTokens - 1;
  const at = hitTokens / kv.hashBlock + blockSize / kv.hashBlock;
  const hashes = hitTokens + blockSize <= mostTokens ? hashUpTo(kv, slot, at) : undefined;
  const end = (at - 1) * 2;
  return { text, blockSize, hitTokens, mostTokens, lo: hashes?.[end] ?? 0, hi: hashes?.[end + 1] ?? 0 };
}

/**
 * Leading blocks that every running request has (vLLM `num_common_prefix_blocks`): what cascade attention reads once.
 * Only full attention can.
 */
export function commonPrefixBlocks({ kv, runningList, slotOf }: VllmV1): readonly number[] {
  const running = runningList();
  return kv.groups.map(({ kind }, group) => {
    const [first] = running;
    const table = kind === 'full' && first !== undefined ? tableOf(kv, slotOf(first), group) : new Int32Array(0);
    const end = table.findIndex((block) => ownersOf(kv.pool, block) !== running.length);
    return end < 0 ? table.length : end;
  });
}

/** Owned and findable room of a paged cache; what the owners' last blocks do not hold is the tail waste. */
function spaceOf(kv: KvCache, { computed }: Requests, list: Int32Array, count: number, slots: Int32Array): Space {
  const { pool, groups } = kv;
  const size = groups[0]!.blockSize;
  let tails = 0;
  for (let i = 0; i < count; i++) {
    const request = list[i]!;
    for (let group = 0; group < groups.length; group++) {
      const length = kv.lengths[slots[request]! * groups.length + group]!;
      tails += Math.max(0, length * groups[group]!.blockSize - computed[request]!);
    }
  }
  const owned = (pool.blocks - 1 - pool.free) * size;
  return { total: (pool.blocks - 1) * size, owned, cached: pool.reusable * size, held: owned - tails };
}
