import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from './run';

const LLAMA_70B = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const LLAMA_8B_ON_L4 = 'samples/vllm/llama-3.1-8b-l4.compose.yaml';
const KNOWN = ['--kv-memory', '54375000000'];

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'kv-planner-'));
});
afterAll(() => rmSync(root, { recursive: true }));

const service = (name: string, command: string): string =>
  `  ${name}:\n    image: vllm/vllm-openai:v0.28.0\n    command: ${command}\n`;
const compose = (...services: string[]): string => `services:\n${services.join('')}`;
const llama = service('llama', '--model meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192');

/** Plans a Compose text from standard input and reads the JSON. */
async function planned(text: string, ...args: string[]) {
  const { code, out, notes } = await run(['report', '-', '--name', 'compose.yaml', '--format', 'json', ...args], text);
  return { code, notes: notes.join('\n'), ...JSON.parse(out) };
}

test('Llama 3.1 70B on eight H100s with 54,375,000,000 bytes each: every number of the worked example', async () => {
  const { code, out, notes } = await run(['report', LLAMA_70B, ...KNOWN, '--format', 'json']);
  const [plan] = JSON.parse(out).plans;
  expect([code, notes]).toEqual([0, []]);
  expect(plan.kv).toMatchObject({ bytesPerTokenPerGpu: 40960, bytesPerTokenTotal: 327680, blocks: 82969 });
  expect(plan.capacity).toMatchObject({
    contiguous: { requests: 162, bytesPerRequest: 335544320 },
    paged: { requests: 1536, blocksPerRequest: 54, tailTokens: 14 },
  });
});

test('one shell command on standard input, and a script', async () => {
  const command = 'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 32768 --gpu-memory-utilization=0.5\n';
  const { code, out, notes } = await run(['report', '-', '--gpu', 'H100', '--format', 'json'], command);
  const [plan] = JSON.parse(out).plans;
  expect([code, notes]).toEqual([0, []]);
  expect(plan.launch).toMatchObject({ file: 'stdin', form: 'shell' });
  expect(plan.capacity.maxLength).toBe(32768);
  expect((await run(['report', 'samples/vllm/deepseek-r1.serve.sh', '--require-start'])).code).toBe(0);
});

test('flags win over the comments of the file', async () => {
  const { plans } = await planned(
    `# kv-planner: gpu=L4 prompt=10\n${compose(llama)}`,
    '--gpu',
    'H100-80GB',
    '--prompt',
    '100',
  );
  expect(plans[0].hardware).toMatchObject({ gpu: expect.stringContaining('H100'), origin: 'flag' });
  expect(plans[0].capacity.workload).toEqual({ prompt: 100, output: 250 });
});

test.each([
  ['vllm@0.6.6', '0.6.6'],
  ['vllm@v0.11.0', '0.11.0'],
  ['0.21', '0.21'],
])('--engine %s', async (engine, version) => {
  const { plans } = await planned(compose(llama), '--engine', engine, '--kv-memory', '20GiB');
  expect(plans[0].launch.engineVersion).toBe(version);
});

test.each([
  ['an unknown model', '--model no-such/model-xyz', /no-such\/model-xyz/],
  ['a length that is no number', '--model meta-llama/Llama-3.1-8B-Instruct --max-model-len banana', /banana/],
  ['seven GPUs for eight heads', '--model meta-llama/Llama-3.1-8B-Instruct -tp 7', /7/],
  ['more memory than there is', '--model meta-llama/Llama-3.1-8B-Instruct --gpu-memory-utilization 1.7', /1\.7/],
])('%s: said with its place, exit 1, and the other launch is planned', async (_, command, message) => {
  const { code, plans, notes } = await planned(compose(service('bad', command), llama), '--gpu', 'L4');
  expect(code).toBe(1);
  expect(notes).toMatch(/^compose\.yaml:\d+ \(bad\): could not be planned: /);
  expect(notes).toMatch(message);
  const [bad, good] = plans;
  expect(bad.findings).toContainEqual(expect.objectContaining({ severity: 'error', line: 4 }));
  expect(good.capacity.fits).toBeGreaterThan(0);
});

test('an unknown GPU is said, and what needs no GPU is planned', async () => {
  const { code, plans } = await planned(compose(llama), '--gpu', 'H9000');
  expect(code).toBe(0);
  expect(plans[0].findings.map((f: { message: string }) => f.message).join()).toContain('H9000');
  expect(plans[0].kv.bytesPerTokenPerGpu).toBe(131072);
  expect(plans[0].starts).toBe('unknown');
});

