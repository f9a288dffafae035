/** The tree of launches, and the walkthrough's sample. */
import { assert } from 'chai';
import { commands, Uri, window, workspace } from 'vscode';
import { activate, lensesOf } from './editor';

interface Found {
  readonly file: string;
  readonly title: string;
  readonly plan: string;
}

suite('launches of the workspace', () => {
  suiteSetup(activate);

  test('every sample is found, with a plan beside it', async () => {
    const found = (await commands.executeCommand('kvPlanner.findLaunches')) as readonly Found[];
    const plans = (path: string) => found.filter(({ file }) => file === path).map(({ plan }) => plan);
    assert.isAtLeast(found.length, 15);
    assert.match(plans('vllm/llama-3.1-70b-8xh100.compose.yaml').join(), /^Starts · .*fit · vLLM 0\.28\.0$/);
    assert.match(plans('llama-cpp/llama-3.1-8b-slots.serve.sh').join(), /llama\.cpp/);
    assert.match(plans('tgi/llama-3.1-70b.kubernetes.yaml').join(), /TGI/);
    assert.isEmpty(
      found.filter(({ plan }) => plan === ''),
      'each has a plan beside it',
    );
  });

  test('a launch that will not start is told as such, and other files are left alone', async () => {
    const folder = workspace.workspaceFolders?.[0]?.uri as Uri;
    const write = (name: string, text: string) =>
      workspace.fs.writeFile(Uri.joinPath(folder, 'found', name), new TextEncoder().encode(text));
    await write(
      'refused.sh',
      'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 999999 # kv-planner: gpu=L4\n',
    );
    await write('notes.md', '# About vllm\n\nNothing is started here.\n');
    await write('node_modules/x/serve.sh', 'vllm serve meta-llama/Llama-3.1-8B-Instruct\n');
    const found = (await commands.executeCommand('kvPlanner.findLaunches')) as readonly Found[];
    const ours = found.filter(({ file }) => file.startsWith('found/'));
    assert.deepEqual(
      ours.map(({ file }) => file),
      ['found/refused.sh'],
    );
    assert.match(ours[0]?.plan ?? '', /^Will not start/);
  });

  test('the sample of the walkthrough opens as a copy, with its lens', async () => {
    await commands.executeCommand('kvPlanner.openSample');
    const document = window.activeTextEditor?.document;
    assert.isTrue(document?.isUntitled);
    assert.match((await lensesOf(document as NonNullable<typeof document>)).join(), /token per GPU/);
  });
});
