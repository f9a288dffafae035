/**
 * KV bytes of one GPU → tokens of full attention, tokens of windows and slots for states.
 * Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py, srt/model_executor/pool_configurator.py; checked against
 * the engine's own code.
 */
import type { SglangConfiguration } from './configure';
import { cellOf, cellsOf, type RankCells, stateOf } from './rank';

export interface Sizes {
  /** max_total_num_tokens: tokens of full attention. */
  readonly tokens: number;
  /** Tokens of windows, where they have a pool. */
  readonly windows?: number;
  /** Slots for states, and what they take (a slot of padding and guessed tokens among it). */
  readonly slots?: number;
  readonly stateBytes: number;
}

const floorTo = (n: number, page: number): number => Math.floor(n / page) * page;
const ceilTo = (n: number, page: number): number => Math.ceil(n / page) * page;

/** What one stage makes of its bytes. */
export function sizesOf(bytes: number, rank: number, c: SglangConfiguration): Sizes {
  const r = cellsOf(c)[rank] as RankCells;
  const states = statesOf(Math.max(0, bytes), c);
  const left = Math.max(0, bytes - states.stateBytes);
  return { ...(chunkCapped(left, r, c) ?? tokensOf(left, r, c)), ...states };
}

function tokensOf(bytes: number, r: RankCells, c: SglangConfiguration): Pick<Sizes, 'tokens' | 'windows'> {
  const page = c.page.tokens;
  const cell = cellOf(r, c);
  if (cell === 0) {
    // Another stage has the layers that grow: this one never decides.
    return { tokens: c.maxTokens ?? Number.MAX_SAFE_INTEGER };
  }
  const profiled = floorTo(Math.floor(bytes / cell), page);
  const tokens = c.maxTokens === undefined ? profiled : Math.min(profiled, floorTo(c.maxTokens, page));
  return r.windowBytes > 0 && c.windowRatio !== undefined
    ? { tokens, windows: floorTo(Math.trunc(tokens * c.windowRatio), page) }
    : { tokens };
}

/**
 * Without a prefix cache windows never outlive their requests, so their pool is as large as the running ones need; the
 * rest becomes full attention.
 */
function chunkCapped(
  bytes: number,
  r: RankCells,
  c: SglangConfiguration,
): Pick<Sizes, 'tokens' | 'windows'> | undefined {
  const page = c.page.tokens;
  if (c.radix || c.running === undefined || c.chunk <= 0 || r.windowBytes === 0 || !c.rules.windowCell) {
    return undefined;
  }
  const ahead = Math.max(1, c.speculation.draftTokens);
  const perRequest = r.window + 128 * ahead + 2 * page;
  const windows = ceilTo(perRequest * c.running + (c.overlap ? 2 : 1) * c.chunk + page, page);
  const profiled = floorTo(Math.floor(Math.max(0, bytes - windows * r.windowBytes) / r.fullBytes), page);
  return { tokens: c.maxTokens === undefined ? profiled : Math.min(profiled, floorTo(c.maxTokens, page)), windows };
}

/** States get their share first; what a whole number of slots leaves of it goes back to full attention. */
function statesOf(bytes: number, c: SglangConfiguration): Pick<Sizes, 'slots' | 'stateBytes'> {
  // The largest stage decides for all.
  const perSlot = Math.max(...cellsOf(c).map(stateOf));
  if (perSlot === 0) {
    return { stateBytes: 0 };
  }
  const { states, radix, running, speculation } = c;
  const ahead = speculation.draftTokens;
  const share = (bytes * states.ratio) / (1 + states.ratio);
  const counted =
    states.slots ??
    (!radix && running !== undefined
      ? running
      : Math.floor((share - perSlot * (1 + ahead)) / (perSlot * (1 + ahead / states.slotsPerRequest))));
  const slots = Math.max(0, counted);
  const guessed = ahead > 0 ? (Math.floor(slots / states.slotsPerRequest) + 1) * ahead * perSlot : 0;
  return { slots, stateBytes: (slots + 1) * perSlot + guessed };
}

/** Requests that one worker runs at once. */
export function runningOf({ tokens, slots }: Sizes, c: SglangConfiguration): number | undefined {
  if (c.maxLength === undefined) {
    return undefined;
  }
  const { low, high, more } = c.rules.running;
  const byPool = Math.min(high, Math.max(low, Math.trunc((tokens / c.maxLength) * 512))) + more;
  const most = Math.min(c.running ?? byPool, Math.floor(tokens / 2));
  return slots === undefined ? most : Math.min(most, Math.floor(slots / c.states.slotsPerRequest));
}
