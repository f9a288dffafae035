import { describe, expect, it } from 'vitest';
import { modelIds } from '../../../src/core/model/catalogue';
import { GiB } from '../../../src/core/units';
import { type Plan, planText } from '../../../src/planner';
import { type BudgetResult, summaryOf, termSummaries } from '../../truth/budget-case';
import { replayBudgets } from '../../truth/budgets';
import { replayProfiles } from '../../truth/profiles';

const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';

function planned(model: string, options: readonly string[], flags: Readonly<Record<string, string>>): Plan | undefined {
  const args = [`--model=${model}`, ...options].map((option) => `      - '${option}'\n`).join('');
  const text = `services:\n  engine:\n    image: vllm/vllm-openai\n    command:\n${args}`;
  return planText({ text, name: 'compose.yaml' }, { flags }).plans[0];
}

function plan(model: string, options: readonly string[], flags: Readonly<Record<string, string>> = {}): Plan {
  const found = planned(model, options, { gpu: 'H100 80GB SXM', ...flags });
  if (!found?.budget) {
    throw new Error(found?.findings.map((f) => f.message).join('; ') ?? 'no launch');
  }
  return found;
}

const budget = (...args: Parameters<typeof plan>) => plan(...args).budget as NonNullable<Plan['budget']>;
const at = (version: string) => ({ engine: `vllm@${version}` });

describe('against measurements', () => {
  const outside = (results: readonly BudgetResult[]) =>
    results.flatMap((r) =>
      Object.entries({ ...r.terms, kv: r.kv }).flatMap(([term, c]) =>
        c && !c.inside ? [`${r.id}: ${term} ${c.measured} not in ${c.low}…${c.high}`] : [],
      ),
    );

  it('every term of every measured profile lies in its interval, and close to the value', () => {
    const profiles = replayProfiles();
    expect(outside(profiles)).toEqual([]);
    expect(profiles.filter((p) => p.excluded === undefined).length).toBeGreaterThan(40);
    for (const { term, medianError } of termSummaries(profiles)) {
      expect(medianError, term).toBeLessThan(0.05);
    }
  });

  it('logs that state KV bytes: the bars of the report', () => {
    const { cases, outside: out, medianError, medianInterval } = summaryOf(replayBudgets());
    expect(cases).toBeGreaterThanOrEqual(15);
    expect(out.length).toBeLessThanOrEqual(2);
    expect(medianError).toBeLessThanOrEqual(0.03);
    expect(medianInterval).toBeLessThanOrEqual(0.08);
  });

  // Loaded weights in the same report, Llama 3.1 8B: 29.98 GiB with --dtype float32, 8.49 with --quantization fp8.
  it.each([
    ['--dtype=float32', 29.98],
    ['--quantization=fp8', 8.49],
  ])('%s loads %f GiB', (option, measured) => {
    const { value, range } = budget(LLAMA, [option], at('0.19.0')).weights.figure;
    expect(Math.abs(value / GiB - measured)).toBeLessThan(0.1);
    expect(range?.low).toBeLessThanOrEqual((measured + 0.005) * GiB);
    expect(range?.high).toBeGreaterThanOrEqual((measured - 0.005) * GiB);
  });

  // First stages of two and four in that report; a plan's own terms are the deciding stage's.
  it.each([
    [2, 1.1],
    [4, 1.05],
  ])('the first of %i stages does not sample: %f GiB', (stages, measured) => {
    const given = { weights: '0', graphs: '0', other: '0', ...at('0.19.0') };
    const b = budget(LLAMA, [`--pipeline-parallel-size=${stages}`], given);
    const first = b.ranks[0];
    expect(first).toBeDefined();
    expect((b.limit.value - (first?.high ?? 0)) / GiB).toBeLessThanOrEqual(measured);
    expect((b.limit.value - (first?.low ?? 0)) / GiB).toBeGreaterThanOrEqual(measured);
    expect(b.decidingRank).toBe(stages - 1);
  });

  it('V0 with chunked prefill does not sample in its profile (vllm-project/vllm#10517: 0.06 GiB over 512 tokens)', () => {
    const long = plan(LLAMA, ['--max-model-len=35000'], { gpu: 'RTX 3090', ...at('0.6.4') });
    expect(long.options.find((o) => o.name === 'max-num-batched-tokens')?.value).toBe(512);
    const { range } = (long.budget as NonNullable<Plan['budget']>).activations.figure;
    expect(range?.low).toBeLessThan(0.06 * GiB);
    expect(range?.high).toBeGreaterThan(0.06 * GiB);
    const short = plan(LLAMA, ['--max-model-len=30000'], { gpu: 'RTX 3090', ...at('0.6.4') });
    expect(short.options.find((o) => o.name === 'max-num-batched-tokens')?.value).toBe(30000);
  });
});

