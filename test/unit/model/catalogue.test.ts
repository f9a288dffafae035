import { describe, expect, it } from 'vitest';
import { findModel, modelIds, nearestModels } from '../../../src/core/model/catalogue';
import type { Model } from '../../../src/core/model/model';
import { GiB } from '../../../src/core/units';

const find = (id: string): Model => {
  const model = findModel(id);
  if (!model) {
    throw new Error(`${id} is not known`);
  }
  return model;
};

/** Bytes of one token's keys and values in 16 bit, over layers of these kinds. */
const bytes = (model: Model, ...kinds: string[]): number =>
  model.layers
    .filter((l) => kinds.includes(l.kind))
    .reduce((sum, l) => sum + l.kvHeads * (l.headDim + l.valueDim) * 2, 0);

describe('names', () => {
  it.each<[string, string, string | undefined]>([
    ['meta-llama/Llama-3.1-70B-Instruct', 'meta-llama/Llama-3.1-70B-Instruct', undefined],
    ['META-LLAMA/llama-3.1-70b-instruct', 'meta-llama/Llama-3.1-70B-Instruct', undefined],
    ['/models/Llama-3.1-70B-Instruct/', 'meta-llama/Llama-3.1-70B-Instruct', '/models/Llama-3.1-70B-Instruct/'],
    [
      '/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0123abc',
      'Qwen/Qwen3-8B',
      '/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0123abc',
    ],
    ['QuantTrio/Qwen3-32B-AWQ', 'Qwen/Qwen3-32B-AWQ', 'QuantTrio/Qwen3-32B-AWQ'],
    ['someone/DeepSeek-R1-0528-w4a16', 'deepseek-ai/DeepSeek-R1-0528', 'someone/DeepSeek-R1-0528-w4a16'],
    ['/m/gpt-oss-20b-Q4_K_M.gguf', 'openai/gpt-oss-20b', '/m/gpt-oss-20b-Q4_K_M.gguf'],
    [
      'bartowski/Qwen2.5-7B-Instruct-GGUF:Q5_K_M',
      'Qwen/Qwen2.5-7B-Instruct',
      'bartowski/Qwen2.5-7B-Instruct-GGUF:Q5_K_M',
    ],
  ])('%s is %s', (asked, id, resolvedFrom) => {
    expect(find(asked)).toMatchObject({ id, source: { kind: 'catalogue' } });
    expect(find(asked).resolvedFrom).toBe(resolvedFrom);
  });

  it.each([
    '',
    'gpt2-xl-unknown',
    'Llama',
    'RedHatAI/Llama-3.1-8B-Instruct-speculator.eagle3',
    'nvidia/gpt-oss-120b-Eagle3',
    'Qwen3-8B-Base-finetune',
  ])('%j is not known', (id) => {
    expect(findModel(id)).toBeUndefined();
  });

  it('offers what may have been meant', () => {
    expect(nearestModels('Qwen/Qwen3-8', 3)).toContain('Qwen/Qwen3-8B');
    expect(nearestModels('meta-lama/Llama-3.1-8B-Instuct', 1)).toEqual(['meta-llama/Llama-3.1-8B-Instruct']);
    expect(nearestModels('completely-other-thing', 3)).toEqual([]);
  });

  it('every id it lists is found, has layers and a source', () => {
    const ids = modelIds();
    expect(ids.length).toBeGreaterThan(700);
    for (const id of ids) {
      const model = find(id);
      expect(model.layers.length, id).toBeGreaterThan(0);
      expect(model.source.text, id).toMatch(/^catalogue: .+/);
    }
  });
});

describe('layers', () => {
  it.each<[string, number]>([
    ['meta-llama/Llama-3.1-8B', 131_072],
    ['meta-llama/Llama-3.1-70B-Instruct', 327_680],
    ['Qwen/Qwen2.5-7B-Instruct', 57_344],
    ['deepseek-ai/DeepSeek-V3', 70_272],
    ['Qwen/Qwen2-Audio-7B-Instruct', 524_288],
  ])('%s keeps %i bytes a token', (id, expected) => {
    expect(bytes(find(id), 'full', 'latent')).toBe(expected);
  });

  it('come in layer order', () => {
    const kinds = (id: string, n: number) =>
      find(id)
        .layers.slice(0, n)
        .map((l) => l.kind[0])
        .join('');
    expect(kinds('google/gemma-3-27b-it', 12)).toBe('sssssfsssssf');
    expect(kinds('openai/gpt-oss-120b', 4)).toBe('sfsf');
    expect(kinds('meta-llama/Llama-4-Scout-17B-16E-Instruct', 8)).toBe('cccfcccf');
    expect(kinds('deepseek-ai/DeepSeek-V3.2', 4)).toBe('lili');
    expect(kinds('Qwen/Qwen3-Next-80B-A3B-Instruct', 4)).toBe('sssf');
  });

  it('have the heads of their kind', () => {
    const mimo = find('XiaomiMiMo/MiMo-V2-Flash').layers;
    expect(mimo[0]).toEqual({ kind: 'full', kvHeads: 4, headDim: 192, valueDim: 128 });
    expect(mimo[1]).toEqual({ kind: 'sliding', kvHeads: 8, headDim: 192, valueDim: 128, window: 128 });
    expect(find('deepseek-ai/DeepSeek-V3').layers[0]).toEqual({
      kind: 'latent',
      kvHeads: 1,
      headDim: 576,
      valueDim: 0,
      ropeDim: 64,
    });
    expect(find('deepseek-ai/DeepSeek-V3.2').layers[1]).toEqual({
      kind: 'indexer',
      kvHeads: 1,
      headDim: 128,
      valueDim: 0,
      joined: true,
    });
    expect(find('google/gemma-3n-E4B-it').layers.filter((l) => l.kind === 'shared')).toHaveLength(15);
  });

  it('of MTP heads are apart', () => {
    expect(find('deepseek-ai/DeepSeek-R1').layers).toHaveLength(61);
    expect(find('deepseek-ai/DeepSeek-R1').mtpLayers).toEqual([
      { kind: 'latent', kvHeads: 1, headDim: 576, valueDim: 0, ropeDim: 64, draft: true },
    ]);
  });

  it('with a compressed history stand beside their window', () => {
    const { layers, mtpLayers } = find('deepseek-ai/DeepSeek-V4-Flash');
    const of = (kind: string, ratio: number) => layers.filter((l) => l.kind === kind && l.ratio === ratio).length;
    expect([of('sliding', 1), of('latent', 4), of('indexer', 4), of('latent', 128)]).toEqual([43, 21, 21, 20]);
    expect(layers.filter((l) => !l.joined)).toHaveLength(43);
    expect(mtpLayers.map((l) => l.kind)).toEqual(['sliding']);
  });

  it('no rule covers are marked, not left out', () => {
    expect(find('MiniMaxAI/MiniMax-M3').layers.every((l) => l.kind === 'other')).toBe(true);
    expect(find('Qwen/Qwen3.5-27B').layers.filter((l) => l.kind === 'state')).toHaveLength(48);
  });
});

