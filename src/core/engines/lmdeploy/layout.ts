/** KV layers → blocks of one GPU: every layer keeps every token, whatever its window. */
import type { KvLayer } from '../../model/model';
import { ceilDiv } from '../../units';
import { blockLayout, type LayerCost, wholeBlocks } from '../block-layout';
import type { Layout } from '../engine';
import { stateElements } from '../state-bytes';
import { layerBytes } from './bytes';
import type { LmdeployConfiguration } from './configure';

const SOURCES = {
  turbomind: 'LMDeploy 0.16, src/turbomind/kernels/attention/block.h',
  pytorch: 'LMDeploy 0.16, lmdeploy/pytorch/engine/cache_engine.py',
};

export function layoutOf(c: LmdeployConfiguration): Layout {
  const { context } = c.placement;
  const size = c.block * context;
  const latent = c.layers.some((l) => l.kind === 'latent');
  return blockLayout({
    allocator: 'blocks',
    dtype: { key: c.policy, value: c.packing.name },
    blockSize: size,
    stages: 1,
    groups: [{ kind: latent ? 'latent' : 'full', dtype: c.packing.name, blockSize: size, blocks: wholeBlocks(size) }],
    costs: c.layers.map((layer) => costOf(layer, c)),
    findings: [],
    symbols: `layers × KV heads per GPU × (bits ÷ 8 × (d + dv)${c.packing.keyParameters > 0 ? ' + scales and zero points' : ''})${context > 1 ? ' ÷ cp' : ''}`,
    origins: [{ kind: 'config', text: `keys and values in ${c.packing.name}: quant-policy ${c.policy}` }],
    source: SOURCES[c.backend],
  });
}

function costOf(layer: KvLayer, c: LmdeployConfiguration): LayerCost {
  const base = { stage: 0, joined: layer.joined === true };
  if (layer.kind === 'state') {
    return { ...base, perToken: 0, wholePerToken: 0, perBlock: 0, state: stateOf(layer, c), shown: '', wholeShown: '' };
  }
  const heads = layer.kind === 'latent' ? 1 : Math.max(1, ceilDiv(layer.kvHeads, c.attentionTensor));
  const all = layer.kind === 'latent' ? 1 : layer.kvHeads;
  const { perHeadToken, perBlock } = layerBytes(layer, c);
  return {
    ...base,
    group: 0,
    perToken: (heads * perHeadToken) / c.placement.context,
    wholePerToken: all * perHeadToken,
    perBlock: perBlock(heads),
    shown: `${heads} × ${perHeadToken}`,
    wholeShown: `${all} × ${perHeadToken}`,
  };
}

/** The convolution's whole kernel, in 16 bit, and the recurrent state. */
function stateOf(layer: KvLayer, c: LmdeployConfiguration): { readonly perGpu: number; readonly whole: number } {
  const elements = layer.state && stateElements(layer.state);
  const whole = elements ? elements.channels * elements.kernel * 2 + elements.recurrent * c.states.recurrentBytes : 0;
  return { perGpu: Math.ceil(whole / c.attentionTensor), whole };
}

/** Bytes of all slots of states on one GPU. */
export const slotBytes = (c: LmdeployConfiguration): number =>
  c.layers.reduce((sum, layer) => sum + (layer.kind === 'state' ? stateOf(layer, c).perGpu : 0), 0) * c.states.slots;
