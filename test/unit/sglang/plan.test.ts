import { describe, expect, it } from 'vitest';
import { stageLayers } from '../../../src/core/engines/sglang/placement';
import { prefillSizes } from '../../../src/core/engines/sglang/share';
import { GiB } from '../../../src/core/units';
import { type Plan, planText } from '../../../src/planner';
import { planJson } from '../../../src/report/json';

const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';
const LLAMA70 = 'meta-llama/Llama-3.1-70B-Instruct';
const V3 = 'deepseek-ai/DeepSeek-V3';

interface More {
  readonly env?: Readonly<Record<string, string>>;
  readonly configs?: Readonly<Record<string, unknown>>;
}

const textOf = (args: string, env: Readonly<Record<string, string>> = {}): string => {
  const words = ['python3', '-m', 'sglang.launch_server', ...args.split(' ')];
  const variables = Object.entries({ UNUSED: '1', ...env }).map(([k, v]) => `      ${k}: '${v}'\n`);
  return `services:\n  s:\n    image: lmsysorg/sglang\n    environment:\n${variables.join('')}    command:\n${words.map((w) => `      - '${w}'\n`).join('')}`;
};

const plannedFile = (args: string) => {
  const text = textOf(args);
  return {
    name: 'compose.yaml',
    text,
    result: planText({ text, name: 'compose.yaml' }, { flags: { 'kv-memory': '20GiB' } }),
  };
};

function planOf(args: string, flags: Readonly<Record<string, string>>, { env = {}, configs = {} }: More = {}): Plan {
  const text = textOf(args, env);
  const config = (name: string) => (name in configs ? { json: configs[name], path: name } : undefined);
  const [plan] = planText({ text, name: 'compose.yaml' }, { flags, models: { config } }).plans;
  return plan as Plan;
}

const kv = (gib: number) => ({ 'kv-memory': `${gib}GiB` });
const tokens = (plan: Plan) => plan.kv?.pool?.logged?.tokens.value;
const cell = (plan: Plan) => (plan.kv ? plan.kv.layout.bytesPerBlock.value / plan.kv.layout.blockSize : undefined);
const line = (plan: Plan, part: string) => plan.kv?.pool?.logged?.lines.find((l) => l.includes(part));
const codes = (plan: Plan) => plan.findings.map((f) => f.code);

const ONE_LAYER = {
  architectures: ['LlamaForCausalLM'],
  num_hidden_layers: 1,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  hidden_size: 4096,
  intermediate_size: 14336,
  vocab_size: 128256,
  max_position_embeddings: 131072,
  torch_dtype: 'bfloat16',
};

