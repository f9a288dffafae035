import { assert } from 'chai';
import { extensions } from 'vscode';
import { lensesOf, openSample, openText } from './editor';

const extension = () => extensions.getExtension('kv-planner.kv-planner');

/** Our bundles that the Node host has loaded. A web worker host has one file, and no list. */
const loaded = (): readonly string[] | undefined => globalThis.loadedBundles?.();

suite('the extension', () => {
  test('activates without an error', async () => {
    assert.isDefined(extension(), 'it is installed');
    await extension()?.activate();
    assert.isTrue(extension()?.isActive);
  });

  test('loads its entry alone until a file that looks like a launch is opened', async () => {
    const before = loaded();
    if (before === undefined) {
      return;
    }
    assert.deepEqual(before, ['extension.js']);
    const document = await openText('activation/ci.yaml', 'name: CI\non: push\n');
    await lensesOf(document);
    assert.deepEqual(loaded(), ['extension.js'], 'a file without a launch loads nothing');
    await lensesOf(await openSample('vllm/llama-3.1-70b-8xh100.compose.yaml'));
    assert.sameMembers([...(loaded() ?? [])], ['extension.js', 'lazy.js']);
  });
});
