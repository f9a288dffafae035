/** KV layers → pages, groups and blocks of one GPU. Source: vLLM 0.28, v1/kv_cache_interface.py, v1/core/kv_cache_utils.py. */
import { type Figure, figure } from '../../figure';
import type { KvLayer, Model } from '../../model/model';
import { ceilDiv, toFixedHalfEven, withCommas } from '../../units';
import type { Finding, Group, Hold, Layout, Rank } from '../engine';
import type { VllmConfiguration } from './configure';
import { bytesPerHeadToken, packingSymbols } from './dtypes';
import { type Grouping, groupLayers, type LayerSpec, type SpecGroup } from './groups';
import { headsPerRank } from './placement';
import { alignedBlock, stateBytes, statesHeld } from './states';

/** Block size that sliding layers start from when they choose their own: the smallest any kernel takes. */
const SMALLEST_KERNEL_BLOCK = 16;

const SOURCE = 'vLLM 0.28, v1/kv_cache_interface.py';

export function layoutOf(model: Model, c: VllmConfiguration): Layout {
  const specs = specsOf(model, c);
  const grouping = groupLayers(specs, c.rules);
  const { stageOf } = c;
  const ranks = c.stages.map((_, stage) => rankOf(stage, specs, grouping, stageOf, c));
  const smallest = ranks.reduce(
    (worst, r, i) => (r.bytesPerBlock > (ranks[worst] as Rank).bytesPerBlock ? i : worst),
    0,
  );
  const build = (rank: number): Layout => seenFrom(rank, { model, c, specs, grouping, ranks, stageOf, build });
  return build(smallest);
}

/** Attention layers first: where there are states, one attention page must hold one, so the block grows to fit. */
function specsOf(model: Model, c: VllmConfiguration): readonly LayerSpec[] {
  const states = c.layers.map((layer) => (layer.state ? stateBytes(layer.state, c.placement.tensor, c.states) : 0));
  const largest = Math.max(0, ...states);
  const attention = c.layers.findIndex((layer) => layer.kind !== 'state');
  if (largest === 0 || attention < 0) {
    // Without attention a request holds its states alone: one block of any length.
    const block = attention < 0 ? (c.maxLength ?? c.block.tokens) : c.block.tokens;
    return c.layers.map((layer, i) =>
      layer.state ? stateSpec(layer, i, block, states[i] as number, states[i] as number) : specOf(layer, i, block, c),
    );
  }
  const tokenBytes = specOf(c.layers[attention] as KvLayer, attention, 1, c).tokenBytes;
  const block = alignedBlock(model, c.block.tokens, tokenBytes, largest);
  return c.layers.map((layer, i) =>
    layer.state ? stateSpec(layer, i, block, states[i] as number, block * tokenBytes) : specOf(layer, i, block, c),
  );
}

const stateSpec = (layer: KvLayer, index: number, blockSize: number, state: number, page: number): LayerSpec => ({
  index,
  layer,
  dtype: 'state',
  tokenBytes: state,
  blockSize,
  page,
});

function specOf(written: KvLayer, index: number, block: number, c: VllmConfiguration): LayerSpec {
  const layer: KvLayer =
    c.allFull && written.kind !== 'full' && written.window !== undefined ? { ...written, kind: 'full' } : written;
  const dtype = c.layerDtypes[index] as string;
  const blockSize =
    layer.kind === 'sliding' && c.rules.slidingOwnBlock ? Math.min(SMALLEST_KERNEL_BLOCK, block) : block;
  const tokenBytes = tensorHeads(layer, c) * (bytesPerHeadToken(layer, dtype) as number);
  return { index, layer, dtype, tokenBytes, blockSize, page: blockSize * tokenBytes };
}

/** Latent and indexer layers are one vector, kept whole on every GPU. */
const tensorHeads = (layer: KvLayer, c: VllmConfiguration): number =>
  layer.kind === 'latent' || layer.kind === 'indexer' ? 1 : headsPerRank(layer.kvHeads, c.placement.tensor);

const grows = ({ layer }: LayerSpec): boolean =>
  layer.kind !== 'sliding' && layer.kind !== 'chunked' && layer.kind !== 'state';

/** Bytes of a window or a state, once a request is long enough. */
const fixedOf = ({ layer, tokenBytes }: LayerSpec): number =>
  layer.kind === 'state' ? tokenBytes : (layer.window as number) * tokenBytes;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function rankOf(
  stage: number,
  specs: readonly LayerSpec[],
  grouping: Grouping,
  stageOf: readonly number[],
  c: VllmConfiguration,
): Rank {
  const own = specs.filter((s) => stageOf[s.index] === stage);
  return {
    stage,
    layers: own.filter((s) => !s.layer.joined).length,
    bytesPerToken: sum(own.filter(grows).map((s) => s.tokenBytes)) / c.placement.context,
    fixedBytes: sum(own.filter((s) => !grows(s)).map(fixedOf)),
    bytesPerBlock: Math.max(...grouping.groups.map((g) => groupBytes(g, stage, stageOf))),
  };
}

