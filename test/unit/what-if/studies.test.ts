/** A row of a study is the plan of the file with that value in it: nothing is computed beside the one road. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Grammars, ReadInput } from '../../../src/launch/launch';
import { type Plan, planText, requestsByLength } from '../../../src/planner';
import { tryingOn } from '../../../src/planner/alternatives';
import { whatIf } from '../../../src/what-if';
import type { Changes } from '../../../src/what-if/knobs';
import { lengthsOf, type Studies, studiesOf } from '../../../src/what-if/studies';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const sample = (file: string): ReadInput => ({
  name: file,
  text: readFileSync(path.join('samples', file), 'utf8'),
  grammars,
});

function studied(input: ReadInput, flags = {}): { plan: Plan; studies: Studies } {
  const plan = planText(input, { flags }).plans[0] as Plan;
  return { plan, studies: studiesOf(plan, tryingOn(input.text, { flags })) };
}

const triedPlan = (input: ReadInput, changes: Changes): Plan => whatIf(input, {}, 0, changes)?.plan as Plan;

const SAMPLES = [
  'vllm/qwen3-32b.vllm.yaml',
  'vllm/llama-3.1-8b-l4.compose.yaml',
  'sglang/deepseek-v3.launch.sh',
  'tensorrt-llm/llama-3.3-70b-fp8.compose.yaml',
  'lmdeploy/qwen2.5-32b.compose.yaml',
  'llama-cpp/llama-3.1-8b-slots.serve.sh',
  'tgi/llama-3.1-70b.kubernetes.yaml',
] as const;

test.each(SAMPLES)('%s: every row is what the launch would come to with that value', (file) => {
  const input = sample(file);
  const { plan, studies } = studied(input);
  const { rows, lengths } = studies.formats ?? { rows: [], lengths: [] };
  expect(rows.filter((r) => r.current)).toHaveLength(1);
  for (const row of rows) {
    const made = row.current
      ? plan
      : triedPlan(input, {
          ...(row.dtype === plan.kv?.layout.dtype.value ? {} : { 'kv-dtype': formatText(plan, row.dtype) }),
          ...(row.tensor === plan.placement?.tensor ? {} : { tensor: String(row.tensor) }),
        });
    expect(made.kv?.layout.dtype.value).toBe(row.dtype);
    expect(made.placement?.tensor ?? 1).toBe(row.tensor);
    expect([row.starts, row.longest?.tokens]).toEqual([made.starts, made.capacity?.longestContext?.value]);
    expect(row.requests).toEqual(requestsByLength(made, lengths).map((p) => p.paged));
    expect(row.limit).toBe(made.capacity?.engineLimit?.value);
  }
  for (const row of studies.blocks ?? []) {
    const made = row.current ? plan : triedPlan(input, { 'block-size': String(row.blockSize) });
    expect(row).toMatchObject({
      blocks: made.kv?.pool?.blocks.value,
      entries: made.capacity?.paged.blocksPerRequest.value,
      tailTokens: made.capacity?.paged.tailTokens.value,
      requests: made.capacity?.paged.requests.value,
    });
    expect(row.tailTokens).toBeLessThan(row.blockSize);
  }
  for (const { waste } of studies.waste ?? []) {
    const { pool, ...parts } = waste;
    expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBeCloseTo(pool, 3);
  }
});

/** LMDeploy says a number of bits; the others their formats by name. */
const formatText = (plan: Plan, dtype: string): string =>
  plan.engine.id === 'lmdeploy' ? ({ int8: '8', int4: '4' }[dtype] ?? '0') : dtype === 'float16' ? 'None' : dtype;

test('formats are from large to small, none larger than the usual one, none twice under another name', () => {
  const { studies } = studied(sample('vllm/qwen3-32b.vllm.yaml'));
  const formats = [...new Set(studies.formats?.rows.map((r) => r.dtype))];
  expect(formats[0]).toBe('bfloat16');
  expect(formats).toContain('fp8');
  expect(formats).not.toContain('int8_per_token_head');
  const llama = studied(sample('llama-cpp/llama-3.1-8b-slots.serve.sh')).studies.formats?.rows.map((r) => r.dtype);
  expect(llama?.[0]).toBe('f16');
});

test('groups that the heads cannot be divided over are left out', () => {
  const text = '# kv-planner: gpu=H100-80GB\nvllm serve Qwen/Qwen2.5-14B-Instruct\n'; // 40 heads
  const { studies } = studied({ name: 'serve.sh', text, grammars });
  expect([...new Set(studies.formats?.rows.map((r) => r.tensor))]).toEqual([1, 2, 4, 8]);
  const sixteen = studied({ name: 'serve.sh', text, grammars }, { gpus: '16' }).studies;
  expect(sixteen.formats?.rows.some((r) => r.tensor === 16)).toBe(false);
});

test('what is tried is studied as tried', () => {
  const input = sample('vllm/qwen3-32b.vllm.yaml');
  const plan = triedPlan(input, { 'block-size': '32', 'kv-dtype': 'auto' });
  const { formats, blocks } = studiesOf(plan, tryingOn(input.text, {}));
  expect(blocks?.find((r) => r.current)?.blockSize).toBe(32);
  expect(formats?.rows.find((r) => r.current)?.dtype).toBe('bfloat16');
});

test('an engine without blocks has no block sizes, and a launch without a GPU has nothing', () => {
  expect(studied(sample('ollama/gemma3-27b.compose.yaml')).studies.blocks).toBeUndefined();
  const text = 'vllm serve meta-llama/Llama-3.1-8B-Instruct\n';
  expect(studied({ name: 'serve.sh', text, grammars }).studies).toEqual({});
});

test('lengths are powers of two and the longest', () => {
  expect(lengthsOf(8192)).toEqual([512, 1024, 2048, 4096, 8192]);
  expect(lengthsOf(40_960)).toEqual([512, 1024, 2048, 4096, 8192, 16_384, 32_768, 40_960]);
  expect(lengthsOf(300)).toEqual([300]);
  expect(lengthsOf(1_048_576)).toHaveLength(9);
});