describe('variants', () => {
  it.each<[string, number]>([
    ['Qwen/Qwen2.5-7B', 131_072],
    ['Qwen/Qwen2.5-7B-Instruct', 32_768],
    ['Qwen/Qwen2.5-Math-7B-Instruct', 4096],
    ['microsoft/Phi-3-medium-128k-instruct', 131_072],
    ['meta-llama/Llama-3.1-70B-Instruct', 131_072],
  ])('%s has %i positions', (id, positions) => {
    expect(find(id).maxPositions).toBe(positions);
  });

  it('carries what rope scaling a length is derived from', () => {
    expect(find('deepseek-ai/DeepSeek-V3').rope).toEqual({ type: 'yarn', factor: 40, originalMaxPositions: 4096 });
    expect(find('microsoft/Phi-3.5-mini-instruct').rope).toEqual({ type: 'longrope', originalMaxPositions: 4096 });
  });
});

describe('weights', () => {
  // Sizes of files are those kaito-project/kaito@056b828 lists (presets/workspace/models/model_catalog.yaml).
  it.each<[string, string | undefined, number, number]>([
    ['meta-llama/Llama-3.1-8B-Instruct', undefined, 14.96, 0.01],
    // 641.3 GiB of files, less the MTP layer with its copy of the embeddings.
    ['deepseek-ai/DeepSeek-R1', 'fp8-block', 626.8, 0.1],
    ['Qwen/Qwen3-8B-AWQ', 'awq', 5.68, 0.01],
    ['openai/gpt-oss-20b', 'mxfp4', 12.816, 0.01],
    ['moonshotai/Kimi-K2-Thinking', 'int4-g32', 553.4, 0.1],
    ['unsloth/gpt-oss-20b-BF16', undefined, 38.96, 0.01],
    ['unsloth/DeepSeek-R1-BF16', undefined, 1249.9, 0.1],
    ['RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic', 'fp8-dynamic', 67.7, 0.1],
    ['bartowski/Llama-3.3-70B-Instruct-GGUF:Q4_K_M', 'Q4_K_M', 39.8, 0.1],
  ])('%s: %s, %f GiB', (id, quantisation, gib, error) => {
    const { weights, quantisation: found } = find(id);
    expect(found).toBe(quantisation);
    expect(Math.abs((weights?.bytes ?? 0) / GiB - gib)).toBeLessThan(error);
    expect(weights?.low).toBeLessThanOrEqual(weights?.bytes ?? 0);
    expect(weights?.high).toBeGreaterThanOrEqual(weights?.bytes ?? 0);
  });

  it.each<[string, number]>([
    ['Qwen/Qwen3.6-35B-A3B-FP8', 34.9],
    ['Qwen/Qwen3.5-122B-A10B-GPTQ-Int4', 73.47],
    ['Qwen/Qwen3.5-397B-A17B-GPTQ-Int4', 219.56],
    ['zai-org/GLM-5.2-FP8', 703.75],
    ['deepseek-ai/DeepSeek-V3.2', 642.14],
    ['Qwen/Qwen3.6-27B', 51.75],
    ['mistralai/Ministral-3-8B-Instruct-2512', 9.7],
  ])('%s: the range holds the file, %f GiB', (id, gib) => {
    const { weights } = find(id);
    expect((weights?.low ?? 0) / GiB).toBeLessThanOrEqual(gib);
    expect((weights?.high ?? 0) / GiB).toBeGreaterThanOrEqual(gib);
  });

  it('a 16-bit release of a quantised model is not as small as that', () => {
    expect(find('mistralai/Ministral-3-8B-Base-2512').quantisation).toBeUndefined();
    expect((find('mistralai/Ministral-3-8B-Base-2512').weights?.bytes ?? 0) / GiB).toBeGreaterThan(15.8);
  });
});
