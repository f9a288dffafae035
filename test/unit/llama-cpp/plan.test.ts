import { describe, expect, test } from 'vitest';
import type { Plan } from '../../../src/planner';
import { planText } from '../../../src/planner';

function plan(args: string, flags: Record<string, string> = {}, image = 'server-cuda-v0.5.0', environment = ''): Plan {
  const text = `services:\n  s:\n    image: ghcr.io/ggml-org/llama.cpp:${image}\n    command: ${args}\n${environment}`;
  const [found] = planText({ text, name: 'compose.yaml' }, { flags }).plans;
  if (!found) {
    throw new Error('no launch found');
  }
  return found;
}

const LLAMA = '-m Llama-3.1-8B-Instruct-Q4_K_M.gguf';
const codes = (p: Plan): readonly string[] => p.findings.map((f) => f.code);
const MiB = 2 ** 20;

describe('slots', () => {
  test.each<[string, string, { allocator: string; maxLength: number; fits: number; mib: number }]>([
    ['own cells', '-c 8192 -np 4', { allocator: 'slots', maxLength: 2048, fits: 4, mib: 1024 }],
    ['one pool', '-c 8192 -np 4 -kvu', { allocator: 'cells', maxLength: 8192, fits: 4, mib: 1024 }],
    ['one pool, which runs out', '-c 2048 -np 4 -kvu', { allocator: 'cells', maxLength: 2048, fits: 2, mib: 256 }],
    ['automatic: four of one pool', '-c 8192', { allocator: 'cells', maxLength: 8192, fits: 4, mib: 1024 }],
    ['rounded up', '-c 10000 -np 3', { allocator: 'slots', maxLength: 3584, fits: 3, mib: 1344 }],
    ['K and V apart', '-c 4096 -np 1 -ctk q8_0 -ctv q4_0', { allocator: 'slots', maxLength: 4096, fits: 1, mib: 208 }],
    ['the length of the model', '-c 0 -np 1', { allocator: 'slots', maxLength: 131072, fits: 1, mib: 16384 }],
  ])('%s', (_, args, expected) => {
    const p = plan(`${LLAMA} ${args}`, { gpu: 'H100-80GB' });
    expect({
      allocator: p.kv?.layout.allocator,
      maxLength: p.capacity?.maxLength,
      fits: p.capacity?.fits.value,
      mib: (p.kv?.pool?.bytes.value ?? 0) / MiB,
    }).toEqual(expected);
    expect(p.starts).toBe(true);
  });

  test('without a GPU everything is known but whether it fits', () => {
    const p = plan(`${LLAMA} -c 8192 -np 4`);
    expect(p.kv?.pool?.bytes.value).toBe(1024 * MiB);
    expect(p.starts).toBe('unknown');
    expect(codes(p)).toContain('gpu-unknown');
  });

  test('bytes add up: what a slot reserves and what is left over', () => {
    const p = plan('-m gemma-3-4b-it-Q4_K_M.gguf -c 32768 -np 4', { gpu: 'L4' });
    const { waste } = p.capacity?.paged ?? {};
    expect(waste && waste.payload + waste.tail + waste.padding + waste.reservation + waste.fragmentation).toBe(
      waste?.pool,
    );
    expect(p.kv?.pool?.bytes.value).toBe((640 + 696) * MiB);
  });
});

