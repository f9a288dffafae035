// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction

import { hasHash, hashOf, NULL_BLOCK, nextFree, ownersOf } from './block-pool';
import { nodesOf } from './radix';
import { entriesOf, freeBlocks } from './reuse-tree';
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

const metaOf = (state: number, fill: number, owners: number): number =>
  state | (fill << 4) | (Math.min(owners, 32767) << 17);

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

/** Draws the world's present state into a view. */
export function paint(world: World, view: PoolView): void {
  view.meta.fill(0);
  view.owner.fill(-1);
  view.logical.fill(-1);
  switch (world.engine) {
    case 'vllm-v1':
      paintV1(world.scheduler, view);
      return;
    case 'vllm-v0':
      paintV0(world.scheduler, view);
      return;
    case 'sglang':
      paintSglang(world.scheduler, view);
      return;
    case 'tensorrt-llm':
      paintTrtllm(world.scheduler, view);
      return;
    case 'contiguous':
      paintContiguous(world.scheduler, view);
      return;
    case 'llama.cpp':
      paintSlots(world, view);
  }
}

type Of<E extends World['engine']> = Extract<World, { engine: E }>;

function setCell(view: PoolView, cell: number, state: number, fill: number, owners: number): void {
  view.meta[cell] = metaOf(state, fill, owners);
}

function setOwned(view: PoolView, cell: number, owners: number, fill: number, request: number, logical: number): void {
  setCell(view, cell, owners > 1 ? CELL.shared : CELL.active, Math.max(0, Math.min(view.cellTokens, fill)), owners);
  view.owner[cell] = request;
  view.logical[cell] = logical;
}

/** So many blocks at the head of the queue are shown as leaving. */
const leavingCount = (blocks: number): number => Math.max(4, Math.ceil(blocks / 100));

function paintV1({ kv, requests, runningList, slotOf }: Of<'vllm-v1'>['scheduler'], view: PoolView): void {
  const { pool } = kv;
  for (let block = 1; block < pool.blocks; block++) {
    if (hasHash(pool, block) && ownersOf(pool, block) === 0) {
      setCell(view, block, CELL.cached, view.cellTokens, 0);
    }
  }
  let at = nextFree(pool);
  for (let i = leavingCount(pool.blocks); i > 0 && at !== pool.blocks; i--, at = nextFree(pool, at)) {
    if (hasHash(pool, at)) {
      setCell(view, at, CELL.leaving, view.cellTokens, 0);
    }
  }
  for (const request of runningList()) {
    const slot = slotOf(request);
    for (let group = 0; group < kv.groups.length; group++) {
      const { blockSize } = kv.groups[group]!;
      const table = tableOf(kv, slot, group);
      for (let i = 0, left = requests.computed[request]!; i < table.length; i++, left -= blockSize) {
        const block = table[i]!;
        if (block !== NULL_BLOCK) {
          setOwned(view, block, ownersOf(pool, block), left, request, i);
        }
      }
    }
  }
}

function paintV0({ pool, host, requests, sequencesOf }: Of<'vllm-v0'>['scheduler'], view: PoolView): void {
  for (let request = 0; request < requests.traffic.count; request++) {
    const swapped = requests.status[request] === STATUS.swapped;
    for (const sequence of sequencesOf(request)) {
      const from = swapped ? host : pool;
      sequenceTable(from, sequence).forEach((block, i) => {
        const cell = swapped ? view.deviceCells + block - 1 : block;
        setOwned(view, cell, from.references[block]!, from.tokens[sequence]! - i * from.blockSize, request, i);
        if (swapped) {
          view.meta[cell] = (view.meta[cell]! & ~15) | CELL.swapped;
        }
      });
    }
  }
}

