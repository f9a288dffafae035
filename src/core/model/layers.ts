/** From a shape and a pattern of layers to KV layers in layer order. Used by the catalogue and by config.json reading. */
import type { KvLayer, LayerKind, StateShape } from './model';

/** What an attention layer keeps per token, in elements. */
export interface Heads {
  readonly kvHeads: number;
  readonly headDim: number;
  readonly valueDim: number;
}

/** What decides the KV layers of a model, beside the pattern. */
export interface AttentionShape {
  readonly full: Heads;
  /** Where sliding or chunked layers have other heads than full ones. */
  readonly windowed?: Heads;
  /** Tokens a sliding layer looks back on. */
  readonly window?: number;
  /** Tokens of a chunk. */
  readonly chunk?: number;
  /** kv_lora_rank and qk_rope_head_dim: full layers are latent. */
  readonly latent?: { readonly rank: number; readonly rope: number };
  /** Index keys beside the latent vectors, on all layers or on those listed (from 0). */
  readonly indexer?: { readonly headDim: number; readonly layers?: readonly number[] };
  /** Last layers that read another layer's keys and values. */
  readonly sharedTail?: number;
  /** One own cache in every group of this many layers (cross-layer attention). */
  readonly sharedEvery?: number;
  /** Compressed history beside a window, one shared vector for keys and values: tokens per entry, by layer (0: the window alone). */
  readonly compressed?: {
    readonly dim: number;
    readonly rope: number;
    readonly indexDim: number;
    readonly ratios: readonly number[];
  };
  /** A cross-attention beside each decoder layer. */
  readonly crossHeads?: Heads;
  /** What each state layer keeps. */
  readonly state?: StateShape;
  /** Heads of each layer, where they differ from layer to layer. */
  readonly perLayer?: readonly Heads[];
}

/** One letter for each transformer layer. */
export type LayerLetter = 'F' | 'S' | 'C' | 'T' | 'B' | 'X' | 'N' | 'Z' | 'O';

/**
 * Expands a pattern: letters with counts, `*` repeats all before it, `+` adds a tail (`5SF*10+2S`).
 * F full (or latent), S sliding, C chunked, T state, B state and full side by side, X cross, N none, Z compressed history, O not covered.
 */
export function expandPattern(pattern: string): LayerLetter[] {
  return pattern.split('+').flatMap((part) => {
    const [body = '', repeats] = part.split('*');
    const letters = [...body.matchAll(/(\d*)([A-Z])/g)].flatMap(([, count, letter]) =>
      Array.from({ length: count ? Number(count) : 1 }, () => letter as LayerLetter),
    );
    return Array.from({ length: repeats ? Number(repeats) : 1 }, () => letters).flat();
  });
}

const NOTHING = { kvHeads: 0, headDim: 0, valueDim: 0 };

const attention = (kind: LayerKind, heads: Heads, window?: number): KvLayer => ({
  kind,
  kvHeads: heads.kvHeads,
  headDim: heads.headDim,
  valueDim: heads.valueDim,
  ...(window === undefined ? {} : { window }),
});

/** The KV layer that a full layer of this shape keeps. */
function fullLayer(shape: AttentionShape): KvLayer {
  if (!shape.latent) {
    return attention('full', shape.full);
  }
  const { rank, rope } = shape.latent;
  return { kind: 'latent', kvHeads: 1, headDim: rank + rope, valueDim: 0, ropeDim: rope };
}

/** The KV layers of MTP heads: they attend as the model's full layers do. */
export function mtpLayers(letters: readonly LayerLetter[], shape: AttentionShape, heads: number): KvLayer[] {
  if (heads > 0 && letters.includes('Z')) {
    return compressedLayers(shape, shape.compressed?.ratios[letters.length] ?? 0, (_, make) => make()).map((layer) => ({
      ...layer,
      draft: true,
    }));
  }
  const own: KvLayer = letters.includes('O') ? attention('other', NOTHING) : fullLayer(shape);
  const one = [own, ...(shape.indexer ? [indexerLayer(shape.indexer.headDim)] : [])].map(
    (layer): KvLayer => ({ ...layer, draft: true }),
  );
  return Array.from({ length: heads }, () => one).flat();
}