describe('memory', () => {
  test('fixed context that does not fit: refused where nothing may move, with the longest that fits', () => {
    const p = plan(`${LLAMA} -c 524288 -np 4 -ngl 99`, { gpu: 'L4' });
    expect(p.starts).toBe(false);
    const finding = p.findings.find((f) => f.code === 'caches-do-not-fit');
    expect(finding?.message).toContain('cudaMalloc failed: out of memory');
    expect(finding?.message).toMatch(
      /The caches take 64\.00 GiB of a GPU, and an estimated [\d.]+ GiB to [\d.]+ GiB are left for them\.$/,
    );
    const fixed = plan(`${LLAMA} -c ${finding?.fixes[0]?.value} -np 4 -ngl 99`, { gpu: 'L4' });
    expect(fixed.starts).toBe(true);
  });

  test('layers move to the host where nothing says where they belong', () => {
    const p = plan(`${LLAMA} -c 524288 -np 4`, { gpu: 'L4' });
    expect(p.starts).toBe(true);
    expect(codes(p)).toEqual(expect.arrayContaining(['fit-moves-layers', 'layers-on-host']));
  });

  test('a context that is not asked for is shortened to what fits', () => {
    const p = plan(LLAMA, { gpu: 'L4' });
    expect(codes(p)).toContain('fitted-context');
    const tokens = p.capacity?.maxLength ?? 0;
    expect(tokens % 256).toBe(0);
    expect(tokens).toBeGreaterThan(90_000);
    expect(tokens).toBeLessThan(131_072);
    expect(plan(LLAMA, { gpu: 'H200' }).findings.map((f) => f.code)).not.toContain('fitted-context');
  });

  test('an older build takes the context it is told, and does not fit it', () => {
    const p = plan(LLAMA, { gpu: 'L4' }, 'server-cuda-b5200');
    expect([p.capacity?.maxLength, p.engine.version.text]).toEqual([4096, 'b5200']);
    expect(p.capacity?.fits.value).toBe(1);
  });

  test('several GPUs share layers; the one with most decides', () => {
    const p = plan(`${LLAMA} -c 8192 -np 1 -ngl 99 -ts 3,1`, { gpu: 'L4', gpus: '2' });
    expect(p.kv?.layout.ranks.map((r) => r.layers)).toEqual([25, 7]);
    expect(p.kv?.pool?.bytes.value).toBe(25 * 32 * MiB);
    const row = plan(`${LLAMA} -c 8192 -np 1 -ngl 99 -sm row`, { gpu: 'L4', gpus: '2' });
    expect(row.kv?.pool?.bytes.value).toBe(1024 * MiB);
  });

  test.each([
    ['-ngl 0', 'kv-on-host', 1024],
    ['-nkvo', 'kv-on-host', 1024],
    ['-ngl 17', 'layers-on-host', 512],
    ['-dev none', 'kv-on-host', 1024],
  ])('%s', (args, code, mib) => {
    const p = plan(`${LLAMA} -c 8192 -np 1 ${args}`, { gpu: 'L4' });
    expect(codes(p)).toContain(code);
    expect(p.kv?.pool?.bytes.value).toBe(mib * MiB);
  });

  test('experts that do not fit stay on the host, keys and values do not', () => {
    const p = plan('-m Qwen3-235B-A22B-Q4_K_M.gguf -c 32768 -np 1', { gpu: 'H100-80GB' });
    expect(codes(p)).toContain('fit-moves-layers');
    expect(p.kv?.pool?.bytes.value).toBe(94 * 2 * 4 * 128 * 2 * 32768);
    expect(p.starts).toBe(true);
  });
});

describe('refusals and findings', () => {
  test.each([
    ['-c 4096 -ctv q8_0 -fa off', 'value-type-needs-flash'],
    ['-c 4096 -np 0', 'no-slots'],
    ['-c 4096 -fa', 'flash-needs-value'],
    ['-c 8192 -np 4', 'context-divided'],
    ['-c 1000 -np 1', 'context-rounded'],
    ['-c 262144 -np 1', 'context-above-training'],
    ['-c 4096 -md draft.gguf', 'draft-not-counted'],
    ['-c 4096 --no-such-flag', 'unknown-option'],
  ])('%s: %s', (args, code) => expect(codes(plan(`${LLAMA} ${args}`, { gpu: 'L4' }))).toContain(code));

  test('windows cannot shift', () => {
    const args = '-m gemma-3-4b-it-Q4_K_M.gguf -c 32768 --context-shift';
    expect(codes(plan(args))).toContain('cannot-shift');
    expect(codes(plan(`${args} --swa-full`))).not.toContain('cannot-shift');
  });

  test('MLA keeps one vector, of one type', () => {
    const p = plan('-m DeepSeek-R1-Q4_K_M.gguf -c 4096 -np 1 -ctk q8_0');
    expect([p.starts, codes(p)]).toEqual([false, ['latent-types-differ']]);
    expect(plan('-m DeepSeek-R1-Q4_K_M.gguf -c 4096 -np 1').kv?.pool?.bytes.value).toBe(274.5 * MiB);
  });

  test('of a build that kept every head of an MLA model the sizes are not guessed', () => {
    const p = plan('-m DeepSeek-R1-Q4_K_M.gguf -c 4096', {}, 'server-b4500');
    expect([p.planned, p.starts, codes(p)]).toEqual([false, 'unknown', ['not-covered']]);
  });
});

test('variables are options, and words win over them', () => {
  const environment =
    '    environment: {LLAMA_ARG_CTX_SIZE: 8192, LLAMA_ARG_N_PARALLEL: 2, LLAMA_ARG_NO_KV_OFFLOAD: 0}\n';
  const p = plan(`${LLAMA} -np 4`, {}, 'server', environment);
  expect(p.capacity?.maxLength).toBe(2048);
  expect(codes(p)).toContain('kv-on-host');
});

test.each([
  ['-hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF', 'Q4_K_M'],
  ['-hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q8_0', 'Q8_0'],
  ['--hf-repo ggml-org/gpt-oss-20b-GGUF:mxfp4', 'mxfp4'],
])('%s', (args, format) => expect(plan(`${args} -c 4096`).model?.quantisation).toBe(format));