describe('worked examples', () => {
  const rows: readonly (readonly [what: string, args: string, gib: number, cell: number, tokens: number])[] = [
    ['pages of 64', `--model ${LLAMA} --page-size 64`, 50, 131072, 409600],
    ['four GPUs', `--model ${LLAMA70} --tp 4`, 30, 81920, 393216],
    ['more GPUs than KV heads', `--model ${LLAMA70} --tp 16`, 40, 40960, 1048576],
    ['MLA', `--model ${V3} --tp 8 --page-size 64`, 40, 70272, 611136],
    ['MLA whose kernels take pages of 64', `--model ${V3} --tp 8 --attention-backend flashmla`, 40, 70272, 611136],
    ['sparse MLA in fp8', '--model deepseek-ai/DeepSeek-V3.2 --tp 8 --kv-cache-dtype fp8_e4m3', 40, 48068, 893504],
    ['windows in pages of 64', '--model openai/gpt-oss-120b --page-size 64', 8, 66355.2, 129408],
    ['no pool of windows', '--model openai/gpt-oss-120b --disable-hybrid-swa-memory', 8, 73728, 116508],
  ];
  it.each(rows)('%s', (_, args, gib, bytes, count) => {
    const plan = planOf(args, kv(gib));
    expect([cell(plan), tokens(plan)]).toEqual([bytes, count]);
  });

  it('a draft layer is priced as the model’s layers', () => {
    const args = `--model ${LLAMA} --speculative-algorithm EAGLE3 --speculative-draft-model-path example/draft`;
    const plan = planOf(args, kv(50), { configs: { 'example/draft': ONE_LAYER } });
    expect([cell(plan), tokens(plan)]).toEqual([135168, 397187]);
    expect(plan.layers?.filter((l) => l.draft)).toHaveLength(1);
  });

  it('windows and full attention are pools of their own', () => {
    const plan = planOf('--model openai/gpt-oss-120b --page-size 64', kv(8));
    expect(line(plan, 'sliding')).toBe(
      'Use sliding window memory pool. full_layer_tokens=129408, swa_layer_tokens=103488',
    );
    expect(plan.kv?.pool?.parts?.map((p) => [p.name, p.blocks.value])).toEqual([
      ['full attention', 2022],
      ['windows', 1617],
    ]);
    // 850 tokens: 14 pages of full attention; a window of 128, 128 steps and two pages: 6 pages.
    expect(plan.kv?.layout.groupBlocks(850)).toEqual([14, 6]);
    expect(plan.capacity?.paged.requests.value).toBe(Math.min(Math.floor(2022 / 14), Math.floor(1617 / 6)));
  });

  it('the launch of the reference, end to end on an H100', () => {
    const plan = planOf(`--model ${LLAMA}`, { gpu: 'H100-80GB' });
    const { low = 0, high = 0 } = plan.kv?.pool?.logged?.tokens.range ?? {};
    expect(low).toBeLessThan(411_000);
    expect(high).toBeGreaterThan(411_000);
    expect(plan.budget?.kv.figure.value).toBeGreaterThan(49 * GiB);
    expect(plan.budget?.kv.figure.value).toBeLessThan(51 * GiB);
  });
});

describe('placement', () => {
  it.each([
    [32, 3, 'last', [10, 11, 11]],
    [80, 3, 'last', [26, 27, 27]],
    [61, 4, 'last', [15, 15, 15, 16]],
    [32, 3, 'first', [11, 11, 10]],
  ] as const)('%d layers over %d stages, %s', (layers, stages, larger, expected) => {
    expect(stageLayers(layers, stages, larger, undefined)).toEqual(expected);
  });

  it('the stage with the fewest tokens decides', () => {
    const plan = planOf(`--model ${LLAMA70} --pp-size 3`, kv(30));
    expect(plan.kv?.layout.ranks.map((r) => r.layers)).toEqual([26, 27, 27]);
    expect([plan.kv?.pool?.decidingRank, tokens(plan)]).toEqual([1, Math.floor((30 * GiB) / (27 * 4096))]);
  });

  it('attention data parallelism: a pool for each worker of one group of GPUs', () => {
    const args = `--model ${V3} --tp 8 --dp 8 --enable-dp-attention --max-running-requests 256`;
    const plan = planOf(args, { ...kv(40), gpu: 'H200', gpus: '8' });
    expect(plan.placement).toMatchObject({ tensor: 8, data: 1, attentionData: 8, replicas: 8 });
    expect(plan.capacity?.engineLimit?.value).toBe(32);
    expect(codes(plan)).not.toContain('too-few-gpus');
    expect(line(plan, 'chunked')).toContain('chunked_prefill_size=1024');
    const heads = planOf(`--model ${LLAMA70} --tp 8 --dp 2 --enable-dp-attention`, kv(40));
    expect(cell(heads)).toBe(2 * 40960);
  });

  it('without it, each is a server of its own', () => {
    const plan = planOf(`--model ${LLAMA} --dp 2 --max-running-requests 64`, kv(40));
    expect(plan.placement).toMatchObject({ data: 2, attentionData: 1, replicas: 2 });
    expect(plan.capacity?.engineLimit?.value).toBe(64);
  });

  it.each([
    [`--model ${LLAMA} --tp 3`, 'tp-does-not-divide-heads', 'tp-size', '2'],
    [`--model ${V3} --tp 8 --dp 3 --enable-dp-attention`, 'dp-does-not-divide-tp', 'dp-size', '2'],
    [
      `--model ${LLAMA} --page-size 64 --chunked-prefill-size 1000`,
      'chunk-not-in-pages',
      'chunked-prefill-size',
      '960',
    ],
    [`--model ${LLAMA} --context-length 256k`, 'length-above-model', 'context-length', '131072'],
  ])('refuses %s', (args, code, option, value) => {
    const plan = planOf(args, kv(10));
    expect(plan.starts).toBe(false);
    expect(plan.findings.find((f) => f.code === code)).toMatchObject({ severity: 'error', fixes: [{ option, value }] });
  });

  it('takes a longer context where it is allowed to', () => {
    const env = { SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN: '1' };
    const plan = planOf(`--model ${LLAMA} --context-length 256k`, kv(60), { env });
    expect([plan.starts, plan.capacity?.maxLength]).toEqual([true, 256000]);
  });
});

