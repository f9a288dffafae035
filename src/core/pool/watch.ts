import type { World } from './worlds';

/** What happens to single blocks, noted only while somebody watches. Whoever watches empties the lists. */
export interface Watch {
  /** Blocks that were handed out anew and lost content that could still have been found. */
  readonly evicted: number[];
  /** From, to, from, to …: blocks copied because somebody wrote to one that others read. */
  readonly copied: number[];
}

/** Begins to watch a world's memory. Slots and slabs have no blocks: nothing is ever noted there. */
export function watchWorld(world: World): Watch {
  const watch: Watch = { evicted: [], copied: [] };
  switch (world.engine) {
    case 'vllm-v1':
      world.scheduler.kv.pool.watch = watch;
      break;
    case 'vllm-v0':
      world.scheduler.pool.watch = watch;
      break;
    case 'sglang':
    case 'tensorrt-llm':
      world.scheduler.tree.watch = watch;
      break;
  }
  return watch;
}