function paintSglang({ tree, requests, runningList, pagesOf }: Of<'sglang'>['scheduler'], view: PoolView): void {
  const owners = new Uint16Array(view.cells);
  for (const node of nodesOf(tree.root)) {
    for (const page of node.pages) {
      owners[page] = node.locks;
      if (node.locks === 0) {
        setCell(view, page, CELL.cached, view.cellTokens, 0);
      }
    }
  }
  for (const request of runningList()) {
    pagesOf(request).forEach((page, i) => {
      const fill = requests.computed[request]! - i * view.cellTokens;
      setOwned(view, page, Math.max(1, owners[page]!), fill, request, i);
    });
  }
}

function paintTrtllm(
  { tree, requests, runningList, holdingOf }: Of<'tensorrt-llm'>['scheduler'],
  view: PoolView,
): void {
  let host = view.deviceCells;
  for (const entry of entriesOf(tree.root)) {
    if (entry.block < 0) {
      setCell(view, host++, CELL.swapped, view.cellTokens, 0);
    } else if (entry.references === 0) {
      setCell(view, entry.block, CELL.cached, view.cellTokens, 0);
    }
  }
  if (freeBlocks(tree) > 0) {
    const next = tree.levels.find(({ head }) => head)?.head;
    if (next && tree.empty.length === 0) {
      setCell(view, next.block, CELL.leaving, view.cellTokens, 0);
    }
  }
  for (const request of runningList()) {
    const { blocks, entries } = holdingOf(request);
    blocks.forEach((block, i) => {
      const fill = requests.computed[request]! - i * view.cellTokens;
      setOwned(view, block, entries[i]?.references ?? 1, fill, request, i);
    });
  }
}

function paintContiguous(scheduler: Of<'contiguous'>['scheduler'], view: PoolView): void {
  const { requests, arena } = scheduler;
  const { traffic, computed, status } = requests;
  if (scheduler.waiting() > 0) {
    const need = scheduler.headSize();
    arena.sizes.forEach((size, i) => {
      if (size < need) {
        paintStretch(view, arena.starts[i]!, size, CELL.unusable, -1);
      }
    });
  }
  for (const request of scheduler.runningList()) {
    const slab = scheduler.slabOf(request);
    if (!slab) {
      continue;
    }
    const { start, size } = slab;
    const over = status[request] === STATUS.finished;
    const end = over ? 0 : Math.min(size, traffic.prompts[request]! + traffic.outputs[request]!);
    const filled = over ? 0 : computed[request]!;
    paintStretch(view, start + end, size - end, CELL.wasted, request);
    paintStretch(view, start + filled, end - filled, CELL.reserved, request);
    paintStretch(view, start, filled, CELL.active, request);
  }
}

/** Tokens `start` … of an arena; a cell at a border shows what was painted last, and how much of it is filled. */
function paintStretch(view: PoolView, start: number, length: number, state: number, request: number): void {
  if (length <= 0) {
    return;
  }
  const size = view.cellTokens;
  const last = Math.floor((start + length - 1) / size);
  for (let cell = Math.floor(start / size); cell <= last; cell++) {
    const from = Math.max(start, cell * size);
    const fill = state === CELL.active ? Math.min(start + length, (cell + 1) * size) - from : 0;
    setCell(view, cell, state, fill, request < 0 ? 0 : 1);
    view.owner[cell] = request;
    view.logical[cell] = request < 0 ? -1 : cell - Math.floor(start / size);
  }
}

/** Slots one after the other; in a unified stream they are drawn packed, for cells need not lie together. */
function paintSlots({ scheduler, cells }: Of<'llama.cpp'>, view: PoolView): void {
  const each = Math.floor(cells / scheduler.slots.length);
  const unified = scheduler.name.endsWith('unified');
  let packed = 0;
  scheduler.slots.forEach((slot, i) => {
    const start = unified ? packed : i * each;
    if (slot.busy && !unified) {
      paintStretch(view, start, each, CELL.reserved, slot.content);
    }
    paintStretch(view, start, slot.cells, slot.busy ? CELL.active : CELL.cached, slot.content);
    packed += slot.cells;
  });
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