test('broken YAML, a folder, a missing file and a file without a launch: exit 1, and the rest is planned', async () => {
  const broken = join(root, 'broken.compose.yaml');
  const none = join(root, 'none.yaml');
  const missing = join(root, 'missing.yaml');
  writeFileSync(broken, `services:\n  a:\n    image: vllm/vllm-openai\n    command: "--model x\n`);
  writeFileSync(none, 'a: 1\n');
  const { code, out, notes } = await run(['report', broken, root, missing, none, LLAMA_70B, '--format', 'json']);
  const { plans, problems } = JSON.parse(out);
  expect(code).toBe(1);
  expect(new Set(problems.map((p: { file: string }) => p.file))).toEqual(new Set([broken, root, missing, none]));
  expect(plans.some((p: { launch: { file: string } }) => p.launch.file === LLAMA_70B)).toBe(true);
  for (const file of [broken, root, missing, none]) {
    expect(notes.join('\n')).toContain(file);
  }
});

test.each([
  [[LLAMA_70B, '--require-concurrency', '1024'], 0],
  [[LLAMA_70B, '--require-concurrency', '1025'], 3],
  [[LLAMA_70B, '--require-start'], 0],
  [[LLAMA_8B_ON_L4], 0],
  [[LLAMA_8B_ON_L4, '--require-start'], 3],
  [[LLAMA_8B_ON_L4, '--require-concurrency', '1'], 3],
  [[LLAMA_70B, LLAMA_8B_ON_L4, '--require-start'], 3],
  [[LLAMA_70B, 'missing.yaml', '--require-concurrency', '1025'], 1],
])('%j exits with %i', async (args, wanted) => {
  const { code, notes } = await run(['report', ...args, ...(args.includes(LLAMA_8B_ON_L4) ? [] : KNOWN)]);
  expect(code).toBe(wanted);
  expect(notes.some((line) => line.includes('requirement not met'))).toBe(
    args.includes('--require-concurrency') || args.includes('--require-start') ? wanted !== 0 : false,
  );
});

test('replicas count together, and what is not known meets nothing', async () => {
  const two = compose(
    service('two', '--model meta-llama/Llama-3.1-8B-Instruct -dp 2 --max-num-seqs 100 --max-model-len 8192'),
  );
  const known = ['--kv-memory', '40GiB'];
  expect((await planned(two, ...known, '--require-concurrency', '200')).code).toBe(0);
  expect((await planned(two, ...known, '--require-concurrency', '201')).code).toBe(3);
  const unknown = await planned(two, '--require-start', '--require-concurrency', '1');
  expect(unknown.code).toBe(3);
  expect(unknown.notes).toContain('--gpu NAME');
});

test('a model that only a config.json knows', async () => {
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    num_hidden_layers: 4,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    hidden_size: 512,
    intermediate_size: 1024,
    vocab_size: 1000,
    max_position_embeddings: 4096,
    torch_dtype: 'bfloat16',
  };
  mkdirSync(join(root, 'tiny'), { recursive: true });
  writeFileSync(join(root, 'tiny', 'config.json'), JSON.stringify(config));
  const own = compose(service('own', '--model acme/unheard-of'));
  const named = await planned(own, '--model-config', join(root, 'tiny'), '--kv-memory', '1GiB');
  expect(named.code).toBe(0);
  expect(named.plans[0].kv.bytesPerTokenPerGpu).toBe(4 * 2 * 2 * 64 * 2);

  const beside = join(root, 'beside.compose.yaml');
  writeFileSync(beside, compose(service('own', '--model ./tiny')));
  const { code, out } = await run(['report', beside, '--format', 'json']);
  expect(code).toBe(0);
  expect(JSON.parse(out).plans[0].kv.bytesPerTokenPerGpu).toBe(2048);

  const gguf = await planned(own, '--model-config', 'tiny.gguf');
  expect([gguf.code, gguf.plans]).toEqual([1, []]);
  expect(gguf.problems[0].message).toBe('no such file');
});

test.each([
  ['text', /^Starts +yes/],
  ['markdown', /^# KV cache capacity\n/],
  ['html', /^<!doctype html>/],
  ['csv', /^launch\.file,/],
  ['json', /"schema": "kv-planner\/plan@1"/],
])('--format %s', async (format, wanted) => {
  const { code, out, notes } = await run(['report', LLAMA_70B, '--format', format]);
  expect([code, notes]).toEqual([0, []]);
  expect(out).toMatch(wanted);
});
