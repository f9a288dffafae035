/** Heads and dims of a config.json: what one attention layer keeps. */
import {
  at,
  checkedWhole,
  firstSet,
  flag,
  isObject,
  type Json,
  required,
  text,
  whole,
  wholeList,
} from './config-fields';
import { stateShape } from './config-states';
import type { AttentionShape, Heads } from './layers';
import { ModelError } from './model';

export const HIDDEN = ['hidden_size', 'n_embd', 'd_model', 'dim'];
export const LAYERS = [
  'num_hidden_layers',
  'n_layer',
  'n_layers',
  'num_layers',
  'decoder_layers',
  'num_decoder_layers',
];
const HEADS = ['num_attention_heads', 'n_head', 'n_heads', 'num_heads', 'decoder_attention_heads'];
/** In the order in which vLLM looks (config/model.py, get_total_num_kv_heads), then names other families use. */
const KV_HEADS = [
  'n_head_kv',
  'num_kv_heads',
  'num_key_value_heads',
  'multi_query_group_num',
  'num_attention_groups',
  'attn_config.kv_n_heads',
];
const HEAD_DIM = ['head_dim', 'attention_head_dim', 'kv_channels', 'd_kv', 'head_size'];

/** Mamba 2 calls its own heads `num_heads`: beside a `state_size` they are not attention's. */
const headNames = (config: Json): readonly string[] =>
  firstSet(config, ['state_size']) ? HEADS.filter((name) => name !== 'num_heads') : HEADS;

export const attentionHeads = (config: Json): number => required(config, headNames(config), 'heads');
export const hasAttention = (config: Json): boolean => firstSet(config, headNames(config)) !== undefined;

export function kvHeads(config: Json, heads: number): number {
  if (flag(config, 'multi_query') && !flag(config, 'new_decoder_architecture')) {
    return 1;
  }
  const grouped = firstSet(config, KV_HEADS);
  if (!grouped || Array.isArray(grouped.value)) {
    return heads;
  }
  const count = checkedWhole(grouped.value, grouped.name, 'heads');
  if (count > heads) {
    throw new ModelError(`${grouped.name} is ${count}: more than the ${heads} attention heads`, grouped.name);
  }
  return count;
}

function headDim(config: Json, hidden: number, heads: number): number {
  const stated = whole(config, HEAD_DIM, 'dim');
  if (stated !== undefined) {
    return stated;
  }
  if (hidden % heads !== 0) {
    throw new ModelError(`head_dim is missing, and hidden_size ${hidden} ÷ ${heads} heads is not whole`, 'head_dim');
  }
  return hidden / heads;
}

/** Everything about heads that KV layers are made from. */
export function attentionShape(config: Json, hidden: number): AttentionShape {
  const heads = attentionHeads(config);
  const usual = { kvHeads: kvHeads(config, heads), dim: headDim(config, hidden, heads) };
  const window = whole(config, ['sliding_window', 'sliding_window_size', 'attention_window_size'], 'tokens');
  const chunk = whole(config, ['attention_chunk_size'], 'tokens');
  const latent = latentOf(config);
  const indexer = indexerOf(config);
  const sharedTail = whole(config, ['num_kv_shared_layers'], 'layers', 0);
  const sharedEvery = flag(config, 'use_cla') ? whole(config, ['cla_share_factor'], 'layers') : undefined;
  const valueDim = latent ? usual.dim : (whole(config, ['v_head_dim'], 'dim') ?? usual.dim);
  const own: Heads = { kvHeads: usual.kvHeads, headDim: usual.dim, valueDim };
  const perLayer = headsPerLayer(config, heads, own);
  const state = stateShape(config, hidden);
  return {
    full: fullHeads(config, own),
    windowed: windowedHeads(config, own),
    ...(window === undefined ? {} : { window }),
    ...(chunk === undefined ? {} : { chunk }),
    ...(latent ? { latent } : {}),
    ...(indexer ? { indexer } : {}),
    ...(sharedTail ? { sharedTail } : {}),
    ...(sharedEvery && sharedEvery > 1 ? { sharedEvery } : {}),
    ...(perLayer ? { perLayer } : {}),
    ...(state ? { state } : {}),
    ...compressedOf(config, usual.dim),
    ...(flag(config, 'is_encoder_decoder') ? { crossHeads: own } : {}),
  };
}

