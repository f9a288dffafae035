/**
 * Caches of a context as a layout. Cells of a unified context are blocks of one token, and each cache is a pool of its
 * own; where each sequence has its own cells, its slot is one block: windows and states come with it.
 */

import type { Finding, Group, Hold, Layout, Rank } from '../engines/engine';
import { type Explanation, figure } from '../figure';
import { ggmlType } from '../model/ggml-types';
import type { KvLayer } from '../model/model';
import { ceilDiv, withCommas } from '../units';
import type { GgmlConfiguration } from './configuration';
import { HOST, kvDevices } from './devices';
import { type Cache, type CacheLayer, cacheLayerBytes, growsWithTokens } from './sizes';

const SOURCE = 'llama.cpp v0.5.0, src/llama-kv-cache.cpp';

/** One cache's part on one device. */
interface Part {
  readonly cache: Cache;
  readonly layers: readonly CacheLayer[];
  readonly grows: boolean;
}

export const devicesOf = (c: GgmlConfiguration): readonly number[] =>
  kvDevices(
    c.split,
    c.sizes.caches.flatMap((cache) => cache.layers.map((l) => l.at)),
  );

const partsOn = (c: GgmlConfiguration, device: number | undefined): readonly Part[] =>
  c.sizes.caches.map((cache) => ({
    cache,
    layers: cache.layers.filter((l) => device === undefined || c.split.kvOn(l.at) === device),
    grows: growsWithTokens(cache, c.sizes.context),
  }));

/** The caches that a layout's groups stand for, in their order. */
export const cachesOn = (c: GgmlConfiguration, device: number): readonly Cache[] =>
  partsOn(c, device).flatMap((p) => (p.layers.length > 0 ? [p.cache] : []));

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Bytes of one cell over the layers of a part. */
const cellBytes = ({ layers }: Part): number => sum(layers.map((l) => l.key + l.value));

const partBytes = ({ cache, layers }: Part): number => sum(layers.map((l) => cacheLayerBytes(cache, l)));

/** Bytes of all caches on a device (all devices when it is not given). */
export const deviceBytes = (c: GgmlConfiguration, device: number | undefined): number =>
  sum(partsOn(c, device).map(partBytes));

export function layoutOf(c: GgmlConfiguration): Layout {
  const devices = devicesOf(c);
  const ranks = devices.map((device, stage) => rankOf(stage, partsOn(c, device), c));
  const bytes = devices.map((device) => deviceBytes(c, device));
  const build = (rank: number): Layout => seenFrom(rank, { c, devices, ranks, build });
  return build(bytes.indexOf(Math.max(...bytes)));
}

/** Payload of one request's windows and states, once it is long enough. */
const fixedBytes = (parts: readonly Part[]): number =>
  sum(parts.filter((p) => !p.grows).flatMap((p) => p.layers.map((l) => windowOf(l.layer) * (l.key + l.value))));

const windowOf = (layer: KvLayer): number => layer.window ?? 1;

function rankOf(stage: number, parts: readonly Part[], c: GgmlConfiguration): Rank {
  const own = parts.flatMap((p) => p.layers);
  return {
    stage,
    layers: own.filter((l) => !l.layer.joined).length,
    bytesPerToken: tokenBytes(parts),
    fixedBytes: fixedBytes(parts),
    bytesPerBlock: blockBytes(parts, c),
  };
}

const tokenBytes = (parts: readonly Part[]): number => sum(parts.filter((p) => p.grows).map(cellBytes));

const hasGrowing = (c: GgmlConfiguration): boolean =>
  c.sizes.caches.some((cache) => growsWithTokens(cache, c.sizes.context));

/** Requests share cells where some cells grow with them; else a request takes one sequence's windows and states. */
export const byCell = (c: GgmlConfiguration): boolean => c.pooled && hasGrowing(c);

/** Bytes of a part that one sequence has for itself. */
const perSequence = (part: Part, c: GgmlConfiguration): number => partBytes(part) / c.sequences;

const blockBytes = (parts: readonly Part[], c: GgmlConfiguration): number =>
  byCell(c) ? tokenBytes(parts) : sum(parts.map((p) => perSequence(p, c)));