describe('options that move memory', () => {
  /** Llama 3.1 8B, one layer: matrices of in × out, and which side tensor parallelism splits. */
  const MATRICES = [
    [4096, 4096, 'out'],
    [4096, 1024, 'out'],
    [4096, 1024, 'out'],
    [4096, 4096, 'in'],
    [4096, 14336, 'out'],
    [4096, 14336, 'out'],
    [14336, 4096, 'in'],
  ] as const;
  const adapter = (rank: number, tensor: number) =>
    2 *
    rank *
    (32 * MATRICES.reduce((sum, [i, o, split]) => sum + (split === 'in' ? i / tensor + o : i + o / tensor), 0) +
      4096 +
      128256);

  it.each([
    { rank: 16, adapters: 1, tensor: 1, options: ['--enable-lora'] },
    { rank: 64, adapters: 4, tensor: 1, options: ['--enable-lora', '--max-loras=4', '--max-lora-rank=64'] },
    { rank: 16, adapters: 2, tensor: 2, options: ['--enable-lora', '--max-loras=2', '--tensor-parallel-size=2'] },
  ])('adapters: rank $rank, $adapters of them, over $tensor GPUs', ({ rank, adapters, tensor, options }) => {
    const plain = budget(
      LLAMA,
      options.filter((o) => o.startsWith('--tensor')),
    ).weights.figure.value;
    const lora = budget(LLAMA, options).weights.figure;
    expect(lora.value - plain).toBeCloseTo(adapters * adapter(rank, tensor), -1);
    expect(lora.explain().symbols).toContain('rank');
  });

  it('adapters without --enable-lora cost nothing', () => {
    const plain = budget(LLAMA, []).weights.figure.value;
    expect(budget(LLAMA, ['--max-loras=8', '--max-lora-rank=64']).weights.figure.value).toBe(plain);
  });

  it('cpu-offload-gb: that many GiB leave each GPU, and no more than the layers hold', () => {
    const plain = budget(LLAMA, []);
    const some = budget(LLAMA, ['--cpu-offload-gb=10']);
    expect(plain.weights.figure.value - some.weights.figure.value).toBe(10 * GiB);
    expect(some.kv.figure.value - plain.kv.figure.value).toBe(10 * GiB);
    expect(some.weights.why).toContain('host memory');
    const all = budget(LLAMA, ['--cpu-offload-gb=100']).weights.figure;
    expect(all.value).toBe(2 * 128256 * 4096);
    expect(all.range?.low).toBeGreaterThanOrEqual(0);
  });

  it('mm-ipc-gpu-memory-gb is taken from the pool', () => {
    const [without, reserved] = [[], ['--mm-ipc-gpu-memory-gb=2']].map((o) => budget('google/gemma-3-4b-it', o));
    expect((reserved?.other.figure.value ?? 0) - (without?.other.figure.value ?? 0)).toBe(2 * GiB);
    expect((without?.kv.figure.value ?? 0) - (reserved?.kv.figure.value ?? 0)).toBe(2 * GiB);
    expect(reserved?.other.why).toContain('mm-ipc-gpu-memory-gb');
  });

  it.each(['--language-model-only', '--skip-mm-profiling', '--limit-mm-per-prompt={"image":0,"video":{"count":0}}'])(
    '%s leaves the encoder out',
    (option) => {
      const [whole, text] = [[], [option]].map((o) => budget('google/gemma-3-4b-it', o).activations);
      expect(text?.figure.range?.high).toBeLessThan(whole?.figure.range?.high ?? 0);
      expect(whole?.why).toContain('encoder');
      expect(text?.why).not.toContain('encoder');
    },
  );
});

