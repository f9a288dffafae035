/**
 * GGUF files small enough to be written by a test and whole enough to be loaded by llama.cpp: every architecture that
 * stores its keys and values in another way. Tensors are those that llama.cpp v0.5.0 asks for (src/models).
 */
import { f32, i32s, type Metadata, type Tensor, text, u32 } from './gguf-writer';

export interface TinyModel {
  readonly name: string;
  /** What it stands for. */
  readonly kind: string;
  readonly metadata: Metadata;
  readonly tensors: readonly Tensor[];
}

const WIDTH = 128;
const VOCABULARY = 64;
const FEED_FORWARD = 64;

const t = (name: string, ...dims: readonly number[]): Tensor => ({ name, dims });

/** Tensors of the ends and, for each layer, those that `layer` lists. */
function tensorsOf(layers: number, layer: (i: number) => readonly Tensor[], outputNorm = 'output_norm'): Tensor[] {
  return [
    t('token_embd.weight', WIDTH, VOCABULARY),
    t(`${outputNorm}.weight`, WIDTH),
    t('output.weight', WIDTH, VOCABULARY),
    ...Array.from({ length: layers }, (_, i) =>
      layer(i).map(({ name, dims }) => ({ name: `blk.${i}.${name}`, dims })),
    ).flat(),
  ];
}

function metadata(architecture: string, layers: number, keys: Metadata): Metadata {
  const common: Metadata = {
    block_count: u32(layers),
    context_length: u32(32768),
    embedding_length: u32(WIDTH),
    feed_forward_length: u32(FEED_FORWARD),
    vocab_size: u32(VOCABULARY),
    'attention.layer_norm_rms_epsilon': f32(1e-5),
  };
  return {
    'general.architecture': text(architecture),
    'general.name': text(`tiny ${architecture}`),
    ...Object.fromEntries(
      Object.entries({ ...common, ...keys }).map(([key, value]) => [`${architecture}.${key}`, value]),
    ),
    'tokenizer.ggml.model': text('no_vocab'),
  };
}

interface Heads {
  readonly heads: number;
  readonly kv: number;
  readonly dim: number;
}

const headKeys = ({ heads, kv, dim }: Heads): Metadata => ({
  'attention.head_count': u32(heads),
  'attention.head_count_kv': u32(kv),
  'attention.key_length': u32(dim),
  'attention.value_length': u32(dim),
  'rope.dimension_count': u32(dim),
});

const attention = ({ heads, kv, dim }: Heads, queries = 1): Tensor[] => [
  t('attn_norm.weight', WIDTH),
  t('attn_q.weight', WIDTH, queries * heads * dim),
  t('attn_k.weight', WIDTH, kv * dim),
  t('attn_v.weight', WIDTH, kv * dim),
  t('attn_output.weight', heads * dim, WIDTH),
];

const feedForward = (): Tensor[] => [
  t('ffn_gate.weight', WIDTH, FEED_FORWARD),
  t('ffn_up.weight', WIDTH, FEED_FORWARD),
  t('ffn_down.weight', FEED_FORWARD, WIDTH),
];

const qkNorms = (dim: number): Tensor[] => [t('attn_q_norm.weight', dim), t('attn_k_norm.weight', dim)];

function llama(name: string, kind: string, heads: Heads, layers = 4): TinyModel {
  return {
    name,
    kind,
    metadata: metadata('llama', layers, headKeys(heads)),
    tensors: tensorsOf(layers, () => [...attention(heads), t('ffn_norm.weight', WIDTH), ...feedForward()]),
  };
}

function gemma3(): TinyModel {
  const heads: Heads = { heads: 4, kv: 2, dim: 64 };
  return {
    name: 'gemma3',
    kind: 'sliding window',
    metadata: metadata('gemma3', 12, { ...headKeys(heads), 'attention.sliding_window': u32(512) }),
    tensors: tensorsOf(12, () => [
      ...attention(heads),
      ...qkNorms(64),
      t('post_attention_norm.weight', WIDTH),
      t('ffn_norm.weight', WIDTH),
      ...feedForward(),
      t('post_ffw_norm.weight', WIDTH),
    ]),
  };
}

