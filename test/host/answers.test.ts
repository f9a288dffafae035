/** Commands that answer with a document: what the user reads in it. */
import { assert } from 'chai';
import { commands, env, extensions, Selection, type TextDocument, Uri, window, workspace } from 'vscode';
import { activate, eventually, openSample } from './editor';

const L4 = 'vllm/llama-3.1-8b-l4.compose.yaml';
const H100 = 'vllm/llama-3.1-70b-8xh100.compose.yaml';

const pages = (name: string) =>
  workspace.textDocuments.filter(({ uri }) => uri.scheme === 'kv-planner-report' && uri.path.includes(name));

/** The text of our page whose name holds the words, once it says what it must. */
const pageText = (name: string, pattern: RegExp): Promise<string> =>
  eventually(`a page ${name} with ${pattern}`, () =>
    pages(name)
      .map((document) => document.getText())
      .find((text) => pattern.test(text)),
  );

const at = (document: TextDocument) => ({ uri: document.uri.toString(), offset: 0 });

/** A file of its own, so that an edit of one test is not seen by the next. */
async function openCopy(sample: string, name: string): Promise<TextDocument> {
  const folder = workspace.workspaceFolders?.[0]?.uri as Uri;
  const target = Uri.joinPath(folder, 'copies', name);
  await workspace.fs.writeFile(target, await workspace.fs.readFile(Uri.joinPath(folder, sample)));
  const document = await workspace.openTextDocument(target);
  await window.showTextDocument(document);
  return document;
}

