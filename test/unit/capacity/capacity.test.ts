/** The seeds' worked numbers, engine limits, roles and stages. */
import { describe, expect, test } from 'vitest';
import { launchOf } from '../../truth/launches';
import { readTruth, vllmVectors } from '../../truth/vectors';
import { compose, found, type Given, planOf } from '../findings/support';
import { expectLongest } from './longest';

interface Seeds {
  readonly llama31_70b: {
    readonly model: string;
    readonly maxLength: number;
    readonly prompt: number;
    readonly output: number;
    readonly tensorParallel: number;
    readonly kvBytesPerGpu: number;
    readonly kvBytesWholeDeployment: number;
    readonly bytesPerBlockPerGpu: number;
    readonly blocks: number;
    readonly bytesPerTokenTotal: { readonly exact: number };
    readonly bytesPerBlockTotal: { readonly exact: number };
    readonly contiguousBytesPerRequest: { readonly exact: number };
    readonly contiguousRequests: { readonly exact: number };
    readonly pagedBlocksPerRequest: { readonly exact: number };
    readonly pagedBytesPerRequest: { readonly exact: number };
    readonly pagedRequests: { readonly exact: number };
    readonly usedBytesPerRequest: { readonly exact: number };
    readonly wastePerRequestContiguous: { readonly exact: number };
    readonly tailTokens: number;
  };
}

test('the seeds: contiguous and paged on the same bytes, all kinds of waste to the byte', () => {
  const seed = readTruth<Seeds>('seeds.json').llama31_70b;
  const gpus = seed.tensorParallel;
  const args = [`--model=${seed.model}`, `--tensor-parallel-size=${gpus}`, `--max-model-len=${seed.maxLength}`];
  const given: Given = {
    flags: { 'kv-memory': String(seed.kvBytesPerGpu), prompt: String(seed.prompt), output: String(seed.output) },
  };
  const plan = planOf(compose([...args, '--max-num-seqs=2048'], given), given);
  const { kv, capacity } = plan;
  expect(kv?.layout.bytesPerTokenTotal.value).toBe(seed.bytesPerTokenTotal.exact);
  expect(kv?.layout.bytesPerBlock.value).toBe(seed.bytesPerBlockPerGpu);
  expect((kv?.layout.bytesPerBlock.value ?? 0) * gpus).toBe(seed.bytesPerBlockTotal.exact);
  expect((kv?.pool?.bytes.value ?? 0) * gpus).toBe(seed.kvBytesWholeDeployment);
  expect(kv?.pool?.blocks.value).toBe(seed.blocks);
  const { contiguous, paged } = capacity ?? {};
  expect((contiguous?.bytesPerRequest.value ?? 0) * gpus).toBe(seed.contiguousBytesPerRequest.exact);
  expect(contiguous?.requests.value).toBe(seed.contiguousRequests.exact);
  expect(paged?.blocksPerRequest.value).toBe(seed.pagedBlocksPerRequest.exact);
  expect((paged?.bytesPerRequest.value ?? 0) * gpus).toBe(seed.pagedBytesPerRequest.exact);
  expect(paged?.requests.value).toBe(seed.pagedRequests.exact);
  expect(paged?.tailTokens.value).toBe(seed.tailTokens);
  expect(capacity?.fits.value).toBe(seed.pagedRequests.exact);

  const used = seed.usedBytesPerRequest.exact / gpus;
  const slab = seed.contiguousBytesPerRequest.exact / gpus;
  expect(contiguous?.waste).toEqual({
    pool: seed.kvBytesPerGpu,
    payload: 162 * used,
    tail: 0,
    padding: 0,
    reservation: (162 * seed.wastePerRequestContiguous.exact) / gpus,
    fragmentation: seed.kvBytesPerGpu - 162 * slab,
  });
  const reserved = seed.pagedBytesPerRequest.exact / gpus;
  expect(paged?.waste).toEqual({
    pool: seed.kvBytesPerGpu,
    payload: 1536 * used,
    tail: 1536 * (reserved - used),
    padding: 0,
    reservation: 0,
    fragmentation: seed.kvBytesPerGpu - 1536 * reserved,
  });
});

