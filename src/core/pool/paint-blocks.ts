// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { type BlockPool, hasHash, NULL_BLOCK, nextFree, ownersOf } from './block-pool';
import { CELL, cellFill, cellOwners, cellState, metaOf, type PoolView, setCell, setOwned } from './view';
import type { VllmV1 } from './vllm-v1';

/** So many blocks at the head of the queue are shown as leaving. */
const leavingCount = (blocks: number): number => Math.max(4, Math.ceil(blocks / 100));

/**
 * vLLM V1's pool. A large one costs by what a step changed: a request's table only grows while it runs, so that of each
 * only the entries are drawn that were not there, or not full, when it was drawn last. Where a window passes blocks, or
 * where the request that a shared block was drawn for has left, all tables are drawn.
 */
export function createBlockPainter({ kv, requests, runningList, slotOf }: VllmV1, view: PoolView): () => void {
  const { pool, groups } = kv;
  const { count } = requests.traffic;
  const onlyGrow = groups.every(({ kind }) => kind === 'full');
  /** By request: the turn it runs in, and the one it was drawn in before; how much was computed and how often it had given way then. */
  const runsIn = new Int32Array(count).fill(-1);
  const drawnIn = new Int32Array(count).fill(-1);
  const drawn = new Int32Array(count);
  const gaveWay = new Int32Array(count);
  /** By request and group: how long its table was, and its last entry. */
  const lengths = new Int32Array(count * groups.length);
  const lasts = new Int32Array(count * groups.length);
  let turn = 0;

  /** Whether a block is owned, and drawn for a request which does not run any more. */
  function isOrphaned(): boolean {
    for (let block = 1; block < pool.blocks; block++) {
      const owner = view.owner[block]!;
      if (owner >= 0 && runsIn[owner] !== turn && ownersOf(pool, block) > 0) {
        return true;
      }
    }
    return false;
  }

  /** The first entry that may differ from when a table that has grown since was drawn. */
  function firstOf(request: number, group: number): number {
    // Only entries that have no room left for a cell's tokens are done with.
    const full = Math.floor((drawn[request]! - view.cellTokens) / groups[group]!.blockSize) + 1;
    return Math.max(0, Math.min(lengths[request * groups.length + group]!, full));
  }

  function drawTables(request: number, all: boolean): void {
    const slot = slotOf(request);
    const computed = requests.computed[request]!;
    const goesOn = !all && drawnIn[request] === turn - 1 && gaveWay[request] === requests.preemptions[request];
    for (let group = 0; group < groups.length; group++) {
      const { blockSize } = groups[group]!;
      const length = kv.lengths[slot * groups.length + group]!;
      const at = request * groups.length + group;
      const first = goesOn ? firstOf(request, group) : 0;
      if (goesOn && first === length - 1 && length === lengths[at]) {
        // Most often it is one token more in the block that is there: the table itself need not be read.
        setFill(view, lasts[at]!, computed - first * blockSize);
        continue;
      }
      const table = kv.tables[slot * groups.length + group]!;
      for (let i = first; i < length; i++) {
        const block = table[i]!;
        if (block !== NULL_BLOCK) {
          setOwned(view, block, ownersOf(pool, block), computed - i * blockSize, request, i);
        }
      }
      lengths[at] = length;
      lasts[at] = length > 0 ? table[length - 1]! : NULL_BLOCK;
    }
  }

  function drawAll(running: readonly number[], all: boolean): void {
    drawBlocks(pool, view, all);
    drawLeaving(pool, view);
    for (const request of running) {
      drawTables(request, all);
    }
  }

  return () => {
    turn++;
    const running = runningList();
    for (const request of running) {
      drawnIn[request] = runsIn[request]!;
      runsIn[request] = turn;
    }
    drawAll(running, !onlyGrow);
    if (onlyGrow && isOrphaned()) {
      drawAll(running, true);
    }
    for (const request of running) {
      drawn[request] = requests.computed[request]!;
      gaveWay[request] = requests.preemptions[request]!;
    }
  };
}

function setFill({ meta, cellTokens }: PoolView, cell: number, tokens: number): void {
  const before = meta[cell]!;
  meta[cell] = metaOf(cellState(before), Math.max(0, Math.min(cellTokens, tokens)), cellOwners(before));
}

/** What the pool itself knows: who has no owner, and how many the others have. `all`: what is owned will be drawn anew. */
function drawBlocks(pool: BlockPool, { cellTokens, meta, owner, logical }: PoolView, all: boolean): void {
  const cached = metaOf(CELL.cached, cellTokens, 0);
  for (let block = 1; block < pool.blocks; block++) {
    const owners = ownersOf(pool, block);
    if (owners === 0 || all) {
      meta[block] = owners === 0 && hasHash(pool, block) ? cached : 0;
      owner[block] = -1;
      logical[block] = -1;
    } else {
      const fill = cellFill(meta[block]!);
      meta[block] = metaOf(owners > 1 ? CELL.shared : CELL.active, fill, owners);
    }
  }
}

function drawLeaving(pool: BlockPool, view: PoolView): void {
  let at = nextFree(pool);
  for (let i = leavingCount(pool.blocks); i > 0 && at !== pool.blocks; i--, at = nextFree(pool, at)) {
    if (hasHash(pool, at)) {
      setCell(view, at, CELL.leaving, view.cellTokens, 0);
    }
  }
}
