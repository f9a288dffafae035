/** What `simulate` prints: the shipped schema, the answer in the first lines, and what is said of a bad trace. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Ajv2020 from 'ajv/dist/2020';
import { afterAll, expect, test } from 'vitest';
import { run } from '../cli/run';

const strict = JSON.parse(readFileSync('schema/simulate.schema.json', 'utf8'), (_, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
);
const validate = new Ajv2020({ allErrors: true, strict: true }).compile(strict);

const L4 = 'samples/vllm/llama-3.1-8b-l4.compose.yaml';
const LLAMA = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const FEW = ['--requests', '60'];

const folder = mkdtempSync(join(tmpdir(), 'kv-planner-'));
afterAll(() => rmSync(folder, { recursive: true }));
function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Two of three prompts begin with the same 512 tokens. */
const MOONCAKE = [
  { timestamp: 0, input_length: 1000, output_length: 20, hash_ids: [1, 2] },
  { timestamp: 9000, input_length: 1000, output_length: 20, hash_ids: [1, 3] },
  { timestamp: 18000, input_length: 600, output_length: 20, hash_ids: [4, 5] },
].map((row) => JSON.stringify(row));

test.each([
  [[L4, ...FEW], 0],
  [[LLAMA, ...FEW, '--rate', '2.5', '--seed', '7'], 0],
  [[LLAMA, ...FEW, '--turns', '4', '--think', '20', '--system', '500', '--rate', '2'], 0],
  [['samples/vllm/gemma-3-27b.kubernetes.yaml', ...FEW], 0],
  [['samples/vllm/deepseek-r1.serve.sh', 'samples/sglang/deepseek-v3.launch.sh', ...FEW], 0],
  [['samples/sglang/qwen3-next.compose.yaml', 'samples/tensorrt-llm/gpt-oss-120b.serve.sh', ...FEW], 0],
  [['samples/llama-cpp/llama-3.1-8b-slots.serve.sh', 'samples/ollama/gemma3-27b.compose.yaml', ...FEW], 0],
  [['samples/tgi/mistral-7b.docker.sh', 'samples/lmdeploy/qwen2.5-32b.compose.yaml', ...FEW], 1],
  [['samples/vllm/missing.yaml', ...FEW], 1],
  [[L4, '--trace', 'samples/missing.jsonl'], 1],
] as const)('%j follows the schema and exits with %i', async (args, code) => {
  const result = await run(['simulate', ...args, '--format', 'json']);
  expect(validate(JSON.parse(result.out)), JSON.stringify(validate.errors)).toBe(true);
  expect(result.code).toBe(code);
});

test('text: whether it fits, how many at once, and times that are estimated', async () => {
  const { out, code } = await run(['simulate', LLAMA, ...FEW]);
  const lines = out.split('\n');
  expect(lines[0]).toBe('Fits        yes: all 60 requests served without preempting');
  expect(lines[1]).toMatch(/^At once {5}60 requests at most, [\d.]+ on average; \d+ waiting at most$/);
  expect(out).toMatch(/TTFT +estimated median/);
  expect(out).toMatch(/TPOT +estimated median/);
  expect(out).toMatch(/From +[\d,]+ blocks on, .*no\s+request\s+waits\s+for\s+memory/);
  expect(code).toBe(0);
});

test('conversations: what is left of them after each think time, and what is cheapest then', async () => {
  const chat = ['--turns', '4', '--think', '20', '--system', '500', '--rate', '2'];
  const { out } = await run(['simulate', LLAMA, ...FEW, ...chat]);
  expect(out).toMatch(/conversations of 4 turns with 20 s between them.*\n.*all begin with the same\s+500 tokens/);
  expect(out).toMatch(/3 to 10 +\d+ +100 % .*rely on the prefix cache/);
  expect((await run(['simulate', LLAMA, ...chat, '--trace', 'a.jsonl'])).code).toBe(2);
  const both = await run(['simulate', LLAMA, '--trace', 'a.jsonl', '--prompt', '100']);
  expect([both.code, both.notes.join(' ')]).toEqual([2, expect.stringContaining('those of a --trace are its own')]);
});

