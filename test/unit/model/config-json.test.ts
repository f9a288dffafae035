import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findModel } from '../../../src/core/model/catalogue';
import { modelFromConfig } from '../../../src/core/model/config-json';
import { type Model, ModelError } from '../../../src/core/model/model';
import { CONFIGS } from './configs';

const read = (config: unknown): Model => modelFromConfig(config, { id: 'test', path: 'config.json' });

/** `5 sliding 16×128/128 w1024 · 1 full …` */
function runs(model: Model): string {
  const words: { text: string; count: number }[] = [];
  for (const l of model.layers) {
    const text = `${l.joined ? '+' : ''}${l.kind} ${l.kvHeads}×${l.headDim}/${l.valueDim}${l.window ? ` w${l.window}` : ''}`;
    const last = words.at(-1);
    if (last?.text === text) {
      last.count++;
    } else {
      words.push({ text, count: 1 });
    }
  }
  return words.map((w) => `${w.count} ${w.text}`).join(' · ');
}

describe('config.json gives the same layers as the catalogue', () => {
  it.each(Object.keys(CONFIGS))('%s', (id) => {
    const known = findModel(id) as Model;
    const model = read(CONFIGS[id]);
    expect(runs(model)).toBe(runs(known));
    expect(model.layers.map((l) => l.state)).toEqual(known.layers.map((l) => l.state));
    expect(model.stateDtype).toBe(known.stateDtype);
    expect(model.mtpLayers).toEqual(UNCOUNTED_MTP.has(id) ? [] : known.mtpLayers);
    expect(model.attentionHeads).toBe(known.attentionHeads);
    expect(model.multimodal).toBe(known.multimodal);
  });
});

/** Their checkpoints hold an MTP layer that their configs do not count. */
const UNCOUNTED_MTP = new Set(['Qwen/Qwen3-Next-80B-A3B-Instruct']);

const llama = { model_type: 'llama', hidden_size: 4096, num_hidden_layers: 2, num_attention_heads: 32 };
const gemma = { model_type: 'gemma3_text', hidden_size: 5376, num_hidden_layers: 62, num_attention_heads: 32 };
const latent = { ...llama, kv_lora_rank: 512, qk_rope_head_dim: 64 };

describe('traps of config.json', () => {
  it.each<[string, object, string]>([
    ['KV heads absent: as many as heads', llama, '2 full 32×128/128'],
    ['KV heads null: as many as heads', { ...llama, num_key_value_heads: null }, '2 full 32×128/128'],
    ['multi-query: one', { ...llama, multi_query: true }, '2 full 1×128/128'],
    ['head_dim beside hidden ÷ heads', { ...llama, num_key_value_heads: 8, head_dim: 256 }, '2 full 8×256/256'],
    ['head_dim null: hidden ÷ heads', { ...llama, head_dim: null }, '2 full 32×128/128'],
    ['latent by its fields, whatever the name', latent, '2 latent 1×576/0'],
    ['latent rank null: not latent', { ...latent, kv_lora_rank: null }, '2 full 32×128/128'],
    [
      'weights in fp8 leave the KV layers alone',
      { ...llama, quantization_config: { quant_method: 'fp8' } },
      '2 full 32×128/128',
    ],
    ['window not switched on', { ...llama, sliding_window: 4096, use_sliding_window: false }, '2 full 32×128/128'],
    [
      'window from max_window_layers upward',
      { ...llama, num_hidden_layers: 4, sliding_window: 4096, use_sliding_window: true, max_window_layers: 3 },
      '3 full 32×128/128 · 1 sliding 32×128/128 w4096',
    ],
    [
      'nested text_config is read, the outer level is not',
      { hidden_size: 1, num_hidden_layers: 99, text_config: { ...llama, num_key_value_heads: 4 } },
      '2 full 4×128/128',
    ],
    [
      'types of layers win over a pattern',
      {
        ...llama,
        layer_types: ['sliding_attention', 'full_attention'],
        sliding_window: 512,
        sliding_window_pattern: 6,
      },
      '1 sliding 32×128/128 w512 · 1 full 32×128/128',
    ],
    [
      'last layers share earlier keys and values',
      { ...llama, num_hidden_layers: 3, num_kv_shared_layers: 1 },
      '2 full 32×128/128 · 1 shared 32×128/128',
    ],
    [
      'cross-layer attention: every second layer shares',
      { ...llama, use_cla: true, cla_share_factor: 2 },
      '1 full 32×128/128 · 1 shared 32×128/128',
    ],
    [
      'attention only in listed layers',
      { ...llama, num_hidden_layers: 3, attn_layer_indices: [1], mamba_d_state: 16 },
      '1 state 0×0/0 · 1 full 32×128/128 · 1 state 0×0/0',
    ],
    [
      'Llama 4: chunks, and every n-th layer without rotary positions is full',
      { ...llama, attention_chunk_size: 8192, no_rope_layers: [1, 0] },
      '1 chunked 32×128/128 w8192 · 1 full 32×128/128',
    ],
    [
      'KV heads that differ from layer to layer',
      { ...llama, num_key_value_heads: [4, 8] },
      '1 full 4×128/128 · 1 full 8×128/128',
    ],
    [
      'encoder-decoder: cross-attention beside each layer',
      { ...llama, num_hidden_layers: 1, is_encoder_decoder: true },
      '1 full 32×128/128 · 1 +cross 32×128/128',
    ],
  ])('%s', (_, config, expected) => {
    expect(runs(read(config))).toBe(expected);
  });

  it('Gemma 3 names no pattern: the class has 10 full layers of 62', () => {
    const { layers } = read({ ...gemma, num_key_value_heads: 16, head_dim: 128, sliding_window: 1024 });
    expect(layers.filter((l) => l.kind === 'full')).toHaveLength(10);
    expect(layers.filter((l) => l.kind === 'sliding')).toHaveLength(52);
    expect(layers[5]?.kind).toBe('full');
  });

  it('MTP heads are apart from the layers', () => {
    const model = read({ ...latent, num_nextn_predict_layers: 1 });
    expect(model.layers).toHaveLength(2);
    expect(model.mtpLayers).toEqual([{ ...model.layers[0], draft: true }]);
  });
});

