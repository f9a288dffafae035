/** KV layers → a pool of tokens in pages, one of windows, and slots for states. Source: SGLang 0.5.18, srt/model_executor/pool_configurator.py. */
import { type Explanation, type Figure, figure, type Origin } from '../../figure';
import type { Model } from '../../model/model';
import { ceilDiv, withCommas } from '../../units';
import type { Group, Hold, Layout, Rank } from '../engine';
import { isLatent } from './backend';
import { symbolsOf } from './cells';
import type { SglangConfiguration } from './configure';
import { cellOf, cellsOf, type RankCells, stateOf, type Tally } from './rank';

export const SOURCE = 'SGLang 0.5.18, srt/model_executor/pool_configurator.py';

export function layoutOf(model: Model, c: SglangConfiguration): Layout {
  const cells = cellsOf(c);
  const ranks = cells.map((r) => rankOf(r, c));
  const largest = Math.max(...ranks.map((r) => r.bytesPerBlock));
  const build = (rank: number): Layout => seenFrom(rank, { model, c, cells, ranks, build });
  return build(ranks.findIndex((r) => r.bytesPerBlock === largest));
}

const rankOf = (r: RankCells, c: SglangConfiguration): Rank => ({
  stage: r.stage,
  layers: r.layers,
  bytesPerToken: r.fullBytes / c.placement.context,
  fixedBytes: fixedOf(r),
  bytesPerBlock: cellOf(r, c) * c.page.tokens,
});

const fixedOf = (r: RankCells): number =>
  r.windows.reduce((all, t) => all + t.count * t.bytes * (t.layer.window ?? 0), 0) + stateOf(r);

/** Steps between which tokens that left the window are given back. Source: SGLANG_SWA_EVICTION_INTERVAL. */
const EVICTION_STEPS = 128;

/** Tokens of windows that one request may hold at once, as the engine itself sizes it. */
const windowTokens = (r: RankCells, c: SglangConfiguration): number =>
  r.window + EVICTION_STEPS * Math.max(1, c.speculation.draftTokens) + 2 * c.page.tokens;

interface Parts {
  readonly model: Model;
  readonly c: SglangConfiguration;
  readonly cells: readonly RankCells[];
  readonly ranks: readonly Rank[];
  readonly build: (rank: number) => Layout;
}

interface Piece {
  readonly group: Group;
  /** Blocks that a request of this many tokens holds. */
  blocks(tokens: number): number;
  /** Bytes of them that hold keys and values or a state. */
  used(tokens: number): number;
  readonly windowed: boolean;
}

function piecesOf(r: RankCells, { model, c }: Parts): readonly Piece[] {
  const page = c.page.tokens;
  const dtype = c.stored.value;
  const onRank = (tokens: number) => ceilDiv(tokens, c.placement.context);
  const full: Piece = {
    group: {
      kind: isLatent(model) ? 'latent' : 'full',
      layers: count(r.full.filter((t) => t.layer.kind !== 'indexer')) + r.draftLayers,
      dtype,
      blockSize: page,
      bytesPerBlock: r.fullBytes * page,
    },
    blocks: (tokens) => ceilDiv(onRank(tokens), page),
    used: (tokens) => r.fullBytes * onRank(tokens),
    windowed: false,
  };
  const pieces = [full];
  if (r.windowBytes > 0) {
    const most = windowTokens(r, c);
    pieces.push({
      group: {
        kind: r.windows[0]?.layer.kind ?? 'sliding',
        layers: count(r.windows),
        dtype,
        blockSize: page,
        bytesPerBlock: r.windowBytes * page,
      },
      blocks: (tokens) => ceilDiv(Math.min(tokens, most), page),
      used: (tokens) =>
        r.windows.reduce((all, t) => all + t.count * t.bytes * Math.min(tokens, t.layer.window ?? tokens), 0),
      windowed: true,
    });
  }
  if (r.stateLayers > 0) {
    pieces.push({
      group: {
        kind: 'state',
        layers: r.stateLayers,
        dtype: 'state',
        blockSize: Math.max(1, c.maxLength ?? 1),
        bytesPerBlock: stateOf(r),
      },
      blocks: () => c.states.slotsPerRequest,
      used: () => stateOf(r),
      windowed: true,
    });
  }
  return pieces;
}

const count = (tallies: readonly Tally[]): number => tallies.reduce((n, t) => n + t.count, 0);

function seenFrom(decidingRank: number, parts: Parts): Layout {
  const { c, cells, ranks, build, model } = parts;
  const r = cells[decidingRank] as RankCells;
  const rank = ranks[decidingRank] as Rank;
  const pieces = piecesOf(r, parts);
  const total = cells.reduce((all, s) => all + wholeToken(s), 0);
  const bytes = (value: number, explain: () => Explanation, scope: Figure['scope'] = 'per GPU') =>
    figure(value, 'bytes', explain, { scope });
  return {
    findings: [],
    allocator: 'tokens',
    dtype: { key: c.stored.key, value: c.stored.value },
    blockSize: c.page.tokens,
    tokensPerSlot: c.placement.context,
    groups: pieces.map((p) => p.group),
    ranks,
    decidingRank,
    bytesPerToken: bytes(rank.bytesPerToken, () => explainToken(r, c, model)),
    bytesPerTokenTotal: bytes(total, () => explainTotal(cells, c, total), 'whole deployment'),
    fixedBytes: bytes(rank.fixedBytes, () => explainFixed(r, c, rank.fixedBytes)),
    bytesPerBlock: bytes(rank.bytesPerBlock, () => explainPage(r, c)),
    groupBlocks: (tokens) => pieces.map((p) => p.blocks(tokens)),
    payload: (tokens) => pieces.reduce((all, p) => all + p.used(tokens), 0),
    wholePayload: (tokens) => cells.reduce((all, s) => all + wholeOf(s, tokens, c), 0),
    hold: (tokens) => holdOf(tokens, pieces),
    ofRank: build,
  };
}

