/**
 * Worked examples: a model and its options, and what vLLM's own code makes of them (or, unmarked, the same formulas by
 * hand). I = 16,384 tokens in flight unless a row says otherwise.
 */
import { expect, test } from 'vitest';
import { GiB } from '../../../src/core/units';
import { planText } from '../../../src/planner';

interface Example {
  readonly name: string;
  readonly model: string | Record<string, unknown>;
  readonly args?: string;
  readonly version?: string;
  readonly gib: number;
  readonly perToken?: number;
  readonly perBlock?: number;
  readonly blocks: number;
  readonly concurrency: number;
  readonly tokens?: number;
}

const L8 = 'meta-llama/Llama-3.1-8B-Instruct';
const L70 = 'meta-llama/Llama-3.1-70B-Instruct';
const V3 = 'deepseek-ai/DeepSeek-V3';
const GEMMA = 'google/gemma-3-27b-it';
const OSS = 'openai/gpt-oss-120b';
const SCOUT = 'meta-llama/Llama-4-Scout-17B-16E-Instruct';
const NEXT = 'Qwen/Qwen3-Next-80B-A3B-Instruct';

const base = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 4096,
  intermediate_size: 8192,
  vocab_size: 32000,
  torch_dtype: 'bfloat16',
};

/** Full layers of one model with unequal heads: one group of unequal pages. */
const UNEQUAL = {
  ...base,
  num_hidden_layers: 6,
  max_position_embeddings: 8192,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  layer_types: Array.from({ length: 6 }, () => 'full_attention'),
};

const WIDE_WINDOWS = {
  ...base,
  num_hidden_layers: 60,
  max_position_embeddings: 131072,
  num_attention_heads: 32,
  num_key_value_heads: 16,
  head_dim: 256,
  num_global_key_value_heads: 4,
  global_head_dim: 512,
  sliding_window: 1024,
  layer_types: Array.from({ length: 60 }, (_, i) => (i % 6 === 5 ? 'full_attention' : 'sliding_attention')),
};

const ALL_WINDOWS = {
  ...base,
  num_hidden_layers: 32,
  max_position_embeddings: 32768,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  sliding_window: 4096,
  layer_types: Array.from({ length: 32 }, () => 'sliding_attention'),
};