describe('lengths, rope and dtypes are carried as stated', () => {
  it.each<[string, object, Partial<Model>]>([
    ['smallest of several lengths', { max_position_embeddings: 8192, seq_length: 4096 }, { maxPositions: 4096 }],
    [
      'model_max_length stands for all',
      { max_position_embeddings: 8192, model_max_length: 131072 },
      { maxPositions: 131072 },
    ],
    ['no length', {}, { maxPositions: undefined }],
    [
      'yarn',
      { rope_scaling: { type: 'yarn', factor: 4, original_max_position_embeddings: 32768 } },
      { rope: { type: 'yarn', factor: 4, originalMaxPositions: 32768 } },
    ],
    [
      'longrope with the original length outside',
      { rope_scaling: { type: 'longrope', long_factor: [1] }, original_max_position_embeddings: 4096 },
      { rope: { type: 'longrope', originalMaxPositions: 4096 } },
    ],
    [
      'rope_parameters for each kind of layer',
      {
        rope_parameters: {
          full_attention: { rope_type: 'linear', factor: 8 },
          sliding_attention: { rope_type: 'default' },
        },
      },
      { rope: { type: 'linear', factor: 8 } },
    ],
    ['default rope is none', { rope_parameters: { rope_type: 'default', rope_theta: 1e4 } }, { rope: undefined }],
    ['dtype under its new name', { dtype: 'float16' }, { dtype: 'float16' }],
  ])('%s', (_, fields, expected) => {
    const model = read({ ...llama, ...fields });
    for (const [name, value] of Object.entries(expected)) {
      expect(model[name as keyof Model]).toEqual(value);
    }
  });
});

describe('quantised checkpoints', () => {
  const tensors = (weights: object, more: object = {}) => ({
    quant_method: 'compressed-tensors',
    config_groups: { group_0: { weights } },
    ...more,
  });
  it.each<[string, object, string, string | undefined]>([
    ['fp8 blocks', { quant_method: 'fp8', weight_block_size: [128, 128] }, 'fp8-block', undefined],
    ['awq', { quant_method: 'awq', bits: 4, group_size: 128 }, 'awq', undefined],
    ['gptq 8 bit', { quant_method: 'gptq', bits: 8 }, 'gptq-int8', undefined],
    ['w4a16', tensors({ num_bits: 4, type: 'int', group_size: 128 }), 'w4a16', undefined],
    ['w8a8', tensors({ num_bits: 8, type: 'int', strategy: 'channel' }), 'w8a8', undefined],
    [
      'fp8 with an fp8 KV scheme',
      tensors({ num_bits: 8, type: 'float', strategy: 'channel' }, { kv_cache_scheme: { num_bits: 8, type: 'float' } }),
      'fp8-dynamic',
      'fp8_e4m3',
    ],
    [
      'an integer KV scheme is none vLLM takes',
      tensors({ num_bits: 8, type: 'int' }, { kv_cache_scheme: { num_bits: 8, type: 'int' } }),
      'w8a8',
      undefined,
    ],
    ['ModelOpt', { quant_method: 'modelopt', quant_algo: 'NVFP4', kv_cache_quant_algo: 'FP8' }, 'nvfp4', 'fp8_e4m3'],
    [
      'ModelOpt with nvfp4 KV',
      { quant_method: 'modelopt', quant_algo: 'FP8', kv_cache_quant_algo: 'NVFP4' },
      'fp8',
      'nvfp4',
    ],
    ['mxfp4', { quant_method: 'mxfp4', modules_to_not_convert: ['model.layers.*.self_attn'] }, 'mxfp4', undefined],
    ['bitsandbytes', { quant_method: 'bitsandbytes', load_in_4bit: true }, 'bnb-4bit', undefined],
    ['a method not known', { quant_method: 'brand-new' }, 'brand-new', undefined],
  ])('%s', (_, quantization_config, name, kv) => {
    const model = read({ ...llama, vocab_size: 32000, quantization_config });
    expect(model.quantisation).toBe(name);
    expect(model.checkpointKvDtype).toBe(kv);
  });

  it('gpt-oss: only the experts are in 4 bit', () => {
    const model = read({
      ...CONFIGS['openai/gpt-oss-20b'],
      vocab_size: 201088,
      intermediate_size: 2880,
      num_local_experts: 32,
      quantization_config: { quant_method: 'mxfp4', modules_to_not_convert: ['model.layers.*.self_attn', 'lm_head'] },
    });
    expect(model.weights?.low).toBeLessThan(13_761_264_768);
    expect(model.weights?.high).toBeGreaterThan(13_761_264_768);
  });
});