const indexerLayer = (headDim: number): KvLayer => ({
  kind: 'indexer',
  kvHeads: 1,
  headDim,
  valueDim: 0,
  joined: true,
});

/** KV layers in layer order. Equal layers are one object, so that a model of 100 layers costs little. */
export function kvLayers(letters: readonly LayerLetter[], shape: AttentionShape): KvLayer[] {
  const made = new Map<string, KvLayer>();
  const once = (key: string, make: () => KvLayer): KvLayer => {
    const known = made.get(key) ?? make();
    made.set(key, known);
    return known;
  };
  const firstShared = letters.length - (shape.sharedTail ?? 0);
  return letters.flatMap((letter, index) => {
    const own =
      letter === 'Z'
        ? compressedLayers(shape, shape.compressed?.ratios[index] ?? 0, once)
        : ownLayers(letter, ownShape(shape, index), once);
    const shares = index >= firstShared || (shape.sharedEvery ? index % shape.sharedEvery !== 0 : false);
    const main = shares ? own.map((layer) => once(`shared ${letter}`, () => ({ ...layer, kind: 'shared' }))) : own;
    return [...main, ...beside(letter, index, shape, once)];
  });
}

/** Layers made once are told apart by their heads where these differ. */
const ownShape = (shape: AttentionShape, index: number): AttentionShape => {
  const heads = shape.perLayer?.[index];
  return heads ? { ...shape, full: heads, windowed: heads } : shape;
};

type Once = (key: string, make: () => KvLayer) => KvLayer;

function ownLayers(letter: LayerLetter, shape: AttentionShape, once: Once): KvLayer[] {
  const windowed = shape.windowed ?? shape.full;
  const state = () =>
    once('T', () => ({ ...attention('state', NOTHING), ...(shape.state ? { state: shape.state } : {}) }));
  switch (letter) {
    case 'S':
      return [once(`S${windowed.kvHeads}`, () => attention('sliding', windowed, shape.window))];
    case 'C':
      return [once('C', () => attention('chunked', windowed, shape.chunk))];
    case 'T':
      return [state()];
    case 'B':
      return [state(), once('B', () => ({ ...fullLayer(shape), joined: true }))];
    case 'X':
      return [once('X', () => attention('cross', shape.full))];
    case 'N':
      return [once('N', () => attention('none', NOTHING))];
    case 'O':
      return [once('O', () => attention('other', NOTHING))];
    default:
      return [once(`F${shape.full.kvHeads}`, () => fullLayer(shape))];
  }
}

/** Entries of this ratio are found through index keys; coarser ones are read whole. Source: vLLM 0.28, models/deepseek_v4. */
const INDEXED_RATIO = 4;

function compressedLayers(shape: AttentionShape, ratio: number, once: Once): KvLayer[] {
  const { compressed, window } = shape;
  if (!compressed) {
    return [];
  }
  const { dim, rope, indexDim } = compressed;
  const vector = { kvHeads: 1, headDim: dim, valueDim: 0, ropeDim: rope } as const;
  const local = once('Z', () => ({
    kind: 'sliding',
    ...vector,
    ratio: 1,
    ...(window === undefined ? {} : { window }),
  }));
  if (ratio === 0) {
    return [local];
  }
  const entries = once(`Z${ratio}`, () => ({ kind: 'latent', ...vector, ratio, joined: true }));
  const index = once(`index ${ratio}`, () => ({ ...indexerLayer(indexDim), ratio }));
  return ratio === INDEXED_RATIO ? [local, entries, index] : [local, entries];
}

/** What stands beside an attending layer. */
function beside(letter: LayerLetter, index: number, shape: AttentionShape, once: Once): KvLayer[] {
  const { indexer, crossHeads } = shape;
  const attends = letter === 'F' || letter === 'B';
  const indexed = attends && indexer && (!indexer.layers || indexer.layers.includes(index));
  return [
    ...(indexed ? [once('indexer', () => indexerLayer(indexer.headDim))] : []),
    ...(crossHeads ? [once('cross', () => ({ ...attention('cross', crossHeads), joined: true as const }))] : []),
  ];
}
