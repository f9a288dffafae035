/**
 * The header of a GGUF file → `Model`. Rules are those of llama.cpp's own loader (v0.5.0, src/llama-model.cpp ::
 * load_hparams), keyed on the file's keys and its architecture.
 */
import { ggmlTypeName } from './ggml-types';
import type { GgufHeader, GgufTensor } from './gguf';
import { fullInterval, isUncovered, OWN_LAYERS, stateRule, windowDefaults } from './gguf-architectures';
import { fieldsOf, type GgufFields } from './gguf-fields';
import { stateLayers } from './gguf-states';
import { type KvLayer, type Model, ModelError } from './model';

export interface GgufFile {
  /** Headers of all parts of a split file, first one first; the first holds the keys. */
  readonly headers: readonly GgufHeader[];
  readonly path: string;
}

/** Throws `ModelError` for what is missing or malformed. */
export function modelFromGguf({ headers, path }: GgufFile, id: string): Model {
  const [first] = headers;
  if (!first) {
    throw new ModelError('no GGUF header');
  }
  const f = fieldsOf(first);
  const nextn = Math.min(f.whole('nextn_predict_layers') ?? 0, f.blocks - 1);
  const byLayer = layersOf(f);
  const layers = byLayer.slice(0, f.blocks - nextn).flat();
  const heads = f.perLayer('attention.head_count') ?? [0];
  const tensors = headers.flatMap((h) => h.tensors);
  const weights = weightsOf(f, headers, tensors);
  const experts = expertsOf(f);
  return {
    id,
    source: { kind: 'config', text: path },
    architecture: f.architecture,
    layers,
    mtpLayers: byLayer
      .slice(f.blocks - nextn)
      .flat()
      .map((layer): KvLayer => ({ ...layer, draft: true })),
    attentionHeads: Math.max(...heads),
    kvHeads: Math.max(0, ...layers.map((l) => l.kvHeads)),
    hiddenSize: f.required('embedding_length'),
    intermediateSize: Math.max(0, ...(f.perLayer('feed_forward_length') ?? [0])),
    vocabSize: vocabularyOf(f, first, tensors),
    ...(experts ? { experts } : {}),
    dtype: 'float16',
    maxPositions: f.required('context_length'),
    quantisation: quantisationOf(tensors),
    ...(tensors.length > 0 ? { parameters: elements(tensors) } : {}),
    ...(weights ? { weights } : {}),
    multimodal: false,
    gguf: { layerBytes: layerBytes(f.blocks, tensors), inputBytes: inputBytes(tensors), blocks: f.blocks },
  };
}

/** What each layer keeps: an entry may be several that are joined. */
function layersOf(f: GgufFields): readonly (readonly KvLayer[])[] {
  const rule = stateRule(f.architecture);
  const isWindowed = windowedLayers(f);
  const kvHeads = kvHeadsOf(f);
  const widths = f.perLayer('feed_forward_length');
  const states = rule === 'none' ? [] : stateLayers(f);
  return Array.from({ length: f.blocks }, (_, i): readonly KvLayer[] => {
    if (isUncovered(f.architecture)) {
      return [nothing('other')];
    }
    const heads = kvHeads[i] ?? 0;
    if (rule === 'all' || (rule === 'interval' && isRecurrent(f, i))) {
      return states;
    }
    if (heads === 0) {
      const isMixer = rule === 'headless' && (!f.architecture.startsWith('nemotron_h') || (widths?.[i] ?? 0) === 0);
      return isMixer ? states : [nothing('none')];
    }
    const own = attentionLayer(f, heads, isWindowed(i), i);
    return rule === 'beside' ? [...states, ...own.map((l): KvLayer => ({ ...l, joined: true }))] : own;
  });
}

const nothing = (kind: 'none' | 'other'): KvLayer => ({ kind, kvHeads: 0, headDim: 0, valueDim: 0 });

function kvHeadsOf(f: GgufFields): readonly number[] {
  const stated = f.perLayer('attention.head_count_kv') ?? f.perLayer('attention.head_count');
  // Up to August 2026 the list left out the layers of MTP heads.
  const last = stated?.at(-1) ?? 0;
  return Array.from({ length: f.blocks }, (_, i) => stated?.[i] ?? last);
}

function isRecurrent(f: GgufFields, layer: number): boolean {
  const listed = f.flags('attention.recurrent_layers');
  return listed
    ? (listed[layer] ?? false)
    : (layer + 1) % (f.whole('full_attention_interval') ?? fullInterval(f.architecture)) !== 0;
}