describe('longest context of every vector: it fits, and one block more does not', () => {
  test.each(vllmVectors())('%s', (name, vector) => {
    const launch = launchOf(name, vector);
    const at = (length?: number) => {
      const given: Given = {
        flags: { 'kv-memory': String(launch.kvMemory), engine: `vllm@${launch.version}` },
        configs: launch.configs,
      };
      const text =
        length === undefined
          ? launch.text.replace(/=auto'/, "=4096'")
          : launch.text.replace(/max-model-len=\w+/, `max-model-len=${length}`);
      expect(length === undefined || text.includes(`=${length}`)).toBe(true);
      const image = '    image: vllm/vllm-openai\n';
      const environment = "    environment: { VLLM_ALLOW_LONG_MAX_MODEL_LEN: '1' }\n";
      return planOf(text.replace(image, image + environment), given);
    };
    expectLongest(at(), at);
  });
});

const llama = ['--model=meta-llama/Llama-3.1-8B-Instruct', '--max-model-len=8192'];
const given: Given = { flags: { 'kv-memory': '20GiB' } };
const qwenNext = ['--model=Qwen/Qwen3-Next-80B-A3B-Instruct', '--max-model-len=131072'];
const three = '--speculative-config={"method": "ngram", "num_speculative_tokens": 3}';

describe('what limits requests', () => {
  test.each([
    ['memory', llama, '600', [256, 189, 'memory']],
    ['sequences', [...llama, '--max-num-seqs=64'], '600', [64, 64, 'max-sequences']],
    [
      'tokens of one step: three guessed and one sure for each request',
      [...llama, '--max-num-seqs=128', '--max-num-batched-tokens=256', three],
      '600',
      [64, 64, 'batch-tokens'],
    ],
    ['states: two blocks of tokens, six of states', qwenNext, '600', [256, 200, 'state-blocks']],
    ['memory, where a request has more blocks of tokens than of states', qwenNext, '9000', [256, 66, 'memory']],
  ] as const)('%s', (_, args, prompt, expected) => {
    const long = { flags: { ...given.flags, prompt } };
    const { engineLimit, fits, limitedBy } = planOf(compose(args, long), long).capacity ?? {};
    expect([engineLimit?.value, fits?.value, limitedBy]).toEqual(expected);
  });
});

test('a prefill server: what it hands over is one prompt of the whole model, each head once', () => {
  const deepseek = [
    '--model=deepseek-ai/DeepSeek-R1',
    '--tensor-parallel-size=8',
    '--kv-transfer-config={"kv_connector": "NixlConnector", "kv_role": "kv_producer"}',
  ];
  const prompt = { flags: { 'kv-memory': '40GiB', prompt: '4000' } };
  const plan = planOf(compose(deepseek), prompt);
  expect(plan.launch.role).toBe('prefill');
  expect(plan.capacity?.transferBytes?.value).toBe(4000 * 61 * 576 * 2);
  expect(plan.capacity?.transferBytes?.scope).toBe('whole deployment');
  const decode = planOf(compose([...deepseek.slice(0, 2), '--kv-transfer-config={"kv_role": "kv_consumer"}']), prompt);
  expect(decode.capacity?.transferBytes).toBeUndefined();

  const windows = planOf(
    compose([
      '--model=google/gemma-3-27b-it',
      '--tensor-parallel-size=2',
      '--kv-transfer-config={"kv_role": "kv_producer"}',
    ]),
    prompt,
  );
  expect(windows.capacity?.transferBytes?.value).toBe(16 * 4 * 128 * (10 * 4000 + 52 * 1024));
});

test('uneven stages: the plan says which decides', () => {
  const args = ['--model=meta-llama/Llama-3.1-70B-Instruct', '--max-model-len=8192', '--pipeline-parallel-size=3'];
  const environment = { VLLM_PP_LAYER_PARTITION: '24,32,24' };
  const uneven: Given = { ...given, environment };
  const plan = planOf(compose(args, uneven), uneven);
  expect(plan.kv?.pool?.decidingRank).toBe(1);
  expect(plan.kv?.pool?.blocks.value).toBe(plan.kv?.pool?.ranks[1]?.blocks);
  expect(found(plan, 'uneven-stages')?.message).toMatch(/^Stage 2 of 3 decides: .*24, 32, 24 layers/);
});
