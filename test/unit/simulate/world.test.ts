/** From a plan to the world that its engine's scheduler runs in. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import type { Overrides, Plan } from '../../../src/planner';
import { planText } from '../../../src/planner';
import { simulate } from '../../../src/simulate';
import { type Estimated, machineOf } from '../../../src/simulate/machine';
import { reuseOf } from '../../../src/simulate/reuse';
import { contiguousOf, worldOf } from '../../../src/simulate/world';

function planOf(file: string, flags: Overrides = {}): Plan {
  const [plan] = planText({ text: readFileSync(file, 'utf8'), name: file }, { flags }).plans;
  if (!plan) {
    throw new Error(`no launch in ${file}`);
  }
  return plan;
}

const compose = (image: string, command: string): Plan => {
  const text = `services:\n  x:\n    image: ${image}\n    command: ${command}\n`;
  const [plan] = planText({ text, name: 'compose.yaml' }, { flags: { gpu: 'H100-80GB', gpus: '1' } }).plans;
  if (!plan) {
    throw new Error('no launch');
  }
  return plan;
};

const L4 = 'samples/vllm/llama-3.1-8b-l4.compose.yaml';

describe('what is found of a prompt, where the scheduler is not simulated', () => {
  const lmdeploy = (flags: string): Plan =>
    compose('openmmlab/lmdeploy:v0.10.2-cu12', `lmdeploy serve api_server Qwen/Qwen2.5-7B-Instruct ${flags}`);
  const tgi = (version: string, flags = ''): Plan =>
    compose(
      `ghcr.io/huggingface/text-generation-inference:${version}`,
      `--model-id mistralai/Mistral-7B-Instruct-v0.3 ${flags}`,
    );

  it.each<[string, Plan, object, RegExp]>([
    [
      'LMDeploy, with the option',
      lmdeploy('--enable-prefix-caching'),
      { kind: 'blocks', blockSize: 64 },
      /whole blocks/,
    ],
    ['LMDeploy, without it', lmdeploy(''), { kind: 'off', blockSize: 64 }, /--enable-prefix-caching/],
    ['TGI', tgi('3.3.5'), { kind: 'blocks', blockSize: 1 }, /both prompts begin with/],
    ['TGI with adapters', tgi('3.3.5', '--lora-adapters a/b'), { kind: 'off', blockSize: 1 }, /LoRA/],
    ['TGI before it kept any', tgi('2.0'), { kind: 'off', blockSize: 16 }, /from version 2\.3/],
    ['a simulated engine without memory for it', planOf(L4), { kind: 'shared', blockSize: 16 }, /not known here/],
  ])('%s', (_, plan, rules, why) => {
    const reuse = reuseOf(plan);
    expect(reuse.rules).toEqual(rules);
    expect(reuse.why).toMatch(why);
  });
});

describe('the world of a plan', () => {
  it.each([
    [L4, { engine: 'vllm-v1', blocks: 2325, maxSequences: 256, batchTokens: 2048, maxLength: 131072, caching: true }],
    ['samples/sglang/qwen3-next.compose.yaml', { engine: 'sglang', pageSize: 1, maxRunning: 256, chunk: 8192 }],
    [
      'samples/tensorrt-llm/llama-3.3-70b-fp8.compose.yaml',
      { engine: 'tensorrt-llm', blockSize: 32, maxBatch: 128, policy: 'guaranteed-no-evict' },
    ],
    ['samples/llama-cpp/gpt-oss-20b.compose.yaml', { engine: 'llama.cpp', slots: 8, cells: 131072, unified: true }],
    ['samples/ollama/gemma3-27b.compose.yaml', { engine: 'llama.cpp', slots: 2, cells: 32768, unified: false }],
  ] as const)('%s', (file, options) => {
    expect(worldOf(planOf(file))).toMatchObject({ options });
  });

  it('vLLM before V1 has no null block', () => {
    const world = worldOf(compose('vllm/vllm-openai:v0.6.6', '--model meta-llama/Llama-3.1-8B-Instruct'));
    expect(world).toMatchObject({ options: { engine: 'vllm-v0', blockSize: 16 } });
  });

  it('windows have their length, one for each group', () => {
    const world = worldOf(planOf('samples/vllm/gemma-3-27b.kubernetes.yaml'));
    const groups = 'options' in world && world.options.engine === 'vllm-v1' ? world.options.groups : [];
    expect(groups.filter(({ kind }) => kind === 'sliding').map(({ window }) => window)).toEqual(Array(6).fill(1024));
    expect(groups.filter(({ kind }) => kind === 'full')).toHaveLength(1);
  });

  it('a window is charged with the two batches in flight that the layout counts', () => {
    const world = worldOf(planOf('samples/vllm/gemma-3-27b.kubernetes.yaml'));
    const tokens = 'options' in world && world.options.engine === 'vllm-v1' ? world.options.inFlightTokens : 0;
    expect(Math.floor((tokens ?? 0) / 8192)).toBe(2);
  });

  it('states are kept at block edges with prefix caching, and once without', () => {
    const kinds = (more: string) => {
      const world = worldOf(
        compose(
          'vllm/vllm-openai:v0.28.0',
          `--model Qwen/Qwen3-Next-80B-A3B-Instruct --kv-cache-memory-bytes 20G ${more}`,
        ),
      );
      return 'options' in world && world.options.engine === 'vllm-v1'
        ? world.options.groups.map(({ kind }) => kind)
        : [];
    };
    expect(kinds('--enable-prefix-caching')).toContain('snapshots');
    expect(kinds('--no-enable-prefix-caching')).toContain('state');
  });

  it('an engine without a scheduler here is said', () => {
    expect(worldOf(planOf('samples/lmdeploy/qwen2.5-32b.compose.yaml'))).toMatchObject({
      reason: expect.stringContaining('LMDeploy is not simulated'),
    });
  });

  it('options of the scheduler are taken from the launch', () => {
    const world = worldOf(
      compose(
        'vllm/vllm-openai:v0.28.0',
        '--model meta-llama/Llama-3.1-8B-Instruct --no-enable-prefix-caching --max-num-seqs 7 --scheduling-policy priority',
      ),
    );
    expect(world).toMatchObject({ options: { caching: false, maxSequences: 7, policy: 'priority' } });
  });
});

test('as many contiguous slabs as the report counts', () => {
  const plan = planOf('samples/vllm/llama-3.1-70b-8xh100.compose.yaml');
  const world = worldOf(plan);
  const options = 'options' in world ? contiguousOf(plan, world.options) : undefined;
  const slabs = Math.floor((options?.tokens ?? 0) / (options?.maxLength ?? 1));
  expect(slabs).toBe(plan.capacity?.contiguous.requests.value);
});

describe('the machine', () => {
  it('is one GPU of the catalogue', () => {
    const speed = machineOf(planOf(L4)) as Estimated;
    expect(speed.machine).toMatchObject({ bytesPerSecond: 300e9, operationsPerSecond: 121e12, bytesPerToken: 131072 });
    expect(speed.machine.operationsPerToken).toBeCloseTo(2 * 8.03e9, -8);
    // 4 × 32 heads × 128 × 32 layers
    expect(speed.machine.operationsPerPair).toBe(524288);
  });
  it('is known as well where the KV bytes are given, and not where layers live on the host', () => {
    expect(machineOf(planOf(L4, { 'kv-memory': '4GiB' }))).toMatchObject({ machine: { bytesPerSecond: 300e9 } });
    const model = '-hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M';
    const host = compose('ghcr.io/ggml-org/llama.cpp:server-cuda', `${model} -c 8192 -ngl 4`);
    expect(machineOf(host)).toMatchObject({ reason: expect.stringContaining('host') });
  });
  it('counts only the experts that a token is sent to', () => {
    const { machine } = machineOf(planOf('samples/llama-cpp/gpt-oss-20b.compose.yaml')) as Estimated;
    // The model card: 3.6 B of 20.9 B parameters are active; the input embedding's 201,088 × 2,880 are looked up.
    const active = (machine.operationsPerToken ?? 0) / 2 - 201088 * 2880;
    expect(active / 1e9).toBeCloseTo(3.6, 1);
  });
});

describe('a run', () => {
  const asked = { requests: 100, seed: 1 };

  it('is the same twice, and another with another seed', () => {
    const plan = planOf(L4);
    const of = (seed: number) => simulate(plan, { requests: 60, rate: 3, seed }).run?.paged;
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });

  it('never preempts with its headroom, and does with less', () => {
    const plan = planOf(L4);
    const blocks = simulate(plan, asked).run?.headroom?.blocks ?? 0;
    const preempted = (count: number) =>
      simulate(planOf(L4, { 'kv-memory': String(count * 2097152) }), asked).run?.paged.preemptions.count;
    expect(preempted(blocks)).toBe(0);
    expect(preempted(Math.floor(blocks * 0.7))).toBeGreaterThan(0);
  });

  it('deals requests to replicas', () => {
    const plan = compose(
      'vllm/vllm-openai:v0.28.0',
      '--model meta-llama/Llama-3.1-8B-Instruct --data-parallel-size 4 --max-model-len 8192',
    );
    const { run } = simulate(plan, asked);
    expect(run).toMatchObject({ replicas: 4, traffic: { requests: 25 } });
    expect(run?.notes.join(' ')).toContain('One of 4 replicas');
  });

  it('tells how far it is', () => {
    const shares: number[] = [];
    simulate(planOf(L4), { requests: 300, seed: 1 }, (share) => shares.push(share));
    expect(shares.length).toBeGreaterThan(0);
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  });
});
