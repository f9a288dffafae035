import { expect, test } from 'vitest';
import { planText } from '../../../src/planner';

/** 21 layers, 11 of ratio 4 and 10 of ratio 128 in turn: the shape that vLLM's own code was run on. */
const CONFIG = {
  architectures: ['DeepseekV4ForCausalLM'],
  num_hidden_layers: 21,
  compress_ratios: Array.from({ length: 21 }, (_, i) => (i % 2 === 0 ? 4 : 128)),
  sliding_window: 128,
  num_attention_heads: 64,
  num_key_value_heads: 1,
  head_dim: 512,
  qk_rope_head_dim: 64,
  index_head_dim: 128,
  hidden_size: 4096,
  intermediate_size: 2048,
  vocab_size: 129280,
  max_position_embeddings: 1048576,
  torch_dtype: 'bfloat16',
};

test('groups, bytes and concurrency of a compressed history are those of vLLM’s own code', () => {
  const text = `services:
  a:
    image: vllm/vllm-openai
    command: --model example/v4 --max-model-len 131072 --max-num-batched-tokens 8192 --kv-cache-dtype fp8
`;
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    {
      flags: { 'kv-memory': '40GiB', engine: 'vllm@0.28' },
      models: { config: () => ({ json: CONFIG, path: 'config.json' }) },
    },
  ).plans;
  const layout = plan?.kv?.layout;
  const pool = plan?.kv?.pool;
  expect(layout?.groups.map((g) => g.layers).sort((a, b) => b - a)).toEqual([32, 22, 11, 10, 10]);
  expect(layout?.bytesPerBlock.value).toBe(524160);
  expect(pool?.blocks.value).toBe(81940);
  expect(pool?.logged?.maxConcurrency?.value).toBeCloseTo(11.39005, 5);
  expect(pool?.logged?.tokens.value).toBe(1492916);
});
