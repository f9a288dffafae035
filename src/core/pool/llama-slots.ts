// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { commonPrefix } from './prefix';
import { atDeque, createDeque, popFront, pushBack } from './queues';
import {
  clearStep,
  createRequests,
  createStep,
  noteAdmitted,
  noteFinished,
  noteScheduled,
  type Scheduler,
  type Space,
  STATUS,
  sample,
} from './scheduler';
import type { Traffic } from './traffic';

export interface LlamaSlotsOptions {
  /** --parallel. */
  readonly slots: number;
  /** Cells of one slot's stream; with `unified` of the one stream they share. */
  readonly cells: number;
  /** --kv-unified: any slot may take any free cell. */
  readonly unified?: boolean;
  /** --batch-size: tokens in one decode call. */
  readonly batchTokens?: number;
  /** --slot-prompt-similarity: share of the prompt that must be in a slot already for it to be preferred. */
  readonly similarity?: number;
  /** --cache-prompt. */
  readonly cachePrompt?: boolean;
}

/** What a slot's cells hold. Cells stay filled when a request ends: the next with the same beginning reuses them. */
export interface Slot {
  /** The request whose tokens are in the cells, or −1; and how many of them. */
  content: number;
  cells: number;
  /** It is being served. */
  busy: boolean;
  lastUsed: number;
}

export interface LlamaSlots extends Scheduler {
  readonly slots: readonly Slot[];
  /** Generations cut short because a slot was full. */
  readonly truncated: () => number;
}

/**
 * llama-server's slots (tools/server/server-context.cpp at 0.5.0): not paged. A request takes the idle slot with the most
 * similar content, or the one unused longest; requests beyond the slots wait. A full slot ends its generation; a unified
 * stream that is full drops an idle slot, and with none idle every running request fails.
 */
export function createLlamaSlots(traffic: Traffic, options: LlamaSlotsOptions): LlamaSlots {
  const { cells, unified = false, batchTokens = 2048, similarity = 0.1, cachePrompt = true } = options;
  const requests = createRequests(traffic);
  const step = createStep(options.slots + 1);
  const { computed, tokens, status } = requests;
  const slots: Slot[] = Array.from({ length: options.slots }, () => ({
    content: -1,
    cells: 0,
    busy: false,
    lastUsed: -1,
  }));
  const queue = createDeque();
  let turn = 0;
  let truncated = 0;

  const used = () => slots.reduce((sum, slot) => sum + slot.cells, 0);
  const busy = () => slots.reduce((sum, slot) => sum + (slot.busy ? 1 : 0), 0);

  function similarSlot(request: number): { readonly slot: Slot; readonly common: number } | undefined {
    let best: { readonly slot: Slot; readonly common: number } | undefined;
    let oldest: Slot | undefined;
    for (const slot of slots) {
      if (slot.busy) {
        continue;
      }
      const common = commonWith(slot, request);
      if (common > (best?.common ?? 0) && common > similarity * traffic.prompts[request]!) {
        best = { slot, common };
      }
      if (!oldest || slot.lastUsed < oldest.lastUsed) {
        oldest = slot;
      }
    }
    return best ?? (oldest && { slot: oldest, common: commonWith(oldest, request) });
  }

  const commonWith = (slot: Slot, request: number): number =>
    slot.content < 0 || !cachePrompt
      ? 0
      : commonPrefix(traffic, slot.content, slot.cells, request, traffic.prompts[request]! - 1);

  function assign(now: number): void {
    while (queue.size > 0) {
      const found = similarSlot(atDeque(queue, 0));
      if (!found) {
        return;
      }
      const request = popFront(queue);
      const { slot, common } = found;
      slot.content = request;
      slot.cells = common;
      slot.busy = true;
      if (unified) {
        clearIdle();
      }
      noteAdmitted(requests, request, common, now);
    }
  }

  /** --cache-idle-slots in a unified stream: idle slots give their cells up when a new task starts. */
  function clearIdle(): void {
    for (const slot of slots) {
      if (!slot.busy) {
        slot.content = -1;
        slot.cells = 0;
      }
    }
  }

  function schedule(now: number): void {
    clearStep(step);
    assign(now);
    turn++;
    let budget = batchTokens;
    for (const decoding of [true, false]) {
      for (const slot of slots) {
        const rest = slot.busy ? tokens[slot.content]! - slot.cells : 0;
        if (rest > 0 && budget > 0 && (rest === 1 && requests.firstToken[slot.content]! >= 0) === decoding) {
          const fresh = Math.min(rest, budget);
          budget -= fresh;
          noteScheduled(step, requests, slot.content, fresh);
          slot.lastUsed = turn;
        }
      }
    }
    makeRoom(now);
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      computed[request]! += step.tokens[i]!;
      slotOf(request)!.cells = computed[request]!;
    }
  }

  const slotOf = (request: number) => slots.find((slot) => slot.busy && slot.content === request);

  /** Only a unified stream can run short: its slots together may want more cells than there are. */
  function makeRoom(now: number): void {
    let fresh = 0;
    for (let i = 0; i < step.count; i++) {
      fresh += step.tokens[i]!;
    }
    while (unified && used() + fresh > cells) {
      const idle = slots.find((slot) => !slot.busy && slot.cells > 0);
      if (idle) {
        idle.content = -1;
        idle.cells = 0;
        continue;
      }
      failAll(now);
      return;
    }
  }

  /** "Context size has been exceeded.": every slot that is being served is errored and cleared. */
  function failAll(now: number): void {
    clearStep(step);
    for (const slot of slots) {
      if (slot.busy) {
        status[slot.content] = STATUS.rejected;
        requests.finished[slot.content] = now;
        step.finished[step.finishedCount++] = slot.content;
        slot.busy = false;
        slot.content = -1;
        slot.cells = 0;
      }
    }
  }

  function commit(now: number): void {
    for (let i = 0; i < step.count; i++) {
      const request = step.requests[i]!;
      if (computed[request] !== tokens[request]) {
        continue;
      }
      const full = tokens[request]! + 1 >= cells;
      if (sample(requests, request, cells, now)) {
        truncated += full && tokens[request]! - traffic.prompts[request]! < traffic.outputs[request]! ? 1 : 0;
        noteFinished(step, requests, request, now);
        slotOf(request)!.busy = false;
      }
    }
  }

  function enqueue(request: number): string | undefined {
    if (traffic.prompts[request]! >= cells) {
      return `request (${traffic.prompts[request]} tokens) exceeds the available context size (${cells} tokens), try increasing it`;
    }
    status[request] = STATUS.waiting;
    pushBack(queue, request);
    return undefined;
  }

  function space(): Space {
    let held = 0;
    let cached = 0;
    for (const slot of slots) {
      held += slot.busy ? slot.cells : 0;
      cached += slot.busy ? 0 : slot.cells;
    }
    const total = cells * (unified ? 1 : slots.length);
    return { total, owned: unified ? held : busy() * cells, cached, held };
  }

  return {
    name: unified ? 'llama.cpp, unified' : 'llama.cpp, split',
    slots,
    requests,
    step,
    enqueue,
    schedule,
    commit,
    running: busy,
    waiting: () => queue.size,
    dropHead: () => (queue.size > 0 ? popFront(queue) : -1),
    space,
    owned: () => (unified ? used() : busy() * cells),
    truncated: () => truncated,
  };
}