interface Seen {
  readonly c: GgmlConfiguration;
  readonly devices: readonly number[];
  readonly ranks: readonly Rank[];
  readonly build: (rank: number) => Layout;
}

function seenFrom(decidingRank: number, { c, devices, ranks, build }: Seen): Layout {
  const device = devices[decidingRank] as number;
  const parts = partsOn(c, device).filter((p) => p.layers.length > 0);
  const all = partsOn(c, undefined);
  const rank = ranks[decidingRank] as Rank;
  const perGpu = { scope: 'per GPU' } as const;
  const cells = byCell(c);
  const slot = c.sizes.context.tokensPerSequence;
  const groups = cells ? parts.map((p) => groupOf(p, c, cells)) : slotGroups(parts, c, rank);
  const groupBlocks = (tokens: number) =>
    parts.map((p, i) => (cells ? cellsOf(p, tokens) : i === 0 ? Math.max(1, ceilDiv(tokens, slot)) : 0));
  return {
    allocator: cells ? 'cells' : 'slots',
    dtype: { key: c.dtypeKey, value: dtypeText(c) },
    blockSize: cells ? 1 : slot,
    tokensPerSlot: 1,
    groups,
    ranks,
    decidingRank,
    findings: placeFindings(c, device),
    bytesPerToken: figure(rank.bytesPerToken, 'bytes', () => explainToken(parts, c, rank.bytesPerToken), perGpu),
    bytesPerTokenTotal: figure(tokenBytes(all), 'bytes', () => explainToken(all, c, tokenBytes(all)), {
      scope: 'whole deployment',
    }),
    fixedBytes: figure(rank.fixedBytes, 'bytes', () => explainFixed(parts, c, rank.fixedBytes), perGpu),
    bytesPerBlock: figure(rank.bytesPerBlock, 'bytes', () => explainBlock(parts, c, rank), perGpu),
    groupBlocks,
    payload: (tokens) => payloadOf(parts, tokens),
    wholePayload: (tokens) => payloadOf(all, tokens),
    hold: (tokens) => holdOf(parts, groups, groupBlocks(tokens), tokens),
    ofRank: build,
  };
}

const dtypeText = ({ spec }: GgmlConfiguration): string =>
  spec.keyType === spec.valueType ? spec.keyType : `${spec.keyType} keys, ${spec.valueType} values`;

const groupOf = (part: Part, c: GgmlConfiguration, cells: boolean): Group => ({
  kind: (part.layers[0] as CacheLayer).layer.kind,
  layers: part.layers.length,
  dtype: part.cache.kind === 'recurrent' ? 'f32' : dtypeText(c),
  blockSize: cells && part.cache.kind !== 'recurrent' ? 1 : c.sizes.context.tokensPerSequence,
  bytesPerBlock: cells && part.cache.kind !== 'recurrent' ? cellBytes(part) : perSequence(part, c),
});

/** Of caches that stand in one slot the first stands for the block. */
const slotGroups = (parts: readonly Part[], c: GgmlConfiguration, rank: Rank): readonly Group[] =>
  parts.map((p, i) =>
    i === 0 ? { ...groupOf(p, c, false), bytesPerBlock: rank.bytesPerBlock } : groupOf(p, c, false),
  );

/** Cells that a request of so many tokens holds in a cache. */
function cellsOf({ cache, layers, grows }: Part, tokens: number): number {
  if (cache.kind === 'recurrent') {
    return 1;
  }
  return grows ? tokens : Math.min(tokens, windowOf((layers[0] as CacheLayer).layer));
}

const payloadOf = (parts: readonly Part[], tokens: number): number =>
  sum(
    parts.flatMap(({ grows, layers }) =>
      layers.map((l) => (l.key + l.value) * (grows ? tokens : Math.min(tokens, windowOf(l.layer)))),
    ),
  );

