import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decode, neighbours, readNamed, realPath } from '../../../src/cli/files';
import { modelSource, namedConfig } from '../../../src/cli/models';

let root: string;
const at = (...names: string[]): string => join(root, ...names);

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'kv-planner-'));
  mkdirSync(at('deploy', 'model'), { recursive: true });
  writeFileSync(at('secret.env'), 'secret');
  writeFileSync(at('deploy', '.env'), 'here');
  writeFileSync(at('deploy', 'model', 'config.json'), '{"a": 1}');
  writeFileSync(at('deploy', 'broken.json'), '{');
  symlinkSync(at('secret.env'), at('deploy', 'link.env'));
  symlinkSync(at(), at('deploy', 'up'));
});
afterAll(() => rmSync(root, { recursive: true }));

const reader = (opened: string[] = []) => {
  const notes: string[] = [];
  const real = opened.map((path) => realPath(path) ?? path);
  return { notes, read: neighbours(at('deploy'), new Set(real), (line) => notes.push(line)) };
};

test.each([
  ['.env', 'here', 0],
  ['./model/../.env', 'here', 0],
  ['missing.env', null, 0],
  ['model', null, 0],
  ['../secret.env', null, 1],
  ['link.env', null, 1],
  ['up/secret.env', null, 1],
  [process.execPath, null, 1],
])('a launch that names %s reads %j', (path, text, noted) => {
  const { notes, read } = reader();
  expect(read(path)).toBe(text);
  expect(read(path)).toBe(text);
  expect(notes).toHaveLength(noted);
});

test('a file outside is read when the user named it too', () => {
  expect(reader([at('secret.env')]).read('../secret.env')).toBe('secret');
});

test('what the user names is read or refused with a reason', () => {
  expect(readNamed(at('deploy', '.env'))).toEqual({ text: 'here' });
  expect(readNamed(at('deploy'))).toEqual({ error: 'is a folder: name the files in it' });
  expect(readNamed(at('none'))).toEqual({ error: 'no such file' });
});

test('marks of encodings are not part of the text', () => {
  expect(decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toEqual({ text: 'a' });
  expect(decode(new Uint8Array([0xff, 0xfe, 0x61, 0x00]))).toEqual({ text: 'a' });
  expect(decode(new Uint8Array([0x61, 0x00]))).toEqual({ error: 'not a text file' });
});

test('--model-config takes a file or a folder', () => {
  const config = { json: { a: 1 }, path: at('deploy', 'model', 'config.json') };
  expect(namedConfig(at('deploy', 'model'))).toEqual(config);
  expect(namedConfig(config.path)).toEqual(config);
  expect(namedConfig(at('deploy'))).toEqual({ error: 'config.json in it: no such file' });
  expect(namedConfig(at('deploy', 'broken.json'))).toEqual({ error: 'not JSON' });
  expect(namedConfig('model.gguf')).toEqual({ error: 'no such file' });
});

test('the index of the weights beside a config comes with it', () => {
  const texts: Record<string, string> = {
    'm/config.json': '{}',
    'm/model.safetensors.index.json': '{"metadata":{"total_size":12}}',
  };
  const models = modelSource(
    undefined,
    (path) => texts[path] ?? null,
    () => {},
  );
  expect(models.config('./m')).toMatchObject({ index: { metadata: { total_size: 12 } } });
});

test('a model path beside the file is followed, a model id is not, the named config wins', () => {
  const { notes, read } = reader();
  const named = { name: 'elsewhere', config: { json: 2, path: '/elsewhere/config.json' } };
  const models = modelSource(named, read, (line) => notes.push(line));
  expect(models.config('./model')?.json).toEqual({ a: 1 });
  expect(models.config('org/name')).toBeUndefined();
  expect(models.config('elsewhere')).toBe(named.config);
  expect(models.config('broken.json')).toBeUndefined();
  expect(notes).toEqual([expect.stringMatching(/broken\.json: not JSON/)]);
});
