/** What is tried is what the file would come to if it said so, in every engine and form, and nothing else of it is touched. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Grammars, ReadInput } from '../../../src/launch/launch';
import { type Overrides, type Plan, planText } from '../../../src/planner';
import { whatIf } from '../../../src/what-if';
import { type Changes, type Knob, type KnobKey, knobsOf } from '../../../src/what-if/knobs';
import { apply } from '../findings/support';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const SAMPLES = readdirSync('samples', { recursive: true, encoding: 'utf8' }).filter((f) => /\.\w+$/.test(f));

const inputOf = (name: string, text: string): ReadInput => ({ name, text, grammars });
const sample = (file: string): ReadInput => inputOf(file, readFileSync(path.join('samples', file), 'utf8'));

const triedOn = (input: ReadInput, changes: Changes, flags: Overrides = {}, at = 0) => {
  const tried = whatIf(input, { flags }, at, changes);
  if (!tried) {
    throw new Error('no launch');
  }
  return tried;
};

/** Numbers of a plan, and what it says without the lines that moved. */
const gist = ({ kv, budget, capacity, starts, planned, placement, hardware, workload, findings }: Plan) => ({
  starts,
  planned,
  placement,
  gpu: [hardware?.name, hardware?.memory.value, hardware?.count],
  workload,
  dtype: kv?.layout.dtype.value,
  perToken: kv?.layout.bytesPerToken.value,
  blockSize: kv?.layout.blockSize,
  blocks: kv?.pool?.blocks.value,
  bytes: kv?.pool?.bytes.range ?? kv?.pool?.bytes.value,
  weights: budget?.weights.figure.value,
  fits: capacity?.fits.value,
  maxLength: capacity?.maxLength,
  longest: capacity?.longestContext?.value,
  codes: findings.map((f) => f.code),
});

/** Values to try: the first that the launch has not. */
const VALUES: Readonly<Record<KnobKey, readonly string[]>> = {
  gpu: ['H200', 'L40S'],
  gpus: ['16', '12'],
  prompt: ['1234', '99'],
  output: ['321', '98'],
  tensor: ['4', '2'],
  pipeline: ['2', '4'],
  'block-size': ['128', '256'],
  'memory-share': ['0.77', '0.66'],
  'max-length': ['6144', '5120'],
  'max-sequences': ['17', '19'],
  'kv-dtype': ['4', '8'],
  'batch-tokens': ['3072', '5000'],
};

const otherThan = ({ key, value, choices }: Knob): string =>
  (choices ?? VALUES[key]).find((v) => v !== value && v !== 'auto') ?? '';

describe.each(SAMPLES)('%s', (file) => {
  test('each change, written and read again, is what was tried', () => {
    const input = sample(file);
    const [plan] = planText(input, {}).plans;
    expect(plan).toBeDefined();
    for (const knob of knobsOf(plan as Plan)) {
      const value = otherThan(knob);
      const tried = triedOn(input, { [knob.key]: value });
      expect(tried.refused, `${knob.key} ${value}`).toEqual([]);
      expect(tried.changes.length, `${knob.key} ${value}`).toBeGreaterThan(0);
      if (tried.unheld.length === 0) {
        const [after] = planText(inputOf(file, apply(input.text, tried.edits)), {}).plans;
        expect(gist(after as Plan), `${knob.key} ${value}`).toEqual(gist(tried.plan));
      } else {
        expect(tried.edits).toEqual([]);
      }
    }
  });

  test('all changes together are one set of edits, and every other character stays', () => {
    const input = sample(file);
    const [plan] = planText(input, {}).plans;
    const changes = Object.fromEntries(knobsOf(plan as Plan).map((k) => [k.key, otherThan(k)]));
    const tried = triedOn(input, changes);
    const text = apply(input.text, tried.edits);
    const [after] = planText(inputOf(file, text), {}).plans;
    const held = Object.entries(changes).filter(([key]) => !tried.unheld.some((u) => u.key === key));
    const expected = gist(triedOn(input, Object.fromEntries(held)).plan);
    // Where lines are added, findings come in another order.
    expect({ ...gist(after as Plan), codes: [] }).toEqual({ ...expected, codes: [] });
    expect(held.length).toBeGreaterThan(3);
    const kept = tried.edits
      .map((e) => e.range)
      .sort((a, b) => a.start - b.start)
      .reduce((rest, { start, end }) => rest.slice(0, start) + '\0'.repeat(end - start) + rest.slice(end), input.text)
      .replaceAll('\0', '');
    let at = 0;
    for (const character of kept) {
      at = text.indexOf(character, at) + 1;
      expect(at).toBeGreaterThan(0);
    }
  });
});

