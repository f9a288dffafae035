/** Solving is the inverse of planning: a solution, planned, meets its target, and no smaller step of any of its changes does. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { editOption, type TextEdit } from '../../../src/launch/edit';
import type { Grammars, ReadInput } from '../../../src/launch/launch';
import { type Overrides, type Plan, planText } from '../../../src/planner';
import { solveJson } from '../../../src/report/solve-json';
import { type Solution, type Solved, solveFor, solveOne, type Target } from '../../../src/solve';
import { compose } from '../findings/support';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const apply = (text: string, edits: readonly TextEdit[]): string =>
  [...edits]
    .sort((a, b) => b.range.start - a.range.start)
    .reduce((t, e) => t.slice(0, e.range.start) + e.text + t.slice(e.range.end), text);

interface Case {
  readonly name: string;
  readonly text: string;
  readonly flags?: Overrides;
}

const inputOf = ({ name, text }: Case): ReadInput => ({ name, text, grammars });

function solvedOf(one: Case, target: Target): Solved {
  const [solved] = solveFor(target, inputOf(one), { flags: one.flags }).solved;
  if (!solved) {
    throw new Error('no launch');
  }
  return solved;
}

/** Requests at once that a text serves, on the plain road, with the target's workload. */
function servedBy(text: string, one: Case, { plan, target }: Solved): number {
  const { prompt, output } = plan.workload;
  const flags = { ...one.flags, prompt: String(prompt), output: String(output) };
  const [after] = planText(inputOf({ ...one, text }), { flags }).plans;
  const takes = after?.planned && after.starts === true && (after.capacity?.maxLength ?? 0) >= target.length;
  return takes && after.capacity ? after.capacity.fits.value * (after.placement?.replicas ?? 1) : 0;
}

/** The text of a solution with one option set otherwise, or left as the file has it. */
function otherwise(solution: Solution, plan: Plan, one: Case, option: string, value: string | undefined): string {
  let { text } = one;
  for (const change of solution.changes) {
    const to = change.option === option ? value : change.to;
    const [launch] = planText(inputOf({ ...one, text }), { flags: one.flags }).plans;
    if (to !== undefined && launch) {
      text = apply(text, editOption(launch.launch, text, change.option, to));
    }
  }
  expect(plan.launch.engine).toBe('vllm');
  return text;
}

/** One step less of what is counted in steps. */
const smaller: Readonly<Record<string, (to: number) => string>> = {
  'gpu-memory-utilization': (to) => String(Math.round(to * 100 - 1) / 100),
  'kv-cache-memory-bytes': (to) => String(to - 256 * 2 ** 20),
  'data-parallel-size': (to) => String(to - 1),
  'max-num-seqs': (to) => String(to - 1),
};

function expectInverse(one: Case, target: Target): Solved {
  const solved = solvedOf(one, target);
  expect(solved.met).toBe(servedBy(one.text, one, solved) >= target.concurrency);
  const kinds = solved.solutions.map((s) => s.kinds.join());
  expect(new Set(kinds).size).toBe(kinds.length);
  for (const solution of solved.solutions) {
    const text = apply(one.text, solution.edits);
    expect(text).toBe(solution.text);
    expect(servedBy(text, one, solved)).toBe(solution.served);
    expect(solution.served).toBeGreaterThanOrEqual(target.concurrency);
    for (const { option, to } of solution.changes) {
      const less = smaller[option];
      const rises = solution.changes.some((c) => c.option === 'max-num-seqs') && option === 'max-num-batched-tokens';
      for (const value of less && !lowered(solution, option) ? [undefined, less(Number(to))] : [undefined]) {
        if (!rises) {
          const other = otherwise(solution, solved.plan, one, option, value);
          expect(servedBy(other, one, solved), `${option} ${value ?? 'as it was'}`).toBeLessThan(target.concurrency);
        }
      }
    }
  }
  if (solved.nearest) {
    expect(servedBy(solved.nearest.text, one, solved)).toBe(solved.nearest.served);
    expect(solved.nearest.served).toBeLessThan(target.concurrency);
  }
  return solved;
}

/** Sequences may be made fewer too, to give the sampler's memory to the cache. */
const lowered = ({ changes }: Solution, option: string): boolean =>
  changes.some((c) => c.option === option && c.from !== undefined && Number(c.to) < Number(c.from));

const sample = (name: string): Case => ({ name, text: readFileSync(`samples/vllm/${name}`, 'utf8') });

describe('samples', () => {
  test.each([
    'llama-3.1-70b-8xh100.compose.yaml',
    'llama-3.1-8b-l4.compose.yaml',
    'gemma-3-27b.kubernetes.yaml',
    'qwen3-32b.vllm.yaml',
    'deepseek-r1.serve.sh',
  ])('%s', (name) => {
    for (const target of [{ concurrency: 30 }, { concurrency: 64, length: 16384 }, { concurrency: 1500 }]) {
      expectInverse(sample(name), target);
    }
  });
});

const llama = ['--model=meta-llama/Llama-3.1-8B-Instruct', '--max-model-len=8192'];
const launch = (args: readonly string[], flags: Overrides): Case => ({
  name: 'compose.yaml',
  text: compose(args),
  flags,
});

const L40S = { gpu: 'L40S', gpus: '1' };

/** What is changed, in the order of the list. */
const told = ({ solutions }: Solved): string[] =>
  solutions.map((s) => s.changes.map((c) => `${c.option} ${c.from ?? '-'}→${c.to}`).join(', '));

