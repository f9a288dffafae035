/** KV bytes → blocks, and what is printed of them. */
import type { Origin } from '../../figure';
import type { Estimate } from '../../units';
import { blockPool, loggedTokens } from '../block-pool';
import type { Layout, Pool } from '../engine';
import type { TgiConfiguration } from './configure';

export function poolOf(c: TgiConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const { block, name } = c.kernels;
  return blockPool({
    layout,
    kv,
    origin,
    blocksOf: (bytes, rank) => Math.floor(bytes / rank.bytesPerBlock),
    // Block 0 is for health checks.
    reserved: 1,
    allocated: false,
    symbols: '⌊KV bytes ÷ bytes per block⌋',
    source: 'TGI 3.3, models/flash_causal_lm.py :: warmup',
    logged: (blocks) =>
      loggedTokens(blocks, block, `TGI ${c.version.text}`, [
        ...(c.rules.choosesKernels ? [`Using Attention = ${name}`] : []),
        ...(c.rules.logsBlocks ? [`KV-cache blocks: ${blocks.value}, size: ${block}`] : []),
        `Setting max batch total tokens to ${blocks.value * block}`,
      ]),
  });
}