function attentionLayer(f: GgufFields, kvHeads: number, windowed: boolean, layer: number): readonly KvLayer[] {
  const heads = f.perLayer('attention.head_count')?.[layer] ?? f.perLayer('attention.head_count')?.[0] ?? 0;
  const derived = heads > 0 ? f.required('embedding_length') / heads : 0;
  const size = (key: string) => (windowed ? f.whole(`${key}_swa`) : undefined) ?? f.whole(key) ?? derived;
  const headDim = size('attention.key_length');
  const valueDim = size('attention.value_length');
  if (!Number.isInteger(headDim) || !Number.isInteger(valueDim)) {
    throw new ModelError('attention.key_length is missing, and embedding_length is no multiple of head_count');
  }
  if (f.has('attention.key_length_mla') && f.has('attention.value_length_mla')) {
    const ropeDim = f.whole('rope.dimension_count');
    const latent: KvLayer = { kind: 'latent', kvHeads: 1, headDim, valueDim: 0, ...(ropeDim ? { ropeDim } : {}) };
    const index = f.whole('attention.indexer.key_length') ?? 0;
    // Where a file tells kinds, shared ones read the choice of an earlier layer and keep no keys.
    const keeps = f.flags('attention.indexer.types')?.[layer] ?? true;
    return index > 0 && keeps
      ? [latent, { kind: 'indexer', kvHeads: 1, headDim: index, valueDim: 0, joined: true }]
      : [latent];
  }
  if (layer >= ownLayers(f)) {
    return [{ kind: 'shared', kvHeads, headDim, valueDim }];
  }
  const defaults = windowDefaults(f.architecture);
  const window = windowOf(f);
  return windowed && window > 0
    ? [{ kind: defaults?.chunked ? 'chunked' : 'sliding', kvHeads, headDim, valueDim, window }]
    : [{ kind: 'full', kvHeads, headDim, valueDim }];
}

/** 0 = no window: a file may say so. */
function windowOf(f: GgufFields): number {
  const defaults = windowDefaults(f.architecture);
  const stated = f.whole('attention.sliding_window') ?? defaults?.window ?? 0;
  return stated > 0 ? (defaults?.fixed ?? stated) : 0;
}

const ownLayers = (f: GgufFields): number =>
  OWN_LAYERS.get(f.architecture) ?? f.blocks - (f.whole('attention.shared_kv_layers') ?? 0);

/** A list of flags wins over a period, and a period in the file over the architecture's own. */
function windowedLayers(f: GgufFields): (layer: number) => boolean {
  const defaults = windowDefaults(f.architecture);
  const listed = f.flags('attention.sliding_window_pattern');
  const isOff = defaults?.layers !== undefined && defaults.layers !== f.blocks;
  if (!defaults || isOff) {
    return () => false;
  }
  if (defaults.period === 1) {
    return () => true;
  }
  if (listed) {
    return (i) => listed[i] ?? false;
  }
  const period = f.whole('attention.sliding_window_pattern') ?? defaults.period;
  if (period === 0) {
    return () => false;
  }
  return defaults.denseFirst ? (i) => i % period !== 0 : (i) => i % period < period - 1;
}

function expertsOf(f: GgufFields): Model['experts'] {
  const experts = f.whole('expert_count') ?? 0;
  const intermediate =
    f.whole('expert_feed_forward_length') ?? Math.max(0, ...(f.perLayer('feed_forward_length') ?? []));
  return experts > 0
    ? {
        experts,
        expertsPerToken: f.whole('expert_used_count') ?? 0,
        intermediate,
        sharedIntermediate:
          f.whole('expert_shared_feed_forward_length') ?? intermediate * (f.whole('expert_shared_count') ?? 0),
      }
    : undefined;
}

function vocabularyOf(f: GgufFields, { metadata }: GgufHeader, tensors: readonly GgufTensor[]): number {
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const listed = typeof tokens === 'object' ? tokens.length : undefined;
  return f.whole('vocab_size') ?? listed ?? tensors.find((t) => t.name === 'token_embd.weight')?.dims[1] ?? 0;
}

const elements = (tensors: readonly GgufTensor[]): number =>
  tensors.reduce((total, t) => total + t.dims.reduce((a, b) => a * b, 1), 0);

const sum = (tensors: readonly GgufTensor[]): number => tensors.reduce((total, t) => total + t.bytes, 0);

/** Exact where every part of a split file is at hand; the label of a file is never taken for its size. */
function weightsOf(f: GgufFields, headers: readonly GgufHeader[], tensors: readonly GgufTensor[]): Model['weights'] {
  const parts = f.whole('split.count') ?? 1;
  if (tensors.length === 0 || headers.length < parts) {
    return undefined;
  }
  const bytes = sum(tensors);
  return { bytes, low: bytes, high: bytes, why: `sum of ${tensors.length} tensors in the GGUF file` };
}

/** The type that most weight bytes are in. */
function quantisationOf(tensors: readonly GgufTensor[]): string | undefined {
  const bytes = new Map<number, number>();
  for (const t of tensors) {
    bytes.set(t.type, (bytes.get(t.type) ?? 0) + t.bytes);
  }
  const [most] = [...bytes].sort((a, b) => b[1] - a[1]);
  return most && ggmlTypeName(most[0]);
}

/** Weight bytes of each layer: `blk.N.…`. */
function layerBytes(blocks: number, tensors: readonly GgufTensor[]): readonly number[] {
  const bytes = new Array<number>(blocks).fill(0);
  for (const { name, bytes: own } of tensors) {
    const layer = Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? -1);
    if (layer >= 0 && layer < blocks) {
      bytes[layer] = (bytes[layer] as number) + own;
    }
  }
  return bytes;
}

/** What stays beside the layers at the input: looked up on the host. */
const inputBytes = (tensors: readonly GgufTensor[]): number =>
  sum(tensors.filter((t) => /^(?:token_embd|position_embd|token_types|per_layer_token_embd)\./.test(t.name)));
