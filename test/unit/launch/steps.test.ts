/** Planning in steps: the same answer. */
import { expect, test } from 'vitest';
import { type PlanResult, planSteps, planText } from '../../../src/planner';

const launch = (length: number): string =>
  `kind: Pod\nspec:\n  containers:\n    - image: vllm/vllm-openai:v0.28.0\n      args: [--model=Qwen/Qwen3-8B, --max-model-len=${length}]\n`;

const told = ({ plans, problems }: PlanResult) => [
  plans.map((p) => [p.launch.head, p.starts, p.kv?.layout.bytesPerToken.value, p.findings]),
  problems,
];

test('a manifest is planned in a step for each document and each launch', () => {
  const text = [1024, 2048, 4096].map(launch).join('---\n');
  const input = { text: `${text}---\nkind: ConfigMap\n`, name: 'pods.yaml' };
  const steps = planSteps(input, {});
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      expect(told(value)).toEqual(told(planText(input, {})));
      expect(value.plans).toHaveLength(3);
      break;
    }
    count++;
  }
  expect(count).toBe(3 + 3);
});
