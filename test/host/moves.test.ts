/** What the editor tells of files that are renamed and deleted, as the dashboard holds on to them. */
import { assert } from 'chai';
import { Uri, WorkspaceEdit, workspace } from 'vscode';
import { createWhereabouts, type Whereabouts } from '../../src/dashboard/whereabouts';
import { eventually, openText } from './editor';

const TEXT = 'services:\n  llm:\n    image: vllm/vllm-openai:v0.28.0\n';

suite('whereabouts', () => {
  let where: Whereabouts;
  let told = 0;
  setup(() => {
    told = 0;
    where = createWhereabouts(() => told++);
  });
  teardown(() => where.dispose());

  const rename = async (from: Uri, to: Uri): Promise<void> => {
    const edit = new WorkspaceEdit();
    edit.renameFile(from, to);
    assert.isTrue(await workspace.applyEdit(edit));
  };

  for (const [what, hold] of [
    ['shown', async (name: string) => (await openText(name, TEXT)).uri],
    ['read, and shown nowhere', written],
  ] as const) {
    test(`a file that is ${what} is followed when it and its folder are renamed`, async () => {
      const file = await hold(`moves/${what.length}/a.compose.yaml`);
      where.watch([file]);
      const renamed = Uri.joinPath(file, '../b.compose.yaml');
      await rename(file, renamed);
      await eventually('the rename', () => (where.now(file).path === renamed.path ? true : undefined));
      const folder = Uri.joinPath(file, '..');
      const there = Uri.joinPath(folder, '..', `there-${what.length}`);
      await rename(folder, there);
      const last = Uri.joinPath(there, 'b.compose.yaml');
      await eventually('the folder’s', () => (where.now(file).path === last.path ? true : undefined));
      assert.equal((await workspace.openTextDocument(where.now(file))).getText(), TEXT);
      assert.isFalse(where.isGone(last));
    });
  }

  test('a file that is deleted by the editor, or behind its back, is gone until it is written again', async () => {
    for (const behind of [false, true]) {
      const { uri } = await openText(`moves/gone-${behind}.compose.yaml`, TEXT);
      where.watch([uri]);
      // A watcher of a folder needs a moment until it sees anything: the file is deleted until that is told.
      await eventuallyGone(where, uri, behind);
      assert.isAbove(told, 0);
      await workspace.fs.writeFile(uri, new TextEncoder().encode(TEXT));
      await eventually('the file to be back', () => (where.isGone(uri) ? undefined : true));
    }
  });
});

async function written(name: string): Promise<Uri> {
  const uri = Uri.joinPath(workspace.workspaceFolders?.[0]?.uri as Uri, name);
  await workspace.fs.writeFile(uri, new TextEncoder().encode(TEXT));
  return (await workspace.openTextDocument(uri)).uri;
}

async function eventuallyGone(where: Whereabouts, uri: Uri, behind: boolean): Promise<void> {
  for (let tries = 0; tries < 10 && !where.isGone(uri); tries++) {
    if (behind) {
      await workspace.fs.writeFile(uri, new TextEncoder().encode(TEXT));
      await new Promise((resolve) => setTimeout(resolve, 200));
      await workspace.fs.delete(uri);
    } else {
      const edit = new WorkspaceEdit();
      edit.deleteFile(uri, { ignoreIfNotExists: true });
      await workspace.applyEdit(edit);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.isTrue(where.isGone(uri));
}
