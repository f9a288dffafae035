/** Findings that take more than one launch, or the text itself. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { Grammars } from '../../../src/launch/launch';
import { type Plan, planText } from '../../../src/planner';
import { bash } from '../launch/support';
import { apply, found, textAt, withFix } from './support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const plansOf = (text: string, name: string): readonly Plan[] =>
  planText({ text, name, grammars }, { flags: { gpu: 'H100-80GB' } }).plans;

const script = (first: string, second: string, more = ''): string => `
CUDA_VISIBLE_DEVICES=${first} vllm serve Qwen/Qwen3-8B --max-model-len 4096 --gpu-memory-utilization 0.6 &
CUDA_VISIBLE_DEVICES=${second} vllm serve Qwen/Qwen3-4B --max-model-len 4096 --gpu-memory-utilization 0.5 ${more}
`;

test('two servers on one card', () => {
  const text = script('0', '0');
  const [first, second] = plansOf(text, 'serve.sh') as [Plan, Plan];
  expect(found(first, 'card-shared')).toBeUndefined();
  const shared = found(second, 'card-shared');
  expect(shared?.message).toMatch(/^GPU 0 is shared with .* \(line 2\): together they ask for 1\.10 of its memory\./);
  expect(shared && textAt(text, shared)).toBe('0.5');
  const [fix] = shared?.fixes ?? [];
  expect(fix?.value).toBe('0.4');
  const after = plansOf(fix ? withFix(second, text, fix) : text, 'serve.sh')[1] as Plan;
  expect(found(after, 'card-shared')).toBeUndefined();

  for (const apart of [script('0', '1'), script('0,1', '2'), text.replace('0.6', '0.5')]) {
    expect(plansOf(apart, 'serve.sh').flatMap((p) => found(p, 'card-shared') ?? [])).toEqual([]);
  }
});

const service = (name: string, ids: string): string => `
  ${name}:
    image: vllm/vllm-openai:v0.28.0
    command: --model Qwen/Qwen3-8B --max-model-len 4096 --gpu-memory-utilization 0.9
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, device_ids: ${ids}, capabilities: [gpu] }] } } }`;

test('two services with the same device ids', () => {
  const both = (a: string, b: string) => `services:${service('one', a)}${service('two', b)}\n`;
  const plans = plansOf(both("['0']", "['0']"), 'compose.yaml');
  expect(plans.map((p) => found(p, 'card-shared')?.fixes[0]?.value)).toEqual([undefined, '0.1']);
  expect(plansOf(both("['0']", "['1']"), 'compose.yaml').flatMap((p) => found(p, 'card-shared') ?? [])).toEqual([]);
});

const pod = (gpus: number, args: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: llm }
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.28.0
      args: [--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=8192${args}]
      resources:
        limits: { nvidia.com/gpu: ${gpus} }
`;

test('GPUs that stay idle', () => {
  const text = pod(4, '');
  const [plan] = plansOf(text, 'pod.yaml') as [Plan];
  const idle = found(plan, 'gpus-idle');
  expect(idle?.message).toBe('The file gives this launch 4 GPUs and it uses 1: 237.6 GiB of GPU memory stay idle.');
  expect(idle && textAt(text, idle)).toBe('4');
  expect(idle?.fixes.map((f) => [f.option, f.value])).toEqual([
    ['tensor-parallel-size', '4'],
    ['data-parallel-size', '4'],
  ]);
  for (const fix of idle?.fixes ?? []) {
    const [after] = plansOf(withFix(plan, text, fix), 'pod.yaml') as [Plan];
    expect(found(after, 'gpus-idle')).toBeUndefined();
  }
  const [used] = plansOf(pod(4, ', --tensor-parallel-size=2, --data-parallel-size=2'), 'pod.yaml') as [Plan];
  expect(found(used, 'gpus-idle')).toBeUndefined();
});

test('a config that is written with = is not read', () => {
  const text = 'vllm serve Qwen/Qwen3-8B --config=options.yaml\n';
  const [plan] = plansOf(text, 'serve.sh') as [Plan];
  const unread = found(plan, 'config-not-read');
  expect(unread?.message).toContain('a word of its own: --config options.yaml');
  expect(unread && textAt(text, unread)).toBe('--config=options.yaml');
  const apart = apply(text, [{ range: { start: text.indexOf('='), end: text.indexOf('=') + 1 }, text: ' ' }]);
  expect(found(plansOf(apart, 'serve.sh')[0] as Plan, 'config-not-read')).toBeUndefined();
});

test('a sound launch has no finding', () => {
  const name = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
  const [plan] = planText({ text: readFileSync(name, 'utf8'), name }, {}).plans;
  expect([plan?.starts, plan?.findings]).toEqual([true, []]);
});
