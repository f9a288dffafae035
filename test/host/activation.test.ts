import { assert } from 'chai';
import { extensions } from 'vscode';

suite('the extension', () => {
  test('activates without an error', async () => {
    const extension = extensions.getExtension('kv-planner.kv-planner');
    assert.isDefined(extension, 'it is installed');
    await extension?.activate();
    assert.isTrue(extension?.isActive);
  });
});
