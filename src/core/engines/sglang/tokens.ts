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
  const states = c.rings ? ringsOf(Math.max(0, bytes), r, c) : statesOf(Math.max(0, bytes), c);
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

/** Rows are allocated by 128, one ring and a row beyond those of the requests. */
const ROWS = 128;

/** A ring of what is being compressed 128 to 1 for each request that may run. */
function ringsOf(bytes: number, r: RankCells, c: SglangConfiguration): Pick<Sizes, 'slots' | 'stateBytes'> {
  const ring = c.rings?.coarse ?? 1;
  const slots = c.running ?? byPool(Math.trunc(bytes / cellOf(r, c)), c) ?? c.rules.running.low;
  return { slots, stateBytes: ceilTo((slots + 1) * ring + ring + 1, ROWS) * (stateOf(r) / ring) };
}

/** Where the launch does not say: by tokens and context length. */
function byPool(tokens: number, { maxLength, rules }: SglangConfiguration): number | undefined {
  const { low, high, more } = rules.running;
  return maxLength === undefined
    ? undefined
    : Math.min(Math.min(high, Math.max(low, Math.trunc((tokens / maxLength) * 512))) + more, Math.floor(tokens / 2));
}

/** Requests that one worker runs at once. */
export function runningOf({ tokens, slots }: Sizes, c: SglangConfiguration): number | undefined {
  const asked = byPool(tokens, c);
  if (asked === undefined) {
    return undefined;
  }
  const most = c.running === undefined ? asked : Math.min(c.running, Math.floor(tokens / 2));
  return slots === undefined ? most : Math.min(most, Math.floor(slots / c.states.slotsPerRequest));
}
