/** Any decoder's config.json -> `Model`. Rules are keyed on fields, never on names of models. */
import { withClassDefaults } from './class-defaults';
import { expertsOf } from './config-experts';
import { at, firstSet, flag, isObject, type Json, required, text, whole, wholeList } from './config-fields';
import { architectureOf, attentionHeads, attentionShape, HIDDEN, hasAttention, kvHeads, LAYERS } from './config-heads';
import { layerLetters } from './config-layers';
import { checkpointKvDtype, checkpointQuantisation, quantisationConfig } from './config-quantisation';
import { stateDtype, stateShape } from './config-states';
import { configWeights, countParameters } from './config-weights';
import { kvLayers, mtpLayers } from './layers';
import { type Model, type ModelDtype, ModelError, type RopeScaling } from './model';

/** Where multimodal configs keep that of the text model; the first that is there is read. */
const NESTED = [
  'thinker_config.text_config',
  'text_config',
  'llm_config',
  'language_config',
  'language_model_config',
  'llm',
  // Beside an engine that trtllm-build made.
  'pretrained_config',
];
/** Signs of a vision or audio tower. */
const TOWERS = [
  'vision_config',
  'audio_config',
  'vision_tower',
  'thinker_config',
  'visual',
  'speech_config',
  'mm_vision_tower',
  'num_mel_bins',
];

/**
 * The model a parsed config.json describes. `from.id` is the name it goes by, `from.path` where it was read.
 * Throws `ModelError`, which names the field, for what is missing, malformed or not covered by any rule.
 */
export function modelFromConfig(json: unknown, from: { id: string; path: string }): Model {
  if (!isObject(json)) {
    throw new ModelError('config.json must hold an object');
  }
  const { config, outer } = textModel(json);
  if (firstSet(config, [...HIDDEN, ...LAYERS]) === undefined) {
    throw new ModelError(
      'not the config of a language model: hidden_size and num_hidden_layers are missing',
      'hidden_size',
    );
  }
  return hasAttention(config) ? attending(config, outer, from) : stateOnly(config, outer, from);
}

/** The text model's part, with what only the outer level says and what its class would fill in. */
function textModel(json: Json): { config: Json; outer: Json } {
  for (const path of NESTED) {
    const nested = at(json, path);
    if (isObject(nested)) {
      return { config: withClassDefaults(nested, true), outer: json };
    }
  }
  return { config: withClassDefaults(json, false), outer: json };
}

function attending(config: Json, outer: Json, from: { id: string; path: string }): Model {
  const hiddenSize = required(config, HIDDEN, 'width');
  const heads = attentionHeads(config);
  const shape = attentionShape(config, hiddenSize);
  const letters = layerLetters(config);
  return assemble(config, outer, from, {
    hiddenSize,
    attentionHeads: heads,
    kvHeads: kvHeads(config, heads),
    layers: kvLayers(letters, shape),
    mtpLayers: mtpLayers(letters, shape, mtpHeads(config)),
  });
}

/** No attention anywhere: every layer must be a state by some rule. */
function stateOnly(config: Json, outer: Json, from: { id: string; path: string }): Model {
  const letters = layerLetters(config);
  if (letters.includes('F') || letters.includes('S')) {
    throw new ModelError(
      'num_attention_heads is missing, and no field says that the layers keep a state',
      'num_attention_heads',
    );
  }
  const hiddenSize = required(config, HIDDEN, 'width');
  const state = stateShape(config, hiddenSize);
  const nothing = { kvHeads: 0, headDim: 0, valueDim: 0 };
  return assemble(config, outer, from, {
    hiddenSize,
    attentionHeads: 0,
    kvHeads: 0,
    layers: kvLayers(letters, { full: nothing, ...(state ? { state } : {}) }),
    mtpLayers: [],
  });
}

type Attention = Pick<Model, 'hiddenSize' | 'attentionHeads' | 'kvHeads' | 'layers' | 'mtpLayers'>;

