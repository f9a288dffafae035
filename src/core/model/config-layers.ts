/** Which kind each transformer layer of a config.json is. Rules look at fields, never at a model's name. */
import { at, firstSet, isObject, type Json, required, shown, text, whole, wholeList } from './config-fields';
import { hasAttention, LAYERS } from './config-heads';
import type { LayerLetter } from './layers';
import { ModelError } from './model';

/** What the words in lists of layer types mean. */
const TYPES: Readonly<Record<string, LayerLetter>> = {
  full_attention: 'F',
  attention: 'F',
  full: 'F',
  global: 'F',
  global_attention: 'F',
  deepseek_sparse_attention: 'F',
  sliding_attention: 'S',
  sliding: 'S',
  local: 'S',
  local_attention: 'S',
  chunked_attention: 'C',
  linear_attention: 'T',
  mamba: 'T',
  mamba2: 'T',
  conv: 'T',
  recurrent: 'T',
  hybrid: 'B',
  cross_attention: 'X',
  mlp: 'N',
  moe: 'N',
};

/** Lists with one word for each layer (a shorter list repeats). */
const TYPE_LISTS = ['layer_types', 'layers_block_type', 'layer_block_types', 'block_types', '_block_types'];

/** Letters of `hybrid_override_pattern` (Nemotron-H): Mamba, attention, MLP, experts. */
const OVERRIDE: Readonly<Record<string, LayerLetter>> = { M: 'T', '*': 'F', '-': 'N', E: 'N' };

type Rule = (config: Json, layers: number) => LayerLetter[] | undefined;

/** Number of transformer layers: stated, or as many as a list of their types has. */
function layerCount(config: Json): number {
  const stated = whole(config, LAYERS, 'layers');
  if (stated !== undefined) {
    return stated;
  }
  const listed = at(config, 'layers_block_type');
  return Array.isArray(listed) && listed.length > 0 ? listed.length : required(config, LAYERS, 'layers');
}

/** One letter for each layer. The first rule whose fields are there decides. */
export function layerLetters(config: Json): LayerLetter[] {
  const layers = layerCount(config);
  for (const rule of RULES) {
    const letters = rule(config, layers);
    if (letters) {
      const blocks = whole(config, ['attention_blocks_per_layer'], 'layers') ?? 1;
      return blocks === 1 ? letters : letters.flatMap((l) => Array.from({ length: blocks }, () => l));
    }
  }
  return each(layers, () => 'F');
}

const each = (layers: number, letter: (index: number) => LayerLetter): LayerLetter[] =>
  Array.from({ length: layers }, (_, index) => letter(index));

const RULES: readonly Rule[] = [
  compressed,
  notCovered,
  searchedBlocks,
  overridePattern,
  typeList,
  crossLayers,
  windowList,
  linearConfig,
  numberedAttention,
  attentionEvery,
  onlyState,
  chunked,
  windowPattern,
  lateWindows,
  allWindows,
];

/** One ratio for each layer (and each MTP layer after them): the history is kept compressed. */
function compressed(config: Json, layers: number): LayerLetter[] | undefined {
  return Array.isArray(at(config, 'compress_ratios')) ? each(layers, () => 'Z') : undefined;
}

/** Block-sparse index keys (`sparse_index_dim`): kept bytes no rule knows. */
function notCovered(config: Json, layers: number): LayerLetter[] | undefined {
  const found = firstSet(config, ['sparse_index_dim', 'sparse_attention_config', 'index_topk_blocks']);
  return found && each(layers, () => 'O');
}

/** Blocks found by architecture search (`block_configs`): some have no attention. */
function searchedBlocks(config: Json): LayerLetter[] | undefined {
  const blocks = at(config, 'block_configs');
  if (!Array.isArray(blocks)) {
    return undefined;
  }
  return blocks.map((block) => {
    const attention = isObject(block) ? at(block, 'attention') : undefined;
    if (!isObject(attention)) {
      throw new ModelError("block_configs must say what each block's attention is", 'block_configs');
    }
    return attention.no_op === true || attention.replace_with_linear === true ? 'N' : 'F';
  });
}

