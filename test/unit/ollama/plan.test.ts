import { describe, expect, test } from 'vitest';
import { libraryIds, ollamaModelName } from '../../../src/core/engines/ollama/library';
import { findModel } from '../../../src/core/model/catalogue';
import { type Plan, planText } from '../../../src/planner';

interface Case {
  readonly model?: string;
  readonly version?: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly gpu?: string;
  readonly gpus?: number;
}

function plan({ model = 'llama3.1:8b', version = '0.33.0', environment = {}, gpu, gpus }: Case): Plan {
  const variables = Object.entries({ OLLAMA_HOST: '0.0.0.0', ...environment }).map(([k, v]) => `      ${k}: '${v}'`);
  const text = [
    `# kv-planner: model=${model}`,
    'services:',
    '  s:',
    `    image: ollama/ollama:${version}`,
    '    environment:',
    ...variables,
    '',
  ].join('\n');
  const flags = { ...(gpu ? { gpu } : {}), ...(gpus ? { gpus: String(gpus) } : {}) };
  const [found] = planText({ text, name: 'compose.yaml' }, { flags }).plans;
  if (!found) {
    throw new Error('no launch found');
  }
  return found;
}

const GiB = 2 ** 30;
const gib = (p: Plan): number => (p.kv?.pool?.ranks ?? []).reduce((sum, r) => sum + r.kvBytes, 0) / GiB;
const codes = (p: Plan): readonly string[] => p.findings.map((f) => f.code);

describe('worked examples', () => {
  test.each<[string, Case, number, number]>([
    ['context by memory', { gpu: 'RTX-4090' }, 4, 32768],
    ['times parallel', { gpu: 'RTX-4090', environment: { OLLAMA_NUM_PARALLEL: 4 } }, 16, 32768],
    [
      'q8_0 is more than half',
      { gpu: 'RTX-4090', environment: { OLLAMA_NUM_PARALLEL: 4, OLLAMA_KV_CACHE_TYPE: 'q8_0' } },
      8.5,
      32768,
    ],
    ['q4_0', { gpu: 'RTX-4090', environment: { OLLAMA_NUM_PARALLEL: 4, OLLAMA_KV_CACHE_TYPE: 'Q4_0' } }, 4.5, 32768],
    ['two cards, clamped to the model', { gpu: 'RTX-4090', gpus: 2 }, 16, 131072],
    ['a small card', { gpu: 'RTX-3060-12GB' }, 0.5, 4096],
    ['0.9: two at once if all fits', { gpu: 'RTX-4090', version: '0.9.0' }, 1, 4096],
    ['0.10: one', { gpu: 'RTX-4090', version: '0.10.0' }, 0.5, 4096],
    ['0.5', { version: '0.5.13', gpu: 'RTX-4090', environment: { OLLAMA_NUM_PARALLEL: 1 } }, 0.25, 2048],
    [
      'rounded up',
      { gpu: 'RTX-4090', environment: { OLLAMA_CONTEXT_LENGTH: 5000, OLLAMA_NUM_PARALLEL: 3 } },
      1.875,
      5000,
    ],
  ])('%s', (_, launch, expected, length) => {
    const p = plan(launch);
    expect([gib(p), p.capacity?.maxLength]).toEqual([expected, length]);
  });

  test('the batch is in every window: gpt-oss at 131,072', () => {
    const p = plan({ model: 'gpt-oss:20b', gpu: 'H100-80GB', environment: { OLLAMA_CONTEXT_LENGTH: 131072 } });
    expect(p.kv?.pool?.logged?.lines.join('\n')).toContain('54.00 MiB (  2304 cells,  12 layers');
  });

  test('its own engine remembers 4,096 tokens of gpt-oss', () => {
    const p = plan({
      model: 'gpt-oss:20b',
      version: '0.24.0',
      gpu: 'L4',
      environment: { OLLAMA_CONTEXT_LENGTH: 8192 },
    });
    expect(gib(p)).toBe((192 + 108) / 1024);
    expect(p.kv?.pool?.logged).toBeUndefined();
  });
});

describe('findings', () => {
  test.each<[string, Case]>([
    ['context-by-memory', {}],
    ['context-multiplied', { environment: { OLLAMA_NUM_PARALLEL: 2 } }],
    ['context-clamped', { environment: { OLLAMA_CONTEXT_LENGTH: 200000 } }],
    [
      'cache-type-ignored',
      { version: '0.24.0', environment: { OLLAMA_KV_CACHE_TYPE: 'fp8', OLLAMA_FLASH_ATTENTION: 1 } },
    ],
    ['cache-type-ignored', { version: '0.24.0', environment: { OLLAMA_KV_CACHE_TYPE: 'q8_0' } }],
    ['runs-alone', { model: 'qwen3-next:80b', environment: { OLLAMA_NUM_PARALLEL: 4 } }],
    ['fit-moves-layers', { model: 'llama3.3:70b', gpu: 'RTX-4090' }],
    ['approximate', { version: '0.5.7' }],
    ['option-too-new', { version: '0.3.0', environment: { OLLAMA_KV_CACHE_TYPE: 'f16' } }],
  ])('%s', (code, launch) => expect(codes(plan(launch))).toContain(code));

  test('a type that llama-server does not take', () => {
    const p = plan({ environment: { OLLAMA_KV_CACHE_TYPE: 'fp8' } });
    expect([p.starts, p.findings[0]?.message]).toEqual([
      false,
      expect.stringContaining('llama-server, which stops: Unsupported cache type: fp8'),
    ]);
  });
});

test('every name of the library is a model that the catalogue knows', () => {
  expect(libraryIds().filter((id) => !findModel(id))).toEqual([]);
});

test.each([
  ['llama3.1', 'meta-llama/Llama-3.1-8B-Instruct-Q4_K_M'],
  ['llama3.1:70b-instruct-q8_0', 'meta-llama/Llama-3.1-70B-Instruct-Q8_0'],
  ['gemma3:27b-it-qat', 'google/gemma-3-27b-it-Q4_0'],
  ['gpt-oss:120b', 'openai/gpt-oss-120b-mxfp4'],
  ['qwen3:8b-fp16', 'Qwen/Qwen3-8B'],
  ['hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0', 'bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0'],
  ['registry.ollama.ai/library/mistral:7b', 'mistralai/Mistral-7B-Instruct-v0.3-Q4_K_M'],
  ['/models/x.gguf', undefined],
  ['org/name', undefined],
])('%s', (name, meant) => expect(ollamaModelName(name)).toBe(meant));

test('a size that the library has not is not another one', () => {
  expect(codes(plan({ model: 'deepseek-r1:9b' }))).toEqual(['model-unknown']);
});