const EXAMPLES: readonly Example[] = [
  {
    name: 'Llama 8B',
    model: L8,
    gib: 58,
    perToken: 131072,
    perBlock: 2097152,
    blocks: 29696,
    concurrency: 3.625,
    tokens: 475136,
  },
  {
    name: 'Llama 8B fp8',
    model: L8,
    args: '--kv-cache-dtype fp8',
    gib: 58,
    perToken: 65536,
    blocks: 59392,
    concurrency: 7.25,
    tokens: 950272,
  },
  {
    name: 'Llama 8B int8 per token and head',
    model: L8,
    args: '--kv-cache-dtype int8_per_token_head',
    gib: 58,
    perToken: 67584,
    blocks: 57592,
    concurrency: 7.03,
    tokens: 921472,
  },
  {
    name: 'Llama 8B int4 per token and head',
    model: L8,
    args: '--kv-cache-dtype int4_per_token_head',
    gib: 58,
    perToken: 34816,
    blocks: 111796,
    concurrency: 13.647,
    tokens: 1788736,
  },
  {
    name: 'Llama 8B TP 4',
    model: L8,
    args: '-tp 4',
    gib: 58,
    perToken: 32768,
    blocks: 118784,
    concurrency: 14.5,
    tokens: 1900544,
  },
  { name: 'Llama 70B PP 3', model: L70, args: '-pp 3', gib: 20, blocks: 12136, concurrency: 1.4814, tokens: 194176 },
  {
    name: 'DeepSeek V3, block 16',
    model: V3,
    args: '--block-size 16',
    gib: 40,
    perToken: 70272,
    perBlock: 1124352,
    blocks: 38199,
    concurrency: 3.7304,
    tokens: 611184,
  },
  {
    name: 'DeepSeek V3 fp8, block 64',
    model: V3,
    args: '--block-size 64 --kv-cache-dtype fp8',
    gib: 40,
    perToken: 35136,
    blocks: 19099,
    concurrency: 7.4605,
    tokens: 1222336,
  },
  {
    name: 'DeepSeek V3 DCP 8, block 64',
    model: V3,
    args: '--block-size 64 -tp 8 -dcp 8',
    gib: 40,
    perToken: 8784,
    perBlock: 4497408,
    blocks: 9549,
    concurrency: 29.8406,
    tokens: 4889088,
  },
  {
    name: 'DeepSeek V3.2, packed fp8 and indexer',
    model: 'deepseek-ai/DeepSeek-V3.2',
    args: '--kv-cache-dtype fp8',
    gib: 40,
    perToken: 48068,
    perBlock: 3076352,
    blocks: 13961,
    concurrency: 5.4535,
    tokens: 893504,
  },
  {
    name: 'Gemma 3 27B',
    model: GEMMA,
    gib: 20,
    perBlock: 1310720,
    blocks: 16384,
    concurrency: 1.11259,
    tokens: 145829,
  },
  {
    name: 'Gemma 3 27B without the hybrid manager',
    model: GEMMA,
    args: '--disable-hybrid-kv-cache-manager',
    gib: 20,
    perToken: 507904,
    perBlock: 8126464,
    blocks: 2642,
    concurrency: 0.3225,
  },
  {
    name: 'gpt-oss 120B, block 64',
    model: OSS,
    args: '--block-size 64',
    gib: 8,
    perBlock: 2359296,
    blocks: 3640,
    concurrency: 1.57781,
    tokens: 206806,
  },
  {
    name: 'Llama 4 Scout, hybrid manager off',
    model: SCOUT,
    args: '--max-model-len 131072',
    gib: 20,
    perToken: 196608,
    perBlock: 3145728,
    blocks: 6826,
    concurrency: 0.8333,
  },
  {
    name: 'Qwen3 Next, states aligned',
    model: NEXT,
    gib: 30,
    perBlock: 13369344,
    blocks: 2409,
    concurrency: 4.93648,
    tokens: 1294067,
  },
  {
    name: 'Qwen3 Next, no prefix caching',
    model: NEXT,
    args: '--no-enable-prefix-caching',
    gib: 30,
    blocks: 2409,
    concurrency: 4.96701,
    tokens: 1302071,
  },
  {
    name: 'Qwen3 Next, TP 4',
    model: NEXT,
    args: '-tp 4',
    gib: 30,
    perBlock: 3342336,
    blocks: 9637,
    concurrency: 9.93505,
    tokens: 2604414,
  },
  {
    name: 'Qwen3 Next and one MTP layer',
    model: NEXT,
    args: `--speculative-config {"method":"mtp","num_speculative_tokens":1}`,
    gib: 30,
    perBlock: 14483456,
    blocks: 2224,
    concurrency: 4.52953,
    tokens: 1187389,
  },
  {
    name: 'windows with wider heads than full layers',
    model: WIDE_WINDOWS,
    gib: 40,
    perBlock: 2621440,
    blocks: 16384,
    concurrency: 1.71722,
    tokens: 225079,
  },
  {
    name: 'windows only',
    model: ALL_WINDOWS,
    gib: 20,
    perBlock: 2097152,
    blocks: 10240,
    concurrency: 7.99375,
    tokens: 261939,
  },
  {
    name: 'windows only ignore the block size',
    model: ALL_WINDOWS,
    args: '--block-size 64',
    gib: 20,
    perBlock: 2097152,
    blocks: 10240,
    concurrency: 7.99375,
    tokens: 261939,
  },
  {
    name: 'equal full layers are one group',
    model: UNEQUAL,
    gib: 1,
    perBlock: 393216,
    blocks: 2730,
    concurrency: 5.33203,
  },
];

test.each(EXAMPLES)('$name', ({ model, args, version, gib, perToken, perBlock, blocks, concurrency, tokens }) => {
  const id = typeof model === 'string' ? model : 'example/model';
  const words = ['--model', id, '--max-num-batched-tokens', '8192', ...(args?.split(' ') ?? [])];
  const text = `services:\n  a:\n    image: vllm/vllm-openai\n    command: ${JSON.stringify(words)}\n`;
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    {
      flags: { 'kv-memory': String(gib * GiB), engine: `vllm@${version ?? '0.28'}` },
      models: { config: (name) => (name === 'example/model' ? { json: model, path: 'config.json' } : undefined) },
    },
  ).plans;
  const layout = plan?.kv?.layout;
  const pool = plan?.kv?.pool;
  expect(plan?.findings.filter((f) => f.code === 'bad-value')).toEqual([]);
  expect(pool?.blocks.value).toBe(blocks);
  expect(pool?.logged?.maxConcurrency?.value).toBeCloseTo(concurrency, 3);
  expect(
    perToken === undefined || layout?.bytesPerToken.value === perToken,
    `${layout?.bytesPerToken.value} bytes per token`,
  ).toBe(true);
  expect(
    perBlock === undefined || layout?.bytesPerBlock.value === perBlock,
    `${layout?.bytesPerBlock.value} bytes per block`,
  ).toBe(true);
  expect(tokens === undefined || pool?.logged?.tokens.value === tokens, `${pool?.logged?.tokens.value} tokens`).toBe(
    true,
  );
});
