/**
 * Cells and bytes of the caches that llama.cpp's library makes for one context.
 * Source: llama.cpp v0.5.0, src/llama-context.cpp, src/llama-kv-cache.cpp, src/llama-kv-cache-iswa.cpp, src/llama-memory-recurrent.cpp.
 */
import { ggmlType } from '../model/ggml-types';
import type { KvLayer, StateShape } from '../model/model';
import { ceilDiv } from '../units';
import type { GgmlRules } from './rules';

/** What a context is asked for. */
export interface ContextSpec {
  readonly rules: GgmlRules;
  /** Tokens over all sequences, before any rounding. */
  readonly tokens: number;
  readonly sequences: number;
  readonly unified: boolean;
  readonly batch: number;
  readonly microBatch: number;
  readonly keyType: string;
  readonly valueType: string;
  readonly flash: boolean;
  /** Sliding layers get as many cells as full ones. */
  readonly fullWindows: boolean;
}

export interface Context {
  /** As the library prints it: cells over all sequences. */
  readonly tokens: number;
  readonly tokensPerSequence: number;
  readonly streams: number;
  readonly batch: number;
  readonly microBatch: number;
}

/** One layer's part of a cache. */
export interface CacheLayer {
  readonly layer: KvLayer;
  /** The transformer layer, from 0. */
  readonly at: number;
  /** Bytes of one cell: keys, and values (for a state: the convolution's part, and the state). */
  readonly key: number;
  readonly value: number;
}

export interface Cache {
  readonly kind: 'kv' | 'sliding' | 'indexer' | 'recurrent';
  /** Cells of one stream; rows of states. */
  readonly cells: number;
  readonly streams: number;
  readonly layers: readonly CacheLayer[];
}

export interface Sizes {
  readonly context: Context;
  readonly caches: readonly Cache[];
}

const pad = (n: number, to: number): number => ceilDiv(n, to) * to;

function contextOf(spec: ContextSpec): Context {
  const { rules, sequences, unified } = spec;
  const batch = Math.min(spec.tokens, spec.batch);
  const microBatch = Math.min(batch, spec.microBatch);
  const to = rules.padding === 'always-256' || spec.flash ? 256 : 32;
  const of = (tokens: number, tokensPerSequence: number, streams: number): Context => ({
    tokens,
    tokensPerSequence,
    streams,
    batch,
    microBatch,
  });
  const padded = pad(spec.tokens, to);
  if (rules.streams === 'none') {
    // All sequences share the cells; servers hand each its part of the context.
    return of(padded, Math.floor(spec.tokens / sequences), 1);
  }
  if (unified) {
    return of(padded, padded, 1);
  }
  const own = rules.streams === 'up' ? pad(ceilDiv(padded, sequences), to) : pad(Math.floor(padded / sequences), to);
  return of(own * sequences, own, sequences);
}

/** Bytes of `elements` numbers of a type; undefined where they are no whole number of blocks. */
function rowBytes(type: string, elements: number): number | undefined {
  const t = ggmlType(type);
  return t && elements % t.elements === 0 ? (elements / t.elements) * t.bytes : undefined;
}

/** A layer whose row is no whole number of blocks of its type. */
export class RowError extends Error {
  constructor(
    readonly type: string,
    readonly width: number,
  ) {
    super(`${type} rows of ${width}`);
  }
}

function row(type: string, elements: number): number {
  const bytes = rowBytes(type, elements);
  if (bytes === undefined) {
    throw new RowError(type, elements);
  }
  return bytes;
}

/** Throws `RowError`. `at[i]` is the transformer layer that `layers[i]` is part of. */
export function sizesOf(layers: readonly KvLayer[], at: readonly number[], spec: ContextSpec): Sizes {
  const context = contextOf(spec);
  const widest = widestValue(layers, spec);
  const members: Record<Cache['kind'], CacheLayer[]> = { kv: [], sliding: [], indexer: [], recurrent: [] };
  layers.forEach((layer, i) => {
    const kind = cacheOf(layer, spec);
    if (kind) {
      members[kind].push({ layer, at: at[i] as number, ...bytesOf(layer, spec, widest) });
    }
  });
  const windows = [...new Set(members.sliding.map((m) => m.layer.window as number))];
  const kinds: readonly (readonly [Cache['kind'], number, readonly CacheLayer[]])[] = [
    ['kv', context.streams === 1 ? context.tokens : context.tokensPerSequence, members.kv],
    ...windows.map(
      (window) =>
        [
          'sliding',
          windowCells(window, context, spec),
          members.sliding.filter((m) => m.layer.window === window),
        ] as const,
    ),
    ['indexer', context.streams === 1 ? context.tokens : context.tokensPerSequence, members.indexer],
    ['recurrent', Math.max(1, spec.sequences), members.recurrent],
  ];
  return {
    context,
    caches: kinds
      .filter(([, , own]) => own.length > 0)
      .map(([kind, cells, own]) => ({
        kind,
        cells,
        streams: kind === 'recurrent' ? 1 : context.streams,
        layers: own,
      })),
  };
}