describe('the default share', () => {
  const share = (args: string, gpu: string, version = '0.5.18', env = {}) =>
    planOf(args, { gpu, engine: `sglang@${version}` }, { env }).options.findLast(
      (o) => o.name === 'mem-fraction-static',
    )?.value;

  it('counts prefills that are captured', () => {
    expect([0, 4, 32, 2048, 4096, 8192, 16384].map(prefillSizes)).toEqual([0, 1, 8, 42, 50, 58, 74]);
  });

  it.each([
    // MLA's prefill graphs take 1,536 MiB: (143,771 − 512 − 12,288 − 1,024 − 1,024 − 1,536) ÷ 143,771.
    [`--model ${V3} --tp 8`, 'H200', '0.5.18', 0.886],
    [`--model ${V3} --tp 8 --disable-cuda-graph`, 'H200', '0.5.18', 0.904],
    [`--model ${LLAMA} --disaggregation-mode prefill`, 'H100-80GB', '0.5.18', 0.836],
    // 512 + 24,576 + 128 + 512 + 8 × 74 of 81,559 MiB.
    [`--model ${LLAMA} --chunked-prefill-size 16384`, 'H100-80GB', '0.5.18', 0.677],
    [`--model ${LLAMA}`, 'H100-80GB', '0.5.4', 0.835],
    [`--model ${LLAMA}`, 'L4', '0.5.4', 0.837],
    [`--model ${LLAMA}`, 'H100-80GB', '0.4.9', 0.874],
    [`--model ${LLAMA} --tp 8`, 'H100-80GB', '0.4.6', 0.81],
    [`--model ${LLAMA} --tp 8`, 'H100-80GB', '0.4.3', 0.81],
    [`--model ${LLAMA} --tp 8`, 'H100-80GB', '0.3.0', 0.83],
  ])('%s on %s, SGLang %s', (args, gpu, version, expected) => {
    expect(share(args, gpu, version)).toBe(expected);
  });

  it('says that an encoder lowers it by an unknown part', () => {
    const plan = planOf('--model Qwen/Qwen2.5-VL-7B-Instruct', { gpu: 'H100-80GB' });
    expect(plan.findings.find((f) => f.code === 'approximate')).toMatchObject({ option: 'mem-fraction-static' });
    expect(codes(planOf('--model Qwen/Qwen2.5-VL-7B-Instruct --language-only', { gpu: 'H100-80GB' }))).not.toContain(
      'approximate',
    );
  });
});

describe('states', () => {
  const next = '--model Qwen/Qwen3-Next-80B-A3B-Instruct --mamba-ssm-dtype bfloat16';

  it('cap the requests at once, and say so', () => {
    const plan = planOf(`${next} --max-running-requests 200`, kv(30));
    expect([plan.capacity?.fits.value, plan.capacity?.limitedBy]).toEqual([77, 'state-blocks']);
    expect(plan.findings.find((f) => f.code === 'capped-by-states')?.message).toContain(
      'max_running_requests is capped to 77 by the mamba state cache',
    );
  });

  it('slots can be stated', () => {
    const plan = planOf(`${next} --max-mamba-cache-size 100`, kv(30));
    expect(line(plan, 'Mamba')).toContain('max_mamba_cache_size: 100,');
    expect(tokens(plan)).toBe(Math.floor((30 * GiB - 101 * 39_518_208) / 24576));
  });

  it('are refused where the version has none, and where SGLang is not known to serve them', () => {
    const older = planOf(next, { ...kv(30), engine: 'sglang@0.4.9' });
    const mamba1 = planOf('--model state-spaces/mamba-2.8b-hf', kv(30));
    expect([older, mamba1].map((p) => [p.planned, p.starts, codes(p)])).toEqual([
      [false, 'unknown', ['not-covered']],
      [false, 'unknown', mamba1.model ? ['not-covered'] : ['model-unknown']],
    ]);
  });
});

