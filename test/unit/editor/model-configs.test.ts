import { expect, it } from 'vitest';
import { modelConfigs } from '../../../src/editor/model-configs';

const known: Record<string, string | null> = {
  './qwen/config.json': '{"model_type":"qwen3"}',
  '/models/broken/config.json': '{',
  'absent/a/b/config.json': null,
  './qwen/model.safetensors.index.json': null,
  './indexed/config.json': '{}',
  './indexed/model.safetensors.index.json': '{"metadata":{"total_size":12}}',
  './unread/config.json': '{}',
};

it.each<[string, unknown, readonly string[]]>([
  ['./qwen/', { json: { model_type: 'qwen3' }, path: './qwen/config.json' }, []],
  ['./qwen/config.json', { json: { model_type: 'qwen3' }, path: './qwen/config.json' }, []],
  ['./indexed', { json: {}, path: './indexed/config.json', index: { metadata: { total_size: 12 } } }, []],
  ['./unread', { json: {}, path: './unread/config.json' }, ['./unread/model.safetensors.index.json']],
  ['/models/broken', undefined, []],
  ['absent/a/b', undefined, []],
  ['/models/new', undefined, ['/models/new/config.json']],
  ['meta-llama/Llama-3.1-8B', undefined, ['meta-llama/Llama-3.1-8B/config.json']],
])('looks for the config of %s', (name, found, wanted) => {
  const configs = modelConfigs({ read: (path) => known[path] });
  expect(configs.config(name)).toEqual(found);
  expect(configs.wanted()).toEqual(wanted);
});