suite('documents that answer', () => {
  suiteSetup(activate);

  test('the capacity report has tables and a chart of text', async () => {
    await openSample(H100);
    await commands.executeCommand('kvPlanner.showReport');
    const text = await pageText(H100.slice(5), /Requests by length/);
    assert.match(text, /\| Requests that fit, memory alone \|/);
    assert.match(text, /\n512 +█+/);
  });

  test('a selected command is planned, whatever the document', async () => {
    const content = 'Try this:\n\n```\n$ vllm serve Qwen/Qwen3-8B --max-model-len 8192\n```\n\nand be happy\n';
    const document = await workspace.openTextDocument({ language: 'plaintext', content });
    const editor = await window.showTextDocument(document);
    editor.selection = new Selection(document.positionAt(0), document.positionAt(content.length));
    await commands.executeCommand('kvPlanner.planSelection');
    assert.match(await pageText('Capacity of the selection', /./), /Qwen\/Qwen3-8B · vLLM/);
  });

  test('solving finds a change, and applies it to the file', async () => {
    const document = await openCopy(L4, 'solve.compose.yaml');
    await commands.executeCommand('kvPlanner.solve', { ...at(document), concurrency: 20, apply: 0 });
    const text = await pageText('Solutions for solve', /Solutions/);
    assert.match(text, /\*\*Target\*\*: 20 requests at once of 600 \+ 250 tokens/);
    assert.match(text, /### 1\\\. max-model-len 131072 → [\d]+/);
    assert.notInclude(document.getText(), '131072');
    await window.showTextDocument(document);
    await commands.executeCommand('undo');
    assert.include(document.getText(), '131072', 'one step undoes it');
  });

  test('engines are compared side by side, each difference with its reason', async () => {
    const document = await openSample(H100);
    await commands.executeCommand('kvPlanner.compareEngines', { ...at(document), engines: ['sglang', 'vllm@0.10'] });
    const text = await pageText('Engines for', /SGLang/);
    assert.match(text, /\| vLLM 0\.28\.0 \(as written\) \|/);
    assert.match(text, /### SGLang [\d.]+ against vLLM 0\.28\.0/);
    assert.match(text, /### vLLM 0\.10[\d.]* against vLLM 0\.28\.0/);
  });

  test('another file is compared: what changed in capacity', async () => {
    const before = await openCopy(H100, 'before.compose.yaml');
    const after = await openCopy(H100, 'after.compose.yaml');
    const editor = await window.showTextDocument(after);
    const place = after.getText().indexOf('8192');
    await editor.edit((edit) =>
      edit.replace(new Selection(after.positionAt(place), after.positionAt(place + 4)), '4096'),
    );
    await commands.executeCommand('kvPlanner.compareWith', { ...at(after), other: before.uri.toString() });
    const text = await pageText('Changes of after', /What changed/);
    assert.match(text, /\| Contiguous, memory alone \| (?:about )?[\d,]+ \| (?:about )?[\d,]+ \| \+[\d.]+ % \|/);
    assert.match(text, /\| max-model-len \| 8192 \| 4096 \|/);
    assert.match(text, /\| One token, per GPU \| 40 KiB \| 40 KiB \| the same \|/);
  });

  test('the committed text is compared, asked of the Git extension', async function () {
    const git = extensions.getExtension('vscode.git');
    if (!git) {
      this.skip(); // a web worker host has none
      return;
    }
    const document = await openSample('vllm/gemma-3-27b.kubernetes.yaml');
    const editor = await window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(document.positionAt(0), '# kv-planner: gpu=L40S\n'));
    const ask = () => commands.executeCommand('kvPlanner.compareWith', { ...at(document), revision: 'HEAD' });
    await git.activate();
    for (const until = Date.now() + 8000; Date.now() < until && !pages('Changes of gemma').length; ) {
      await ask(); // the repository is found some time after the extension woke
    }
    const text = await pageText('Changes of gemma', /What changed/);
    assert.match(text, /HEAD:vllm\/gemma-3-27b\.kubernetes\.yaml → vllm\/gemma-3-27b\.kubernetes\.yaml/);
    assert.match(text, /\| KV pool, per GPU \|.*\| [+−][\d.]+ %/);
  });

  test('a version is written above the launch, and the plan follows it', async () => {
    const document = await openCopy(H100, 'version.compose.yaml');
    await commands.executeCommand('kvPlanner.chooseEngineVersion', { ...at(document), version: '0.10' });
    assert.match(document.getText(), /# kv-planner:.*engine=vllm@0\.10/);
    await commands.executeCommand('kvPlanner.showReport', at(document));
    assert.match(await pageText('Capacity of version', /./), /vLLM 0\.10/);
  });

  test('a model that stands in the file is replaced there, and one in a variable is said in a comment', async () => {
    const document = await openCopy(H100, 'model.compose.yaml');
    await commands.executeCommand('kvPlanner.setModel', { ...at(document), model: 'Qwen/Qwen3-32B' });
    assert.include(document.getText(), '--model Qwen/Qwen3-32B'.slice(8));
    assert.notInclude(document.getText(), 'Llama-3.1-70B-Instruct');

    const content = '#!/bin/sh\nvllm serve "$MODEL" --max-model-len 4096\n';
    const script = await workspace.openTextDocument({ language: 'shellscript', content });
    await commands.executeCommand('kvPlanner.setModel', { ...at(script), model: 'Qwen/Qwen3-8B' });
    assert.include(script.getText(), '# kv-planner: model=Qwen/Qwen3-8B\nvllm serve "$MODEL"');
  });

  test('a report is saved and copied in every format', async () => {
    const document = await openSample(H100);
    const folder = workspace.workspaceFolders?.[0]?.uri as Uri;
    const formats = {
      markdown: /^# KV cache capacity/,
      html: /^<!doctype html>/,
      csv: /^launch\.file,/,
      json: /plan@1/,
    };
    for (const [format, pattern] of Object.entries(formats)) {
      await window.showTextDocument(document);
      const to = Uri.joinPath(folder, `copies/report.${format}`);
      await commands.executeCommand('kvPlanner.saveReport', { format, to });
      assert.match(new TextDecoder().decode(await workspace.fs.readFile(to)), pattern);
      await commands.executeCommand('kvPlanner.copyReport', format);
      assert.match(await env.clipboard.readText(), pattern);
    }
  });

  test('hostile text in a file stays text', async () => {
    const name = 'x](command:kvPlanner.setGpu) <img src=x> \u202e**b**';
    const content = `services:\n  "${name}":\n    image: vllm/vllm-openai:v0.28.0\n    command: --model ${'`'}evil${'`'}\n`;
    const document = await workspace.openTextDocument({ language: 'yaml', content });
    await commands.executeCommand('kvPlanner.showReport', at(document));
    const text = await pageText('Capacity of Untitled', /command:/);
    assert.notMatch(text, /[^\\]\]\(command:/);
    assert.notInclude(text, '<img');
    assert.notInclude(text, '\u202e');
    assert.include(text, '\\*\\*b\\*\\*');
  });
});
