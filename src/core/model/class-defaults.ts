/**
 * What configuration classes fill in when a config.json leaves a field out. `always`: fields that files do leave out
 * (or set only where they differ). `nested`: dimensions that a nested `text_config` leaves out when they equal the
 * class's own. From huggingface/transformers v4.57, `src/transformers/models/<model type>/configuration_*.py`, except
 * where a line says otherwise.
 */
import type { Json } from './config-fields';

interface Defaults {
  readonly always?: Json;
  readonly nested?: Json;
}

const LLAMA_NESTED = {
  hidden_size: 4096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  intermediate_size: 11008,
  vocab_size: 32000,
  max_position_embeddings: 2048,
};

const QWEN2_NESTED = {
  hidden_size: 4096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 32,
  intermediate_size: 22016,
  vocab_size: 151936,
  max_position_embeddings: 32768,
};

/** Two matrices in the MLP, where most have three. */
const PLAIN_MLP: Defaults = { always: { mlp_matrices: 2 } };

const CLASSES: Readonly<Record<string, Defaults>> = {
  llama: { nested: LLAMA_NESTED },
  llama4_text: {
    always: { attention_chunk_size: 8192, no_rope_layer_interval: 4 },
    nested: {
      hidden_size: 5120,
      num_hidden_layers: 48,
      num_attention_heads: 40,
      num_key_value_heads: 8,
      head_dim: 128,
      intermediate_size: 8192,
      vocab_size: 202048,
    },
  },
  mllama_text_model: {
    always: { cross_attention_layers: [3, 8, 13, 18, 23, 28, 33, 38] },
    nested: {
      hidden_size: 4096,
      num_hidden_layers: 40,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      intermediate_size: 14336,
      vocab_size: 128256,
      max_position_embeddings: 131072,
    },
  },
  mistral: {
    always: { sliding_window: 4096, num_key_value_heads: 8 },
    nested: { ...LLAMA_NESTED, intermediate_size: 14336, max_position_embeddings: 131072 },
  },
  qwen2: { always: { use_sliding_window: false, max_window_layers: 28 }, nested: QWEN2_NESTED },
  qwen2_moe: { always: { use_sliding_window: false, max_window_layers: 28 } },
  qwen2_vl_text: { always: { use_sliding_window: false, max_window_layers: 80 } },
  qwen2_5_vl_text: { always: { use_sliding_window: false, max_window_layers: 80 } },
  qwen3: { always: { use_sliding_window: false, max_window_layers: 28, head_dim: 128 } },
  qwen3_moe: { always: { use_sliding_window: false } },
  qwen3_next: { always: { full_attention_interval: 4, head_dim: 256 } },
  qwen3_5_text: { always: { full_attention_interval: 4, head_dim: 256 } },
  qwen3_5_moe_text: { always: { full_attention_interval: 4, head_dim: 256 } },
  gemma: { always: { head_dim: 256 } },
  gemma2: { always: { head_dim: 256, sliding_window: 4096, sliding_window_pattern: 2 } },
  gemma3_text: {
    always: { head_dim: 256, sliding_window: 4096, sliding_window_pattern: 6, tie_word_embeddings: true },
    nested: {
      hidden_size: 2304,
      num_hidden_layers: 26,
      num_attention_heads: 8,
      num_key_value_heads: 4,
      intermediate_size: 9216,
      vocab_size: 262208,
      max_position_embeddings: 131072,
    },
  },
  gemma3n_text: {
    always: { head_dim: 256, sliding_window: 512, sliding_window_pattern: 5, num_kv_shared_layers: 15 },
    nested: {
      hidden_size: 2048,
      num_hidden_layers: 35,
      num_attention_heads: 8,
      num_key_value_heads: 2,
      vocab_size: 262400,
      max_position_embeddings: 32768,
    },
  },
  gemma4_text: { always: { head_dim: 256, global_head_dim: 512, sliding_window: 512 } },
  cohere2: { always: { sliding_window: 4096, sliding_window_pattern: 4 } },
  gpt_oss: { always: { head_dim: 64, sliding_window: 128, sliding_window_pattern: 2 } },
  exaone4: { always: { sliding_window_pattern: 4 } },
  olmo3: { always: { sliding_window: 4096, sliding_window_pattern: 4 } },
  // LongcatFlashDecoderLayer holds two attention blocks (modeling_longcat_flash.py).
  longcat_flash: { always: { attention_blocks_per_layer: 2 } },
  jamba: { always: { attn_layer_period: 8, attn_layer_offset: 4 } },
  gpt2: PLAIN_MLP,
  gptj: PLAIN_MLP,
  gpt_neox: PLAIN_MLP,
  gpt_bigcode: PLAIN_MLP,
  bloom: PLAIN_MLP,
  opt: PLAIN_MLP,
  mpt: PLAIN_MLP,
  falcon: PLAIN_MLP,
  phi: PLAIN_MLP,
  starcoder2: PLAIN_MLP,
  nemotron: PLAIN_MLP,
  // States in 32 bit unless the config says otherwise: vLLM, model_executor/models/config.py.
  nemotron_h: { always: { mlp_matrices: 2, mamba_ssm_cache_dtype: 'float32' } },
  whisper: PLAIN_MLP,
};

/** The config with what its class would fill in. A field set to null stays null: it was set. */
export function withClassDefaults(config: Json, nested: boolean): Json {
  const defaults = CLASSES[typeof config.model_type === 'string' ? config.model_type : ''];
  return defaults ? { ...(nested ? defaults.nested : {}), ...defaults.always, ...config } : config;
}