const SERVE = [
  '# kv-planner: gpu=H100-80GB',
  'vllm serve meta-llama/Llama-3.1-8B-Instruct --kv-cache-dtype fp8 --max-model-len 8k',
  '',
].join('\n');

test.each<[Changes, KnobKey, RegExp]>([
  [{ gpu: 'H1000' }, 'gpu', /H1000” is not known/],
  [{ gpus: '0' }, 'gpus', /whole number from 1/],
  [{ prompt: 'many' }, 'prompt', /whole number/],
  [{ 'memory-share': '1.5' }, 'memory-share', /above 0 and at most 1|between 0/],
  [{ 'kv-dtype': 'fp7' }, 'kv-dtype', /must be one of auto, /],
  [{ 'max-length': 'long' }, 'max-length', /must be/],
])('%j is told at its field, and the rest is tried', (changes, key, why) => {
  const tried = triedOn(inputOf('serve.sh', SERVE), { ...changes, 'max-sequences': '7' });
  expect(tried.refused).toEqual([{ key, text: changes[key], why: expect.stringMatching(why) }]);
  expect(tried.changes.map((c) => c.key)).toEqual(['max-sequences']);
  expect(tried.plan.capacity?.fits.value).toBe(7);
});

test('a format that the version has not yet is refused with the version that has it', () => {
  const old = `# kv-planner: gpu=H100-80GB engine=vllm@0.10.2\n${SERVE.split('\n')[1]}\n`;
  const { refused, knobs } = triedOn(inputOf('serve.sh', old), { 'kv-dtype': 'nvfp4' });
  expect(refused[0]?.why).toMatch(/nvfp4 came with 0\.20; this launch runs vLLM 0\.10\.2/);
  expect(knobs.find((k) => k.key === 'kv-dtype')?.choices).not.toContain('nvfp4');
});

test('what means the same as what is written is no change', () => {
  const tried = triedOn(inputOf('serve.sh', SERVE), {
    'max-length': ' 8000 ',
    'kv-dtype': 'fp8',
    output: '250',
    gpus: '',
  });
  expect(tried).toMatchObject({ changes: [], refused: [], edits: [], unheld: [] });
  expect(tried.plan).toBe(tried.written);
});

test('a number of GPUs is changed where it stands', () => {
  const input = sample('vllm/llama-3.1-70b-8xh100.compose.yaml');
  const tried = triedOn(input, { gpus: '16' });
  expect(tried.edits).toHaveLength(1);
  const range = tried.edits[0]?.range;
  expect(input.text.slice(range?.start, range?.end)).toBe('8');
});

test('what the form cannot hold is planned, and said', () => {
  const input = sample('tensorrt-llm/config.pbtxt');
  const tried = triedOn(input, { tensor: '4', prompt: '1234' });
  expect(tried.plan.placement?.tensor).toBe(4);
  expect(tried.unheld).toEqual([
    { key: 'tensor', option: 'tensor_parallel_size', why: expect.stringMatching(/no place for tensor_parallel_size/) },
  ]);
  expect(apply(input.text, tried.edits)).toContain('prompt=1234');
});

test('keys and values change their format together', () => {
  const { changes, plan } = triedOn(sample('llama-cpp/gpt-oss-20b.compose.yaml'), { 'kv-dtype': 'q4_0' });
  expect(changes.map((c) => c.option)).toEqual(['cache-type-k', 'cache-type-v']);
  expect(plan.kv?.layout.dtype.value).toMatch(/q4_0/);
});
