import { assert } from 'chai';
import { DiagnosticSeverity, type TextDocument, WorkspaceEdit, workspace } from 'vscode';
import { activate, diagnosticsOf, eventually, hoverOver, lensesOf, openSample, quickFixes } from './editor';

const isError = (d: { severity: DiagnosticSeverity }) => d.severity === DiagnosticSeverity.Error;

suite('in a compose file that starts', () => {
  let document: TextDocument;
  suiteSetup(async () => {
    await activate();
    document = await openSample('vllm/llama-3.1-70b-8xh100.compose.yaml');
  });

  test('the hover of --max-model-len says what a request costs and how many fit', async () => {
    const text = await hoverOver(document, '--max-model-len');
    assert.match(text, /[\d.]+ (GiB|MiB) per request/);
    assert.match(text, /[\d,]+(–[\d,]+)? .*fit/);
  });

  test('the hover of the model says what a token costs on each GPU', async () => {
    assert.match(await hoverOver(document, 'Llama-3.1-70B-Instruct'), /40 KiB per token and GPU/);
  });

  test('a lens stands over the launch', async () => {
    const lenses = await lensesOf(document);
    assert.lengthOf(lenses, 1);
    assert.match(lenses[0] ?? '', /fit/);
  });

  test('nothing is called an error', async () => {
    await lensesOf(document); // planned by then
    assert.deepEqual(diagnosticsOf(document, isError), []);
  });
});

suite('in a compose file that vLLM will refuse', () => {
  let document: TextDocument;
  suiteSetup(async () => {
    await activate();
    document = await openSample('vllm/llama-3.1-8b-l4.compose.yaml');
  });

  test('the refusal stands at the length, in the words of vLLM, and its fix takes it away', async () => {
    const refusal = await eventually('the refusal', () => diagnosticsOf(document, isError)[0]);
    assert.match(refusal.message, /16\.0\d* GiB/);
    assert.equal(document.getText(refusal.range).replaceAll('"', ''), '131072');

    const fixes = (await quickFixes(document, refusal.range)).filter(({ edit }) => edit);
    const fix = fixes.find(({ isPreferred }) => isPreferred) ?? fixes[0];
    assert.isDefined(fix, 'a quick fix with an edit');
    assert.isTrue(await workspace.applyEdit(fix?.edit ?? new WorkspaceEdit()));
    assert.notInclude(document.getText(), '131072');
    await eventually('the refusal to go', () => (diagnosticsOf(document, isError).length === 0 ? true : undefined));
  });
});

suite('in launches of other engines', () => {
  suiteSetup(activate);

  for (const path of [
    'sglang/deepseek-v3.launch.sh',
    'sglang/qwen3-next.compose.yaml',
    'llama-cpp/gpt-oss-20b.compose.yaml',
    'llama-cpp/llama-3.1-8b-slots.serve.sh',
    'ollama/gemma3-27b.compose.yaml',
    'ollama/llama3.1-8b.docker.sh',
    'tensorrt-llm/config.pbtxt',
    'tensorrt-llm/gpt-oss-120b.serve.sh',
    'tensorrt-llm/llama-3.3-70b-fp8.compose.yaml',
    'lmdeploy/internlm2.5-7b-int8.serve.sh',
    'lmdeploy/qwen2.5-32b.compose.yaml',
    'tgi/llama-3.1-70b.kubernetes.yaml',
    'tgi/mistral-7b.docker.sh',
  ]) {
    test(`a lens says how many requests ${path} holds`, async () => {
      const lenses = await lensesOf(await openSample(path));
      assert.lengthOf(lenses, 1);
      assert.match(lenses[0] ?? '', /\d.* fit/);
    });
  }
});

suite('in files that cannot be planned', () => {
  suiteSetup(activate);

  const compose = (command: string) =>
    `services:\n  a:\n    image: vllm/vllm-openai:v0.28.0\n    command: ${command}\n`;
  const table: readonly (readonly [string, string, RegExp])[] = [
    [
      'a length that is no number',
      compose('--model meta-llama/Llama-3.1-8B-Instruct --max-model-len banana'),
      /banana/,
    ],
    ['an unknown model', compose('--model nobody/no-such-model'), /no-such-model/],
    ['broken YAML', 'services:\n  a: [\n    image: vllm/vllm-openai:v0.28.0\n', /./],
  ];
  for (const [name, content, message] of table) {
    test(`${name} is said at its place`, async () => {
      const document = await workspace.openTextDocument({ language: 'yaml', content });
      const found = await eventually('a diagnostic', () => diagnosticsOf(document, (d) => message.test(d.message))[0]);
      assert.isAbove(found.message.length, 10);
    });
  }
});
