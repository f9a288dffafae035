import { describe, expect, it } from 'vitest';
import { readLaunches } from '../../../src/launch';
import { type Plan, planText } from '../../../src/planner';
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
  version = '3.3',
  kv = 40 * GiB,
  environment = {},
}: Case): Plan =>
  planOf({
    image: 'ghcr.io/huggingface/text-generation-inference',
    command: options,
    environment: { MODEL_ID: model, ...environment },
    engine: `tgi@${version}`,
    kvBytes: kv,
  });

const onCard = (
  version: string,
  flags: Readonly<Record<string, string>>,
  model = 'meta-llama/Llama-3.1-8B-Instruct',
): Plan | undefined =>
  planText(
    {
      text: `services:\n  a:\n    image: ghcr.io/huggingface/text-generation-inference\n    environment:\n      MODEL_ID: ${model}\n      MAX_TOTAL_TOKENS: '4096'\n`,
      name: 'compose.yaml',
    },
    { flags: { engine: `tgi@${version}`, ...flags } },
  ).plans[0];

describe('blocks by kernels', () => {
  it.each([
    ['flashinfer', {}, 1],
    ['named', { environment: { ATTENTION: 'flashdecoding' } }, 256],
    ['paged', { environment: { ATTENTION: 'paged' } }, 16],
    ['DeepSeek', { model: 'deepseek-ai/DeepSeek-V3', environment: { NUM_SHARD: '8' } }, 256],
    ['up to 2.2', { version: '2.2' }, 16],
    ['2.2 with flash decoding', { version: '2.2', environment: { FLASH_DECODING: '1' } }, 256],
    ['heads of an odd size', { model: 'microsoft/Phi-3-mini-4k-instruct' }, 256],
  ] as const)('%s', (_, given, block) => {
    expect(plan(given).kv?.layout.blockSize).toBe(block);
  });

  it('cards before Ampere page', () => {
    expect(onCard('3.3', { gpu: 'T4' })?.kv?.layout.blockSize).toBe(16);
  });
});

describe('bytes per token and GPU', () => {
  it.each([
    ['Llama 8B', {}, 131072],
    ['fp8', { options: ['--kv-cache-dtype=fp8_e4m3fn'] }, 65536],
    ['more GPUs than heads', { options: ['--num-shard=16'] }, 16384],
    ['DeepSeek V3 keeps every head', { model: 'deepseek-ai/DeepSeek-V3' }, 5996544],
    ['StarCoder2 3B', { model: 'bigcode/starcoder2-3b' }, 30720],
  ] as const)('%s', (_, given, bytes) => {
    expect(plan(given).kv?.layout.bytesPerToken.value).toBe(bytes);
  });
});

describe('what a request sets aside', () => {
  it.each([
    ['flashinfer', 1499],
    ['paged', 94],
    ['flashdecoding', 6],
  ])('1,000 + 500 tokens with %s', (attention, blocks) => {
    expect(plan({ environment: { ATTENTION: attention } }).kv?.layout.groupBlocks(1500)).toEqual([blocks]);
  });

  it('all but one block are given out', () => {
    const p = plan({ kv: 131072 * 8491 });
    expect([blocksOf(p), p.kv?.pool?.usableBlocks, p.capacity?.paged.requests.value]).toEqual([8491, 8490, 10]);
  });

  it('a long answer is queued again since 3.1.1', () => {
    const said = onCard('3.3', { gpu: 'L40S', prompt: '1000', output: '3000' })?.findings.find(
      (f) => f.code === 'token-reserve',
    );
    expect(said?.message).toContain('2,023 tokens admit');
  });
});

