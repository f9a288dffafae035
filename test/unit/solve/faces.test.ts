/** What `solve` prints: the shipped schema, and the answer in the first lines. */
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020';
import { expect, test } from 'vitest';
import { run } from '../cli/run';

const strict = JSON.parse(readFileSync('schema/solve.schema.json', 'utf8'), (_, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
);
const validate = new Ajv2020({ allErrors: true, strict: true }).compile(strict);

const LLAMA = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const L4 = 'samples/vllm/llama-3.1-8b-l4.compose.yaml';

test.each([
  [[LLAMA, '--concurrency', '64'], 0],
  [[LLAMA, '--concurrency', '1100'], 0],
  [[LLAMA, '--concurrency', '64', '--length', '200000'], 3],
  [[L4, '--concurrency', '20'], 0],
  [['samples/vllm/gemma-3-27b.kubernetes.yaml', '--concurrency', '64', '--length', '16384'], 0],
  [['samples/vllm/qwen3-32b.vllm.yaml', 'samples/vllm/deepseek-r1.serve.sh', '--concurrency', '100000'], 3],
  [['samples/vllm/missing.yaml', '--concurrency', '1'], 1],
] as const)('%j follows the schema and exits with %i', async (args, code) => {
  const result = await run(['solve', ...args, '--format', 'json']);
  expect(validate(JSON.parse(result.out)), JSON.stringify(validate.errors)).toBe(true);
  expect(result.code).toBe(code);
});

test('edits in the JSON lead to the new value', async () => {
  const { out } = await run(['solve', L4, '--concurrency', '20', '--format', 'json']);
  const [solution] = JSON.parse(out).launches[0].solutions;
  const [edit] = solution.edits;
  const lines = readFileSync(L4, 'utf8').split('\n');
  const { start, end } = edit.range;
  expect(start.line).toBe(end.line);
  expect(lines[start.line - 1]?.slice(start.column - 1, end.column - 1)).toBe('131072');
  expect(solution.changes).toEqual([{ option: 'max-model-len', from: '131072', to: edit.text }]);
  expect(solution.result).toMatchObject({ starts: true, maxLength: Number(edit.text) });
});

test('text: target, now, answer, and each change with its place', async () => {
  const { out } = await run(['solve', LLAMA, '--concurrency', '1100']);
  const lines = out.split('\n');
  expect(lines.slice(0, 3)).toEqual([
    'Target   1,100 requests at once of 600 + 250 tokens',
    'Now      no: 1,024 requests at once, limited by the most sequences the engine runs',
    'Answer   one way.',
  ]);
  expect(out).toContain('1. max-num-seqs 1024 → 1100\n   then 1,100 requests at once');
  expect(out).toContain(`${LLAMA}:11:22: add\n       --max-num-seqs 1100\n`);
});
