/** FP8 weights in squares of 128: which tensor parallel sizes the engines refuse. */
import { beforeAll, expect, test } from 'vitest';
import type { Grammars } from '../../../src/launch/launch';
import { planText } from '../../../src/planner';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const squares = (command: string) => {
  const flags = { 'kv-memory': '20GiB' };
  const [plan] = planText({ text: `${command}\n`, name: 'serve.sh', grammars }, { flags }).plans;
  const finding = plan?.findings.find((f) => f.code === 'fp8-squares-divided');
  return { planned: plan?.planned, starts: plan?.starts, message: finding?.message, fixes: finding?.fixes };
};

const QWEN = 'Qwen/Qwen3-235B-A22B-Instruct-2507-FP8';

// vllm-project/vllm#17569, #25292 and #48173: 1536 / 8 = 192, and 768 / 4 = 192.
test.each([
  ['vllm serve %s -tp 8 --max-model-len 8192', QWEN, 'tensor-parallel-size', '4'],
  ['vllm serve %s -tp 4 --max-model-len 8192', 'Qwen/Qwen3-30B-A3B-FP8', 'tensor-parallel-size', '2'],
  ['python -m sglang.launch_server --model-path %s --tp 8', QWEN, 'tp-size', '4'],
])('%s %s is refused', (command, model, option, value) => {
  const { planned, starts, message, fixes } = squares(command.replace('%s', model));
  expect(planned).toBe(true);
  expect(starts).toBe(false);
  expect(message).toContain('192 is not divisible by weight quantization block_n = 128');
  expect(fixes).toEqual([expect.objectContaining({ option, value })]);
});

test.each([
  `vllm serve ${QWEN} -tp 4`,
  // Experts stay whole under expert parallelism, and attention divides.
  `vllm serve ${QWEN} -tp 8 --enable-expert-parallel`,
  `python -m sglang.launch_server --model-path ${QWEN} --tp 8 --ep 8`,
  'vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507 -tp 8',
  // Scales of whole channels.
  'vllm serve RedHatAI/Qwen3-235B-A22B-FP8-dynamic -tp 8',
  'vllm serve deepseek-ai/DeepSeek-R1 -tp 16',
])('%s is not', (command) => {
  const { planned, message } = squares(command);
  expect(planned).toBe(true);
  expect(message).toBeUndefined();
});

test('shared experts are divided even where experts are not', () => {
  // moe_intermediate_size 512 over 8 GPUs: the shared expert's 64 (vLLM 0.16, Qwen3-Next and Qwen3.6).
  expect(squares('vllm serve Qwen/Qwen3-Next-80B-A3B-Instruct-FP8 -tp 8 --enable-expert-parallel').message).toContain(
    'columns of shared experts into 64 each',
  );
});
