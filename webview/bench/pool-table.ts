/** The table that a serving pool leaves: requests of the same lengths come and go, then the blocks lie as they lie. */
import { createSimulation, createVllmV1, fixedClock, freeQueue, generateTraffic } from '../../src/core/pool';
import type { Layout, Placement, Shape } from './shape';
import { fromLists } from './tables';

/** Requests that came before, for each that is there now. */
const BEFORE = 4;

/** Tables of `shape`'s sequences in a pool of `slots` tokens after `BEFORE` generations of requests, by vLLM V1's rules. */
export function poolPlacement(shape: Shape, blockSize: number, layout: Layout, slots: number): Placement {
  const { lengths } = shape;
  const longest = Math.max(...lengths, 2);
  const traffic = generateTraffic({
    requests: lengths.length * (BEFORE + 2),
    seed: 11,
    arrivals: { kind: 'at-once' },
    prompt: { kind: 'uniform', low: Math.ceil(longest / 8), high: Math.ceil((longest * 7) / 8) },
    output: { kind: 'uniform', low: 1, high: Math.max(2, Math.ceil(longest / 8)) },
  });
  const scheduler = createVllmV1(traffic, {
    blocks: Math.floor(slots / blockSize),
    groups: [{ kind: 'full', blockSize }],
    batchTokens: Math.max(256, Math.ceil(longest / 2)),
    maxSequences: lengths.length,
  });
  const simulation = createSimulation(scheduler, { clock: fixedClock(0.02) });
  while (simulation.totals.finished < lengths.length * BEFORE && simulation.advance()) {
    // until enough have come and gone
  }
  return fromLists(cut(blocksInOrder(scheduler), shape, blockSize), blockSize, layout, slots);
}

/** Blocks of those that run, request after request, then the rest in the order in which the pool would give them away. */
function blocksInOrder({ kv, runningList, slotOf }: ReturnType<typeof createVllmV1>): number[] {
  const owned = runningList().flatMap((request) => {
    const slot = slotOf(request);
    return Array.from(kv.tables[slot]?.subarray(0, kv.lengths[slot]) ?? []);
  });
  return [...new Set(owned), ...freeQueue(kv.pool)];
}

function cut(blocks: readonly number[], { lengths }: Shape, blockSize: number): number[][] {
  let next = 0;
  return lengths.map((length) => {
    const count = Math.ceil(length / blockSize);
    next += count;
    return blocks.slice(next - count, next);
  });
}
