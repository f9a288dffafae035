/** Parameters counted from a config.json, and the bytes its weights take. */
import type { Experts } from './config-experts';
import { type Json, whole } from './config-fields';
import type { CheckpointQuantisation } from './config-quantisation';
import type { KvLayer, ModelDtype, WeightBytes } from './model';
import { attentionParameters, draftParameters, oftenKeptParameters } from './parameters';
import { ownWeightBytes, quantisedBytes, schemeNamed, type WeightFacts } from './quantisation';

interface Counted {
  readonly config: Json;
  readonly layers: readonly KvLayer[];
  readonly mtpLayers: readonly KvLayer[];
  readonly hiddenSize: number;
  readonly attentionHeads: number;
  readonly intermediateSize: number;
  readonly vocabSize: number;
  readonly tied: boolean;
  readonly experts?: Experts;
}

/** `share` is how far the count may be off. */
interface ParameterCount {
  readonly value: number;
  readonly share: number;
  readonly embeddings: number;
  readonly oftenKept: number;
  readonly draft: number;
  readonly routed: number;
}

/** Norms, biases, routers and other small tensors are not counted: the true number is up to 2 % higher. */
const UNCOUNTED = 0.02;
/** State layers differ more from one design to the next, and latent ones by their query rank. */
const UNCOUNTED_STATE = 0.1;

/** Undefined where layers are of a kind whose parameters we cannot count. */
export function countParameters(m: Counted): ParameterCount | undefined {
  if (m.layers.some((layer) => layer.kind === 'other' || layer.kind === 'cross') || m.vocabSize === 0) {
    return undefined;
  }
  const transformerLayers = m.layers.filter((layer) => !layer.joined);
  const embeddings = m.vocabSize * m.hiddenSize * (m.tied ? 1 : 2);
  const attention = m.layers.reduce((sum, layer) => sum + layerAttention(m, layer), 0);
  const routed = routedParameters(m);
  const matrices = whole(m.config, ['mlp_matrices'], 'layers') ?? 3;
  const mlp = mlpLayers(m, transformerLayers.length) * matrices * m.hiddenSize * denseWidth(m);
  const shared = (m.experts?.layers ?? 0) * 3 * m.hiddenSize * (m.experts?.sharedIntermediate ?? 0);
  const state = m.layers.some((layer) => layer.kind === 'state');
  return {
    value: embeddings + attention + routed + mlp + shared,
    share: state ? UNCOUNTED_STATE : UNCOUNTED,
    embeddings,
    oftenKept: m.experts
      ? oftenKeptParameters(m.layers, m.hiddenSize, m.attentionHeads, m.experts.sharedIntermediate)
      : 0,
    draft: draftParameters(m.mtpLayers, m.hiddenSize, m.attentionHeads, mtpWidth(m), embeddings),
    routed,
  };
}

const mtpWidth = ({ experts: e, intermediateSize }: Counted): number =>
  e ? e.experts * e.intermediate + e.sharedIntermediate : intermediateSize;

/** Llama 4 states the width of its dense layers apart. */
const denseWidth = (m: Counted): number => whole(m.config, ['intermediate_size_mlp'], 'width') ?? m.intermediateSize;

function mlpLayers(m: Counted, layers: number): number {
  const pattern = m.config.hybrid_override_pattern;
  if (typeof pattern === 'string') {
    return [...pattern].filter((c) => c === '-').length;
  }
  return Math.max(0, layers - (m.experts?.layers ?? 0));
}

function routedParameters(m: Counted): number {
  const e = m.experts;
  return e ? e.layers * e.experts * 3 * (e.latent ?? m.hiddenSize) * e.intermediate : 0;
}

/** Latent attention by its ranks, when the config states them; all else as usual. */
function layerAttention(m: Counted, layer: KvLayer): number {
  const value = whole(m.config, ['v_head_dim'], 'dim');
  const nope = whole(m.config, ['qk_nope_head_dim'], 'dim');
  const { ropeDim } = layer;
  if (layer.kind !== 'latent' || !value || !nope || ropeDim === undefined) {
    return attentionParameters(layer, m.hiddenSize, m.attentionHeads);
  }
  const rank = layer.headDim - ropeDim;
  const queries = m.attentionHeads * (nope + ropeDim);
  const queryRank = whole(m.config, ['q_lora_rank'], 'width');
  return (
    (queryRank ? queryRank * (m.hiddenSize + queries) : m.hiddenSize * queries) +
    m.hiddenSize * layer.headDim +
    rank * m.attentionHeads * (nope + value) +
    m.attentionHeads * value * m.hiddenSize
  );
}

const BYTES: Readonly<Record<ModelDtype, number>> = { float32: 4, float16: 2, bfloat16: 2 };

export function configWeights(
  count: ParameterCount | undefined,
  dtype: ModelDtype,
  multimodal: boolean,
  quantisation: CheckpointQuantisation | undefined,
  experts: Experts | undefined,
): WeightBytes | undefined {
  if (!count) {
    return undefined;
  }
  const facts: WeightFacts = {
    parameters: count.value,
    embeddings: count.embeddings,
    oftenKept: count.oftenKept,
    draft: count.draft,
    textOnly: multimodal,
    bytesPerParameter: BYTES[dtype],
  };
  const scheme = quantisation && schemeNamed(quantisation.name);
  if (quantisation && !scheme) {
    return undefined;
  }
  const covered = quantisation?.expertsOnly && experts ? count.routed : undefined;
  const w = scheme ? quantisedBytes(facts, scheme, covered) : ownWeightBytes(facts);
  return (
    w && {
      ...w,
      high: Math.round(w.high * (1 + count.share)),
      low: Math.round(w.low * (1 - count.share / 2)),
      why: `${w.why}; parameters counted from the shape in config.json`,
    }
  );
}
