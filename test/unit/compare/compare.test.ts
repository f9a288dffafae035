import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020';
import { describe, expect, it } from 'vitest';
import { type ComparedEngine, compareEngines } from '../../../src/compare';
import { ENGINES } from '../../../src/core/engines';
import { compareJson } from '../../../src/report/compare-json';
import { compareText } from '../../../src/report/compare-text';
import { run } from '../cli/run';

const schema = JSON.parse(readFileSync('schema/compare.schema.json', 'utf8'), (_, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
);
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

const LLAMA = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const ALL = ENGINES.map(({ id }) => ({ id }));

const service = (image: string, command: string) => `services:\n  a:\n    image: ${image}\n    command: ${command}\n`;

function compare(
  text: string,
  engines: readonly { id: string; version?: string }[],
  flags: Readonly<Record<string, string>> = { gpu: 'H100-80GB' },
) {
  const input = { text, name: 'compose.yaml' };
  const result = compareEngines(engines, input, { flags });
  return { ...result, engines: result.compared[0]?.engines ?? [] };
}

const topics = (e: ComparedEngine | undefined) => e?.differences.map((d) => d.topic);
const reason = (e: ComparedEngine | undefined, topic: string) => e?.differences.find((d) => d.topic === topic)?.text;
const carried = (e: ComparedEngine | undefined) => e?.carried.map(({ from, to, value }) => `${from}→${to}=${value}`);

const VLLM = service(
  'vllm/vllm-openai:v0.28.0',
  '--model Qwen/Qwen3-8B -tp 2 --max-model-len 16384 --kv-cache-dtype fp8 --max-num-seqs 64 --gpu-memory-utilization 0.9 --enable-prefix-caching',
);

describe('translation by what an option decides', () => {
  const { engines } = compare(VLLM, ALL);
  const on = (id: string) => engines.find((e) => e.plan.engine.id === id);

  it('comes after the launch as it is written, in the order asked for', () => {
    expect(engines.map((e) => [e.plan.engine.id, e.asWritten])).toEqual([
      ['vllm', true],
      ...ENGINES.slice(1).map(({ id }) => [id, false]),
    ]);
  });

  it.each([
    [
      'tensorrt-llm',
      [
        'tensor-parallel-size→tensor_parallel_size=2',
        'max-model-len→max_seq_len=16384',
        'kv-cache-dtype→kv_cache_dtype=fp8',
        'max-num-seqs→max_batch_size=64',
        'enable-prefix-caching→kv_cache_config.enable_block_reuse=true',
      ],
    ],
    [
      'lmdeploy',
      [
        'tensor-parallel-size→tp=2',
        'max-model-len→session-len=16384',
        'kv-cache-dtype→quant-policy=16',
        'max-num-seqs→max-batch-size=64',
        'enable-prefix-caching→enable-prefix-caching=true',
      ],
    ],
    [
      'tgi',
      [
        'tensor-parallel-size→num-shard=2',
        'max-model-len→max-total-tokens=16384',
        'kv-cache-dtype→kv-cache-dtype=fp8_e4m3fn',
        'max-num-seqs→max-concurrent-requests=64',
        'gpu-memory-utilization→cuda-memory-fraction=0.9',
        'enable-prefix-caching→PREFIX_CACHING=true',
      ],
    ],
  ])('%s', (id, expected) => {
    expect(carried(on(id))).toEqual(expected);
  });

  it('whether prefixes are kept, by the name of either; a switch of attention; one format for keys and values', () => {
    const off = service('vllm/vllm-openai:v0.28.0', '--model Qwen/Qwen3-8B --no-enable-prefix-caching');
    expect(carried(compare(off, [{ id: 'vllm' }, { id: 'sglang' }]).engines[1])).toEqual([
      'enable-prefix-caching→disable-radix-cache=true',
    ]);
    const back = service(
      'lmsysorg/sglang:v0.5.18',
      'python -m sglang.launch_server --model-path Qwen/Qwen3-8B --disable-radix-cache',
    );
    expect(carried(compare(back, [{ id: 'sglang' }, { id: 'tgi' }]).engines[1])).toEqual([
      'disable-radix-cache→PREFIX_CACHING=false',
    ]);
    const gguf = service(
      'ghcr.io/ggml-org/llama.cpp:server-cuda',
      '-hf unsloth/Qwen3-8B-GGUF:Q4_K_M --flash-attn on --cache-type-k q8_0 --cache-type-v q4_0',
    );
    const ollama = compare(gguf, [{ id: 'llama-cpp' }, { id: 'ollama' }]).engines[1];
    expect(carried(ollama)).toEqual([
      'flash-attn→OLLAMA_FLASH_ATTENTION=true',
      'cache-type-k→OLLAMA_KV_CACHE_TYPE=q8_0',
    ]);
    expect(ollama?.leftOut.map(({ option, why }) => [option, why])).toContainEqual([
      'cache-type-v',
      'OLLAMA_KV_CACHE_TYPE is q8_0 for both',
    ]);
  });

  it('a length of all requests together is not that of one', () => {
    const llama = on('llama-cpp');
    expect(carried(llama)?.join()).not.toContain('ctx-size');
    expect(llama?.leftOut.find((l) => l.option === 'max-model-len')?.why).toBe(
      'ctx-size is of all requests together, max-model-len of one',
    );
  });

  it('a share of something else is left out, with the reason', () => {
    expect(on('tensorrt-llm')?.leftOut.map((l) => l.option)).toEqual(['gpu-memory-utilization']);
    expect(on('tensorrt-llm')?.leftOut[0]?.why).toContain('another share');
    expect(on('tgi')?.leftOut).toEqual([]);
  });

  it('one model for all of them', () => {
    expect(new Set(engines.map((e) => e.plan.model)).size).toBe(1);
    expect(engines.every((e) => e.plan.launch.file === 'compose.yaml')).toBe(true);
  });
});

describe('why numbers differ', () => {
  it('another share, other blocks, another limit', () => {
    const { engines } = compare(service('vllm/vllm-openai:v0.28.0', '--model Qwen/Qwen3-8B'), [{ id: 'tensorrt-llm' }]);
    const [, other] = engines;
    expect(topics(other)).toEqual(['memory', 'blocks', 'reserve', 'limit']);
    expect(reason(other, 'memory')).toContain(
      'kv_cache_free_gpu_memory_fraction 0.9 is the pool, of what weights leave free (a default)',
    );
    expect(reason(other, 'memory')).toContain(
      'in vLLM gpu-memory-utilization 0.92 is what the server may use of the card',
    );
    expect(reason(other, 'blocks')).toContain('Blocks of 32 tokens, against blocks of 16 tokens');
    expect(reason(other, 'limit')).toContain('2,048 requests at most, against 1,024');
  });

  it('on the same bytes memory is none of them', () => {
    const { engines } = compare(service('vllm/vllm-openai:v0.28.0', '--model Qwen/Qwen3-8B'), [{ id: 'tgi' }], {
      'kv-memory': '20GiB',
    });
    expect(topics(engines[1])).not.toContain('memory');
    expect(engines.map((e) => e.plan.kv?.pool?.bytes.value)).toEqual([20 * 2 ** 30, 20 * 2 ** 30]);
  });

  it('windows, latent vectors', () => {
    const gemma = compare(service('vllm/vllm-openai:v0.28.0', '--model google/gemma-3-27b-it'), [{ id: 'tgi' }])
      .engines[1];
    expect(reason(gemma, 'bytes-per-token')).toContain('layers with a window keep the whole context');
    const deepseek = compare(
      service('vllm/vllm-openai:v0.28.0', '--model deepseek-ai/DeepSeek-V3 -tp 8'),
      [{ id: 'tgi' }],
      { gpu: 'H200' },
    ).engines[1];
    expect(reason(deepseek, 'bytes-per-token')).toContain(
      'keys and values of every head are kept, not the latent vector',
    );
  });

  it('the same engine in another version keeps its options', () => {
    const [, old] = compare(VLLM.replace(' --gpu-memory-utilization 0.9', ''), [
      { id: 'vllm', version: '0.20' },
    ]).engines;
    expect([old?.plan.engine.version.text, old?.carried, old?.leftOut]).toEqual(['0.20', [], []]);
    expect(old?.plan.placement?.tensor).toBe(2);
    expect(topics(old)).toContain('memory');
  });

  it('nothing when nothing differs', () => {
    expect(compare(VLLM, [{ id: 'vllm' }]).engines).toHaveLength(1);
  });
});

describe('faces', () => {
  it('JSON follows schema/compare.schema.json, for every engine and launches that cannot be planned', () => {
    for (const text of [VLLM, service('vllm/vllm-openai', '--model no/such-model'), readFileSync(LLAMA, 'utf8')]) {
      const { compared, problems } = compare(text, ALL, {});
      const json = compareJson([{ name: 'compose.yaml', text, compared, result: { plans: [], problems } }]);
      expect(validate(json) ? [] : validate.errors).toEqual([]);
    }
  });

  it('text fits the width, and says what was translated', () => {
    const { compared, problems } = compare(VLLM, ALL);
    const text = compareText([{ name: 'compose.yaml', text: VLLM, compared, result: { plans: [], problems } }], {
      colour: false,
      width: 100,
    });
    expect(text).toContain('vLLM 0.28.0 (as written)');
    expect(text).toMatch(/options +tensor-parallel-size → num-shard 2/);
    const wide = text.split('\n').filter((line) => line.startsWith('  ') && line.length > 100);
    expect(wide).toEqual([]);
  });

  it('says where fewer bytes per token come from layers on the host', async () => {
    const text =
      '# kv-planner: gpu=RTX-4090\nllama-server -hf bartowski/Qwen2.5-14B-Instruct-GGUF:Q4_K_M -c 32768 -np 4 -ngl 99\n';
    const { out } = await run(['compare', '-', '--name', 'a.sh', '--engines', 'ollama'], text);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /131,072 bytes per token and GPU, against 196,608; a GPU holds those of 32 layers, against 48: the others stay on the host/,
    );
  });

  it('says how many GPUs, where only the placement knows', async () => {
    const { out } = await run(['compare', 'samples/llama-cpp/llama-3.1-8b-slots.serve.sh', '--engines', 'ollama']);
    expect(out.split('\n')[0]).toMatch(/8B-Instruct · 1 × RTX 4090$/);
  });

  it.each([
    [['compare', LLAMA, '--engines', 'vllm,nothing'], 2, /unknown engine 'nothing'/],
    [['compare', LLAMA, '--engines', ','], 2, /names no engine/],
    [['compare', LLAMA, '--engines', '0.28'], 2, /unknown engine '0.28'/],
    [['compare', 'samples/nowhere.yaml'], 1, /nowhere/],
  ])('%j exits with %i', async (args, code, note) => {
    const { code: got, notes } = await run(args);
    expect(got).toBe(code);
    expect(notes.join('\n')).toMatch(note);
  });

  it('runs from the command line', async () => {
    const { code, out } = await run(['compare', LLAMA, '--engines', 'tensorrt-llm@1.1,tgi', '--format', 'json']);
    const json = JSON.parse(out);
    expect([code, json.schema, validate(json)]).toEqual([0, 'kv-planner/compare@1', true]);
    expect(
      json.launches[0].engines.map((e: { engine: string; version: string }) => `${e.engine} ${e.version}`),
    ).toEqual(['vllm 0.28.0', 'tensorrt-llm 1.1', 'tgi 3.3']);
  });
});