function overridePattern(config: Json, layers: number): LayerLetter[] | undefined {
  const pattern = text(config, 'hybrid_override_pattern');
  if (!pattern) {
    return undefined;
  }
  const letters = [...pattern].map((c) => {
    const letter = OVERRIDE[c];
    if (!letter) {
      throw new ModelError(`hybrid_override_pattern has ${shown(c)}, which is not known`, 'hybrid_override_pattern');
    }
    return letter;
  });
  return checkedLength(letters, layers, 'hybrid_override_pattern');
}

function checkedLength(letters: LayerLetter[], layers: number, field: string): LayerLetter[] {
  if (letters.length !== layers) {
    throw new ModelError(`${field} is for ${letters.length} layers, but the model has ${layers}`, field);
  }
  return letters;
}

function typeList(config: Json, layers: number): LayerLetter[] | undefined {
  const found = firstSet(config, TYPE_LISTS);
  if (!found || (Array.isArray(found.value) && found.value.length === 0)) {
    return undefined;
  }
  const { name, value } = found;
  if (!Array.isArray(value)) {
    throw new ModelError(`${name} must be a list, not ${shown(value)}`, name);
  }
  const letters = value.map((type) => {
    const letter = typeof type === 'string' ? TYPES[type] : undefined;
    if (!letter) {
      throw new ModelError(`${name} has ${shown(type)}, which is not a known kind of layer`, name);
    }
    return letter;
  });
  const local = name.endsWith('block_types') && firstSet(config, ['attention_window_size']);
  const repeated = name.endsWith('block_types') ? each(layers, (i) => letters[i % letters.length] ?? 'F') : letters;
  return windowsStated(
    config,
    checkedLength(local ? repeated.map((l) => (l === 'F' ? 'S' : l)) : repeated, layers, name),
    name,
  );
}

/** Layers that attend within a window need its size. */
function windowsStated(config: Json, letters: LayerLetter[], field: string): LayerLetter[] {
  const needs = (letter: LayerLetter, names: readonly string[]) => {
    if (letters.includes(letter) && firstSet(config, names) === undefined) {
      throw new ModelError(`${names[0]} is missing, though ${field} has layers that need it`, names[0]);
    }
  };
  needs('S', ['sliding_window', 'sliding_window_size', 'attention_window_size']);
  needs('C', ['attention_chunk_size']);
  return letters;
}

function crossLayers(config: Json, layers: number): LayerLetter[] | undefined {
  const cross = wholeList(config, 'cross_attention_layers', 'layers');
  return cross && each(layers, (i) => (cross.includes(i) ? 'X' : 'F'));
}

/** 1 for a sliding layer, 0 for a full one (MiMo V2). */
function windowList(config: Json, layers: number): LayerLetter[] | undefined {
  const list = wholeList(config, 'hybrid_layer_pattern', 'layers');
  const letters = list?.map((x): LayerLetter => (x === 1 ? 'S' : 'F'));
  return (
    letters && windowsStated(config, checkedLength(letters, layers, 'hybrid_layer_pattern'), 'hybrid_layer_pattern')
  );
}

/** Kimi Linear counts layers from 1; MiniMax-01 marks softmax layers with 1. */
function linearConfig(config: Json, layers: number): LayerLetter[] | undefined {
  const full = wholeList(config, 'linear_attn_config.full_attn_layers', 'layers');
  if (full) {
    return each(layers, (i) => (full.includes(i + 1) ? 'F' : 'T'));
  }
  const softmax = wholeList(config, 'attn_type_list', 'layers');
  const letters = softmax?.map((x): LayerLetter => (x === 1 ? 'F' : 'T'));
  return letters && checkedLength(letters, layers, 'attn_type_list');
}