describe('the reserve', () => {
  /** The reference’s card: 79.11 GiB, 62.0 GiB free after the warm-up; without the warm-up's own cache. */
  const card = {
    'gpu-memory': String(Math.round(79.11 * GiB)),
    weights: String(Math.round((79.11 - 62) * GiB)),
    activations: '0',
    other: '0',
  };
  it.each([
    ['3.0', 475500],
    ['3.2', 462539],
    ['3.3', 443097],
  ])('%s', (version, tokens) => {
    const p = onCard(version, card);
    expect(Math.abs((p ? tokensOf(p) : 0) - tokens)).toBeLessThanOrEqual(1);
  });

  it.each([
    // 95 % and 90 % of what is free, and 5 % and 10 % of the warm-up’s cache of 4,096 tokens given back.
    ['2.2', 482508 + 0.05 * 4096, 16],
    ['2.4', 457113 + 0.1 * 4096, 1],
  ])('%s', (version, tokens, block) => {
    const p = onCard(version, card);
    expect(Math.abs((p ? tokensOf(p) : 0) - tokens)).toBeLessThanOrEqual(block);
  });

  it('is multiplied by the fraction', () => {
    const p = planText(
      {
        text: 'services:\n  a:\n    image: ghcr.io/huggingface/text-generation-inference:3.3.5\n    environment: { MODEL_ID: Qwen/Qwen3-8B, CUDA_MEMORY_FRACTION: "0.8" }\n',
        name: 'compose.yaml',
      },
      { flags: { gpu: 'H100-80GB' } },
    ).plans[0];
    expect((p?.budget?.limit.value ?? 0) / (p?.budget?.total.value ?? 1)).toBeCloseTo(0.72, 5);
    expect(p?.findings.find((f) => f.code === 'fraction-times-reserve')?.message).toContain('28 % of the card');
  });
});

describe('length', () => {
  it('is what the pool holds where nobody says it, since 3.0', () => {
    const p = plan({ kv: 131072 * 20000 });
    expect([p.starts, p.capacity?.maxLength]).toEqual([true, 20000]);
    expect(plan({ version: '2.2' }).capacity?.maxLength).toBe(2048);
  });

  it('that the pool does not hold is refused', () => {
    const p = plan({ kv: 131072 * 20000, options: ['--max-total-tokens=32768'] });
    expect(p.starts).toBe(false);
    expect(p.findings.find((f) => f.code === 'length-does-not-fit')).toMatchObject({
      severity: 'error',
      message: expect.stringContaining('Not enough memory to handle `max_total_tokens=32768`'),
      fixes: [{ value: '19999' }],
    });
  });

  it('a prompt as long is refused', () => {
    const [p] = planText(
      {
        text: 'services:\n  a:\n    image: ghcr.io/huggingface/text-generation-inference:3.3.5\n    command: --model-id Qwen/Qwen3-8B --max-total-tokens 4096 --max-input-tokens 4096\n',
        name: 'compose.yaml',
      },
      {},
    ).plans;
    expect([p?.starts, p?.findings.map((f) => f.code)]).toEqual([false, ['input-not-below-total']]);
  });
});

describe('reading', () => {
  it('takes everything from the environment, in every form', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: tgi\n      image: ghcr.io/huggingface/text-generation-inference:3.3.5\n      env:\n        - { name: MODEL_ID, value: Qwen/Qwen3-8B }\n        - { name: NUM_SHARD, value: "2" }\n';
    const [launch] = readLaunches({ text, name: 'pod.yaml' }).launches;
    expect([launch?.engine, launch?.version?.text, launch?.model?.text]).toEqual(['tgi', '3.3.5', 'Qwen/Qwen3-8B']);
    expect(launch?.options.map((o) => [o.name, o.value, o.origin])).toEqual([
      ['model-id', 'Qwen/Qwen3-8B', 'env'],
      ['num-shard', 2, 'env'],
    ]);
  });

  it('prints the block count as the log of StarCoder2 does', () => {
    const p = plan({ model: 'bigcode/starcoder2-3b', version: '2.4.1', kv: 121517 * 30720 });
    expect(p.kv?.pool?.logged?.lines).toContain('KV-cache blocks: 121517, size: 1');
  });
});