function assemble(config: Json, outer: Json, from: { id: string; path: string }, attention: Attention): Model {
  const { hiddenSize } = attention;
  const intermediateSize = intermediate(config, hiddenSize);
  const vocabSize = whole({ ...outer, ...config }, ['vocab_size', 'padded_vocab_size'], 'vocabulary') ?? 0;
  const transformerLayers = attention.layers.filter((layer) => !layer.joined).length;
  const experts = expertsOf(config, transformerLayers, intermediateSize);
  const dtype = dtypeOf(config, outer);
  const q = quantisationConfig(outer) ?? quantisationConfig(config);
  const quantisation = checkpointQuantisation(q);
  const kvDtype = checkpointKvDtype(q);
  const multimodal = firstSet(outer, TOWERS) !== undefined;
  const tied =
    (text(config, 'tie_word_embeddings') ?? at(config, 'tie_word_embeddings') ?? at(outer, 'tie_word_embeddings')) ===
    true;
  const parameters = countParameters({
    config,
    ...attention,
    intermediateSize,
    vocabSize,
    tied,
    ...(experts ? { experts } : {}),
  });
  const rope = ropeOf(config);
  const states = stateDtype(config);
  const maxPositions = positions(config);
  const weights = configWeights(parameters, dtype, multimodal, quantisation, experts);
  return {
    id: from.id,
    source: { kind: 'config', text: from.path },
    architecture: architectureOf(outer),
    ...attention,
    intermediateSize,
    vocabSize,
    ...(experts
      ? {
          experts: {
            experts: experts.experts,
            expertsPerToken: experts.expertsPerToken,
            intermediate: experts.intermediate,
            sharedIntermediate: experts.sharedIntermediate,
          },
        }
      : {}),
    dtype,
    ...(states ? { stateDtype: states } : {}),
    ...(maxPositions === undefined ? {} : { maxPositions }),
    ...(rope ? { rope } : {}),
    ...(kvDtype ? { checkpointKvDtype: kvDtype } : {}),
    ...(quantisation ? { quantisation: quantisation.name } : {}),
    ...(parameters ? { parameters: parameters.value } : {}),
    ...(weights ? { weights } : {}),
    multimodal,
  };
}

/** Width of the dense MLP; one for each layer in Gemma 3n (the first is told); 4 × hidden where none is stated. */
function intermediate(config: Json, hidden: number): number {
  const names = [
    'intermediate_size',
    'n_inner',
    'ffn_hidden_size',
    'ffn_dim',
    'decoder_ffn_dim',
    'd_ff',
    'ffn_config.ffn_hidden_size',
  ];
  const list = names.find((name) => Array.isArray(at(config, name)));
  if (list) {
    return wholeList(config, list, 'width')?.[0] ?? 4 * hidden;
  }
  const ratio = at(config, 'expansion_ratio');
  return whole(config, names, 'width', 0) ?? (typeof ratio === 'number' ? Math.round(ratio * hidden) : 4 * hidden);
}

/** MTP heads, under the names families give their number. */
function mtpHeads(config: Json): number {
  const names = [
    'num_nextn_predict_layers',
    'mtp_num_hidden_layers',
    ...(flag(config, 'use_mtp') ? ['num_mtp_modules'] : []),
  ];
  return whole(config, names, 'layers', 0) ?? 0;
}

const DTYPES: readonly ModelDtype[] = ['float32', 'float16', 'bfloat16'];

function dtypeOf(config: Json, outer: Json): ModelDtype {
  const names = [config, outer].flatMap((c) => [text(c, 'torch_dtype'), text(c, 'dtype')]);
  const stated = names.map((name) => name?.replace(/^torch\./, ''));
  return DTYPES.find((dtype) => stated.find((name) => name !== undefined) === dtype) ?? 'bfloat16';
}

/** The smallest of the lengths a config states; a `model_max_length` stands for all of them (vLLM config/model.py). */
const POSITIONS = [
  'max_position_embeddings',
  'n_positions',
  'max_seq_len',
  'seq_length',
  'max_target_positions',
  'max_sequence_length',
  'max_seq_length',
  'seq_len',
];

function positions(config: Json): number | undefined {
  const stated = whole(config, ['model_max_length'], 'tokens', 0);
  if (stated) {
    return stated;
  }
  const lengths = POSITIONS.flatMap((name) => whole(config, [name], 'tokens') ?? []);
  return lengths.length > 0 ? Math.min(...lengths) : undefined;
}

/** `rope_scaling`, or `rope_parameters`, which may hold one for each kind of layer. */
function ropeOf(config: Json): RopeScaling | undefined {
  const stated = at(config, 'rope_scaling') ?? at(config, 'rope_parameters');
  const perKind = isObject(stated) && isObject(stated.full_attention) ? stated.full_attention : stated;
  if (!isObject(perKind)) {
    return undefined;
  }
  const type = text(perKind, 'rope_type') ?? text(perKind, 'type');
  if (!type || type === 'default') {
    return undefined;
  }
  const factor = at(perKind, 'factor');
  if (factor !== undefined && factor !== null && (typeof factor !== 'number' || !(factor > 0))) {
    throw new ModelError('rope_scaling.factor must be a positive number', 'rope_scaling.factor');
  }
  const original =
    whole(perKind, ['original_max_position_embeddings'], 'tokens') ??
    whole(config, ['original_max_position_embeddings'], 'tokens');
  return {
    type,
    ...(typeof factor === 'number' ? { factor } : {}),
    ...(original === undefined ? {} : { originalMaxPositions: original }),
  };
}
