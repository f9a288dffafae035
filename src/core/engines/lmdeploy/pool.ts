/** KV bytes → blocks, and what is printed of them. */
import type { Origin } from '../../figure';
import { type Estimate, MiB } from '../../units';
import { blockPool, loggedTokens } from '../block-pool';
import type { Layout, Logged, Pool } from '../engine';
import { originOfSetting } from '../memory';
import { type LmdeployConfiguration, PAGE } from './configure';

const SOURCES = {
  turbomind: 'LMDeploy 0.14, src/turbomind/models/llama/BlockManager.cc',
  slabs: 'LMDeploy 0.15, src/turbomind, object cache',
  pytorch: 'LMDeploy 0.16, lmdeploy/pytorch/engine/executor/base.py',
};

/** Largest slab that is tried before waste is accepted. */
const LARGEST_SLAB = 32 * PAGE;

/** Blocks that one slab holds: whole pages, doubled until at least 95 % of it is used. */
export function slabOf(block: number): { readonly bytes: number; readonly blocks: number } {
  let bytes = PAGE;
  while (bytes < block) {
    bytes *= 2;
  }
  const used = () => (Math.floor(bytes / block) * block) / bytes;
  while (used() < 0.95 && bytes < LARGEST_SLAB) {
    bytes *= 2;
  }
  return { bytes, blocks: Math.floor(bytes / block) };
}

function blocksOf(bytes: number, block: number, c: LmdeployConfiguration): number {
  if (c.backend === 'turbomind' && c.rules.slabs) {
    const slab = slabOf(block);
    return Math.floor(bytes / slab.bytes) * slab.blocks;
  }
  return Math.floor(bytes / block);
}

export function poolOf(c: LmdeployConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const stated = c.blocks;
  const setting = c.settings.findLast((s) => s.name === stated?.option);
  const slabs = c.backend === 'turbomind' && c.rules.slabs;
  return blockPool({
    layout,
    kv,
    origin,
    blocksOf: (bytes, rank) => blocksOf(bytes, rank.bytesPerBlock, c),
    override: stated && { blocks: stated.count, origin: originOfSetting(setting, stated.option) },
    reserved: 0,
    allocated: false,
    symbols: slabs ? '⌊KV bytes ÷ bytes of a slab⌋ × blocks of a slab' : '⌊KV bytes ÷ bytes per block⌋',
    source: SOURCES[slabs ? 'slabs' : c.backend],
    logged: (blocks) => loggedOf(c, layout, blocks, kv),
  });
}

function loggedOf(c: LmdeployConfiguration, layout: Layout, blocks: Estimate, kv: readonly Estimate[]): Logged {
  const block = layout.bytesPerBlock.value;
  const size = layout.blockSize;
  return loggedTokens(blocks, size, `LMDeploy ${c.version.text}`, lines());

  function lines(): readonly string[] {
    if (c.backend === 'pytorch') {
      return [`Building CacheEngine with config: CacheConfig(… block_size=${size}, num_gpu_blocks=${blocks.value} …)`];
    }
    const share = c.share ?? 0;
    const budget = (kv[0] as Estimate).value / MiB;
    return c.rules.log === 'budget'
      ? [
          `Object cache budget: ${budget.toFixed(2)} MB from free ${(budget / share).toFixed(2)} MB and ratio ${share.toFixed(3)}`,
        ]
      : [
          `[BlockManager] block_size = ${(block / MiB).toFixed(3)} MB`,
          `[BlockManager] max_block_count = ${blocks.value}`,
          `max cached tokens: ${blocks.value * size}`,
        ];
  }
}
