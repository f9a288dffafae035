/** Models that huggingface_hub has downloaded, in a cache laid out as it lays one out. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../../src/cli/program';

const CONFIG = {
  model_type: 'llama',
  architectures: ['LlamaForCausalLM'],
  hidden_size: 1024,
  intermediate_size: 2816,
  num_hidden_layers: 12,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  max_position_embeddings: 8192,
  vocab_size: 32000,
  torch_dtype: 'bfloat16',
};
const COMMIT = '0e9e39f249a16976918f6564b8830bc894c89659';
let root = '';

function put(folder: string, files: Readonly<Record<string, string | Uint8Array>>, commit = COMMIT): void {
  for (const [name, content] of Object.entries(files)) {
    const blob = join(folder, 'blobs', name);
    const place = join(folder, 'snapshots', commit, name);
    mkdirSync(dirname(blob), { recursive: true });
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(blob, content);
    symlinkSync(blob, place);
  }
  mkdirSync(join(folder, 'refs'), { recursive: true });
  writeFileSync(join(folder, 'refs/main'), commit);
}

/** A header, and fewer bytes of tensors than it promises: they are not read. */
function safetensors(bytes: number): Uint8Array {
  const json = JSON.stringify({ a: { dtype: 'BF16', shape: [bytes / 2], data_offsets: [0, bytes] }, __metadata__: {} });
  const head = new Uint8Array(8 + json.length);
  new DataView(head.buffer).setBigUint64(0, BigInt(json.length), true);
  head.set(new TextEncoder().encode(json), 8);
  return head;
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'kv-planner-hub-'));
  const config = JSON.stringify(CONFIG);
  put(join(root, 'hub/models--acme--tiny'), { 'config.json': config, 'model.safetensors': safetensors(123_000_000) });
  const index = JSON.stringify({ metadata: { total_size: 456_000_000 } });
  put(join(root, 'hub/models--acme--sharded'), { 'config.json': config, 'model.safetensors.index.json': index });
  put(join(root, 'hub/models--acme--escape'), { 'config.json': config }, '../../../outside');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function plan(model: string, env: NodeJS.ProcessEnv | undefined) {
  let out = '';
  const notes: string[] = [];
  const code = await main(['report', '-', '--name', 'serve.yaml', '--gpu', 'L4', '--format', 'json'], {
    out: (text) => {
      out += text;
    },
    note: (line) => notes.push(line),
    stdin: async () => new TextEncoder().encode(`model: ${model}\nmax-model-len: 4096\n`),
    grammarFile: () => Promise.reject(new Error('no shell here')),
    ...(env && { env }),
    colour: false,
    width: 100,
  });
  return { code, notes: notes.join('\n'), model: JSON.parse(out).plans[0]?.model };
}

test.each<[string, (root: string) => NodeJS.ProcessEnv]>([
  ['HF_HOME', (r) => ({ HF_HOME: r })],
  ['HF_HUB_CACHE', (r) => ({ HF_HUB_CACHE: join(r, 'hub'), HF_HOME: '/nowhere' })],
  ['HUGGINGFACE_HUB_CACHE', (r) => ({ HUGGINGFACE_HUB_CACHE: join(r, 'hub') })],
  ['a variable and ~ in it', (r) => ({ HF_HUB_CACHE: '~/$SUB', SUB: 'hub', HOME: r })],
])('a model is found by %s, with the bytes of its weights', async (_, env) => {
  const { code, model, notes } = await plan('acme/tiny', env(root));
  expect(notes).toBe('');
  expect(code).toBe(0);
  expect(model).toMatchObject({
    id: 'acme/tiny',
    source: 'Hugging Face cache, acme/tiny@0e9e39f2',
    weightBytes: 123_000_000,
  });
});

test('the index of its weights counts', async () => {
  expect((await plan('acme/sharded', { HF_HOME: root })).model).toMatchObject({ weightBytes: 456_000_000 });
});

test('what the catalogue knows comes from the catalogue', async () => {
  put(join(root, 'hub/models--Qwen--Qwen3-8B'), { 'config.json': JSON.stringify(CONFIG) });
  expect((await plan('Qwen/Qwen3-8B', { HF_HOME: root })).model.source).not.toMatch(/cache/);
});

test.each([
  ['no cache is asked for', 'acme/tiny', false],
  ['the model was never downloaded', 'acme/other', true],
  ['a ref leads outside the cache', 'acme/escape', true],
  ['a name leads outside the cache', '../hub/models--acme--tiny', true],
])('it stays unknown where %s', async (_, name, env) => {
  const { code, notes } = await plan(name, env ? { HF_HOME: root } : undefined);
  expect(code).toBe(1);
  expect(notes).toMatch(/not in the catalogue/);
});