describe('compressed histories', () => {
  // 0.15 × 584 × 61 + 584 ÷ 4 × 30 + 584 ÷ 128 × 31 + 132 ÷ 4 × 30 + 0.15 × 8 ÷ 128 × 10,240 × 30: 13,735.04 in logs.
  const pro = '--model deepseek-ai/DeepSeek-V4-Pro --tp 8 --swa-full-tokens-ratio 0.15 --max-running-requests 64';

  it('what one token costs, and rings for the requests that run', () => {
    const plan = planOf(pro, kv(20));
    expect(cell(plan)).toBe(13735.0375);
    // (64 + 1) × 128 + 128 + 1 rows, in whole 128: 8,576 of 4,096 bytes in 31 layers.
    const left = 20 * GiB - 8576 * 4096 * 31;
    const full = Math.floor(left / 13735.0375 / 256) * 256;
    expect(tokens(plan)).toBe(full);
    expect(line(plan, 'DSV4')).toContain(`full=${full}, swa=${Math.floor((full * 0.15) / 256) * 256}, c4=${full / 4}`);
    expect(plan.kv?.layout.payload(1)).toBeGreaterThan(0);
    expect([plan.capacity?.limitedBy, plan.capacity?.fits.value]).toEqual(['max-sequences', 64]);
  });

  it('a draft is one layer more', () => {
    expect(cell(planOf(`${pro} --speculative-algorithm EAGLE`, kv(20)))).toBeCloseTo(
      ((13735.0375 + 0.15 * (8 / 128) * 10_240 * 30) * 62) / 61,
      6,
    );
  });

  it('the JSON has whole bytes, and every pool', () => {
    const json = planJson([plannedFile(pro)]) as {
      plans: { kv: { groups: { bytesPerBlock: number }[]; pools: object[] } }[];
    };
    const [one] = json.plans;
    expect(one?.kv.groups.every((g) => Number.isInteger(g.bytesPerBlock))).toBe(true);
    expect(one?.kv.pools).toMatchObject([
      { name: 'full attention', groups: [0] },
      { name: 'windows', groups: [1] },
    ]);
  });
});

