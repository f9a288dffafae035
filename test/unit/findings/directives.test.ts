/** What is said of a `# kv-planner:` value that is not understood, at its place. */
import { expect, test } from 'vitest';
import { planText } from '../../../src/planner';

const launch = 'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192';
const compose = (directive: string) =>
  `# kv-planner: gpu=L4 ${directive}\nservices:\n  a:\n    image: vllm/vllm-openai\n    command: ${launch.slice(11)}\n`;

test.each([
  ['engine=vlm@0.28', 'There is no engine “vlm”: known are vllm, sglang', 'vlm@0.28'],
  ['gpus=many', 'gpus must be a whole number', 'many'],
  ['kv-memory=much', 'kv-memory must be bytes', 'much'],
  ['gpu-memory=0', 'gpu-memory must be above 0', '0'],
])('%s', (directive, message, place) => {
  const text = compose(directive);
  const found = planText({ text, name: 'a.compose.yaml' }, {}).plans[0]?.findings.find(
    (f) => f.code === 'bad-directive',
  );
  expect(found?.message).toContain(message);
  expect(text.slice(found?.range.start, found?.range.end)).toBe(place);
});

test.each(['engine=vllm@0.28', 'engine=0.28', 'engine=sglang@0.5'])('nothing of %s', (directive) => {
  const findings = planText({ text: compose(directive), name: 'a.compose.yaml' }, {}).plans[0]?.findings ?? [];
  expect(findings.map((f) => f.code)).not.toContain('bad-directive');
});
