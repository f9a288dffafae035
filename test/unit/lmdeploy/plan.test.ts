import { describe, expect, it } from 'vitest';
import { slabOf } from '../../../src/core/engines/lmdeploy/pool';
import { type Plan, planText } from '../../../src/planner';
import { blocksOf, planOf, tokensOf } from '../../truth/other-logs';

const GiB = 2 ** 30;

interface Case {
  readonly model?: string;
  readonly options?: readonly string[];
  readonly version?: string;
  readonly kv?: number;
}

const plan = ({
  model = 'meta-llama/Llama-3.1-8B-Instruct',
  options = [],
  version = '0.10',
  kv = 40 * GiB,
}: Case): Plan =>
  planOf({
    image: 'openmmlab/lmdeploy',
    command: ['lmdeploy', 'serve', 'api_server', model, ...options],
    engine: `lmdeploy@${version}`,
    kvBytes: kv,
  });

/** With a GPU in place of KV bytes. */
const onCard = (
  options: string,
  version: string,
  gpu = 'A100-80GB',
  more: Readonly<Record<string, string>> = {},
): Plan | undefined =>
  planText(
    {
      text: `services:\n  a:\n    image: openmmlab/lmdeploy\n    command: lmdeploy serve api_server ${options}\n`,
      name: 'compose.yaml',
    },
    { flags: { gpu, engine: `lmdeploy@${version}`, ...more } },
  ).plans[0];

const PYTORCH = '--backend=pytorch';

describe('bytes of a block of 64 tokens, Llama 3.1 8B', () => {
  it.each([
    ['16 bit', [], 8388608, 131072],
    ['8 bit', ['--quant-policy=8'], 4325376, 67584],
    ['4 bit', ['--quant-policy=4'], 2228224, 34816],
    ['16 bit, PyTorch', [PYTORCH], 8388608, 131072],
    ['8 bit, PyTorch', [PYTORCH, '--quant-policy=int8'], 4325376, 67584],
    ['4 bit, PyTorch', [PYTORCH, '--quant-policy=int4'], 2228224, 34816],
    ['fp8, PyTorch', [PYTORCH, '--quant-policy=fp8'], 4194304, 65536],
  ])('%s', (_, options, perBlock, perToken) => {
    const layout = plan({ options, version: '0.16' }).kv?.layout;
    expect([layout?.bytesPerBlock.value, layout?.bytesPerToken.value]).toEqual([perBlock, perToken]);
  });

  it('latent attention is whole on every GPU, and twice there before 0.14 (TurboMind)', () => {
    const at = (version: string, options: readonly string[]) =>
      plan({ model: 'deepseek-ai/DeepSeek-V3', version, options: ['--tp=8', ...options] }).kv?.layout.bytesPerBlock
        .value;
    expect(at('0.16', [])).toBe(4497408);
    expect(at('0.12', [])).toBe(2 * 4497408);
    expect(at('0.16', [PYTORCH])).toBe(4497408);
  });

  it('heads are divided, and one is kept at least', () => {
    const perToken = (tp: number) => plan({ options: [`--tp=${tp}`] }).kv?.layout.bytesPerToken.value;
    expect([perToken(4), perToken(16)]).toEqual([32768, 16384]);
  });
});

describe('blocks of TurboMind', () => {
  it.each([
    ['16 bit', [], 6144],
    ['8 bit', ['--quant-policy=8'], 11915],
    ['4 bit', ['--quant-policy=4'], 23130],
  ])('%s of 0.8 × 60 GiB', (_, options, blocks) => {
    expect(blocksOf(plan({ options, kv: 48 * GiB, version: '0.14' }))).toBe(blocks);
  });

  it.each([
    ['16 bit', 8388608, 32, 4],
    ['8 bit', 4325376, 64, 15],
    ['4 bit', 2228224, 32, 15],
  ])('since 0.15 from slabs: %s', (_, block, mib, count) => {
    expect(slabOf(block)).toEqual({ bytes: mib * 2 ** 20, blocks: count });
  });

  it('a share of 1 and more is their number, up to 0.14, without a GPU', () => {
    const stated = planText(
      {
        text: 'services:\n  a:\n    image: openmmlab/lmdeploy\n    command: lmdeploy serve api_server Qwen/Qwen3-8B --cache-max-entry-count 1000\n',
        name: 'compose.yaml',
      },
      { flags: { engine: 'lmdeploy@0.10' } },
    ).plans[0];
    expect([stated && blocksOf(stated), stated && tokensOf(stated)]).toEqual([1000, 64000]);
    expect(onCard('Qwen/Qwen3-8B --cache-max-entry-count 1000', '0.15')?.findings.map((f) => f.code)).toContain(
      'share-out-of-range',
    );
  });

  it('a share of the card up to 0.2.1, of what the weights leave from 0.2.2 on', () => {
    const kv = (version: string) => onCard('internlm/internlm2-chat-7b', version)?.budget?.kv.figure.value ?? 0;
    const total = onCard('internlm/internlm2-chat-7b', '0.2.0')?.budget?.total.value ?? 0;
    expect(kv('0.2.0')).toBe(Math.floor(0.5 * total));
    expect(kv('0.2.2')).toBeLessThan(0.8 * (total - 14 * GiB));
  });
});