test('what will not start is said first, and what it would do', async () => {
  const { out } = await run(['simulate', L4, '--requests', '300']);
  expect(out).toMatch(/^Fits {8}no: vLLM will not start as written\. If it did: no: \d+ preemptions/);
});

test('preemptions are the first thing said', async () => {
  const text = readFileSync(L4, 'utf8').replace('131072', '8192');
  const { out, code } = await run(['simulate', '-', '--name', 'compose.yaml', '--requests', '300'], text);
  expect(out).toMatch(/^Fits {8}no: \d+ preemptions of \d+ requests, [\d,]+ tokens computed again\n/);
  expect(code).toBe(0);
});

test('times are left out where the GPU is not known', async () => {
  const args = ['simulate', '-', '--name', 'compose.yaml', '--kv-memory', '20GiB', ...FEW];
  const text = 'services:\n  x:\n    image: vllm/vllm-openai:v0.28.0\n    command: --model Qwen/Qwen3-8B\n';
  const { out } = await run(args, text);
  expect(out).not.toContain('TTFT');
  expect(out).toContain('speed of the GPU or the size of the model is not known');
});

test('an engine without a scheduler here', async () => {
  const { out, code, notes } = await run(['simulate', 'samples/lmdeploy/qwen2.5-32b.compose.yaml', ...FEW]);
  expect(out).toMatch(/^Fits +not known\nAt once +not simulated: The scheduler of LMDeploy is not simulated\.\n/);
  expect(notes.join('\n')).toContain('not simulated');
  expect(code).toBe(1);
});

test.each([
  ['trace.jsonl', (text: string) => text],
  ['trace.jsonl.gz', (text: string) => gzipSync(text)],
])('%s: prefixes are found, bad rows are named', async (name, packed) => {
  const [first = '', ...rest] = MOONCAKE;
  const path = written(name, packed([first, '{"timestamp": broken', ...rest, ''].join('\n')));
  const { out, notes, code } = await run(['simulate', LLAMA, '--trace', path, '--format', 'json']);
  const json = JSON.parse(out);
  expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
  expect(json.traffic).toMatchObject({ requests: 3, trace: { format: 'mooncake', rows: 4, badRows: 1 } });
  expect(json.launches[0].run.prefix).toMatchObject({ promptTokens: 2600, hitTokens: 512 });
  expect(notes.some((note) => note.startsWith(`${path}:2: `))).toBe(true);
  expect(code).toBe(0);
});

test('a compressed trace that breaks off serves what came before, and exits with 1', async () => {
  const whole = gzipSync(
    `${Array.from({ length: 4000 }, (_, i) => MOONCAKE[0]?.replace(':0', `:${i * 977}`)).join('\n')}\n`,
  );
  const path = written('broken.gz', whole.subarray(0, whole.length - 400));
  const { out, code, notes } = await run(['simulate', LLAMA, '--trace', path, '--requests', '50']);
  expect(out).toContain('yes: all 50 requests');
  expect(notes.join('\n')).toContain(path);
  expect(code).toBe(1);
});

test('a trace without a request', async () => {
  const { out, code, notes } = await run(['simulate', L4, '--trace', written('empty.jsonl', '')]);
  expect(out).toBe('');
  expect(notes).toHaveLength(1);
  expect(code).toBe(1);
});

test.each([
  [['--requests', '0'], /whole number from 1 to 10000000/],
  [['--requests', '10000001'], /whole number from 1 to 10000000/],
  [['--rate', '0'], /number above 0/],
  [['--seed', '-1'], /whole number|argument missing/],
  [['--format', 'csv'], /Allowed choices are text, json/],
  [['--trace', ''], /must not be empty/],
] as const)('%j is wrong usage', async (args, message) => {
  const { code, out, notes } = await run(['simulate', L4, ...args]);
  expect([code, out]).toEqual([2, '']);
  expect(notes.join('\n')).toMatch(message);
});
