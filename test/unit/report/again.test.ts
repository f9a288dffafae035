import { readFileSync } from 'node:fs';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Overrides } from '../../../src/planner';

// Unchanged launches are not planned again: nobody may tell but by the clock. A fresh module is a planner without memory.
const name = 'samples/vllm/llama-3.1-8b-l4.compose.yaml';
const text = readFileSync(name, 'utf8');

const fresh = async () => {
  vi.resetModules();
  const { planText } = await import('../../../src/planner');
  const { planJson } = await import('../../../src/report/json');
  return (content: string, flags: Overrides = {}) =>
    planJson([{ name, text: content, result: planText({ text: content, name }, { flags }) }]);
};

let used: Awaited<ReturnType<typeof fresh>>;
beforeEach(async () => {
  used = await fresh();
  for (let i = 0; i < 3; i++) {
    used(text);
  }
});

test.each<[string, string, Overrides]>([
  ['nothing', text, {}],
  ['the place of the launch', `# a line above\n${text}`, {}],
  ['an option', text.replace('131072', '4096'), {}],
  ['the version', text.replace(/vllm-openai:\S+/, 'vllm-openai:v0.10.0'), {}],
  ['the GPU', text, { gpu: 'H100-80GB' }],
  ['the KV bytes', text, { 'kv-memory': '20GiB' }],
  ['the workload', text, { prompt: '1000', output: '1' }],
  ['an estimate', text, { activations: '1GiB' }],
  ['the memory of the GPU', text, { 'gpu-memory': '40GiB' }],
])('after a change of %s the plan is that of a planner that remembers nothing', async (_, content, flags) => {
  const remembered = used(content, flags);
  expect(remembered).toEqual((await fresh())(content, flags));
});