describe('blocks of PyTorch', () => {
  it('logits are set aside first: 2,232,680,448 bytes, then 5,931 blocks of 60 GiB free', () => {
    const card = { 'gpu-memory': String(60 * GiB), weights: '0', other: '0' };
    const p = onCard(`meta-llama/Llama-3.1-8B-Instruct ${PYTORCH} --max-batch-size 256`, '0.16', 'A100-80GB', card);
    expect(p?.budget?.activations.figure.value).toBe(2232680448);
    expect(p && [blocksOf(p), tokensOf(p)]).toEqual([5931, 379584]);
  });

  it('fewer prefill tokens where sixteen blocks would not fit', () => {
    const card = { 'gpu-memory': String(1.8 * GiB), weights: '0', other: '0' };
    const p = onCard(`meta-llama/Llama-3.1-8B-Instruct ${PYTORCH} --max-batch-size 16`, '0.16', 'A100-80GB', card);
    expect(p?.budget?.activations.why).toContain('4,096 prefill tokens');
  });

  it('two are not enough', () => {
    const p = plan({ options: [PYTORCH], kv: 2 * 8388608, version: '0.16' });
    expect([p.starts, p.findings.map((f) => f.code).includes('no-kv-memory')]).toEqual([false, true]);
  });
});

describe('session length', () => {
  it('is cut by TurboMind up to 0.14, and stays from 0.15 on', () => {
    const old = plan({ kv: GiB });
    expect([old.starts, old.capacity?.maxLength, old.findings.some((f) => f.code === 'length-cut')]).toEqual([
      true,
      8192,
      true,
    ]);
    const later = plan({ kv: GiB, version: '0.15' });
    expect([later.starts, later.capacity?.maxLength]).toEqual([true, 131072]);
    expect(later.findings.filter((f) => f.code === 'length-above-pool')).toHaveLength(1);
  });
});

describe('defaults and refusals', () => {
  it.each([
    ['A100-80GB', 384],
    ['H100-80GB', 1024],
    ['L4', 128],
  ])('max-batch-size on %s', (gpu, sequences) => {
    expect(onCard('Qwen/Qwen3-8B', '0.16', gpu)?.options.findLast((o) => o.name === 'max-batch-size')?.value).toBe(
      sequences,
    );
  });

  it('TurboMind takes no fp8', () => {
    expect(onCard('Qwen/Qwen3-8B --quant-policy fp8', '0.16')?.findings.map((f) => f.code)).toContain(
      'quant-policy-not-supported',
    );
  });

  it('a small rest is warned of', () => {
    const found = onCard('Qwen/Qwen3-8B --cache-max-entry-count 0.99', '0.16', 'L4')?.findings.map((f) => f.code);
    expect(found).toContain('rest-too-small');
  });

  it('sparse indexers are not planned', () => {
    const p = onCard('deepseek-ai/DeepSeek-V3.2 --tp 8', '0.16');
    expect([p?.planned, p?.starts, p?.findings[0]?.code]).toEqual([false, 'unknown', 'not-covered']);
  });
});

describe('data parallelism', () => {
  it.each([
    // Eight GPUs for 8 × 8: each attends for its own requests with all heads.
    ['tp 8, dp 8 on 8 GPUs', '--tp 8 --dp 8', '8', 8, 131072],
    ['tp 8, dp 2 on 8 GPUs', '--tp 8 --dp 2', '8', 2, 32768],
    ['tp 4, dp 2 on 8 GPUs: groups of their own', '--tp 4 --dp 2', '8', 1, 32768],
  ])('%s', (_, options, gpus, shared, perToken) => {
    const p = onCard(`meta-llama/Llama-3.1-8B-Instruct ${options}`, '0.16', 'H100-80GB', { gpus });
    expect([p?.placement?.attentionData, p?.kv?.layout.bytesPerToken.value]).toEqual([shared, perToken]);
  });
});