describe('CUDA graphs', () => {
  it.each([
    ['Qwen/Qwen3-30B-A3B', '0.20.2', [], 0, 0],
    ['Qwen/Qwen3-30B-A3B', '0.28', ['--enforce-eager'], 0, 0],
    ['Qwen/Qwen3-30B-A3B', '0.28', [], 0.3, 2],
    ['Qwen/Qwen3-30B-A3B', '0.28', ['--max-num-seqs=2'], 0.05, 0.5],
    [LLAMA, '0.28', [], 0, 1],
  ] as const)('%s %s %j', (model, version, options, low, high) => {
    const { value, range } = budget(model, options, at(version)).graphs.figure;
    expect(range?.low ?? value).toBeGreaterThanOrEqual(low * GiB);
    expect(range?.high ?? value).toBeLessThanOrEqual(high * GiB);
    expect(high === 0).toBe(value === 0 && range === undefined);
  });
});

it('terms that are given replace the estimates, and what is left is exact', () => {
  const given = { weights: '15GiB', activations: '2GiB', graphs: '1GiB', other: '512MiB', 'gpu-memory': '80GiB' };
  const b = budget(LLAMA, ['--gpu-memory-utilization=0.9'], given);
  expect(b.kv.figure.value).toBe((72 - 18.5) * GiB);
  expect(b.kv.figure.range).toBeUndefined();
  expect([b.weights, b.activations, b.graphs, b.other].map((t) => t.why)).toEqual(Array(4).fill('given'));
});

it('for every model of the catalogue the ends of a term enclose its value, and all are numbers', () => {
  const launches = [
    ['--enable-lora', '--cpu-offload-gb=3'],
    ['--tensor-parallel-size=2', '--pipeline-parallel-size=2', '--cpu-offload-gb=500'],
  ];
  const terms = modelIds().flatMap((id) =>
    launches.flatMap((options) => {
      const b = planned(id, options, { gpu: 'A100 80GB SXM' })?.budget;
      return Object.entries(b ? { w: b.weights, a: b.activations, g: b.graphs, o: b.other, kv: b.kv } : {}).map(
        ([
          term,
          {
            figure: { value, range },
          },
        ]) => ({ id, term, value, low: range?.low ?? value, high: range?.high ?? value }),
      );
    }),
  );
  const wrong = terms.filter(
    ({ term, low, value, high }) => !(low <= value && value <= high && (term === 'kv' || low >= 0)),
  );
  expect(wrong).toEqual([]);
  expect(terms.length).toBeGreaterThan(1000);
});

it('MTP layers are loaded where they speculate, and only there', () => {
  const weights = (...more: string[]) =>
    budget('deepseek-ai/DeepSeek-R1', ['--tensor-parallel-size=8', ...more], { gpu: 'H200' }).weights;
  const [plain, mtp] = [weights(), weights('--spec-method=mtp', '--spec-tokens=1')];
  const more = (end: 'low' | 'high') => (mtp.figure.range?.[end] ?? 0) - (plain.figure.range?.[end] ?? 0);
  // deepseek-ai/DeepSeek-V3, README_WEIGHTS.md: 11.5 B unique parameters of the MTP module, in fp8.
  const held = 11.5e9 / 8;
  expect(more('low')).toBeLessThan(held);
  expect(more('high')).toBeGreaterThan(held);
  expect(mtp.figure.value - plain.figure.value).toBeGreaterThan(0.8 * held);
  expect([plain.why, mtp.why].map((why) => why.includes('its MTP layers'))).toEqual([false, true]);
});
