/** GPUs that a file gives by a machine's type. */
import { expect, test } from 'vitest';
import { planText } from '../../../src/planner';

const pod = (selector: string, resources = '') =>
  `apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector: {node.kubernetes.io/instance-type: ${selector}}\n  containers:\n    - name: a\n      image: vllm/vllm-openai:v0.10.2\n      args: [--model=Qwen/Qwen3-8B]\n${resources}`;

const hardware = (text: string) => {
  const { hardware } = planText({ text, name: 'pod.yaml', files: { read: () => null } }, {}).plans[0] ?? {};
  return [hardware?.name, hardware?.count];
};

test.each<[string, string, string, number]>([
  ['AWS', 'p5.48xlarge', 'H100 80GB SXM', 8],
  ['Google', 'a3-highgpu-8g', 'H100 80GB SXM', 8],
  ['Azure', 'Standard_ND96isr_H100_v5', 'H100 80GB SXM', 8],
])('%s: the whole machine', (_, type, gpu, count) => {
  expect(hardware(pod(type))).toEqual([gpu, count]);
});

test('a limit says how many of them', () => {
  expect(hardware(pod('p5.48xlarge', '      resources: {limits: {nvidia.com/gpu: 2}}\n'))).toEqual([
    'H100 80GB SXM',
    2,
  ]);
});

test('several machines', () => {
  const text =
    'apiVersion: kaito.sh/v1beta1\nkind: Workspace\nresource: {instanceType: Standard_NC48ads_A100_v4, count: 2}\ninference: {preset: {name: phi-4}}\n';
  expect(hardware(text)).toEqual(['A100 80GB PCIe', 4]);
});

test('a card is no machine', () => {
  expect(hardware(pod('L40S'))).toEqual(['L40S', undefined]);
});
