/** KV layers → blocks of one GPU. Source: TensorRT-LLM 1.3, _torch/pyexecutor/resource_manager.py; 1.0, kvCacheManager.cpp. */
import type { KvLayer, LayerKind, Model } from '../../model/model';
import { ceilDiv } from '../../units';
import { blockLayout, type CostGroup, type LayerCost } from '../block-layout';
import type { Layout } from '../engine';
import { stateElements } from '../state-bytes';
import type { TrtConfiguration } from './configure';
import { headBytes } from './dtypes';

const SOURCE = 'TensorRT-LLM 1.3, _torch/pyexecutor/resource_manager.py :: get_cache_bytes_per_token';

const isOneVector = (layer: KvLayer): boolean => layer.kind === 'latent' || layer.kind === 'indexer';

/** Attention data parallelism keeps every head on every GPU. */
const attentionTensor = ({ placement }: TrtConfiguration): number =>
  placement.attentionData > 1 ? 1 : placement.tensor;

/** Windows in order of first appearance; undefined = all tokens. */
export const windowsIn = (c: TrtConfiguration): readonly (number | undefined)[] => [
  ...new Set(c.windows.filter((_, i) => c.layers[i]?.kind !== 'state')),
];

export function layoutOf(_model: Model, c: TrtConfiguration): Layout {
  const windows = windowsIn(c);
  return blockLayout({
    allocator: 'blocks',
    dtype: { key: c.stored.key, value: c.stored.value },
    blockSize: c.block.tokens,
    stages: c.stages,
    groups: windows.map((window) => groupOf(window, c)),
    costs: c.layers.map((layer, i) => costOf(layer, i, windows, c)),
    findings: [],
    symbols: `layers × ⌈KV heads ÷ ${c.placement.attentionData > 1 ? '1 (attention DP)' : 'tp'}⌉ × bytes of a head’s key and value`,
    origins: [
      { kind: 'config', text: `KV dtype ${c.stored.value}: ${c.stored.how}` },
      { kind: 'config', text: `blocks of ${c.block.tokens} tokens: ${c.block.how}` },
    ],
    source: SOURCE,
  });
}

function groupOf(window: number | undefined, c: TrtConfiguration): CostGroup {
  const size = c.block.tokens;
  return {
    kind: window === undefined ? kindOf(c) : 'sliding',
    dtype: c.stored.value,
    blockSize: size,
    window,
    blocks: (tokens) => ceilDiv(Math.min(tokens, window ?? tokens), size),
  };
}

const kindOf = (c: TrtConfiguration): LayerKind => (c.layers.some((l) => l.kind === 'latent') ? 'latent' : 'full');

function costOf(layer: KvLayer, i: number, windows: readonly (number | undefined)[], c: TrtConfiguration): LayerCost {
  const stage = c.stageOf[i] as number;
  const joined = layer.joined === true;
  if (layer.kind === 'state') {
    const { perGpu, whole } = stateOf(layer, c);
    return {
      stage,
      joined,
      perToken: 0,
      wholePerToken: 0,
      perBlock: 0,
      state: { perGpu, whole },
      shown: '',
      wholeShown: '',
    };
  }
  const bytes = headBytes(layer, c.stored.value) as number;
  const heads = isOneVector(layer) ? 1 : ceilDiv(layer.kvHeads, attentionTensor(c));
  const all = isOneVector(layer) ? 1 : layer.kvHeads;
  return {
    stage,
    group: windows.indexOf(c.windows[i]),
    joined,
    perToken: heads * bytes,
    wholePerToken: all * bytes,
    perBlock: heads * bytes * c.block.tokens,
    shown: `${heads} × ${bytes}`,
    wholeShown: `${all} × ${bytes}`,
  };
}

/** (conv_dim ÷ tp) × (d_conv − 1) × dtype + (heads ÷ tp) × head_dim × d_state × ssm dtype. */
function stateOf(layer: KvLayer, c: TrtConfiguration): { readonly perGpu: number; readonly whole: number } {
  const elements = layer.state && stateElements(layer.state);
  if (!elements) {
    return { perGpu: 0, whole: 0 };
  }
  const { channels, kernel, recurrent } = elements;
  const whole = channels * (kernel - 1) * c.states.convBytes + recurrent * c.states.ssmBytes;
  return { perGpu: Math.ceil(whole / attentionTensor(c)), whole };
}

/** Bytes of all slots of states on one GPU of a stage. */
export const stateSlotBytes = (layout: Layout, c: TrtConfiguration, stage: number): number => {
  const own = c.layers.filter((layer, i) => layer.kind === 'state' && c.stageOf[i] === stage);
  const one = own.reduce((sum, layer) => sum + stateOf(layer, c).perGpu, 0);
  return layout.ranks.length === 0 ? 0 : one * c.states.slots;
};
