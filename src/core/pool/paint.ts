// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { createBlockPainter } from './paint-blocks';
import { nodesOf } from './radix';
import { entriesOf, freeBlocks } from './reuse-tree';
import { STATUS } from './scheduler';
import { sequenceTable } from './sequences';
import { CELL, metaOf, type PoolView, setCell, setOwned } from './view';
import type { World } from './worlds';

/** Draws the world's present state into a view, which nobody else writes. */
export type Painter = () => void;

type Of<E extends World['engine']> = Extract<World, { engine: E }>;

export function createPainter(world: World, view: PoolView): Painter {
  if (world.engine === 'vllm-v1') {
    return createBlockPainter(world.scheduler, view);
  }
  return () => {
    view.meta.fill(0);
    view.owner.fill(-1);
    view.logical.fill(-1);
    paint(world, view);
  };
}

function paint(world: Exclude<World, Of<'vllm-v1'>>, view: PoolView): void {
  switch (world.engine) {
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
  const first = Math.floor(start / size);
  const last = Math.floor((start + length - 1) / size);
  const owners = request < 0 ? 0 : 1;
  const fillOf = (cell: number): number =>
    state === CELL.active ? Math.min(start + length, (cell + 1) * size) - Math.max(start, cell * size) : 0;
  view.meta.fill(metaOf(state, state === CELL.active ? size : 0, owners), first, last + 1);
  setCell(view, first, state, fillOf(first), owners);
  setCell(view, last, state, fillOf(last), owners);
  view.owner.fill(request, first, last + 1);
  for (let cell = first; cell <= last; cell++) {
    view.logical[cell] = request < 0 ? -1 : cell - first;
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
