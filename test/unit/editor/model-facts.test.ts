/** When the network is used: against an editor of which only trust, one setting and a storage are there. */
import { afterEach, expect, test, vi } from 'vitest';

const editor = vi.hoisted(() => ({ trusted: false, mayFetch: false, granted: [] as (() => void)[] }));

vi.mock('vscode', () => {
  class EventEmitter {
    readonly listeners: (() => void)[] = [];
    readonly event = (listener: () => void) => this.listeners.push(listener);
    fire = (): void => {
      for (const listener of this.listeners) {
        listener();
      }
    };
    dispose = () => {};
  }
  const nothing = () => Promise.reject(new Error('no such file'));
  return {
    EventEmitter,
    Disposable: { from: () => ({ dispose: () => {} }) },
    FileType: { File: 1, SymbolicLink: 64 },
    Uri: { joinPath: (base: string, ...parts: string[]) => [base, ...parts].join('/'), file: (path: string) => path },
    workspace: {
      get isTrusted() {
        return editor.trusted;
      },
      getConfiguration: () => ({ get: () => editor.mayFetch }),
      onDidGrantWorkspaceTrust: (listener: () => void) => editor.granted.push(listener),
      fs: { stat: nothing, readFile: nothing, readDirectory: nothing, writeFile: async () => {} },
    },
  };
});

for (const name of ['HF_ENDPOINT', 'HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN', 'HF_HOME', 'HF_HUB_CACHE']) {
  vi.stubEnv(name, undefined);
}

const { createModelFacts } = await import('../../../src/editor/model-facts');

afterEach(() => vi.unstubAllGlobals());

function facts() {
  const logged: string[] = [];
  const fetched = vi.fn(async (url: URL, _init?: RequestInit) =>
    url.pathname.endsWith('/config.json') ? new Response('{"model_type":"llama"}') : new Response('', { status: 404 }),
  );
  vi.stubGlobal('fetch', fetched);
  const secrets = { get: async () => 'hf_secret', store: async () => {}, delete: async () => {} };
  const context = { globalStorageUri: 'storage', secrets };
  const log = { info: (line: string) => logged.push(line) };
  return { store: createModelFacts(context as never, log as never), fetched, logged };
}

test.each([
  ['the folder is not trusted', false, true],
  ['the setting is off', true, false],
  ['neither', false, false],
])('nothing is asked of the Hub while %s', async (_, trusted, mayFetch) => {
  Object.assign(editor, { trusted, mayFetch });
  const { store, fetched } = facts();
  await store.look(['acme/tiny']);
  expect(store.read('acme/tiny')).toBeNull();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(fetched).not.toHaveBeenCalled();
});

test('with trust and the setting on it is asked once, behind the reader’s back', async () => {
  Object.assign(editor, { trusted: true, mayFetch: true });
  const { store, fetched, logged } = facts();
  let told = 0;
  store.onDidChange(() => told++);
  await store.look(['acme/tiny', './folder', 'plain']);
  await vi.waitFor(() => expect(told).toBe(1), 15_000);
  expect(store.read('acme/tiny')).toMatchObject({ json: { model_type: 'llama' } });
  expect(store.read('./folder')).toBeNull();
  const first = fetched.mock.calls[0];
  expect(first?.[0].href).toBe('https://huggingface.co/acme/tiny/resolve/main/config.json');
  expect(first?.[1]?.headers).toMatchObject({ authorization: 'Bearer hf_secret' });
  const calls = fetched.mock.calls.length;
  await store.look(['acme/tiny']);
  expect(fetched.mock.calls.length).toBe(calls);
  expect(logged.join()).not.toContain('hf_secret');
});

test('a model that is not there is not asked for again at every key, and the log says why without the token', async () => {
  Object.assign(editor, { trusted: true, mayFetch: true });
  const { store, fetched, logged } = facts();
  fetched.mockImplementation(async () => new Response('', { status: 401 }));
  await store.look(['acme/gated']);
  await vi.waitFor(() => expect(logged).toHaveLength(1), 15_000);
  await store.look(['acme/gated']);
  expect(store.read('acme/gated')).toBeNull();
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(logged[0]).toMatch(/acme\/gated.*unauthorised/);
  expect(logged[0]).not.toContain('hf_secret');
});

test('a token that is meant for an address that cannot be read goes to no other', async () => {
  Object.assign(editor, { trusted: true, mayFetch: true });
  vi.stubEnv('HF_ENDPOINT', 'mirror.internal:8443');
  const { store, fetched } = facts();
  await store.look(['acme/other']);
  await vi.waitFor(() => expect(fetched).toHaveBeenCalled(), 15_000);
  vi.stubEnv('HF_ENDPOINT', undefined);
  expect(fetched.mock.calls[0]?.[1]?.headers).not.toHaveProperty('authorization');
});
