import { assert } from 'chai';
import {
  Disposable,
  EventEmitter,
  type FileChangeEvent,
  FileSystemError,
  FileType,
  Uri,
  window,
  workspace,
} from 'vscode';
import { activate, diagnosticsOf, hoverOver, lensesOf } from './editor';

/** Writes files into the opened folder and shows the last. */
async function openWith(files: Readonly<Record<string, string>>) {
  const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.file('/nowhere');
  const written = Object.entries(files).map(([name, text]) => ({ uri: Uri.joinPath(folder, name), text }));
  for (const { uri, text } of written) {
    await workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  }
  const document = await workspace.openTextDocument(written.at(-1)?.uri ?? folder);
  await window.showTextDocument(document);
  return document;
}

const launch = (config: string): string =>
  `services:\n  a:\n    image: vllm/vllm-openai:v0.28.0\n    command: --model meta-llama/Llama-3.1-8B-Instruct --config ${config}\n    # kv-planner: gpu=H100-80GB\n`;

suite('files that a launch names', () => {
  suiteSetup(activate);

  test('are read beside the launch, and again when they change', async () => {
    const config = 'named/serve.yaml';
    const document = await openWith({ [config]: 'max-num-seqs: 7\n', 'named/compose.yaml': launch('serve.yaml') });
    assert.include(await hoverOver(document, 'vllm-openai'), '7 requests fit');

    const edited = await workspace.openTextDocument(Uri.joinPath(document.uri, '../serve.yaml'));
    const editor = await window.showTextDocument(edited);
    await editor.edit((edit) => edit.insert(edited.positionAt(edited.getText().indexOf('7')), '1'));
    await edited.save();
    let text = '';
    for (const until = Date.now() + 5000; Date.now() < until && !text.includes('17 requests fit'); ) {
      text = await hoverOver(document, 'vllm-openai');
    }
    assert.include(text, '17 requests fit');
  });

  test('are not read outside its folder and the workspace', async () => {
    const outside = `${Date.now()}.kv-planner-outside.yaml`;
    const document = await openWith({
      [`../${outside}`]: 'max-num-seqs: 7\n',
      'named/outside.compose.yaml': launch(`../../${outside}`),
    });
    try {
      const text = await hoverOver(document, 'vllm-openai');
      assert.include(text, 'H100');
      assert.notInclude(text, '7 requests fit');
    } finally {
      await workspace.fs.delete(Uri.joinPath(document.uri, '../../..', outside));
    }
  });
});

/** A file system of somebody's extension, as of a remote repository: files that are on no disk. */
function serveFiles(scheme: string, files: Readonly<Record<string, string>>): Disposable {
  const bytesOf = (uri: Uri) => new TextEncoder().encode(files[uri.path] ?? missing(uri));
  const missing = (uri: Uri): never => {
    throw FileSystemError.FileNotFound(uri);
  };
  const refuse = (): never => {
    throw FileSystemError.NoPermissions();
  };
  const provider = {
    onDidChangeFile: new EventEmitter<FileChangeEvent[]>().event,
    watch: () => new Disposable(() => undefined),
    stat: (uri: Uri) => ({ type: FileType.File, ctime: 0, mtime: 0, size: bytesOf(uri).length }),
    readDirectory: () => [],
    readFile: bytesOf,
    createDirectory: refuse,
    writeFile: refuse,
    delete: refuse,
    rename: refuse,
  };
  return workspace.registerFileSystemProvider(scheme, provider, { isReadonly: true });
}

suite('files that are on no disk', () => {
  suiteSetup(activate);

  test('are planned, with the files that they name', async () => {
    const config = JSON.stringify({
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      hidden_size: 4096,
      intermediate_size: 14_336,
      num_attention_heads: 32,
      num_hidden_layers: 32,
      num_key_value_heads: 8,
      max_position_embeddings: 131_072,
      vocab_size: 128_256,
      torch_dtype: 'bfloat16',
    });
    const files = serveFiles('nowhere', {
      '/repo/compose.yaml': launch('serve.yaml'),
      '/repo/serve.yaml': 'max-num-seqs: 7\n',
      '/repo/own.sh': '# kv-planner: gpu=H100-80GB model-config=own/config.json\nvllm serve ./own --max-num-seqs 9\n',
      '/repo/own/config.json': config,
    });
    try {
      const compose = await workspace.openTextDocument(Uri.parse('nowhere:/repo/compose.yaml'));
      await window.showTextDocument(compose);
      assert.include(await hoverOver(compose, 'vllm-openai'), '7 requests fit');
      const own = await workspace.openTextDocument(Uri.parse('nowhere:/repo/own.sh'));
      await window.showTextDocument(own);
      assert.match((await lensesOf(own)).join(), /^starts · 9 fit · 128 KiB/);
      assert.isEmpty(diagnosticsOf(own, (d) => d.code === 'model-unknown'));
    } finally {
      files.dispose();
    }
  });
});
