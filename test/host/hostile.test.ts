import { assert } from 'chai';
import {
  ConfigurationTarget,
  commands,
  NotebookCellData,
  NotebookCellKind,
  NotebookData,
  type TextDocument,
  Uri,
  WorkspaceEdit,
  workspace,
} from 'vscode';
import { activate, diagnosticsOf, eventually, hintsOf, hoverOver, lensesOf, openText, quickFixes } from './editor';

const compose = (name: string, model: string, rest = '') =>
  `services:\n  ${JSON.stringify(name)}:\n    # kv-planner: gpu=L4\n    image: vllm/vllm-openai:v0.28.0\n    command: [--model, ${JSON.stringify(model)}${rest}]\n`;
const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';
const EVIL = '[go](command:workbench.action.quit) <img src=x> $(zap) \u202egnp.exe';

/** As the tests of other surfaces change settings: undone whatever happens. */
async function withSettings(values: Readonly<Record<string, unknown>>, work: () => Promise<void>): Promise<void> {
  const settings = workspace.getConfiguration('kvPlanner');
  const set = (of: (name: string) => unknown) =>
    Promise.all(Object.keys(values).map((name) => settings.update(name, of(name), ConfigurationTarget.Global)));
  await set((name) => values[name]);
  try {
    await work();
  } finally {
    await set(() => undefined);
  }
}

suite('what nobody should write', () => {
  suiteSetup(activate);

  test('hostile names show as text in hovers, lenses and problems', async () => {
    const document = await openText('evil.compose.yaml', compose(EVIL, EVIL));
    const hover = await hoverOver(document, 'go](');
    const lens = (await lensesOf(document)).join();
    const found = await eventually('the unknown model', () => diagnosticsOf(document)[0]);
    assert.notMatch(hover, /(?<!\\)\]\(command:workbench|(?<!\\)<img|(?<!\\)\$\(zap|\u202e/);
    assert.notMatch(lens, /\]\(|\$\(|\u202e/);
    assert.notInclude(found.message, '\u202e');
  });

  test('a line of 100 KB is neither shown whole nor waited for', async () => {
    const document = await openText('long.sh', `vllm serve ${LLAMA} --served-model-name ${'x'.repeat(100_000)}\n`);
    const hover = await hoverOver(document, LLAMA);
    assert.isAbove(hover.length, 50);
    assert.isBelow(hover.length, 10_000);
    assert.lengthOf(await lensesOf(document), 1);
  });

  test('settings of wrong types count as not set', () =>
    withSettings({ gpu: 5, gpus: { a: 1 }, 'workload.prompt': 'many', 'workload.output': -3 }, async () => {
      const document = await openText('settings.compose.yaml', compose('a', LLAMA, ', --max-model-len, "4096"'));
      assert.match((await lensesOf(document)).join(), /KiB\/token/);
      assert.match(await hoverOver(document, 'vllm/vllm-openai'), /600 prompt \+ 250 output/);
    }));

  test('an untitled text is read in its language', async () => {
    const content = `FROM vllm/vllm-openai:v0.28.0\nCMD ["--model", "${LLAMA}"]\n`;
    const document = await workspace.openTextDocument({ language: 'dockerfile', content });
    assert.match((await lensesOf(document)).join(), /KiB\/token/);
  });

  test('a notebook’s cell is planned on its own', async () => {
    const source = `from vllm import LLM\nllm = LLM(model="${LLAMA}", max_model_len=4096)\n`;
    const data = new NotebookData([new NotebookCellData(NotebookCellKind.Code, source, 'python')]);
    const notebook = await workspace.openNotebookDocument('jupyter-notebook', data);
    const document = notebook.cellAt(0).document;
    assert.match(await hoverOver(document, 'max_model_len'), /per request/);
  });

  test('an edit while a hover is made leaves both right', async () => {
    const document = await openText('racing.compose.yaml', compose('a', LLAMA, ', --max-model-len, "4096"'));
    const asked = hoverOver(document, 'max-model-len');
    const at = document.positionAt(document.getText().indexOf('4096'));
    const edit = new WorkspaceEdit();
    edit.insert(document.uri, at, '1');
    await workspace.applyEdit(edit);
    await asked;
    assert.match(await hoverOver(document, 'max-model-len'), /at 14,096 tokens/);
  });

  test('every quick fix that the editor offers takes its problem away, and can be undone', async () => {
    const document = await openText('fixes.compose.yaml', compose('a', LLAMA, ', --max-model-len, "131072"'));
    const text = document.getText();
    const refusal = await eventually('the refusal', () => diagnosticsOf(document, (d) => d.severity === 0)[0]);
    const fixes = (await quickFixes(document, refusal.range)).filter((f) => f.edit);
    assert.isNotEmpty(fixes);
    for (const [i, { edit, title }] of fixes.entries()) {
      const again = await openText(`fixes-${i}.compose.yaml`, text);
      const moved = new WorkspaceEdit();
      for (const [, edits] of edit?.entries() ?? []) {
        for (const one of edits) {
          moved.replace(again.uri, one.range, one.newText);
        }
      }
      await workspace.applyEdit(moved);
      assert.notEqual(again.getText(), text, title);
      await lensesOf(again);
      await eventually(`${title} to help`, () =>
        diagnosticsOf(again, (d) => d.message === refusal.message).length === 0 ? true : undefined,
      );
    }
  });

  test('large and empty files are left alone', async () => {
    const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.file('/');
    const documents: TextDocument[] = [];
    for (const [name, text] of [
      ['large.sh', `vllm serve ${LLAMA}\n${'# nothing\n'.repeat(1_000_000)}`],
      ['empty.yaml', ''],
    ] as const) {
      const uri = Uri.joinPath(folder, name);
      await workspace.fs.writeFile(uri, new TextEncoder().encode(text));
      documents.push(await workspace.openTextDocument(uri));
    }
    for (const document of documents) {
      assert.isEmpty(await hintsOf(document), document.uri.path);
    }
  });

  test('commands with absurd arguments do nothing', async () => {
    for (const argument of [
      { uri: 5 },
      { uri: 'x', offset: 'y' },
      { uri: 'file:///none', offset: -1 },
      [],
      'text',
      null,
    ]) {
      for (const command of ['kvPlanner.applyFix', 'kvPlanner.copyHover']) {
        const failed = await Promise.resolve(commands.executeCommand(command, argument)).then(
          () => '',
          (error: unknown) => String(error),
        );
        assert.notMatch(failed, /TypeError/, JSON.stringify(argument));
      }
    }
  });
});