describe('parameters are counted from the shape', () => {
  it.each<[string, object, number]>([
    ['meta-llama/Llama-2-7b-hf', { intermediate_size: 11008, vocab_size: 32000 }, 6_738_415_616],
    [
      'meta-llama/Llama-3.2-1B',
      { intermediate_size: 8192, vocab_size: 128256, tie_word_embeddings: true },
      1_235_814_400,
    ],
    ['openai-community/gpt2', { vocab_size: 50257, tie_word_embeddings: true }, 124_439_808],
    [
      'Qwen/Qwen3-30B-A3B',
      { intermediate_size: 6144, vocab_size: 151936, num_experts: 128, moe_intermediate_size: 768 },
      30_532_122_624,
    ],
    [
      'deepseek-ai/DeepSeek-V3',
      {
        intermediate_size: 18432,
        vocab_size: 129280,
        n_routed_experts: 256,
        n_shared_experts: 1,
        moe_intermediate_size: 2048,
        first_k_dense_replace: 3,
        q_lora_rank: 1536,
      },
      671_026_419_200,
    ],
  ])('%s', (id, fields, parameters) => {
    const counted = read({ ...CONFIGS[id], ...fields }).parameters ?? 0;
    expect(Math.abs(counted / parameters - 1)).toBeLessThan(0.012);
  });
});

describe('what is not understood is refused by field', () => {
  it.each<[string, unknown, string | undefined]>([
    ['not an object', 42, undefined],
    ['a list', [], undefined],
    ['nothing', {}, 'hidden_size'],
    ['a string for a number', { ...llama, hidden_size: '4096' }, 'hidden_size'],
    ['negative', { ...llama, num_hidden_layers: -1 }, 'num_hidden_layers'],
    ['not whole', { ...llama, num_attention_heads: 31.5 }, 'num_attention_heads'],
    ['not a number', { ...llama, head_dim: Number.NaN }, 'head_dim'],
    ['layers past belief', { ...llama, num_hidden_layers: 10_001 }, 'num_hidden_layers'],
    ['heads past belief', { ...llama, num_attention_heads: 5000 }, 'num_attention_heads'],
    ['dims past belief', { ...llama, head_dim: 65_537 }, 'head_dim'],
    ['KV heads above heads', { ...llama, num_key_value_heads: 64 }, 'num_key_value_heads'],
    ['layers missing', { hidden_size: 4096, num_attention_heads: 32 }, 'num_hidden_layers'],
    ['hidden size missing', { num_hidden_layers: 2, num_attention_heads: 32 }, 'hidden_size'],
    ['no attention, no state', { hidden_size: 4096, num_hidden_layers: 2 }, 'num_attention_heads'],
    ['heads that do not divide', { ...llama, num_attention_heads: 31 }, 'head_dim'],
    ['latent without its rope part', { ...llama, kv_lora_rank: 512 }, 'qk_rope_head_dim'],
    ['a kind of layer not known', { ...llama, layer_types: ['full_attention', 'quantum_attention'] }, 'layer_types'],
    ['a list of another length', { ...llama, layer_types: ['full_attention'] }, 'layer_types'],
    [
      'sliding layers without a window',
      { ...llama, layer_types: ['full_attention', 'sliding_attention'] },
      'sliding_window',
    ],
    ['a letter not known', { ...llama, hybrid_override_pattern: 'M?' }, 'hybrid_override_pattern'],
    ['an index dim missing', { ...latent, index_topk: 2048 }, 'index_head_dim'],
    ['a rope factor that is none', { ...llama, rope_scaling: { type: 'linear', factor: 0 } }, 'rope_scaling.factor'],
  ])('%s', (_, config, field) => {
    try {
      read(config);
      expect.unreachable('was read');
    } catch (error) {
      expect(error).toBeInstanceOf(ModelError);
      expect((error as ModelError).field).toBe(field);
    }
  });

  it('throws nothing but ModelError, whatever a field holds', () => {
    const all = Object.values(CONFIGS).flatMap((c) => Object.keys(c));
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.integer(),
      fc.constantFrom(null, Number.NaN, 0, -1, 1e308),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(CONFIGS)),
        fc.constantFrom(...new Set([...all, 'quantization_config', 'rope_scaling', 'num_experts', 'moe_layer_freq'])),
        value,
        (config, field, x) => {
          try {
            const model = read({ ...config, [field]: x });
            return model.layers.every((l) => l.kvHeads * (l.headDim + l.valueDim) >= 0);
          } catch (error) {
            return error instanceof ModelError;
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