function gptOss(): TinyModel {
  const heads: Heads = { heads: 4, kv: 2, dim: 64 };
  const experts = 2;
  const bias = [t('attn_q.bias', 256), t('attn_k.bias', 128), t('attn_v.bias', 128), t('attn_output.bias', WIDTH)];
  return {
    name: 'gpt-oss',
    kind: 'sliding window, experts',
    metadata: metadata('gpt-oss', 4, {
      ...headKeys(heads),
      'attention.sliding_window': u32(128),
      expert_count: u32(experts),
      expert_used_count: u32(1),
      expert_feed_forward_length: u32(FEED_FORWARD),
    }),
    tensors: tensorsOf(4, () => [
      ...attention(heads),
      ...bias,
      t('post_attention_norm.weight', WIDTH),
      t('attn_sinks.weight', 4),
      t('ffn_gate_inp.weight', WIDTH, experts),
      t('ffn_gate_inp.bias', experts),
      t('ffn_gate_exps.weight', WIDTH, FEED_FORWARD, experts),
      t('ffn_gate_exps.bias', FEED_FORWARD, experts),
      t('ffn_up_exps.weight', WIDTH, FEED_FORWARD, experts),
      t('ffn_up_exps.bias', FEED_FORWARD, experts),
      t('ffn_down_exps.weight', FEED_FORWARD, WIDTH, experts),
      t('ffn_down_exps.bias', WIDTH, experts),
    ]),
  };
}

/** All layers dense, so that no experts are needed. */
function deepseek(latent: boolean): TinyModel {
  const [heads, rank, rope, nope, value] = [4, 128, 32, 32, 64];
  const layers = 3;
  const keys: Metadata = {
    'attention.head_count': u32(heads),
    'attention.head_count_kv': u32(latent ? 1 : heads),
    'attention.key_length': u32(latent ? rank + rope : nope + rope),
    'attention.value_length': u32(latent ? rank : value),
    ...(latent ? { 'attention.key_length_mla': u32(nope + rope), 'attention.value_length_mla': u32(value) } : {}),
    'attention.kv_lora_rank': u32(rank),
    'attention.q_lora_rank': u32(64),
    'rope.dimension_count': u32(rope),
    leading_dense_block_count: u32(layers),
    expert_count: u32(2),
    expert_used_count: u32(1),
    expert_shared_count: u32(1),
    expert_feed_forward_length: u32(FEED_FORWARD),
  };
  const up = latent
    ? [t('attn_k_b.weight', nope, rank, heads), t('attn_v_b.weight', rank, value, heads)]
    : [t('attn_kv_b.weight', rank, heads * (nope + value))];
  return {
    name: latent ? 'deepseek2' : 'deepseek2-legacy',
    kind: latent ? 'MLA' : 'MLA, a file without its keys',
    metadata: metadata('deepseek2', layers, keys),
    tensors: tensorsOf(layers, () => [
      t('attn_norm.weight', WIDTH),
      t('attn_q_a_norm.weight', 64),
      t('attn_kv_a_norm.weight', rank),
      t('attn_q_a.weight', WIDTH, 64),
      t('attn_q_b.weight', 64, heads * (nope + rope)),
      t('attn_kv_a_mqa.weight', WIDTH, rank + rope),
      ...up,
      t('attn_output.weight', heads * value, WIDTH),
      t('ffn_norm.weight', WIDTH),
      ...feedForward(),
    ]),
  };
}

