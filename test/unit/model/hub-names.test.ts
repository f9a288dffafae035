import { expect, test } from 'vitest';
import { ggufFiles, hubCache, hubName } from '../../../src/core/model/hub-names';
import { headerEnd, tensorBytes } from '../../../src/core/model/safetensors';

test.each([
  ['org/name', { repo: 'org/name' }],
  ['org/name-GGUF:Q4_K_M', { repo: 'org/name-GGUF', tag: 'Q4_K_M' }],
  ['./name', undefined],
  ['/abs/name', undefined],
  ['a/b/c', undefined],
  ['a/..', undefined],
  ['a/b--c', undefined],
  ['name', undefined],
  ['a/b.git', undefined],
  [`a/${'b'.repeat(120)}`, undefined],
])('%s on the Hub', (text, name) => expect(hubName(text)).toEqual(name));

test.each([
  [{ HOME: '/h' }, '/h/.cache/huggingface/hub'],
  [{ HOME: '/h', XDG_CACHE_HOME: '/x' }, '/x/huggingface/hub'],
  [{ HOME: '/h', HF_HOME: '/m' }, '/m/hub'],
  [{ HOME: '/h', HF_HOME: '/m', HUGGINGFACE_HUB_CACHE: '/o' }, '/o'],
  [{ HF_HUB_CACHE: '/c', HUGGINGFACE_HUB_CACHE: '/o' }, '/c'],
  [{}, undefined],
])('the cache of %j', (env, folder) => expect(hubCache(env)).toBe(folder));

const FILES = [
  'README.md',
  'm-Q8_0.gguf',
  'm-Q4_K_M-00002-of-00002.gguf',
  'm-Q4_K_M-00001-of-00002.gguf',
  'mmproj-F16.gguf',
];
test.each([
  ['Q8_0', ['m-Q8_0.gguf']],
  [undefined, ['m-Q4_K_M-00001-of-00002.gguf', 'm-Q4_K_M-00002-of-00002.gguf']],
  ['q8_0', ['m-Q8_0.gguf']],
  ['IQ1_S', []],
])('the GGUF file of %s', (tag, files) => expect(ggufFiles(FILES, tag)).toEqual(files));

test('a header that is none says nothing', () => {
  expect(headerEnd(new Uint8Array(3))).toBeUndefined();
  expect(headerEnd(new Uint8Array(8).fill(0xff))).toBeUndefined();
  expect(tensorBytes(new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7d]))).toBeUndefined();
});
