/** The Hub's client against a server on 127.0.0.1. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { fetchFacts, type HubAccess } from '../../../src/editor/hub-client';
import { writeGguf } from '../../truth/gguf-writer';
import { tinyModels } from '../../truth/tiny-models';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
interface Seen {
  readonly url: string;
  readonly range?: string;
  readonly token?: string;
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(answers: Readonly<Record<string, Answer>>): Promise<{ endpoint: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    seen.push({
      url,
      ...(headers.range && { range: headers.range }),
      ...(headers.authorization && { token: headers.authorization }),
    });
    const answer = answers[url];
    answer ? answer(request, response) : response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const aGguf = () => writeGguf(tinyModels()[0]?.metadata ?? {}, tinyModels()[0]?.tensors);

const COMMIT = '0e9e39f249a16976918f6564b8830bc894c89659';
const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'x-repo-commit': COMMIT, ...headers }).end(JSON.stringify(value));
const bytes =
  (content: Uint8Array): Answer =>
  ({ headers }, response) => {
    const end = Number(/bytes=0-(\d+)/.exec(headers.range ?? '')?.[1] ?? content.length);
    response.writeHead(206).end(content.subarray(0, end + 1));
  };

function safetensors(size: number, padding: number): Uint8Array {
  const text = JSON.stringify({ __metadata__: { pad: 'x'.repeat(padding) }, w: { data_offsets: [0, size] } });
  const head = new Uint8Array(8 + text.length);
  new DataView(head.buffer).setBigUint64(0, BigInt(text.length), true);
  head.set(new TextEncoder().encode(text), 8);
  return head;
}

const NAME = { repo: 'acme/tiny' };
const CONFIG = { model_type: 'llama' };
const facts = (endpoint: string, more: Partial<HubAccess> = {}) => fetchFacts(NAME, { endpoint, ...more });

test('config and index, of one commit; the token goes along', async () => {
  const { endpoint, seen } = await serve({
    '/acme/tiny/resolve/main/config.json': json(CONFIG),
    [`/acme/tiny/resolve/${COMMIT}/model.safetensors.index.json`]: json({ metadata: { total_size: 77 } }),
  });
  expect(await facts(endpoint, { token: 'hf_x' })).toEqual({
    path: `${new URL(endpoint).host}, acme/tiny@0e9e39f2`,
    json: CONFIG,
    weights: { bytes: 77, why: 'total_size of model.safetensors.index.json' },
  });
  expect(seen.map(({ token }) => token)).toEqual(['Bearer hf_x', 'Bearer hf_x']);
});

test('without an index the header of the one file is read by ranges, the rest of it never', async () => {
  const { endpoint, seen } = await serve({
    '/acme/tiny/resolve/main/config.json': json(CONFIG),
    [`/acme/tiny/resolve/${COMMIT}/model.safetensors`]: bytes(safetensors(123_000, 100_000)),
  });
  expect((await facts(endpoint)).weights).toEqual({ bytes: 123_000, why: 'header of model.safetensors' });
  const ranges = seen.flatMap(({ range }) => range ?? []);
  expect(ranges[0]).toBe('bytes=0-65535');
  expect(ranges).toHaveLength(2);
});

test('a model without config.json is its GGUF file: the one of the tag', async () => {
  const { endpoint, seen } = await serve({
    '/api/models/acme/tiny': json({
      sha: COMMIT,
      siblings: ['a-Q8_0.gguf', 'a-Q4_K_M.gguf'].map((rfilename) => ({ rfilename })),
    }),
    [`/acme/tiny/resolve/${COMMIT}/a-Q8_0.gguf`]: bytes(aGguf()),
  });
  const { parts, json: config } = await fetchFacts({ ...NAME, tag: 'Q8_0' }, { endpoint });
  expect(config).toBeUndefined();
  expect(parts?.map((part) => part.length)).toEqual([aGguf().length]);
  expect(seen.at(-1)?.range).toBe(`bytes=0-${2 ** 21 - 1}`);
});

test('a server that knows no ranges sends more than is read', async () => {
  let sent = 0;
  const { endpoint } = await serve({
    '/acme/tiny/resolve/main/config.json': json(CONFIG),
    [`/acme/tiny/resolve/${COMMIT}/model.safetensors`]: (_, response) => {
      response.writeHead(200).write(safetensors(5, 10));
      const more = (): void => {
        while (!response.destroyed && sent < 2 ** 28 && response.write(Buffer.alloc(2 ** 16))) {
          sent += 2 ** 16;
        }
      };
      response.on('drain', more);
      more();
    },
  });
  expect((await facts(endpoint)).weights?.bytes).toBe(5);
  expect(sent).toBeLessThan(2 ** 28);
});

test('a redirect to another host is followed without the token, one on the same host with it', async () => {
  const store = await serve({ '/blob': json(CONFIG, 200) });
  const { endpoint, seen } = await serve({
    '/acme/tiny/resolve/main/config.json': json({}, 307, { location: '/new/tiny/resolve/main/config.json' }),
    '/new/tiny/resolve/main/config.json': json({}, 302, { location: `${store.endpoint}/blob` }),
  });
  expect((await facts(endpoint, { token: 'hf_x' })).json).toEqual(CONFIG);
  expect(seen.slice(0, 2).map(({ token }) => token)).toEqual(['Bearer hf_x', 'Bearer hf_x']);
  expect(store.seen).toEqual([{ url: '/blob' }]);
});

test.each<[string, Answer, string]>([
  ['gated', json({}, 401, { 'x-error-code': 'GatedRepo' }), 'unauthorised'],
  ['refused', json({}, 403), 'forbidden'],
  ['too many', json({}, 429), 'too-many'],
  ['broken', json({}, 503), 'server'],
  ['no repository', json({}, 404, { 'x-error-code': 'RepoNotFound' }), 'missing'],
  ['no JSON', (_, response) => response.end('<html>'), 'not-json'],
  ['circles', json({}, 302, { location: '/acme/tiny/resolve/main/config.json' }), 'redirect'],
  ['another protocol', json({}, 302, { location: 'file:///etc/passwd' }), 'redirect'],
  ['cut off', (_, response) => response.destroy(), 'offline'],
  ['silence', () => {}, 'timeout'],
])('%s is told as such', async (_, answer, problem) => {
  const { endpoint } = await serve({ '/acme/tiny/resolve/main/config.json': answer });
  await expect(facts(endpoint, { timeout: problem === 'timeout' ? 200 : 5000 })).rejects.toMatchObject({ problem });
});

test('nobody there is offline, and a cancelled request ends at once', async () => {
  await expect(facts('http://127.0.0.1:9')).rejects.toMatchObject({ problem: 'offline' });
  const { endpoint } = await serve({ '/acme/tiny/resolve/main/config.json': () => {} });
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 20);
  await expect(facts(endpoint, { signal: abort.signal })).rejects.toMatchObject({ name: 'AbortError' });
});

test('the token stands in no message', async () => {
  const { endpoint } = await serve({ '/acme/tiny/resolve/main/config.json': json({}, 401) });
  const error = await facts(endpoint, { token: 'hf_secret' }).catch((e: unknown) => e);
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('hf_secret');
});