function mamba(): TinyModel {
  const [inner, state, conv, rank] = [2 * WIDTH, 16, 4, 8];
  return {
    name: 'mamba',
    kind: 'recurrent',
    metadata: metadata('mamba', 4, {
      feed_forward_length: u32(0),
      'attention.head_count': u32(0),
      'ssm.conv_kernel': u32(conv),
      'ssm.inner_size': u32(inner),
      'ssm.state_size': u32(state),
      'ssm.time_step_rank': u32(rank),
    }),
    tensors: tensorsOf(4, () => [
      t('attn_norm.weight', WIDTH),
      t('ssm_in.weight', WIDTH, 2 * inner),
      t('ssm_conv1d.weight', conv, inner),
      t('ssm_conv1d.bias', inner),
      t('ssm_x.weight', inner, rank + 2 * state),
      t('ssm_dt.weight', rank, inner),
      t('ssm_dt.bias', inner),
      t('ssm_a', state, inner),
      t('ssm_d', inner),
      t('ssm_out.weight', inner, WIDTH),
    ]),
  };
}

function qwen35(): TinyModel {
  const heads: Heads = { heads: 4, kv: 2, dim: 64 };
  const [keyHeads, valueHeads, dim, conv] = [2, 4, 32, 4];
  const inner = valueHeads * dim;
  const keys = keyHeads * dim;
  const linear = [
    t('attn_norm.weight', WIDTH),
    t('attn_qkv.weight', WIDTH, 2 * keys + inner),
    t('attn_gate.weight', WIDTH, inner),
    t('ssm_conv1d.weight', conv, 2 * keys + inner),
    t('ssm_dt.bias', valueHeads),
    t('ssm_a', valueHeads),
    t('ssm_beta.weight', WIDTH, valueHeads),
    t('ssm_alpha.weight', WIDTH, valueHeads),
    t('ssm_norm.weight', dim),
    t('ssm_out.weight', inner, WIDTH),
  ];
  const rest = [t('post_attention_norm.weight', WIDTH), ...feedForward()];
  return {
    name: 'qwen35',
    kind: 'hybrid: gated delta net and attention',
    metadata: metadata('qwen35', 8, {
      ...headKeys(heads),
      'rope.dimension_sections': i32s([11, 11, 10, 0]),
      full_attention_interval: u32(4),
      'ssm.conv_kernel': u32(conv),
      'ssm.inner_size': u32(inner),
      'ssm.state_size': u32(dim),
      'ssm.time_step_rank': u32(valueHeads),
      'ssm.group_count': u32(keyHeads),
    }),
    tensors: tensorsOf(8, (i) => [...(i % 4 === 3 ? [...attention(heads, 2), ...qkNorms(64)] : linear), ...rest]),
  };
}

function lfm2(): TinyModel {
  const heads: Heads = { heads: 4, kv: 2, dim: 32 };
  const full = [false, true, false, true];
  const cache = 3;
  return {
    name: 'lfm2',
    kind: 'hybrid: short convolutions and attention',
    metadata: metadata('lfm2', full.length, {
      ...headKeys(heads),
      'attention.head_count_kv': i32s(full.map((f) => (f ? heads.kv : 0))),
      'shortconv.l_cache': u32(cache),
    }),
    tensors: tensorsOf(
      full.length,
      (i) => [
        ...(full[i]
          ? [...attention(heads), ...qkNorms(heads.dim)]
          : [
              t('attn_norm.weight', WIDTH),
              t('shortconv.conv.weight', cache, WIDTH),
              t('shortconv.in_proj.weight', WIDTH, 3 * WIDTH),
              t('shortconv.out_proj.weight', WIDTH, WIDTH),
            ]),
        t('ffn_norm.weight', WIDTH),
        ...feedForward(),
      ],
      'token_embd_norm',
    ),
  };
}

/** Head dims of 64 divide into blocks of 32, as quantised types ask. */
export const tinyModels = (): readonly TinyModel[] => [
  llama('llama-gqa', 'grouped queries', { heads: 4, kv: 2, dim: 64 }),
  llama('llama-mha', 'a KV head for every head', { heads: 4, kv: 4, dim: 32 }),
  llama('llama-mqa', 'one KV head', { heads: 4, kv: 1, dim: 96 }, 7),
  gemma3(),
  gptOss(),
  deepseek(true),
  deepseek(false),
  mamba(),
  qwen35(),
  lfm2(),
];
