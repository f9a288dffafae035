import { expect, test } from 'vitest';
import { termsOf } from '../../../src/core/ggml/memory';
import { findModel } from '../../../src/core/model/catalogue';
import { exactly, GiB, MiB } from '../../../src/core/units';
import { planText } from '../../../src/planner';

/** “compute buffer size” lines of ggml-org/llama.cpp issues, MiB, of the device with the output. */
test.each<[issue: string, model: string, cells: number, flash: boolean, logged: number]>([
  ['9106', 'meta-llama/Llama-2-7b-hf', 4096, false, 296.0],
  ['8294', 'mistralai/Mistral-7B-v0.1', 32768, false, 2144.0],
  ['8138', 'codellama/CodeLlama-13b-hf', 16384, false, 1352.01],
  ['10701', 'meta-llama/Llama-3.1-8B-Instruct', 2048, false, 258.5],
  ['10152', 'Qwen/Qwen2.5-32B-Instruct', 32768, true, 307.0],
  ['14201', 'deepseek-ai/DeepSeek-R1', 32768, true, 3253.5],
  ['13298', 'Qwen/Qwen3-32B', 2048, false, 312.0],
])('issue %s: %s at %i cells', (_, name, cells, flash, logged) => {
  const model = findModel(name);
  if (!model) {
    throw new Error('not in the catalogue');
  }
  const split = { layers: 1, shares: [1], offloaded: 2, mainOnly: false, kvOffload: true };
  const terms = termsOf({
    model,
    spec: { flash } as Parameters<typeof termsOf>[0]['spec'],
    sizes: {
      context: { tokens: cells, tokensPerSequence: cells, streams: 1, batch: 2048, microBatch: 512 },
      caches: [],
    },
    split: { ...split, weightsOn: () => 0, kvOn: () => 0 },
    hardware: { name: 'GPU', memory: exactly(80 * GiB), origin: { kind: 'flag', text: '' } },
    given: {},
    device: 0,
  });
  const { low = 0, value = 0, high = 0 } = terms?.compute.estimate ?? {};
  expect(logged * MiB).toBeGreaterThanOrEqual(low);
  expect(logged * MiB).toBeLessThanOrEqual(high);
  if (name !== 'deepseek-ai/DeepSeek-R1') {
    expect(Math.abs(value / MiB - logged) / logged).toBeLessThan(0.02);
  }
});

test('given terms replace the estimates', () => {
  const text =
    '# kv-planner: gpu=L4 weights=5GiB activations=1GiB other=0.5GiB\nservices:\n  s:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: -m Llama-3.1-8B-Instruct-Q4_K_M.gguf -c 4096 -np 1\n';
  const [plan] = planText({ text, name: 'compose.yaml' }, { flags: { 'gpu-memory': '20GiB' } }).plans;
  expect(plan?.budget?.kv.figure.value).toBe(13.5 * GiB);
  expect(plan?.budget?.kv.figure.range).toBeUndefined();
});