function cacheOf(layer: KvLayer, { rules }: ContextSpec): Cache['kind'] | undefined {
  switch (layer.kind) {
    case 'full':
    case 'latent':
      return 'kv';
    case 'sliding':
    case 'chunked':
      return rules.window === 'none' ? 'kv' : 'sliding';
    case 'indexer':
      return 'indexer';
    case 'state':
      return 'recurrent';
    default:
      return undefined;
  }
}

/** Without flash attention values are stored transposed, and padded to the widest layer's where layers differ. */
function widestValue(layers: readonly KvLayer[], spec: ContextSpec): number | undefined {
  const widths = layers.filter((l) => l.valueDim > 0).map((l) => l.kvHeads * l.valueDim);
  return spec.flash || widths.length === 0 ? undefined : Math.max(...widths);
}

function bytesOf(layer: KvLayer, spec: ContextSpec, widest: number | undefined): Pick<CacheLayer, 'key' | 'value'> {
  const { keyType, valueType, rules } = spec;
  if (layer.state) {
    const { shift, state } = stateElements(layer.state);
    return { key: 4 * shift, value: 4 * state };
  }
  const key = row(keyType, layer.kvHeads * layer.headDim);
  if (layer.kind === 'latent') {
    const value = rules.latent === 'key' ? 0 : row(valueType, layer.headDim - (layer.ropeDim ?? 0));
    return { key, value };
  }
  return { key, value: layer.valueDim === 0 ? 0 : row(valueType, widest ?? layer.kvHeads * layer.valueDim) };
}

/** Elements of one sequence, kept in float32: what the convolution looks back on, and the state. */
function stateElements(s: StateShape): { readonly shift: number; readonly state: number } {
  switch (s.type) {
    case 'mamba1':
      return { shift: (s.conv - 1) * s.inner, state: s.stateSize * s.inner };
    case 'mamba2': {
      const inner = s.heads * s.headDim;
      return { shift: (s.conv - 1) * (inner + 2 * s.groups * s.stateSize), state: s.stateSize * inner };
    }
    case 'gated-delta-net': {
      const inner = s.valueHeads * s.valueDim;
      return { shift: (s.conv - 1) * (inner + 2 * s.keyHeads * s.keyDim), state: s.keyDim * inner };
    }
    case 'kda':
      return { shift: 3 * (s.conv - 1) * s.heads * s.headDim, state: s.headDim ** 2 * s.heads };
    case 'short-conv':
      return { shift: s.dim * (s.conv - 1), state: 0 };
    case 'linear':
      return { shift: 0, state: s.headDim ** 2 * s.heads };
  }
}

/** Longest window that Ollama's own engine keeps for gpt-oss and Gemma 4 whatever the model's. */
const OLLAMA_MEMORY = 4096;

function windowCells(window: number, context: Context, spec: ContextSpec): number {
  const { rules, sequences, unified } = spec;
  const full = context.streams === 1 ? context.tokens : context.tokensPerSequence;
  if (spec.fullWindows && rules.window !== 'ollama-engine') {
    return full;
  }
  const together = context.streams === 1 || unified ? sequences : 1;
  switch (rules.window) {
    case 'batch':
      return Math.min(full, pad(window * together + context.batch, 256));
    case 'padded-inside':
      return Math.min(full, pad(window * together + context.microBatch, 256));
    case 'ollama-engine': {
      const memory = Math.max(spec.fullWindows ? OLLAMA_MEMORY : window, sequences > 1 ? window + 1 : 0);
      return memory >= spec.tokens / sequences ? full : pad(sequences * memory + context.batch, 256);
    }
    default:
      return pad(Math.min(full, window * together + context.microBatch), 256);
  }
}

export const cacheLayerBytes = (cache: Cache, layer: CacheLayer): number =>
  (layer.key + layer.value) * cache.cells * cache.streams;

/** Layers whose cells grow with a request's tokens. */
export const growsWithTokens = (cache: Cache, context: Context): boolean =>
  cache.kind === 'kv' ||
  cache.kind === 'indexer' ||
  (cache.kind === 'sliding' && cache.cells >= (context.streams === 1 ? context.tokens : context.tokensPerSequence));