describe('one lever after the other', () => {
  test('already met', () => {
    const solved = expectInverse(launch(llama, L40S), { concurrency: 16 });
    expect([solved.met, solved.solutions]).toEqual([true, []]);
  });
  test('a limit of the engine is raised, with the tokens of one step where it needs to be', () => {
    const one = launch([...llama, '--max-num-seqs=8', '--max-num-batched-tokens=512'], { 'kv-memory': '400GiB' });
    expect(told(expectInverse(one, { concurrency: 9 }))).toEqual(['max-num-seqs 8→9']);
    expect(told(expectInverse(one, { concurrency: 600 }))).toEqual([
      'max-num-seqs 8→600, max-num-batched-tokens 512→600',
    ]);
  });
  test('a length beyond max-model-len is allowed first', () => {
    expect(told(expectInverse(launch(llama, L40S), { concurrency: 2, length: 20000 }))).toEqual([
      'max-model-len 8192→20000',
    ]);
  });
  test('share of the card, KV bytes, dtype: smallest first', () => {
    const solved = expectInverse(launch([...llama, '--gpu-memory-utilization=0.85'], L40S), { concurrency: 210 });
    expect(solved.solutions.map((s) => s.kinds)).toEqual([['share'], ['kv-bytes'], ['sequences'], ['dtype']]);
  });
  test('KV bytes that are stated are raised, up to what the card holds', () => {
    const one = launch([...llama, '--kv-cache-memory-bytes=8G'], L40S);
    const solved = expectInverse(one, { concurrency: 150 });
    expect(told(solved)[0]).toBe('kv-cache-memory-bytes 8G→17179869184');
  });
  test('more GPUs only when the ones offered do not do', () => {
    const one = launch(llama, { gpu: 'L40S', gpus: '4' });
    expect(told(expectInverse(one, { concurrency: 700 })).at(-1)).toMatch(/^(tensor|data)-parallel-size/);
    const beyond = expectInverse(launch(llama, L40S), { concurrency: 3000 });
    expect(beyond.reason).toBe('No change on the one GPU offered reaches it.');
    expect(beyond.solutions.every((s) => s.moreGpus)).toBe(true);
    expect(beyond.nearest?.served).toBeGreaterThan(300);
  });
  test('nobody knows the card: why, and nothing is tried', () => {
    const solved = solvedOf(launch(llama, {}), { concurrency: 8 });
    expect(solved.solutions).toEqual([]);
    expect(solved.reason).toMatch(/^The GPU is not known/);
  });
  test('longer than the model', () => {
    const solved = solvedOf(launch(['--model=Qwen/Qwen3-8B'], L40S), { concurrency: 1, length: 60000 });
    expect([solved.solutions, solved.reason]).toEqual([[], 'The model takes requests of 40,960 tokens at most.']);
  });
});

test('any model, card and target', () => {
  const models = fc.constantFrom(
    'meta-llama/Llama-3.1-8B-Instruct',
    'Qwen/Qwen3-32B',
    'google/gemma-3-27b-it',
    'openai/gpt-oss-20b',
    'Qwen/Qwen3-Next-80B-A3B-Instruct',
  );
  fc.assert(
    fc.property(
      models,
      fc.constantFrom('L40S', 'A100-80GB', 'H100-80GB', 'H200'),
      fc.constantFrom(1, 2, 4),
      fc.constantFrom('2048', '16384', undefined),
      fc.integer({ min: 1, max: 800 }),
      fc.option(fc.integer({ min: 64, max: 30000 }), { nil: undefined }),
      (model, gpu, gpus, length, concurrency, each) => {
        const args = [`--model=${model}`, `--tensor-parallel-size=${gpus}`];
        const one = launch(length ? [...args, `--max-model-len=${length}`] : args, { gpu, gpus: String(gpus * 2) });
        expectInverse(one, { concurrency, length: each });
      },
    ),
    { numRuns: 25 },
  );
});

test('a context of all slots together grows with them', () => {
  const command = '-hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M -c 32768 -np 4 -ngl 99';
  const text = `services:\n  x:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda\n    command: ${command}\n`;
  const { solutions } = solvedOf({ name: 'compose.yaml', text, flags: { gpu: 'A100-80GB' } }, { concurrency: 200 });
  expect(solutions[0]?.served).toBe(200);
  expect(solutions[0]?.changes.map((c) => c.option).sort()).toEqual(['ctx-size', 'parallel']);
});

test('solved in slices it comes to the same, gives way many times, and can be ended', async () => {
  const text = readFileSync('samples/lmdeploy/qwen2.5-32b.compose.yaml', 'utf8');
  const input = { text, name: 'a.compose.yaml' };
  const target = { concurrency: 4000, length: 8192 };
  const whole = solveFor(target, input, {}).solved;
  let pauses = 0;
  const sliced = await solveOne(target, input, {}, 0, async () => {
    pauses++;
  });
  const told = (s: readonly Solved[]) =>
    JSON.stringify(solveJson([{ name: 'a', text, result: { plans: [], problems: [] }, solved: s }], target));
  expect(told(sliced.solved)).toBe(told(whole));
  expect(pauses).toBeGreaterThan(1);
  await expect(solveOne(target, input, {}, 0, () => Promise.reject(new Error('enough')))).rejects.toThrow('enough');
});
