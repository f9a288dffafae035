/** What the layers of one pipeline stage keep on one GPU: the cell of full attention, of windows, and the states of a request. */
import type { KvLayer } from '../../model/model';
import { type LayerBytes, layerBytes, workspaceBytes } from './cells';
import type { SglangConfiguration } from './configure';
import { stateBytes } from './states';

/** Equal layers of one stage. */
export interface Tally extends LayerBytes {
  readonly count: number;
}

export interface RankCells {
  readonly stage: number;
  /** Transformer layers, drafts not among them. */
  readonly layers: number;
  readonly full: readonly Tally[];
  readonly windows: readonly Tally[];
  /** Bytes of one token: full layers and drafts; windows. */
  readonly fullBytes: number;
  readonly windowBytes: number;
  /** Bytes that a draft adds to them, and its layers. */
  readonly draftBytes: number;
  readonly draftLayers: number;
  readonly workspace: number;
  readonly stateLayers: number;
  readonly convBytes: number;
  readonly recurrentBytes: number;
  /** Longest window. */
  readonly window: number;
}

/** What one request keeps whatever its length, windows left out. */
export const stateOf = (r: RankCells): number => r.convBytes + r.recurrentBytes;

/** What one token of the full pool costs, its share of the windows' pool included. */
export const cellOf = (r: RankCells, c: SglangConfiguration): number =>
  c.windowRatio === undefined || r.windowBytes === 0 ? r.fullBytes : r.fullBytes + c.windowRatio * r.windowBytes;

const known = new WeakMap<SglangConfiguration, readonly RankCells[]>();

/** By stage. A configuration's are asked for at every step of its way. */
export function cellsOf(c: SglangConfiguration): readonly RankCells[] {
  const made = known.get(c) ?? c.stages.map((_, stage) => rankCells(stage, c));
  known.set(c, made);
  return made;
}

function rankCells(stage: number, c: SglangConfiguration): RankCells {
  const first = c.stages.slice(0, stage).reduce((a, b) => a + b, 0);
  const last = first + (c.stages[stage] as number);
  const own = c.own.filter(({ at }) => at >= first && at < last).map(({ layer }) => layer);
  const full = tallies(
    own.filter((l) => l.kind !== 'state' && !isWindow(l, c)),
    c,
  );
  const windows = tallies(
    own.filter((l) => isWindow(l, c)),
    c,
  );
  const states = own.filter((l) => l.kind === 'state');
  const sizes = states.map((l) =>
    stateBytes(l.state as NonNullable<KvLayer['state']>, c.placement.attentionTensor, c.states),
  );
  const compressed = c.rings ? compressing(own, c) : undefined;
  const plain = sum(full, (t) => t.bytes * t.count);
  const attending = full.reduce((n, t) => n + (t.layer.kind === 'indexer' ? 0 : t.count), 0);
  const draft = compressed
    ? { bytes: plain * (compressed.draft - 1), layers: compressed.draft > 1 ? 1 : 0 }
    : draftCell(plain, attending, c);
  const workspace = workspaceBytes(full[0]?.layer ?? windows[0]?.layer, c.stored.value, c.placement);
  return {
    stage,
    layers: last - first,
    full,
    windows,
    fullBytes: plain + draft.bytes + workspace,
    windowBytes: (sum(windows, (t) => t.bytes * t.count) + (compressed?.fine ?? 0)) * (compressed?.draft ?? 1),
    draftBytes: draft.bytes,
    draftLayers: draft.layers,
    workspace,
    stateLayers: states.length + (compressed?.coarseLayers ?? 0),
    convBytes: sum(sizes, (s) => s.conv),
    recurrentBytes: sum(sizes, (s) => s.recurrent) + (compressed?.coarse ?? 0),
    window: Math.max(0, ...windows.map((t) => t.layer.window ?? 0)),
  };
}

/** torch's size of the states of compression: fp32. */
const COMPRESSION_STATE = 4;

interface Compressing {
  /** Bytes that states of 4-to-1 compression add to one token of the windows. */
  readonly fine: number;
  /** Bytes of one request's ring of 128-to-1 compression, and its layers. */
  readonly coarse: number;
  readonly coarseLayers: number;
  readonly draft: number;
}

/**
 * States of 4-to-1 compression go with the windows' tokens, those of 128-to-1 with requests. A draft is one layer more.
 * Source: SGLang 0.5.18, srt/model_executor/pool_configurator.py :: DSV4PoolConfigurator.
 */
function compressing(own: readonly KvLayer[], c: SglangConfiguration): Compressing {
  const of = (ratio: number, kind: KvLayer['kind']) => own.filter((l) => l.ratio === ratio && l.kind === kind);
  const [entry, index, coarse] = [of(4, 'latent'), of(4, 'indexer'), of(128, 'latent')];
  const window = own.find((l) => l.window !== undefined)?.window ?? 128;
  const wide = (layers: readonly KvLayer[]) => sum(layers, (l) => l.headDim * COMPRESSION_STATE);
  const layers = own.filter((l) => !l.joined).length;
  return {
    fine: ((c.rings?.fine ?? 0) / window) * 4 * (wide(entry) + wide(index)),
    coarse: (c.rings?.coarse ?? 0) * 2 * wide(coarse),
    coarseLayers: coarse.length,
    draft: c.speculation.draftTokens > 0 && layers > 0 ? (layers + 1) / layers : 1,
  };
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((all, item) => all + of(item), 0);

const isWindow = (layer: KvLayer, c: SglangConfiguration): boolean =>
  c.windowRatio !== undefined && (layer.kind === 'sliding' || layer.kind === 'chunked');

function tallies(layers: readonly KvLayer[], c: SglangConfiguration): readonly Tally[] {
  const counts = new Map<KvLayer, number>();
  for (const layer of layers) {
    counts.set(layer, (counts.get(layer) ?? 0) + 1);
  }
  return [...counts].map(([layer, count]) => ({ ...layerBytes(layer, c.stored.value, c.placement, c.sparse), count }));
}

/**
 * A draft is priced by its layers, as if they were the model's: int(cell × (1 + draft layers ÷ layers)). Older versions
 * did not count it, and DFLASH has a cell of its own. Every stage carries it.
 */
function draftCell(cell: number, layers: number, c: SglangConfiguration): { bytes: number; layers: number } {
  const kept = c.draftLayers.filter((l) => l.kind !== 'state');
  const count = kept.filter((l) => !l.joined).length;
  if (count === 0 || layers === 0 || c.rules.speculativeReserve !== 'no') {
    return { bytes: 0, layers: 0 };
  }
  if (/^(DFLASH|DSPARK)/.test(c.speculation.algorithm ?? '')) {
    const own = sum(kept, (l) => layerBytes(l, c.stored.value, c.placement, c.sparse).bytes);
    return { bytes: own * c.placement.context, layers: count };
  }
  return { bytes: Math.trunc(cell * (1 + count / layers)) - cell, layers: count };
}
