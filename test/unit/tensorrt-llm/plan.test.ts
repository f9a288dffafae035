import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/planner';
import { planText } from '../../../src/planner';
import { blocksOf, planOf, tokensOf } from '../../truth/other-logs';

const GiB = 2 ** 30;

interface Case {
  readonly model?: string;
  readonly options?: readonly string[];
  readonly version?: string;
  readonly kv?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

const plan = ({
  model = 'meta-llama/Llama-3.1-8B-Instruct',
  options = [],
  version = '1.3',
  kv,
  environment,
}: Case): Plan =>
  planOf({
    image: 'nvcr.io/nvidia/tensorrt-llm/release',
    command: ['trtllm-serve', model, ...options],
    engine: `tensorrt-llm@${version}`,
    kvBytes: kv ?? 40 * GiB,
    environment,
  });

const codes = (p: Plan) => p.findings.map((f) => f.code);

describe('bytes per token and GPU', () => {
  it.each([
    ['Llama 8B bf16', {}, 131072],
    ['nvfp4', { options: ['--kv_cache_dtype=nvfp4'] }, 36864],
    [
      '70B fp8 tp 8',
      { model: 'meta-llama/Llama-3.1-70B-Instruct', options: ['--tp_size=8', '--kv_cache_dtype=fp8'] },
      20480,
    ],
    ['DeepSeek V3, any tp', { model: 'deepseek-ai/DeepSeek-V3', options: ['--tp_size=8'] }, 70272],
    ['gpt-oss 120B', { model: 'openai/gpt-oss-120b' }, 73728],
    ['attention DP keeps all heads', { options: ['--tp_size=8', '--enable_attention_dp'] }, 131072],
    // Four KV heads over eight GPUs: a whole head on each, where the estimate divides it.
    ['heads rounded up', { model: 'Qwen/Qwen2.5-7B-Instruct', options: ['--tp_size=4'] }, 14336],
  ] as const)('%s', (_, given, bytes) => {
    expect(plan(given).kv?.layout.bytesPerToken.value).toBe(bytes);
  });
});

describe('blocks', () => {
  it('are counted up to 1.2 and down since 1.3: the log of gpt-oss 120B, 5.95 GiB', () => {
    const tokens = 86711;
    const at = (version: string) => plan({ model: 'openai/gpt-oss-120b', version, kv: tokens * 73728 });
    expect([blocksOf(at('1.1')), tokensOf(at('1.1'))]).toEqual([2710, 86720]);
    expect([blocksOf(at('1.3')), tokensOf(at('1.3'))]).toEqual([2709, 86688]);
    expect(at('1.1').kv?.pool?.logged?.lines).toContain(
      '[MemUsageChange] Allocated 5.95 GiB for max tokens in paged KV cache (86720).',
    );
  });

  it('of 64 tokens for engines up to 0.17, and for FlashMLA on Hopper', () => {
    expect(plan({ version: '0.17' }).kv?.layout.blockSize).toBe(64);
    expect(plan({ version: '0.19' }).kv?.layout.blockSize).toBe(32);
    const text =
      '# kv-planner: gpu=H100-80GB\nservices:\n  a:\n    image: nvcr.io/nvidia/tensorrt-llm/release\n    command: trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8\n';
    const [hopper] = planText({ text, name: 'compose.yaml' }, {}).plans;
    expect(hopper?.kv?.layout.blockSize).toBe(64);
  });

  it('a token more for the overlap scheduler: 65 blocks for 2,048 tokens', () => {
    const lines = plan({ options: ['--max_seq_len=2048'] }).kv?.pool?.logged?.lines.join('\n');
    expect(lines).toContain('Max KV cache blocks per sequence: 65 [window size=2049]');
  });

  it('reserves to the end: 47 blocks for 1,000 + 500, so 57 of 2,710', () => {
    const layout = plan({}).kv?.layout;
    expect(layout?.groupBlocks(1500)).toEqual([47]);
    expect(Math.floor(2710 / 47)).toBe(57);
  });

  it('the last stages get what does not divide: the first ones one layer more', () => {
    const ranks = plan({ options: ['--pp_size=3'] }).kv?.layout.ranks.map((r) => r.layers);
    expect(ranks).toEqual([11, 11, 10]);
  });
});

describe('a length that does not fit', () => {
  it('is cut by the PyTorch backend, which starts', () => {
    const cut = plan({ kv: GiB });
    expect([cut.starts, cut.capacity?.maxLength]).toEqual([true, 8192]);
    expect(cut.findings.find((f) => f.code === 'length-cut')?.fixes[0]).toMatchObject({
      option: 'max_seq_len',
      value: '8192',
    });
  });

  it('may stop an engine', () => {
    const engine = plan({ kv: GiB, options: ['--backend=tensorrt'] });
    expect([engine.starts, codes(engine).includes('length-does-not-fit')]).toEqual(['unknown', true]);
  });
});

describe('attention windows', () => {
  const text = (version: string, more = '') =>
    planText(
      {
        text: `services:\n  a:\n    image: nvcr.io/nvidia/tensorrt-llm/release:${version}\n${more}    command: trtllm-serve openai/gpt-oss-120b --config=c.yaml\n`,
        name: 'compose.yaml',
        files: { read: () => 'kv_cache_config:\n  max_attention_window: [128, 131072]\n' },
      },
      { flags: { 'kv-memory': String(36 * GiB) } },
    ).plans[0];

  it('get pools of their own, with equal shares since 1.1', () => {
    const parts = text('1.1.0')?.kv?.pool?.parts?.map((p) => [p.name, p.blocks.value]);
    // 18 layers each: half of 36 GiB at 18 × 65,536 bytes a block.
    expect(parts).toEqual([
      ['window of 128', 16384],
      ['full attention', 16384],
    ]);
    expect(plan({ model: 'openai/gpt-oss-120b' }).kv?.pool?.parts).toBeUndefined();
  });

  it('before, by bytes, window and layers; an environment variable says otherwise', () => {
    const shares = (p: Plan | undefined) => p?.kv?.pool?.parts?.map((q) => q.blocks.value) ?? [];
    const [small = 0, full = 0] = shares(text('0.20.0', '    environment: { X: y }\n'));
    expect(full / small).toBeGreaterThan(1000);
    const asked = shares(text('1.1.0', "    environment: { TRTLLM_WINDOW_SIZE_SHARES: '0.1,0.9' }\n"));
    expect((asked[1] ?? 0) / (asked[0] ?? 1)).toBeCloseTo(9, 2);
  });

  it('a request needs blocks in each of them', () => {
    const p = text('1.1.0');
    expect(p?.kv?.layout.groupBlocks(1000)).toEqual([4, 32]);
    expect(p?.capacity?.paged.requests.value).toBe(Math.floor(16384 / 27));
  });
});

describe('what switches block reuse off', () => {
  it.each([
    ['FLASHINFER', { options: ['--attn_backend=FLASHINFER'] }, 'FLASHINFER'],
    ['deterministic runs', { environment: { FORCE_DETERMINISTIC: '1' } }, 'FORCE_DETERMINISTIC'],
    [
      'MLA with nvfp4',
      { model: 'deepseek-ai/DeepSeek-V3', options: ['--tp_size=8', '--kv_cache_dtype=nvfp4'] },
      'nvfp4',
    ],
  ] as const)('%s', (_, given, why) => {
    expect(plan(given).findings.find((f) => f.code === 'reuse-off')?.message).toContain(why);
  });

  it('nothing otherwise', () => {
    expect(codes(plan({}))).not.toContain('reuse-off');
    expect(
      codes(plan({ model: 'deepseek-ai/DeepSeek-V3', options: ['--tp_size=8', '--kv_cache_dtype=fp8'] })),
    ).not.toContain('reuse-off');
  });
});

describe('the YAML file', () => {
  const launch = (command: string, yaml: string) =>
    planText(
      {
        text: `services:\n  a:\n    image: nvcr.io/nvidia/tensorrt-llm/release\n    command: trtllm-serve ${command}\n`,
        name: 'compose.yaml',
        files: { read: (path) => (path === 'c.yaml' ? yaml : null) },
      },
      { flags: { gpu: 'H100-80GB' } },
    ).plans[0];

  it('is followed, its sections too, and wins over the command line', () => {
    const p = launch(
      'Qwen/Qwen3-8B --kv_cache_free_gpu_memory_fraction 0.5 --extra_llm_api_options c.yaml',
      'kv_cache_config:\n  free_gpu_memory_fraction: 0.7\n  enable_block_reuse: false\n  max_tokens: 4096\nmax_seq_len: 2048\n',
    );
    const value = (name: string) => p?.options.findLast((o) => o.name === name)?.value;
    expect(value('kv_cache_free_gpu_memory_fraction')).toBe(0.7);
    expect(value('kv_cache_config.enable_block_reuse')).toBe(false);
    expect(value('max_seq_len')).toBe(2048);
    expect([p?.kv?.pool?.blocks.value, p?.findings.some((f) => f.code === 'smaller-wins')]).toEqual([128, true]);
  });

  it('a key it does not have is said', () => {
    const p = launch('Qwen/Qwen3-8B --config=c.yaml', 'kv_cache_config:\n  free_memory_fraction: 0.7\n');
    expect(p?.findings.find((f) => f.code === 'unknown-option')?.message).toContain(
      'kv-cache-config.free-memory-fraction',
    );
  });
});

describe('budget', () => {
  it('is a share of what is left: 0.9 × (79.11 − 17.6 + 1.1) GiB are 461,611 tokens', () => {
    const p = plan({ kv: Math.floor(0.9 * (79.11 - 17.6 + 1.1) * GiB), version: '1.2' });
    expect([blocksOf(p), tokensOf(p)]).toEqual([14426, 461632]);
  });

  it('host memory counts for every rank', () => {
    const p = plan({ options: ['--tp_size=2', '--kv_cache_host_memory_bytes=8589934592'] });
    expect([p.kv?.pool?.hostTier?.bytes.value, p.kv?.pool?.hostTier?.tokens.value]).toEqual([16 * GiB, 131072]);
  });

  it('refuses nothing that it does not plan', () => {
    const [p] = planText(
      {
        text: 'services:\n  a:\n    image: nvcr.io/nvidia/tensorrt-llm/release\n    command: trtllm-serve Qwen/Qwen3-8B --cp_size 2\n',
        name: 'compose.yaml',
      },
      {},
    ).plans;
    expect([p?.planned, p?.starts, p?.findings.map((f) => [f.code, f.refuses])]).toEqual([
      false,
      'unknown',
      [['not-covered', false]],
    ]);
  });
});
