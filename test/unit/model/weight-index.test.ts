import { expect, test } from 'vitest';
import { GiB } from '../../../src/core/units';
import { planText } from '../../../src/planner';

const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  hidden_size: 4096,
  intermediate_size: 14336,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  max_position_embeddings: 8192,
  torch_dtype: 'bfloat16',
};

const planWith = (index: unknown) =>
  planText(
    { text: 'services:\n  a:\n    image: vllm/vllm-openai\n    command: --model /models/own\n', name: 'compose.yaml' },
    { flags: { gpu: 'H100' }, models: { config: () => ({ json: CONFIG, path: '/models/own/config.json', index }) } },
  ).plans[0];

test('the index of the weight files tells their bytes exactly', () => {
  const weights = planWith({ metadata: { total_size: 16 * GiB } })?.model?.weights;
  expect(weights).toEqual({
    bytes: 16 * GiB,
    low: 16 * GiB,
    high: 16 * GiB,
    why: 'total_size of model.safetensors.index.json',
  });
});

test.each([
  undefined,
  null,
  [],
  {},
  { metadata: {} },
  { metadata: { total_size: '16' } },
  { metadata: { total_size: -1 } },
  { metadata: { total_size: Number.NaN } },
])('an index of %j tells nothing', (index) => {
  expect(planWith(index)?.model?.weights?.why).not.toContain('index');
});
