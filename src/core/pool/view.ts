// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction

import { hashOf } from './block-pool';
import { STATUS } from './scheduler';
import { sequenceTable } from './sequences';
import { tableOf } from './tables';
import type { World } from './worlds';

/** What a cell is. */
export const CELL = {
  free: 0,
  /** One owner. */
  active: 1,
  /** Several owners. */
  shared: 2,
  /** Nobody's, but findable. */
  cached: 3,
  /** Cached, and among the next to be given away. */
  leaving: 4,
  /** On the host. */
  swapped: 5,
  /** Contiguous: set aside for tokens still to come. */
  reserved: 6,
  /** Contiguous: set aside and never filled. */
  wasted: 7,
  /** Contiguous: free, but too small for the request that waits. */
  unusable: 8,
} as const;

/** The state of every cell at one moment. A cell is a block, a page, or so many tokens of an arena. */
export interface PoolView {
  readonly cells: number;
  /** Cells from here on are the host's. */
  readonly deviceCells: number;
  readonly cellTokens: number;
  /** State, filled tokens and owners in one number: see `cellState`, `cellFill`, `cellOwners`. */
  readonly meta: Int32Array;
  /** A request that owns the cell, or −1; and which of its blocks it is. */
  readonly owner: Int32Array;
  readonly logical: Int32Array;
}

export const cellState = (meta: number): number => meta & 15;
export const cellFill = (meta: number): number => (meta >>> 4) & 8191;
export const cellOwners = (meta: number): number => meta >>> 17;

export const metaOf = (state: number, fill: number, owners: number): number =>
  state | (fill << 4) | (Math.min(owners, 32767) << 17);

export function setCell(view: PoolView, cell: number, state: number, fill: number, owners: number): void {
  view.meta[cell] = metaOf(state, fill, owners);
}

export function setOwned(
  view: PoolView,
  cell: number,
  owners: number,
  fill: number,
  request: number,
  logical: number,
): void {
  setCell(view, cell, owners > 1 ? CELL.shared : CELL.active, Math.max(0, Math.min(view.cellTokens, fill)), owners);
  view.owner[cell] = request;
  view.logical[cell] = logical;
}

export function createView(world: World): PoolView {
  const [device, host] = cellCounts(world);
  const cells = device + host;
  return {
    cells,
    deviceCells: device,
    cellTokens: world.cellTokens,
    meta: new Int32Array(cells),
    owner: new Int32Array(cells).fill(-1),
    logical: new Int32Array(cells).fill(-1),
  };
}

/** Null blocks are cells too (always free), so that a cell's index is its block's id. */
function cellCounts(world: World): readonly [number, number] {
  switch (world.engine) {
    case 'vllm-v1':
      return [world.scheduler.kv.pool.blocks, 0];
    case 'vllm-v0':
      return [world.scheduler.pool.blocks, world.scheduler.host.blocks - 1];
    case 'sglang':
      return [world.pages + 1, 0];
    case 'tensorrt-llm':
      return [world.scheduler.tree.blocks + 1, world.scheduler.tree.hostBlocks];
    case 'contiguous':
      return [Math.ceil(world.scheduler.arena.total / world.cellTokens), 0];
    case 'llama.cpp':
      return [Math.ceil(world.cells / world.cellTokens), 0];
  }
}

/** A request's cells in order, group by group: the mapping from logical to physical. */
export function tablesOf(world: World, request: number): readonly (readonly number[])[] {
  switch (world.engine) {
    case 'vllm-v1': {
      const { kv, slotOf } = world.scheduler;
      const slot = slotOf(request);
      return slot < 0 ? [] : kv.groups.map((_, group) => [...tableOf(kv, slot, group)]);
    }
    case 'vllm-v0': {
      const { requests, pool, host, sequencesOf } = world.scheduler;
      const swapped = requests.status[request] === STATUS.swapped;
      const offset = swapped ? pool.blocks - 1 : 0;
      return sequencesOf(request).map((sequence) =>
        [...sequenceTable(swapped ? host : pool, sequence)].map((block) => block + offset),
      );
    }
    case 'sglang':
      return [[...world.scheduler.pagesOf(request)]];
    case 'tensorrt-llm':
      return [[...world.scheduler.holdingOf(request).blocks]];
    default:
      return [];
  }
}

/** What a pointer over a cell tells. */
export interface CellInfo {
  readonly cell: number;
  readonly state: keyof typeof CELL;
  readonly owner: number | undefined;
  readonly logical: number | undefined;
  readonly tokens: number;
  readonly owners: number;
  /** Sixteen hexadecimal digits, where content is hashed. */
  readonly hash: string | undefined;
}

export function cellInfo(world: World, view: PoolView, cell: number): CellInfo | undefined {
  const meta = view.meta[cell];
  const state = (Object.keys(CELL) as (keyof typeof CELL)[]).find((name) => CELL[name] === cellState(meta ?? 0));
  if (meta === undefined || !state) {
    return undefined;
  }
  const owner = view.owner[cell]!;
  const hash = world.engine === 'vllm-v1' ? hashOf(world.scheduler.kv.pool, cell) : undefined;
  return {
    cell,
    state,
    owner: owner < 0 ? undefined : owner,
    logical: owner < 0 ? undefined : view.logical[cell],
    tokens: cellFill(meta),
    owners: cellOwners(meta),
    hash: hash && [hash.hi, hash.lo].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join(''),
  };
}

/** Kinds of state: how many counts `densityOf` gives for each bucket. */
export const CELL_STATES = Object.keys(CELL).length;

/**
 * How many cells of each state lie in each stretch of `perBucket` cells: an exact summary of a pool too large to draw
 * cell by cell. `counts[bucket × CELL_STATES + state]`.
 */
export function densityOf({ meta, cells }: PoolView, perBucket: number): Uint32Array {
  const counts = new Uint32Array(Math.ceil(cells / perBucket) * CELL_STATES);
  for (let cell = 0, bucket = 0, left = perBucket; cell < cells; cell++) {
    counts[bucket + (meta[cell]! & 15)]! += 1;
    if (--left === 0) {
      left = perBucket;
      bucket += CELL_STATES;
    }
  }
  return counts;
}