describe('the pool', () => {
  it('max-total-tokens caps it and never raises it', () => {
    const capped = planOf(`--model ${LLAMA} --max-total-tokens 100k --context-length 32Ki`, kv(50));
    expect([tokens(capped), capped.kv?.pool?.bytes.value]).toEqual([100_000, 100_000 * 131_072]);
    const more = planOf(`--model ${LLAMA} --max-total-tokens 1M`, kv(50));
    expect(tokens(more)).toBe(409_600);
    expect(more.findings.find((f) => f.code === 'cap-above-memory')?.message).toBe(
      'max_total_tokens=1000000 is larger than the profiled value 409600. Use the profiled value instead.',
    );
  });

  it('starts with a context length beyond it, and says what happens', () => {
    const plan = planOf(`--model ${LLAMA}`, kv(10));
    expect(plan.starts).toBe(true);
    // 81,920 tokens: admitted while fewer than the free ones, with a page beside.
    expect(plan.capacity?.longestContext?.value).toBe(81_918);
    expect(plan.findings.find((f) => f.code === 'length-above-pool')).toMatchObject({
      severity: 'warning',
      fixes: [{ option: 'context-length', value: '81918' }],
    });
  });

  it('HiCache: host tokens by ratio and by size, and a tier that is too small', () => {
    const host = (args: string) => planOf(`--model ${LLAMA} --enable-hierarchical-cache ${args}`, kv(10));
    expect(host('--hicache-ratio 2').kv?.pool?.hostTier?.tokens.value).toBe(2 * 81_920 + 1);
    expect(host('--hicache-size 20').kv?.pool?.hostTier?.tokens.value).toBe(Math.floor(20e9 / 131_072) + 1);
    const small = host('--hicache-size 5');
    expect([small.starts, codes(small)]).toEqual([false, expect.arrayContaining(['host-tier-too-small'])]);
  });

  it('starts no worker that may run no request', () => {
    const args = (running: number) =>
      `--model-path ${V3} --tp-size 8 --dp-size 8 --enable-dp-attention --max-running-requests ${running}`;
    const none = planOf(args(7), kv(40));
    expect(none.starts).toBe(false);
    expect(none.findings).toContainEqual(
      expect.objectContaining({
        code: 'no-running-requests',
        severity: 'error',
        message: expect.stringMatching(/^max_running_request is zero/),
        fixes: [expect.objectContaining({ value: '8' })],
      }),
    );
    expect(planOf(args(8), kv(40)).starts).toBe(true);
  });

  it('windows without a prefix cache are as many as the running requests need', () => {
    const args =
      '--model openai/gpt-oss-120b --disable-radix-cache --max-running-requests 32 --chunked-prefill-size 4096';
    // 32 × (128 + 128 + 2) + 2 × 4,096 + 1 = 16,449; the rest is full attention: 36,864 bytes a token.
    const plan = planOf(args, kv(8));
    const full = Math.floor((8 * GiB - 16_449 * 36_864) / 36_864);
    expect(line(plan, 'sliding')).toContain(`full_layer_tokens=${full}, swa_layer_tokens=16449`);
  });

  it('without memory it names the share that would do, and GPUs', () => {
    const tight = planOf(`--model ${LLAMA} --mem-fraction-static 0.15`, { gpu: 'H100-80GB' });
    expect([tight.starts, tight.findings.find((f) => f.code === 'no-kv-memory')]).toMatchObject([
      false,
      {
        severity: 'error',
        message: expect.stringContaining('Raise --mem-fraction-static above 0.1'),
        fixes: [{ option: 'mem-fraction-static' }, { option: 'tp-size', value: '2' }],
      },
    ]);
    const large = planOf(`--model ${LLAMA70}`, { gpu: 'H100-80GB' });
    expect(large.findings.find((f) => f.code === 'no-kv-memory')?.fixes).toMatchObject([
      { option: 'tp-size', value: '4' },
    ]);
  });

  it('a prefill server hands over what its prompts keep', () => {
    const plan = planOf(`--model ${LLAMA} --disaggregation-mode prefill`, { ...kv(20), prompt: '1000' });
    expect([plan.launch.role, plan.capacity?.transferBytes?.value]).toEqual(['prefill', 131_072_000]);
  });

  it.each([
    // (81,920 − 2,001) ÷ (1,000 + 0.7 × 1,000), and with 0.098 in the end.
    ['', 'admits 48 fresh requests of this workload at first and up to 73 later'],
    ['--schedule-conservativeness 0.5', 'falls from 0.35 to 0.049'],
    ['--disaggregation-mode prefill', 'holds 81 prompts'],
    ['--disaggregation-mode decode --num-reserved-decode-tokens 1000', ': 40 fresh requests'],
  ])('tells how requests are admitted: %s', (args, said) => {
    const plan = planOf(`--model ${LLAMA} ${args}`.trim(), { ...kv(10), prompt: '1000', output: '1000' });
    expect(plan.findings.find((f) => f.code === 'admission')?.message).toContain(said);
  });
});

describe('a share above SGLang’s own choice', () => {
  const card = { gpu: 'H100-80GB' };
  const found = (args: string) =>
    planOf(`--model ${LLAMA}${args}`, card).findings.find((f) => f.code === 'rest-below-default');

  it('risks running out while serving', () => {
    const finding = found(' --mem-fraction-static 0.95');
    expect(finding?.message).toMatch(
      /^mem-fraction-static 0\.95 leaves 3\.9\d GiB .* would leave \d+\.\d+ GiB here \(0\.8\d+\)/,
    );
    const [fix] = finding?.fixes ?? [];
    expect(found(` --mem-fraction-static ${fix?.value}`)).toBeUndefined();
  });

  it.each(['', ' --mem-fraction-static 0.7'])('is not “%s”', (args) => expect(found(args)).toBeUndefined());
});
