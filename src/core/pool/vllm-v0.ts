// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { atDeque, createDeque, popFront, pushBack, pushFront } from './queues';
import {
  clearStep,
  createRequests,
  createStep,
  noteAdmitted,
  noteFinished,
  notePreempted,
  noteResumed,
  noteScheduled,
  type Scheduler,
  type Space,
  STATUS,
  sample,
} from './scheduler';
import {
  appendTokens,
  closeSequence,
  createSequencePool,
  distinctBlocks,
  forkSequence,
  moveSequences,
  openSequence,
  type SequencePool,
} from './sequences';
import type { Traffic } from './traffic';

export interface VllmV0Options {
  readonly blocks: number;
  readonly blockSize: number;
  /** Blocks of swap space on the host. */
  readonly hostBlocks?: number;
  readonly batchTokens: number;
  readonly maxSequences: number;
  readonly maxLength: number;
  /** Share of the blocks kept free at admission and at swapping in: 0.01 in vLLM. */
  readonly watermark?: number;
  /** preemption-mode; by default one sequence recomputes and several swap. */
  readonly preemption?: 'recompute' | 'swap';
  /** Several sequences of a prompt are samples that go their own ways, or beams that are forked and dropped. */
  readonly several?: 'samples' | 'beams';
}

export interface VllmV0 extends Scheduler {
  readonly pool: SequencePool;
  readonly host: SequencePool;
  readonly sequencesOf: (request: number) => readonly number[];
}

/**
 * vLLM V0's scheduler without chunked prefill (core/scheduler.py at 0.6.6, `_schedule_default`): a step is either prompts
 * or decodes. Waiting prompts come first, unless something is swapped out; on a full pool the last running group gives
 * way: recomputed if it has one sequence, swapped to the host if it has several.
 */
