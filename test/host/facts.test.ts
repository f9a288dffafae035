/** Fetching a model's facts, from a server on 127.0.0.1. A web worker cannot start one: the unit tests of the client hold there. */
import { assert } from 'chai';
import { commands, window, workspace } from 'vscode';
import { activate, diagnosticsOf, eventually, lensesOf, quickFixes } from './editor';

interface Http {
  createServer(answer: (request: { url: string }, response: Response) => void): Server;
}
interface Response {
  writeHead(status: number, headers?: Record<string, string>): Response;
  end(text?: string): void;
}
interface Server {
  listen(port: number, host: string, ready: () => void): void;
  address(): { port: number };
  close(): void;
}
interface Process {
  readonly env: Record<string, string | undefined>;
  getBuiltinModule?(id: string): unknown;
}

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

suite('facts of a model that nobody knows', () => {
  const host = (globalThis as { process?: Process }).process;
  const http = host?.getBuiltinModule?.('node:http') as Http | undefined;
  const seen: string[] = [];
  let server: Server | undefined;

  suiteSetup(async function () {
    await activate();
    if (!http || !host) {
      this.skip();
      return;
    }
    const answers: Record<string, string> = {
      '/acme/unheard-of/resolve/main/config.json': JSON.stringify(CONFIG),
      '/acme/unheard-of/resolve/main/model.safetensors.index.json': JSON.stringify({ metadata: { total_size: 4e8 } }),
    };
    server = http.createServer(({ url }, response) => {
      seen.push(url);
      const answer = answers[url];
      answer ? response.writeHead(200).end(answer) : response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    host.env.HF_ENDPOINT = `http://127.0.0.1:${server.address().port}`;
  });

  suiteTeardown(() => {
    if (host) {
      host.env.HF_ENDPOINT = undefined;
      delete host.env.HF_ENDPOINT;
    }
    server?.close();
  });

  test('nothing is asked until the user asks; then the plan follows', async () => {
    const content = '# kv-planner: gpu=L4\nvllm serve acme/unheard-of --max-model-len 4096\n';
    const document = await workspace.openTextDocument({ language: 'shellscript', content });
    await window.showTextDocument(document);
    const unknown = await eventually('the model to be unknown', () =>
      diagnosticsOf(document, (d) => d.code === 'model-unknown').at(0),
    );
    assert.deepEqual(seen, [], 'no request without a word from the user');

    const fixes = await quickFixes(document, unknown.range);
    const fetching = fixes.find(({ command }) => command?.command === 'kvPlanner.fetchModelFacts');
    assert.match(fetching?.title ?? '', /^Fetch its facts from 127\.0\.0\.1:\d+$/);
    const { command, arguments: args = [] } = fetching?.command ?? { command: '' };
    assert.isTrue(await commands.executeCommand(command, ...args));
    assert.include(seen, '/acme/unheard-of/resolve/main/config.json');
    assert.match((await lensesOf(document)).join(), /12 KiB\/token per GPU/);
    await eventually('the finding to go', () =>
      diagnosticsOf(document, (d) => d.code === 'model-unknown').length === 0 ? true : undefined,
    );
  });

  test('a model that is not there is told, and planning goes on', async () => {
    const content = 'vllm serve acme/nowhere --max-model-len 4096\n';
    const document = await workspace.openTextDocument({ language: 'shellscript', content });
    const target = { uri: document.uri.toString(), offset: 0 };
    assert.isFalse(await commands.executeCommand('kvPlanner.fetchModelFacts', target));
    assert.isAbove(diagnosticsOf(document).length + (await lensesOf(document)).length, 0);
  });
});
