/** KV layers → pages, groups and blocks of one GPU. Source: vLLM 0.28, v1/kv_cache_interface.py, v1/core/kv_cache_utils.py. */
import { figure } from '../../figure';
import type { KvLayer, Model } from '../../model/model';
import { ceilDiv, toFixedHalfEven } from '../../units';
import type { Finding, Group, Hold, Layout, Rank } from '../engine';
import { compressedSpecs, isCompressed, packTuples } from './compressed';
import type { VllmConfiguration } from './configure';
import { bytesPerHeadToken } from './dtypes';
import { type Grouping, groupLayers, type LayerSpec, type SpecGroup } from './groups';
import { explainBlock, explainFixed, explainToken, explainTotal } from './layout-explain';
import { alignedBlock, stateBytes, statesHeld } from './states';
import { grows, type Tally, tallyOf, tensorHeads, wholeTokenBytes } from './tally';

/** Block size that sliding layers start from when they choose their own: the smallest any kernel takes. */
const SMALLEST_KERNEL_BLOCK = 16;

export function layoutOf(model: Model, c: VllmConfiguration): Layout {
  const { grouping, stageOf } = isCompressed(c.layers)
    ? packed(c)
    : { grouping: groupLayers(specsOf(model, c), c.rules), stageOf: c.stageOf };
  const tallies = c.stages.map((_, stage) => grouping.groups.map((g) => tallyOf(g, grouping.specs, stage, stageOf)));
  const ranks = tallies.map((own, stage) => rankOf(stage, own, grouping, c));
  const largest = Math.max(...ranks.map((r) => r.bytesPerBlock));
  const build = (rank: number): Layout => seenFrom(rank, { model, c, grouping, ranks, tallies, build });
  return build(ranks.findIndex((r) => r.bytesPerBlock === largest));
}

/** Compressed histories: a layer may bring a second spec, of its compressor, which runs where it does. */
function packed(c: VllmConfiguration): { readonly grouping: Grouping; readonly stageOf: readonly number[] } {
  const made = new Map<KvLayer, readonly LayerSpec[]>();
  const specs: LayerSpec[] = [];
  const stageOf: number[] = [];
  c.layers.forEach((layer, i) => {
    const own = made.get(layer) ?? compressedSpecs(layer, c.block.tokens, c.stored.value);
    made.set(layer, own);
    specs.push(...own);
    stageOf.push(...own.map(() => c.stageOf[i] as number));
  });
  return { grouping: packTuples(specs), stageOf };
}

/** Equal layers share one spec. Where there are states, one attention page must hold one, so the block grows to fit. */
function specsOf(model: Model, c: VllmConfiguration): readonly LayerSpec[] {
  const { block, statePage } = blockOf(model, c);
  const made = new Map<KvLayer, LayerSpec>();
  return c.layers.map((layer, i) => {
    const dtype = c.layerDtypes[i] as string;
    const known = made.get(layer);
    if (known && (known.dtype === dtype || layer.state)) {
      return known;
    }
    const spec = layer.state ? stateSpec(layer, block, statePage, c) : specOf(layer, dtype, block, c);
    made.set(layer, spec);
    return spec;
  });
}

/** Tokens per block, and the page that states are padded to. */
function blockOf(model: Model, c: VllmConfiguration): { readonly block: number; readonly statePage?: number } {
  const largest = c.layers.reduce(
    (most, { state }) => (state ? Math.max(most, stateBytes(state, c.placement.tensor, c.states)) : most),
    0,
  );
  if (largest === 0) {
    return { block: c.block.tokens };
  }
  const at = c.layers.findIndex((layer) => layer.kind !== 'state');
  if (at < 0) {
    // Without attention a request holds its states alone: one block of any length.
    return { block: c.maxLength ?? c.block.tokens };
  }
  const { tokenBytes } = specOf(c.layers[at] as KvLayer, c.layerDtypes[at] as string, 1, c);
  const block = alignedBlock(model, c.block.tokens, tokenBytes, largest);
  return { block, statePage: block * tokenBytes };
}

function stateSpec(layer: KvLayer, blockSize: number, page: number | undefined, c: VllmConfiguration): LayerSpec {
  const state = layer.state ? stateBytes(layer.state, c.placement.tensor, c.states) : 0;
  return { layer, dtype: 'state', tokenBytes: state, blockSize, page: page ?? state };
}

function specOf(written: KvLayer, dtype: string, block: number, c: VllmConfiguration): LayerSpec {
  const layer: KvLayer =
    c.allFull && written.kind !== 'full' && written.window !== undefined ? { ...written, kind: 'full' } : written;
  const blockSize =
    layer.kind === 'sliding' && c.rules.slidingOwnBlock ? Math.min(SMALLEST_KERNEL_BLOCK, block) : block;
  const tokenBytes = tensorHeads(layer, c.placement.tensor) * (bytesPerHeadToken(layer, dtype) as number);
  return { layer, dtype, tokenBytes, blockSize, page: blockSize * tokenBytes };
}

/** Bytes of a window or a state, once a request is long enough. */
const fixedOf = ({ layer, tokenBytes }: LayerSpec): number =>
  layer.kind === 'state' ? tokenBytes : (layer.window as number) * tokenBytes;

function total(tallies: readonly Tally[], of: (spec: LayerSpec) => number): number {
  let all = 0;
  for (const { spec, count } of tallies) {
    all += count * of(spec);
  }
  return all;
}