/** A cell holds one token; a slot with its windows and states is set aside whole. */
function holdOf(parts: readonly Part[], groups: readonly Group[], blocks: readonly number[], tokens: number): Hold {
  const reserved = sum(blocks.map((n, i) => n * (groups[i]?.bytesPerBlock ?? 0)));
  const payload = payloadOf(parts, tokens);
  return { blocks: sum(blocks), reserved, payload, tail: 0, padding: 0, reservation: reserved - payload };
}

/** Where keys and values are not on a GPU, the figures are of something else, or not of all of it. */
function placeFindings(c: GgmlConfiguration, device: number): readonly Finding[] {
  if (device === HOST) {
    return [
      {
        code: 'kv-on-host',
        severity: 'information',
        message: `Keys and values are in the host's memory: what is said per GPU is of the host.`,
        option: c.offloadOption,
        fixes: [],
      },
    ];
  }
  const host = partsOn(c, HOST);
  const bytes = sum(host.map(partBytes));
  const layers = host.flatMap((p) => p.layers).length;
  return bytes === 0
    ? []
    : [
        {
          code: 'layers-on-host',
          severity: 'information',
          message: `${layers} of ${sum(c.sizes.caches.map((x) => x.layers.length))} KV layers stay in the host's memory, ${withCommas(bytes)} bytes of keys and values: every token passes through the CPU.`,
          option: c.offloadOption,
          fixes: [],
        },
      ];
}

/** `q8_0: 34 bytes for 32 numbers`. */
function origins({ spec }: GgmlConfiguration): Explanation['origins'] {
  return [...new Set([spec.keyType, spec.valueType])].map((name) => {
    const type = ggmlType(name);
    return {
      kind: 'derived',
      text: `${name}: ${type?.bytes} bytes for ${type?.elements === 1 ? 'a number' : `${type?.elements} numbers`}`,
    };
  });
}

function explainToken(parts: readonly Part[], c: GgmlConfiguration, value: number): Explanation {
  const terms = parts.filter((p) => p.grows).flatMap((p) => tallies(p.layers));
  return {
    symbols: `Σ layers: ${c.spec.keyType} row of keys + ${c.spec.valueType} row of values`,
    numbers: `${terms.map(([l, n]) => `${n} × (${withCommas(l.key)} + ${withCommas(l.value)})`).join(' + ') || '0'} = ${withCommas(value)}`,
    origins: origins(c),
    source: SOURCE,
  };
}

/** Layers of the same rows, counted. */
function tallies(layers: readonly CacheLayer[]): readonly (readonly [CacheLayer, number])[] {
  const counted = new Map<string, [CacheLayer, number]>();
  for (const layer of layers) {
    const key = `${layer.key} ${layer.value} ${layer.layer.window}`;
    const known = counted.get(key);
    counted.set(key, known ? [known[0], known[1] + 1] : [layer, 1]);
  }
  return [...counted.values()];
}

function explainFixed(parts: readonly Part[], c: GgmlConfiguration, value: number): Explanation {
  const terms = parts
    .filter((p) => !p.grows)
    .flatMap((p) => tallies(p.layers))
    .map(([l, n]) => `${n} × ${withCommas(windowOf(l.layer))} × ${withCommas(l.key + l.value)}`);
  return {
    symbols: 'Σ window × row of keys and values + states in f32',
    numbers: `${terms.join(' + ') || '0'} = ${withCommas(value)}`,
    origins: origins(c),
    source: `${SOURCE}, src/llama-memory-recurrent.cpp`,
  };
}

function explainBlock(parts: readonly Part[], c: GgmlConfiguration, rank: Rank): Explanation {
  return byCell(c)
    ? {
        symbols: 'one cell: keys and values of one token',
        numbers: withCommas(rank.bytesPerBlock),
        origins: origins(c),
        source: SOURCE,
      }
    : {
        symbols: 'one slot: Σ caches: cells of one sequence × row of keys and values',
        numbers: `${parts.map((p) => `${withCommas((p.cache.cells * p.cache.streams) / c.sequences)} × ${withCommas(cellBytes(p))}`).join(' + ')} = ${withCommas(rank.bytesPerBlock)}`,
        origins: origins(c),
        source: SOURCE,
      };
}
