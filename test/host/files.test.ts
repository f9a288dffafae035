import { assert } from 'chai';
import { Uri, window, workspace } from 'vscode';
import { activate, hoverOver } from './editor';

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
