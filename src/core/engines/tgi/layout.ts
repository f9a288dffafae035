/** KV layers → blocks of one GPU: every layer keeps every token. Source: TGI 3.3, models/flash_causal_lm.py :: init_kv_cache. */
import { ceilDiv } from '../../units';
import { blockLayout } from '../block-layout';
import type { Layout } from '../engine';
import type { TgiConfiguration } from './configure';

/** Heads of one GPU: floor division, and one at least. */
const headsOf = (kvHeads: number, tensor: number): number => Math.max(1, Math.floor(kvHeads / tensor));

export function layoutOf(c: TgiConfiguration): Layout {
  const { block } = c.kernels;
  const { bytes } = c.stored;
  return blockLayout({
    allocator: block === 1 ? 'tokens' : 'blocks',
    dtype: { key: c.stored.key, value: c.stored.value },
    blockSize: block,
    stages: 1,
    groups: [
      {
        kind: 'full',
        dtype: c.stored.value,
        blockSize: block,
        // The last token is never fed back, so nothing of it is kept; guesses are.
        blocks: (tokens) => Math.max(1, ceilDiv(tokens - 1 + c.speculate, block)),
      },
    ],
    costs: c.layers.map((layer) => {
      const heads = headsOf(layer.kvHeads, c.placement.tensor);
      const head = bytes * (layer.headDim + layer.valueDim);
      return {
        stage: 0,
        group: 0,
        joined: layer.joined === true,
        perToken: heads * head,
        wholePerToken: layer.kvHeads * head,
        perBlock: heads * head * block,
        shown: `${heads} × ${head}`,
        wholeShown: `${layer.kvHeads} × ${head}`,
      };
    }),
    stored: (tokens) => Math.max(1, tokens - 1 + c.speculate),
    findings: [],
    symbols: 'layers × KV heads per GPU × bytes × (d + dv)',
    origins: [
      { kind: 'config', text: `keys and values in ${c.stored.value}` },
      { kind: 'config', text: `blocks of ${block}: ${c.kernels.name}, ${c.kernels.how}` },
    ],
    source: 'TGI 3.3, models/flash_causal_lm.py :: init_kv_cache',
  });
}