/** DeepSeek V4: one shared vector per kept entry. */
function compressedOf(config: Json, dim: number): Pick<AttentionShape, 'compressed'> {
  const ratios = at(config, 'compress_ratios');
  if (!Array.isArray(ratios)) {
    return {};
  }
  if (!ratios.every((r): r is number => Number.isInteger(r) && r >= 0 && r <= 4096)) {
    throw new ModelError('compress_ratios must be whole numbers from 0 on', 'compress_ratios');
  }
  return {
    compressed: {
      dim,
      rope: whole(config, ['qk_rope_head_dim'], 'dim') ?? 64,
      indexDim: whole(config, ['index_head_dim'], 'dim') ?? 128,
      ratios,
    },
  };
}

/** Gemma 4: full layers have wider heads, and fewer of them where keys serve as values. */
function fullHeads(config: Json, own: Heads): Heads {
  const dim = whole(config, ['global_head_dim'], 'dim');
  const count =
    at(config, 'attention_k_eq_v') === false ? undefined : whole(config, ['num_global_key_value_heads'], 'heads');
  return { kvHeads: count ?? own.kvHeads, headDim: dim ?? own.headDim, valueDim: dim ?? own.valueDim };
}

/** MiMo V2: sliding layers have heads of their own. */
function windowedHeads(config: Json, own: Heads): Heads {
  const dim = whole(config, ['swa_head_dim'], 'dim');
  return {
    kvHeads: whole(config, ['swa_num_key_value_heads'], 'heads') ?? own.kvHeads,
    headDim: dim ?? own.headDim,
    valueDim: whole(config, ['swa_v_head_dim'], 'dim') ?? dim ?? own.valueDim,
  };
}

function latentOf(config: Json): AttentionShape['latent'] {
  const rank = whole(config, ['kv_lora_rank'], 'dim');
  return rank === undefined ? undefined : { rank, rope: required(config, ['qk_rope_head_dim'], 'dim') };
}

/** Index keys of sparse attention (DeepSeek V3.2); `indexer_types` says which layers have their own (GLM-5.2). */
function indexerOf(config: Json): AttentionShape['indexer'] {
  if (whole(config, ['index_topk'], 'tokens') === undefined) {
    return undefined;
  }
  const headDim = required(config, ['index_head_dim'], 'dim');
  const types = at(config, 'indexer_types');
  if (!Array.isArray(types)) {
    return { headDim };
  }
  return { headDim, layers: types.flatMap((type, layer) => (type === 'full' ? [layer] : [])) };
}

/** KV heads that differ from layer to layer: a list, or blocks found by architecture search. */
function headsPerLayer(config: Json, heads: number, own: Heads): Heads[] | undefined {
  const blocks = at(config, 'block_configs');
  if (Array.isArray(blocks)) {
    return blocks.map((block) => {
      const group = isObject(block) ? whole(block, ['attention.n_heads_in_group'], 'heads') : undefined;
      return group ? { ...own, kvHeads: Math.max(1, Math.floor(heads / group)) } : own;
    });
  }
  const name = ['num_key_value_heads_per_layer', 'num_kv_heads', 'num_key_value_heads'].find((n) =>
    Array.isArray(at(config, n)),
  );
  const list = name === undefined ? undefined : wholeList(config, name, 'heads', 0);
  return list?.map((count) => ({ ...own, kvHeads: count }));
}

export const architectureOf = (config: Json): string => {
  const names = config.architectures;
  const [first] = Array.isArray(names) ? names : [];
  return typeof first === 'string' ? first : (text(config, 'model_type') ?? 'unknown');
};