/** Lists of the layers that attend, all others keeping a state (Bamba, LFM2) or both (Zamba 2). */
function numberedAttention(config: Json, layers: number): LayerLetter[] | undefined {
  for (const name of ['attn_layer_indices', 'full_attn_idxs']) {
    const list = wholeList(config, name, 'layers');
    if (list) {
      return each(layers, (i) => (list.includes(i) ? 'F' : 'T'));
    }
  }
  const both = wholeList(config, 'hybrid_layer_ids', 'layers');
  return both && each(layers, (i) => (both.includes(i) ? 'B' : 'T'));
}

/** One attending layer in every period (Jamba), or the last of every interval (Qwen3-Next). */
function attentionEvery(config: Json, layers: number): LayerLetter[] | undefined {
  const period = whole(config, ['attn_layer_period'], 'layers');
  if (period !== undefined) {
    const offset = whole(config, ['attn_layer_offset'], 'layers', 0) ?? 0;
    return each(layers, (i) => (i % period === offset ? 'F' : 'T'));
  }
  const interval = whole(config, ['full_attention_interval'], 'layers');
  return interval === undefined ? undefined : each(layers, (i) => ((i + 1) % interval === 0 ? 'F' : 'T'));
}

/** Mamba fields without a list: a state in every layer, with attention beside it when there are heads (Falcon-H1). */
function onlyState(config: Json, layers: number): LayerLetter[] | undefined {
  const state = firstSet(config, ['mamba_d_ssm', 'mamba_d_state', 'ssm_cfg', 'state_size']);
  return state && each(layers, () => (hasAttention(config) ? 'B' : 'T'));
}

/** Layers with rotary positions attend in chunks, those without (0) to everything (Llama 4). */
function chunked(config: Json, layers: number): LayerLetter[] | undefined {
  if (whole(config, ['attention_chunk_size'], 'tokens') === undefined) {
    return undefined;
  }
  const rotary = wholeList(config, 'no_rope_layers', 'layers');
  if (rotary && rotary.length > 0) {
    return checkedLength(
      rotary.map((x) => (x === 0 ? 'F' : 'C')),
      layers,
      'no_rope_layers',
    );
  }
  const interval = whole(config, ['no_rope_layer_interval'], 'layers');
  return each(layers, (i) => (interval && (i + 1) % interval === 0 ? 'F' : 'C'));
}

const hasWindow = (config: Json): boolean =>
  whole(config, ['sliding_window', 'sliding_window_size'], 'tokens') !== undefined;

/** Every n-th layer is full and the others slide: a number, or letters (`LLLG`). */
function windowPattern(config: Json, layers: number): LayerLetter[] | undefined {
  const found = firstSet(config, ['sliding_window_pattern', '_sliding_window_pattern']);
  if (!found || !hasWindow(config)) {
    return undefined;
  }
  if (typeof found.value === 'string' && /^[LG]+$/.test(found.value)) {
    const word = found.value;
    return each(layers, (i) => (word[i % word.length] === 'G' ? 'F' : 'S'));
  }
  const every = whole(config, [found.name], 'layers');
  return every === undefined ? undefined : each(layers, (i) => ((i + 1) % every === 0 ? 'F' : 'S'));
}

/** Qwen2: the window counts only where it is switched on, and from `max_window_layers` upward. */
function lateWindows(config: Json, layers: number): LayerLetter[] | undefined {
  const switched = at(config, 'use_sliding_window');
  if (switched === undefined || switched === null) {
    return undefined;
  }
  if (switched !== true || !hasWindow(config)) {
    return each(layers, () => 'F');
  }
  const from = whole(config, ['max_window_layers'], 'layers', 0) ?? 0;
  return each(layers, (i) => (i >= from ? 'S' : 'F'));
}

function allWindows(config: Json, layers: number): LayerLetter[] | undefined {
  return hasWindow(config) ? each(layers, () => 'S') : undefined;
}