const groupBytes = (group: SpecGroup, stage: number, stageOf: readonly number[]): number =>
  sum(group.specs.filter((s) => stageOf[s.index] === stage).map((s) => s.page));

interface Parts {
  readonly model: Model;
  readonly c: VllmConfiguration;
  readonly specs: readonly LayerSpec[];
  readonly grouping: Grouping;
  readonly ranks: readonly Rank[];
  readonly stageOf: readonly number[];
  readonly build: (rank: number) => Layout;
}

function seenFrom(decidingRank: number, parts: Parts): Layout {
  const { c, grouping, ranks, stageOf, specs } = parts;
  const rank = ranks[decidingRank] as Rank;
  const onRank = specs.filter((s) => stageOf[s.index] === decidingRank);
  const groups = grouping.groups.map((g) => groupOf(g, decidingRank, stageOf));
  const smallestBlock = Math.min(...grouping.groups.map((g) => g.blockSize));
  const groupBlocks = (tokens: number) => grouping.groups.map((g) => blocksOf(g, tokens, c));
  const payload = (tokens: number) => sum(onRank.map((s) => payloadOf(s, tokens, c)));
  return {
    findings: paddingFindings(grouping),
    allocator: 'blocks',
    dtype: { key: c.stored.key, value: c.stored.value },
    blockSize: smallestBlock,
    tokensPerSlot: c.placement.context,
    groups,
    ranks,
    decidingRank,
    bytesPerToken: figure(rank.bytesPerToken, 'bytes', () => explainToken(onRank, c, rank.bytesPerToken), {
      scope: 'per GPU',
    }),
    bytesPerTokenTotal: totalPerToken(parts),
    fixedBytes: figure(rank.fixedBytes, 'bytes', () => explainFixed(onRank, rank.fixedBytes), { scope: 'per GPU' }),
    bytesPerBlock: figure(rank.bytesPerBlock, 'bytes', () => explainBlock(groups, rank), { scope: 'per GPU' }),
    groupBlocks,
    payload,
    hold: (tokens) => holdOf(tokens, grouping, decidingRank, rank.bytesPerBlock, stageOf, c),
    ofRank: parts.build,
  };
}

/** Source: vLLM 0.28, v1/core/kv_cache_utils.py :: _get_kv_cache_groups_uniform_page_size. */
const paddingFindings = ({ padding }: Grouping): readonly Finding[] =>
  padding.map(({ layers, percent }) => ({
    code: 'padding-layers',
    severity: 'hint',
    message: `Add ${layers} padding layers, may waste at most ${toFixedHalfEven(percent, 2)}% KV cache memory`,
    option: 'model',
    fixes: [],
  }));

function groupOf(group: SpecGroup, stage: number, stageOf: readonly number[]): Group {
  const first = group.specs[0] as LayerSpec;
  return {
    kind: first.layer.kind,
    layers: group.specs.filter((s) => stageOf[s.index] === stage).length,
    dtype: first.dtype,
    blockSize: group.blockSize,
    bytesPerBlock: groupBytes(group, stage, stageOf),
  };
}

/**
 * Blocks a request of this many tokens may hold in one group; a window reserves for the tokens in flight, and one
 * block more since it need not begin at a block's edge.
 * Source: vLLM 0.28, v1/kv_cache_interface.py :: max_memory_usage_bytes.
 */
function blocksOf(group: SpecGroup, tokens: number, c: VllmConfiguration): number {
  const { layer } = group.specs[0] as LayerSpec;
  const window = layer.window as number;
  switch (layer.kind) {
    case 'sliding':
      return ceilDiv(Math.min(window - 1 + c.inFlight, tokens), group.blockSize) + 1;
    case 'chunked':
      return ceilDiv(Math.min(window + c.inFlight, tokens), group.blockSize);
    case 'state':
      return statesHeld(c.states, tokens, group.blockSize);
    default:
      return ceilDiv(ceilDiv(tokens, c.placement.context), group.blockSize);
  }
}

/** Payload bytes of a request that a layer holds on this GPU. */
function payloadOf(spec: LayerSpec, tokens: number, c: VllmConfiguration): number {
  if (spec.layer.kind === 'state') {
    return spec.tokenBytes;
  }
  return (
    spec.tokenBytes *
    (grows(spec) ? ceilDiv(tokens, c.placement.context) : Math.min(tokens, spec.layer.window as number))
  );
}

