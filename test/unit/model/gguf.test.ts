import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readGguf } from '../../../src/core/model/gguf';
import { modelFromGguf } from '../../../src/core/model/gguf-model';
import { type Model, ModelError } from '../../../src/core/model/model';
import { bools, i32s, type Metadata, strings, text, u32, writeGguf } from '../../truth/gguf-writer';
import { metadataOf } from '../../truth/llama-cpp';
import { tinyModels } from '../../truth/tiny-models';

function model(architecture: string, keys: Metadata): Model {
  const common = { embedding_length: u32(2048), context_length: u32(8192), 'attention.head_count': u32(16) };
  const header = readGguf(writeGguf(metadataOf(architecture, { ...common, ...keys })));
  if ('needs' in header) {
    throw new Error('cut off');
  }
  return modelFromGguf({ headers: [header], path: 'x.gguf' }, 'x');
}

const kinds = (m: Model): string => m.layers.map((l) => (l.joined ? `+${l.kind}` : l.kind)).join(' ');

test('header: keys, long arrays by their length, tensors with exact bytes', () => {
  const tokens = Array.from({ length: 5000 }, (_, i) => `t${i}`);
  const bytes = writeGguf({ 'general.architecture': text('llama'), 'tokenizer.ggml.tokens': strings(tokens) }, [
    { name: 'a', dims: [64, 3] },
  ]);
  const header = readGguf(bytes);
  expect(header).toMatchObject({ version: 3, tensors: [{ name: 'a', dims: [64, 3], type: 0, bytes: 768 }] });
  expect('metadata' in header && header.metadata.get('tokenizer.ggml.tokens')).toEqual({ length: 5000 });
});

test('a header that is cut off says how much it needs, at every length', () => {
  const whole = writeGguf(tinyModels()[0]?.metadata ?? {}, tinyModels()[0]?.tensors);
  for (let length = 0; length < whole.length - 64; length += 7) {
    const part = readGguf(whole.subarray(0, length));
    expect('needs' in part && part.needs).toBeGreaterThan(length);
  }
  expect('needs' in readGguf(whole)).toBe(false);
});

test('whatever the bytes, nothing but a ModelError is thrown, and soon', () => {
  const whole = writeGguf(tinyModels()[3]?.metadata ?? {}, tinyModels()[3]?.tensors);
  const changed = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 });
  fc.assert(
    fc.property(changed, (changes) => {
      const bytes = whole.slice();
      for (const [at, value] of changes) {
        bytes[at] = value;
      }
      try {
        const header = readGguf(bytes);
        if (!('needs' in header)) {
          modelFromGguf({ headers: [header], path: 'x' }, 'x');
        }
      } catch (error) {
        expect(error).toBeInstanceOf(ModelError);
      }
    }),
    { numRuns: 500 },
  );
  expect(() => readGguf(new TextEncoder().encode('PK\u0003\u0004 a zip file'))).toThrow('not a GGUF file');
});

describe('layers', () => {
  test.each<[string, string, Metadata, string]>([
    ['plain', 'llama', { block_count: u32(2), 'attention.head_count_kv': u32(4) }, 'full full'],
    [
      'Gemma 3: every sixth is full',
      'gemma3',
      { block_count: u32(6), 'attention.sliding_window': u32(512) },
      'sliding sliding sliding sliding sliding full',
    ],
    ['Gemma 3 without a window', 'gemma3', { block_count: u32(2) }, 'full full'],
    [
      'phi3 states a window that nobody honours',
      'phi3',
      { block_count: u32(1), 'attention.sliding_window': u32(512) },
      'full',
    ],
    [
      'a list wins over the period',
      'gemma4',
      {
        block_count: u32(4),
        'attention.sliding_window': u32(512),
        'attention.sliding_window_pattern': bools([true, false, true, true]),
        'attention.shared_kv_layers': u32(1),
      },
      'sliding full sliding shared',
    ],
    [
      'dense first',
      'smallthinker',
      { block_count: u32(4), 'attention.sliding_window': u32(1) },
      'full sliding sliding sliding',
    ],
    [
      'MTP layers are apart',
      'deepseek2',
      {
        block_count: u32(3),
        nextn_predict_layers: u32(1),
        'attention.head_count_kv': u32(1),
        'attention.key_length': u32(576),
        'attention.value_length': u32(512),
        'attention.key_length_mla': u32(192),
        'attention.value_length_mla': u32(128),
      },
      'latent latent',
    ],
    [
      'index keys on the layers whose kind says so',
      'glm-dsa',
      {
        block_count: u32(2),
        'attention.head_count_kv': u32(1),
        'attention.key_length': u32(576),
        'attention.value_length': u32(512),
        'attention.key_length_mla': u32(192),
        'attention.value_length_mla': u32(128),
        'attention.indexer.key_length': u32(128),
        'attention.indexer.types': bools([true, false]),
      },
      'latent +indexer latent',
    ],
    [
      'states where there are no KV heads',
      'nemotron_h',
      {
        block_count: u32(3),
        'attention.head_count_kv': i32s([0, 4, 0]),
        feed_forward_length: i32s([0, 0, 4096]),
        'ssm.conv_kernel': u32(4),
        'ssm.inner_size': u32(4096),
        'ssm.state_size': u32(128),
        'ssm.time_step_rank': u32(64),
        'ssm.group_count': u32(8),
      },
      'state full none',
    ],
    ['what no rule covers', 'deepseek4', { block_count: u32(1) }, 'other'],
  ])('%s', (_, architecture, keys, expected) => expect(kinds(model(architecture, keys))).toBe(expected));

  test('heads of windowed layers may differ', () => {
    const gemma = model('gemma4', {
      block_count: u32(2),
      'attention.key_length': u32(512),
      'attention.value_length': u32(512),
      'attention.key_length_swa': u32(256),
      'attention.value_length_swa': u32(256),
      'attention.sliding_window': u32(512),
      'attention.sliding_window_pattern': bools([true, false]),
    });
    expect(gemma.layers.map((l) => l.headDim)).toEqual([256, 512]);
  });
});

test.each<[string, Metadata, string]>([
  ['no layers', {}, 'llama.block_count is missing'],
  ['a key of the wrong type', { block_count: text('two') }, 'llama.block_count must be a whole number'],
  [
    'heads that do not divide',
    { block_count: u32(1), 'attention.head_count': u32(15) },
    'attention.key_length is missing',
  ],
])('%s is told', (_, keys, message) => expect(() => model('llama', keys)).toThrow(message));

test('weights are unknown while parts of a split file are missing', () => {
  const tiny = tinyModels()[0];
  const part = readGguf(writeGguf({ ...tiny?.metadata, 'split.count': u32(2) }, tiny?.tensors));
  if ('needs' in part) {
    throw new Error('cut off');
  }
  expect(modelFromGguf({ headers: [part], path: 'x' }, 'x').weights).toBeUndefined();
  expect(modelFromGguf({ headers: [part, part], path: 'x' }, 'x').weights?.bytes).toBeGreaterThan(0);
});
