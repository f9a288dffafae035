/** Planning in steps: the same answer. */
import { expect, test } from 'vitest';
import { type PlanResult, planSteps, planText } from '../../../src/planner';

const launch = (length: number): string =>
  `kind: Pod\nspec:\n  containers:\n    - image: vllm/vllm-openai:v0.28.0\n      args: [--model=Qwen/Qwen3-8B, --max-model-len=${length}]\n`;

const told = ({ plans, problems }: PlanResult) => [
  plans.map((p) => [p.launch.head, p.starts, p.kv?.layout.bytesPerToken.value, p.findings]),
  problems,
];

const input = (...lengths: readonly number[]) => ({
  text: `${lengths.map(launch).join('---\n')}---\nkind: ConfigMap\n`,
  name: 'pods.yaml',
});

test('a document is parsed in a step and read in another, the catalogue opened in one, and each launch planned in one', () => {
  const steps = planSteps(input(1024, 2048, 4096), {});
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      expect(told(value)).toEqual(told(planText(input(1024, 2048, 4096), {})));
      expect(value.plans).toHaveLength(3);
      break;
    }
    count++;
  }
  expect(count).toBe(4 + 4 + 1 + 3);
});

test('two files that are planned by turns do not mix', () => {
  const inputs = [input(1000, 2000), input(3000, 4000)];
  const running = inputs.map((i) => planSteps(i, {}));
  const results: PlanResult[] = [];
  while (results.length < inputs.length) {
    for (const steps of running) {
      const { done, value } = steps.next();
      if (done && value) {
        results.push(value);
      }
    }
  }
  expect(results.map(told)).toEqual(inputs.map((i) => told(planText(i, {}))));
  expect(results.map((r) => r.plans.map((p) => p.launch.options.at(-1)?.value))).toEqual([
    [1000, 2000],
    [3000, 4000],
  ]);
});