export function createVllmV0(traffic: Traffic, options: VllmV0Options): VllmV0 {
  const { blockSize, batchTokens, maxSequences, maxLength } = options;
  const pool = createSequencePool(options.blocks, blockSize);
  const host = createSequencePool((options.hostBlocks ?? 0) + 1, blockSize);
  const watermark = Math.trunc((options.watermark ?? 0.01) * (options.blocks - 1));
  const requests = createRequests(traffic);
  const step = createStep(traffic.count);
  const { computed, tokens, status } = requests;
  const waiting = createDeque();
  const swapped = createDeque();
  const sequences: number[][] = [];
  let running: number[] = [];

  const wanted = (request: number) => traffic.samples[request]!;
  const sequenceCount = () => running.reduce((sum, request) => sum + wanted(request), 0);
  const blocksFor = (request: number) => Math.ceil(tokens[request]! / blockSize);
  const promptLimit = Math.min(maxLength, batchTokens);

  function schedulePrefills(now: number): void {
    let budget = batchTokens;
    let seats = maxSequences - sequenceCount();
    while (waiting.size > 0) {
      const request = atDeque(waiting, 0);
      const fresh = tokens[request]!;
      if (fresh > budget || wanted(request) > seats || pool.free - blocksFor(request) < watermark) {
        return;
      }
      popFront(waiting);
      const sequence = openSequence(pool);
      appendTokens(pool, sequence, fresh);
      sequences[request] = [sequence];
      noteAdmitted(requests, request, 0, now);
      noteScheduled(step, requests, request, fresh);
      running.push(request);
      budget -= fresh;
      seats -= wanted(request);
    }
  }

  function preempt(request: number, now: number): void {
    const held = sequences[request]!;
    const mode = options.preemption ?? (wanted(request) === 1 ? 'recompute' : 'swap');
    const need = distinctBlocks(pool, held);
    if (mode === 'swap' && need <= host.free) {
      const moved = moveSequences(pool, host, held);
      sequences[request] = moved.sequences;
      step.swappedOut += moved.blocks;
      notePreempted(step, requests, request, STATUS.swapped, now);
      pushBack(swapped, request);
      return;
    }
    // vLLM stops with "lack of CPU swap space" here; recomputing keeps the run alive and is what a larger swap saves.
    for (const sequence of held) {
      closeSequence(pool, sequence);
    }
    sequences[request] = [];
    notePreempted(step, requests, request, STATUS.preempted, now);
    pushFront(waiting, request);
  }

  /** Every sequence may need a block: V0 asks for one each before it appends. */
  function scheduleDecodes(now: number): void {
    const queue = running;
    running = [];
    let next = 0;
    while (next < queue.length) {
      const request = queue[next++]!;
      let gone = false;
      while (pool.free < wanted(request)) {
        const victim = queue.length > next ? queue.pop()! : request;
        preempt(victim, now);
        if (victim === request) {
          gone = true;
          break;
        }
      }
      if (!gone) {
        running.push(request);
        decode(request);
      }
    }
  }

  function decode(request: number): void {
    const before = pool.copies;
    const held = sequences[request]!;
    while (held.length < wanted(request)) {
      held.push(forkSequence(pool, held[0]!));
    }
    if (options.several === 'beams' && held.length > 1) {
      reshuffle(pool, held, request, computed[request]!);
    }
    for (const sequence of held) {
      appendTokens(pool, sequence, 1);
    }
    step.copied += pool.copies - before;
    noteScheduled(step, requests, request, 1);
  }

  function swapIn(now: number): void {
    while (swapped.size > 0) {
      const request = atDeque(swapped, 0);
      const held = sequences[request]!;
      const need = distinctBlocks(host, held) + held.length;
      if (pool.free - need < watermark || sequenceCount() + held.length > maxSequences) {
        return;
      }
      popFront(swapped);
      const moved = moveSequences(host, pool, held);
      sequences[request] = moved.sequences;
      step.swappedIn += moved.blocks;
      noteResumed(requests, request, now);
      running.push(request);
      decode(request);
    }
  }

  function schedule(now: number): void {
    clearStep(step);
    if (swapped.size === 0) {
      schedulePrefills(now);
    }
    if (step.count === 0) {
      scheduleDecodes(now);
      if (step.preemptedCount === 0) {
        swapIn(now);
      }
    }
    for (let i = 0; i < step.count; i++) {
      computed[step.requests[i]!]! += step.tokens[i]!;
    }
  }

  function commit(now: number): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      if (sample(requests, request, maxLength, now)) {
        for (const sequence of sequences[request]!) {
          closeSequence(pool, sequence);
        }
        sequences[request] = [];
        noteFinished(step, requests, request, now);
      }
    }
    if (step.finishedCount > 0) {
      running = running.filter((request) => status[request] === STATUS.running);
    }
  }

  function enqueue(request: number): string | undefined {
    sequences[request] = [];
    const prompt = traffic.prompts[request]!;
    if (prompt > promptLimit) {
      return `Input prompt (${prompt} tokens) is too long and exceeds limit of ${promptLimit}.`;
    }
    if (pool.blocks - 1 - blocksFor(request) < watermark) {
      return `Input prompt (${prompt} tokens) is too long and exceeds the capacity of block_manager.`;
    }
    status[request] = STATUS.waiting;
    pushBack(waiting, request);
    return undefined;
  }

  function dropHead(): number {
    const request = swapped.size > 0 ? popFront(swapped) : waiting.size > 0 ? popFront(waiting) : -1;
    if (request >= 0) {
      const from = status[request] === STATUS.swapped ? host : pool;
      for (const sequence of sequences[request]!) {
        closeSequence(from, sequence);
      }
      sequences[request] = [];
    }
    return request;
  }

  function space(): Space {
    const owned = (pool.blocks - 1 - pool.free) * blockSize;
    let tails = 0;
    for (const request of running) {
      for (const sequence of sequences[request]!) {
        const last = pool.tables[sequence]![pool.lengths[sequence]! - 1]!;
        tails += (pool.lengths[sequence]! * blockSize - pool.tokens[sequence]!) / pool.references[last]!;
      }
    }
    return { total: (pool.blocks - 1) * blockSize, owned, cached: 0, held: owned - tails };
  }

  return {
    name: 'vLLM V0',
    pool,
    host,
    requests,
    step,
    enqueue,
    schedule,
    commit,
    running: () => running.length,
    waiting: () => waiting.size + swapped.size,
    dropHead,
    space,
    owned: () => (pool.blocks - 1 - pool.free) * blockSize,
    sequencesOf: (request) => sequences[request] ?? [],
  };
}

/**
 * Which beams live on is not known without the model: each beam's parent is drawn from a hash of request and step, the
 * same in every run. Parents are forked, losers dropped; blocks move only when a shared tail is written.
 */
function reshuffle(pool: SequencePool, held: number[], request: number, position: number): void {
  const next = held.map((_, i) => {
    const mixed = Math.imul(Math.imul(request + 1, 0x9e3779b1) ^ (position * 31 + i), 0x85ebca6b) >>> 0;
    return forkSequence(pool, held[i === 0 ? 0 : mixed % held.length]!);
  });
  for (const sequence of held) {
    closeSequence(pool, sequence);
  }
  held.splice(0, held.length, ...next);
}