const wholeToken = (r: RankCells): number =>
  r.full.reduce((all, t) => all + t.count * t.whole, 0) + draftWhole(r) + r.workspace;

/** A draft costs what the model's layers cost, every head once. */
const draftWhole = (r: RankCells): number =>
  r.draftBytes *
  (r.full.reduce((all, t) => all + t.whole, 0) /
    Math.max(
      1,
      r.full.reduce((all, t) => all + t.bytes, 0),
    ));

/** One request over the whole replica, each head once. */
const wholeOf = (r: RankCells, tokens: number, c: SglangConfiguration): number =>
  wholeToken(r) * tokens +
  r.windows.reduce((all, t) => all + t.count * t.whole * Math.min(tokens, t.layer.window ?? tokens), 0) +
  stateOf(r) * (c.rings ? 1 : c.placement.attentionTensor);

function holdOf(tokens: number, pieces: readonly Piece[]): Hold {
  const held = { blocks: 0, reserved: 0, payload: 0, tail: 0, padding: 0, reservation: 0 };
  for (const piece of pieces) {
    const blocks = piece.blocks(tokens);
    const reserved = blocks * piece.group.bytesPerBlock;
    const used = Math.min(reserved, piece.used(tokens));
    held.blocks += blocks;
    held.reserved += reserved;
    held.payload += used;
    held[piece.windowed ? 'reservation' : 'tail'] += reserved - used;
  }
  return held;
}

const storedBy = (c: SglangConfiguration): Origin => ({
  kind: 'config',
  text: `KV dtype ${c.stored.value}: ${c.stored.how}`,
});

const terms = (tallies: readonly Tally[]): string => tallies.map((t) => `${t.count} × (${t.shown})`).join(' + ') || '0';

function explainToken(r: RankCells, c: SglangConfiguration, model: Model): Explanation {
  const { attentionTensor, context, attentionData } = c.placement;
  const draft = r.draftBytes > 0 ? ` + ${withCommas(r.draftBytes)} (draft)` : '';
  const workspace = r.workspace > 0 ? ` + ${withCommas(r.workspace)} (workspace)` : '';
  const replicated = isLatent(model)
    ? attentionTensor > 1
    : (r.full[0]?.layer.kvHeads ?? attentionTensor) < attentionTensor;
  const origins: Origin[] = [storedBy(c)];
  if (replicated) {
    const why = isLatent(model) ? 'MLA is not divided' : 'fewer KV heads than GPUs';
    origins.push({ kind: 'derived', text: `one head or vector is kept on each of ${attentionTensor} GPUs: ${why}` });
  }
  if (attentionData > 1) {
    origins.push({
      kind: 'derived',
      text: `attention of one worker on ${attentionTensor === 1 ? '1 GPU' : `${attentionTensor} GPUs`}: tp-size ÷ dp-size`,
    });
  }
  return {
    symbols: `${symbolsOf(isLatent(model), c.stored.value)}${context > 1 ? ' ÷ DCP' : ''}`,
    numbers: `${terms(r.full)}${draft}${workspace}${context > 1 ? ` ÷ ${context}` : ''} = ${withCommas(r.fullBytes / context)}`,
    origins,
    source: SOURCE,
  };
}

function explainTotal(cells: readonly RankCells[], c: SglangConfiguration, total: number): Explanation {
  const all = cells.flatMap((r) => r.full);
  const draft = cells.reduce((sum, r) => sum + draftWhole(r), 0);
  return {
    symbols: 'Σ layers: bytes of one token, every head once',
    numbers: `${all.map((t) => `${t.count} × ${withCommas(t.whole)}`).join(' + ') || '0'}${draft > 0 ? ` + ${withCommas(draft)} (draft)` : ''} = ${withCommas(total)}`,
    origins: [storedBy(c)],
    source: SOURCE,
  };
}

function explainFixed(r: RankCells, c: SglangConfiguration, value: number): Explanation {
  const windows = r.windows.map((t) => `${t.count} × ${t.layer.window} × ${withCommas(t.bytes)}`);
  const states = r.stateLayers > 0 ? [`${r.stateLayers} states: ${withCommas(stateOf(r))}`] : [];
  return {
    symbols: 'Σ window layers: window × bytes per token + Σ state layers: convolution and recurrent state',
    numbers: `${[...windows, ...states].join(' + ') || '0'} = ${withCommas(value)}`,
    origins: [
      {
        kind: 'config',
        text:
          states.length > 0
            ? `the model’s config; recurrent states of ${c.states.recurrentBytes} bytes an element`
            : windows.length > 0
              ? 'windows of the model’s config'
              : 'no layer has a window or a state of its own',
      },
    ],
    source: SOURCE,
  };
}

function explainPage(r: RankCells, c: SglangConfiguration): Explanation {
  const cell = cellOf(r, c);
  const windows = c.windowRatio !== undefined && r.windowBytes > 0;
  return {
    symbols: windows ? 'page size × (full cell + ratio × window cell)' : 'page size × bytes per token',
    numbers: windows
      ? `${c.page.tokens} × (${withCommas(r.fullBytes)} + ${c.windowRatio} × ${withCommas(r.windowBytes)}) = ${withCommas(cell * c.page.tokens)}`
      : `${c.page.tokens} × ${withCommas(cell)} = ${withCommas(cell * c.page.tokens)}`,
    origins: [{ kind: 'derived', text: `page size ${c.page.tokens}: ${c.page.how}` }],
    source: SOURCE,
  };
}
