import { beforeAll, expect, test } from 'vitest';
import { readLaunches } from '../../../src/launch';
import { editOption } from '../../../src/launch/edit';
import type { Grammars } from '../../../src/launch/launch';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const read = (text: string) => readLaunches({ text, name: 'serve.sh', grammars }).launches;

test('a server takes its model from the client’s command of the same file', () => {
  const [launch, ...more] = read('export OLLAMA_NUM_PARALLEL=2\nollama serve &\nsleep 5\nollama pull llama3.1:8b\n');
  expect(more).toEqual([]);
  expect(launch?.model?.text).toBe('llama3.1:8b');
  expect(launch?.options.map((o) => [o.name, o.value])).toEqual([['OLLAMA_NUM_PARALLEL', 2]]);
});

test('a client alone stands for its server; pulling alone starts none', () => {
  expect(read('ollama run gemma3:27b "hello"\n').map((l) => l.model?.text)).toEqual(['gemma3:27b']);
  expect(read('ollama pull gemma3:27b\n')).toEqual([]);
});

test('docker run with variables, and a model that is run inside', () => {
  const [launch] = read(
    'docker run -d -e OLLAMA_CONTEXT_LENGTH=8192 --gpus all ollama/ollama:0.33.0\ndocker exec -it o ollama run qwen3:8b\n',
  );
  expect([launch?.engine, launch?.version?.text, launch?.model?.text]).toEqual(['ollama', '0.33.0', 'qwen3:8b']);
  expect(launch?.options.map((o) => [o.name, o.value])).toEqual([['OLLAMA_CONTEXT_LENGTH', 8192]]);
});

test('a variable is changed where it stands, or set before the command', () => {
  const text = 'OLLAMA_CONTEXT_LENGTH=8192 ollama serve\n';
  const [launch] = read(text);
  const applied = (name: string, value: string) => {
    const [edit] = launch ? editOption(launch, text, name, value) : [];
    return edit && text.slice(0, edit.range.start) + edit.text + text.slice(edit.range.end);
  };
  expect(applied('OLLAMA_CONTEXT_LENGTH', '4096')).toBe('OLLAMA_CONTEXT_LENGTH=4096 ollama serve\n');
  expect(applied('OLLAMA_NUM_PARALLEL', '4')).toBe('OLLAMA_CONTEXT_LENGTH=8192 OLLAMA_NUM_PARALLEL=4 ollama serve\n');
});

test.each([
  ['ghcr.io/ggml-org/llama.cpp:server-cuda-b4719', 'b4719'],
  ['ghcr.io/ggml-org/llama.cpp:server-v0.5.0', 'v0.5.0'],
  ['ghcr.io/ggml-org/llama.cpp:server-cuda', undefined],
  ['ghcr.io/ggml-org/llama.cpp:full --server', undefined],
])('%s', (image, version) => {
  const [launch] = read(`docker run ${image} -m model.gguf -c 4096 -np 2\n`);
  expect([launch?.engine, launch?.version?.text, launch?.options.map((o) => o.name)]).toEqual([
    'llama-cpp',
    version,
    ['model', 'ctx-size', 'parallel'],
  ]);
});