function holdOf(
  tokens: number,
  grouping: Grouping,
  stage: number,
  bytesPerBlock: number,
  stageOf: readonly number[],
  c: VllmConfiguration,
): Hold {
  let blocks = 0;
  let payload = 0;
  let tail = 0;
  let reservation = 0;
  for (const group of grouping.groups) {
    const held = blocksOf(group, tokens, c);
    blocks += held;
    for (const spec of group.specs.filter((s) => stageOf[s.index] === stage)) {
      const used = payloadOf(spec, tokens, c);
      const slots = held * spec.tokenBytes * (spec.layer.kind === 'state' ? 1 : group.blockSize);
      payload += used;
      if (grows(spec)) {
        tail += slots - used;
      } else {
        reservation += slots - used;
      }
    }
  }
  const reserved = blocks * bytesPerBlock;
  return { blocks, reserved, payload, tail, reservation, padding: reserved - payload - tail - reservation };
}

function totalPerToken({ c, specs }: Parts): Figure {
  const whole = specs.filter(grows).map((s) => heads(s.layer) * (bytesPerHeadToken(s.layer, s.dtype) as number));
  const value = sum(whole);
  return figure(
    value,
    'bytes',
    () => ({
      symbols: 'Σ layers: KV heads × bytes per head and token',
      numbers: `${runs(specs.filter(grows), (s) => `${heads(s.layer)} × ${bytesPerHeadToken(s.layer, s.dtype)}`)} = ${withCommas(value)}`,
      origins: [{ kind: 'config', text: `KV dtype ${c.stored.value}: ${c.stored.how}` }],
      source: SOURCE,
    }),
    { scope: 'whole deployment' },
  );
}

const heads = (layer: KvLayer): number => (layer.kind === 'latent' || layer.kind === 'indexer' ? 1 : layer.kvHeads);

/** `80 × (1 × 512) + 2 × (…)`: equal neighbours are told once. */
function runs(specs: readonly LayerSpec[], term: (spec: LayerSpec) => string): string {
  const counts = new Map<string, number>();
  for (const spec of specs) {
    const text = term(spec);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, n]) => `${n} × (${text})`).join(' + ') || '0';
}

function explainToken(onRank: readonly LayerSpec[], c: VllmConfiguration, value: number) {
  const growing = onRank.filter(grows);
  const { tensor, context } = c.placement;
  const first = growing[0];
  const origins = [{ kind: 'config' as const, text: `KV dtype ${c.stored.value}: ${c.stored.how}` }];
  const replicated = first !== undefined && first.layer.kvHeads < tensor;
  return {
    symbols: `layers × KV heads per GPU × (${first ? packingSymbols(first.dtype) : 'bytes'})${context > 1 ? ' ÷ DCP' : ''}`,
    numbers: `${runs(growing, (s) => `${tensorHeads(s.layer, c)} × ${bytesPerHeadToken(s.layer, s.dtype)}`)}${context > 1 ? ` ÷ ${context}` : ''} = ${withCommas(value)}`,
    origins: replicated
      ? [
          ...origins,
          {
            kind: 'derived' as const,
            text: `one head or vector is kept on each of ${tensor} GPUs: ${first.layer.kind === 'latent' ? 'MLA is not divided' : 'fewer KV heads than GPUs'}`,
          },
        ]
      : origins,
    source: SOURCE,
  };
}

function explainFixed(onRank: readonly LayerSpec[], value: number) {
  const windows = onRank.filter((s) => !grows(s));
  return {
    symbols: 'Σ window layers: window × bytes per token + Σ state layers: bytes of a state',
    numbers: `${runs(windows, (s) => (s.layer.kind === 'state' ? withCommas(s.tokenBytes) : `${s.layer.window} × ${s.tokenBytes}`))} = ${withCommas(value)}`,
    origins: [
      {
        kind: 'config' as const,
        text: windows.length > 0 ? 'windows and states of the model’s config' : 'no layer has a window or a state',
      },
    ],
    source: SOURCE,
  };
}

function explainBlock(groups: readonly Group[], rank: Rank) {
  const largest = groups.find((g) => g.bytesPerBlock === rank.bytesPerBlock);
  return {
    symbols: 'largest group: Σ layers: block size × bytes per token and layer',
    numbers: `${largest?.layers} layers × ${withCommas(rank.bytesPerBlock / (largest?.layers || 1))} (block of ${largest?.blockSize} tokens) = ${withCommas(rank.bytesPerBlock)}`,
    origins: [
      {
        kind: 'derived' as const,
        text: groups.length > 1 ? `${groups.length} groups share one pool of equal blocks` : 'one group',
      },
    ],
    source: 'vLLM 0.28, v1/core/kv_cache_utils.py :: get_kv_cache_config_from_groups',
  };
}