function rankOf(stage: number, groups: readonly (readonly Tally[])[], grouping: Grouping, c: VllmConfiguration): Rank {
  const own = groups.flat();
  return {
    stage,
    layers: total(own, (s) => (s.layer.joined ? 0 : 1)),
    bytesPerToken: Math.ceil(total(own, (s) => (grows(s) ? s.tokenBytes : 0)) / c.placement.context),
    fixedBytes: total(own, (s) => (grows(s) ? 0 : fixedOf(s))),
    bytesPerBlock: Math.max(...groups.map((g) => total(g, (s) => s.page))),
    ...(grouping.paddedBytes !== undefined && c.rules.fitPadsTuples ? { fitBytesPerBlock: grouping.paddedBytes } : {}),
  };
}

interface Parts {
  readonly model: Model;
  readonly c: VllmConfiguration;
  readonly grouping: Grouping;
  readonly ranks: readonly Rank[];
  /** By rank and group. */
  readonly tallies: readonly (readonly (readonly Tally[])[])[];
  readonly build: (rank: number) => Layout;
}

function seenFrom(decidingRank: number, { model, c, grouping, ranks, tallies, build }: Parts): Layout {
  const rank = ranks[decidingRank] as Rank;
  const own = tallies[decidingRank] as readonly (readonly Tally[])[];
  const all = own.flat();
  const groups = grouping.groups.map((g, i) => groupOf(g, own[i] as readonly Tally[]));
  const whole = total(tallies.flat(2), (s) => (grows(s) ? wholeTokenBytes(s) : 0));
  const perGpu = { scope: 'per GPU' } as const;
  return {
    findings: paddingFindings(grouping),
    allocator: 'blocks',
    dtype: { key: c.stored.key, value: c.stored.value },
    blockSize: Math.min(...grouping.groups.map((g) => g.blockSize)),
    tokensPerSlot: c.placement.context,
    groups,
    ranks,
    decidingRank,
    bytesPerToken: figure(rank.bytesPerToken, 'bytes', () => explainToken(all, model, c, rank.bytesPerToken), perGpu),
    bytesPerTokenTotal: figure(whole, 'bytes', () => explainTotal(tallies.flat(2), model, c, whole), {
      scope: 'whole deployment',
    }),
    fixedBytes: figure(rank.fixedBytes, 'bytes', () => explainFixed(all, model, rank.fixedBytes), perGpu),
    bytesPerBlock: figure(rank.bytesPerBlock, 'bytes', () => explainBlock(groups, c, rank), perGpu),
    groupBlocks: (tokens) => grouping.groups.map((g) => blocksOf(g, tokens, c)),
    payload: (tokens) => total(all, (s) => payloadOf(s, tokens, c)),
    wholePayload: (tokens) => total(tallies.flat(2), (s) => wholePayloadOf(s, tokens, c.placement.tensor)),
    hold: (tokens) => holdOf(tokens, grouping, own, rank.bytesPerBlock, c),
    ofRank: build,
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

const groupOf = (group: SpecGroup, own: readonly Tally[]): Group => ({
  kind: group.first.layer.kind,
  layers: total(own, () => 1),
  dtype: group.first.dtype,
  blockSize: group.blockSize,
  bytesPerBlock: total(own, (s) => s.page),
});

/**
 * Blocks a request of this many tokens may hold in one group; a window reserves for the tokens in flight, and one
 * block more since it need not begin at a block's edge.
 * Source: vLLM 0.28, v1/kv_cache_interface.py :: max_memory_usage_bytes.
 */
function blocksOf(group: SpecGroup, tokens: number, c: VllmConfiguration): number {
  const { layer } = group.first;
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
    (grows(spec)
      ? entriesOf(spec, ceilDiv(tokens, c.placement.context))
      : Math.min(tokens, spec.layer.window as number))
  );
}

/** An entry of a compressed history stands for `ratio` tokens, and is there as soon as the first of them is. */
const entriesOf = ({ layer: { ratio = 1 } }: LayerSpec, tokens: number): number => ceilDiv(tokens, ratio) * ratio;

/** The same over the whole model: a head that is kept on several GPUs counts once. */
function wholePayloadOf(spec: LayerSpec, tokens: number, tensor: number): number {
  const { layer } = spec;
  if (layer.kind === 'state') {
    return spec.tokenBytes * tensor;
  }
  const perToken = wholeTokenBytes(spec);
  return perToken * (grows(spec) ? entriesOf(spec, tokens) : Math.min(tokens, layer.window as number));
}

function holdOf(
  tokens: number,
  grouping: Grouping,
  own: readonly (readonly Tally[])[],
  bytesPerBlock: number,
  c: VllmConfiguration,
): Hold {
  let blocks = 0;
  let payload = 0;
  let tail = 0;
  let reservation = 0;
  grouping.groups.forEach((group, i) => {
    const held = blocksOf(group, tokens, c);
    blocks += held;
    for (const { spec, count } of own[i] as readonly Tally[]) {
      const used = count * payloadOf(spec, tokens, c);
      const slots = count * held * spec.tokenBytes * (spec.layer.kind === 'state' ? 1 : group.blockSize);
      payload += used;
      if (grows(spec)) {
        tail += slots - used;
      } else {
        reservation += slots - used;
      }
    }
  });
  const reserved = blocks * bytesPerBlock;
  return { blocks, reserved, payload, tail, reservation, padding: reserved - payload - tail - reservation };
}
