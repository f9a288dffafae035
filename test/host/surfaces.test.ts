/** What a person sees, picks and applies while a launch is written. */
import { assert } from 'chai';
import {
  type CodeAction,
  type CompletionList,
  commands,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  env,
  Range,
  type SignatureHelp,
  type TextDocument,
  WorkspaceEdit,
  window,
  workspace,
} from 'vscode';
import {
  activate,
  diagnosticsOf,
  eventually,
  hintsOf,
  hoverOver,
  lensesOf,
  openSample,
  openText,
  quickFixes,
} from './editor';

const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';
const compose = (command: string, comment = '    # kv-planner: gpu=L4\n'): string =>
  `services:\n  llm:\n${comment}    image: vllm/vllm-openai:v0.28.0\n    command: ${command}\n`;

/** Opens a text whose `|` is the place of the cursor. */
async function openAt(name: string, marked: string) {
  const offset = marked.indexOf('|');
  const document = await openText(`surfaces/${name}`, marked.slice(0, offset) + marked.slice(offset + 1));
  return { document, position: document.positionAt(offset) };
}

async function completions(name: string, marked: string): Promise<CompletionList> {
  const { document, position } = await openAt(name, marked);
  return commands.executeCommand<CompletionList>(
    'vscode.executeCompletionItemProvider',
    document.uri,
    position,
    undefined,
    400,
  );
}

const named = (list: CompletionList, label: string) =>
  list.items.find((i) => (typeof i.label === 'string' ? i.label : i.label.label) === label);

const words = (documentation: unknown): string =>
  typeof documentation === 'string' ? documentation : ((documentation as { value?: string })?.value ?? '');

suite('completion', () => {
  suiteSetup(activate);

  test('offers the options of the engine, with the words of its table', async () => {
    const item = named(
      await completions('a.compose.yaml', compose(`--model ${LLAMA} --kv-cache|`)),
      '--kv-cache-dtype',
    );
    assert.match(words(item?.documentation), /Number format that keys and values are stored in/);
    assert.match(item?.detail ?? '', /^auto, float16/);
  });

  test('offers values, models and GPUs where they stand', async () => {
    const values = await completions('b.compose.yaml', compose(`--model ${LLAMA} --kv-cache-dtype f|`));
    assert.isDefined(named(values, 'fp8'));
    const models = await completions('c.compose.yaml', compose('--model meta-llama/|'));
    assert.isDefined(named(models, LLAMA));
    const gpus = await completions('d.compose.yaml', compose(`--model ${LLAMA}`, '    # kv-planner: gpu=H1|\n'));
    assert.match(named(gpus, 'H100 80GB SXM')?.detail ?? '', /GiB/);
  });

  test('explains the keys of a directive as a signature', async () => {
    const { document, position } = await openAt(
      'e.compose.yaml',
      compose(`--model ${LLAMA}`, '    # kv-planner: gpu=L4 pro|\n'),
    );
    const help = await commands.executeCommand<SignatureHelp>(
      'vscode.executeSignatureHelpProvider',
      document.uri,
      position,
      ' ',
    );
    const signature = help.signatures[0];
    const parameter = signature?.parameters[help.activeParameter]?.label as [number, number];
    assert.equal(signature?.label.slice(...parameter), 'prompt=TOKENS');
  });
});

suite('hovers', () => {
  suiteSetup(activate);

  test('of the memory share have the budget and what one step buys', async () => {
    const text = await hoverOver(
      await openSample('vllm/llama-3.1-70b-8xh100.compose.yaml'),
      '--gpu-memory-utilization',
    );
    assert.match(text, /weights.*16\.50/);
    assert.match(text, /0\.91.*\n.*0\.92\s\(now\).*\n.*0\.93/);
    assert.match(text, /limit − weights/);
  });

  test('say since when an option exists, and until when', async () => {
    const text = compose(`--model ${LLAMA} --swap-space 4`);
    assert.match(
      await hoverOver(await openText('surfaces/f.compose.yaml', text), '--swap-space'),
      /gone since vLLM 0\\?\.18/,
    );
    const old = text.replace('--swap-space', '--kv-offloading-size').replace('v0.28.0', 'v0.10.0');
    assert.match(
      await hoverOver(await openText('surfaces/g.compose.yaml', old), '--kv-off'),
      /came with vLLM 0\\?\.11/,
    );
  });

  test('link to our own commands alone, and the links work', async () => {
    const document = await openText('surfaces/h.compose.yaml', compose(`--model ${LLAMA} --max-model-len 131072`));
    const text = await hoverOver(document, '--max-model-len');
    const links = [...text.matchAll(/\]\(command:([\w.]+)\?([^)]*)\)/g)].map(([, command, query]) => ({
      command: command ?? '',
      args: JSON.parse(decodeURIComponent(query ?? '[]')),
    }));
    assert.includeMembers(
      links.map((l) => l.command),
      ['kvPlanner.applyFix', 'kvPlanner.openDashboard', 'kvPlanner.copyHover'],
    );
    assert.isTrue(links.every(({ command }) => command.startsWith('kvPlanner.')));

    const run = (name: string) => {
      const link = links.find(({ command }) => command === name);
      return commands.executeCommand(name, ...(link?.args ?? []));
    };
    await run('kvPlanner.copyHover');
    if (!('importScripts' in globalThis)) {
      assert.match(await env.clipboard.readText(), /16\.0 GiB per request/); // a page has no clipboard without a person
    }
    await run('kvPlanner.applyFix');
    assert.notInclude(document.getText(), '131072');
    await commands.executeCommand('undo');
    assert.include(document.getText(), '131072');
  });

  test('apply nothing that the plan does not offer', async () => {
    const document = await openText('surfaces/i.compose.yaml', compose(`--model ${LLAMA} --max-model-len 131072`));
    const before = document.getText();
    for (const argument of [
      { uri: document.uri.toString(), offset: 0, option: 'max-model-len', value: '1 --evil' },
      { uri: document.uri.toString(), offset: 0 },
      'x',
      undefined,
    ]) {
      await commands.executeCommand('kvPlanner.applyFix', argument);
    }
    assert.equal(document.getText(), before);
  });

  test('show hostile names as text', async () => {
    const evil = '[x](command:workbench.action.quit)<img/src=x>`a`$(zap)\u202Egnp';
    const document = await openText('surfaces/j.compose.yaml', compose(`["--model", "${evil}"]`));
    const text = await hoverOver(document, 'workbench.action');
    assert.notInclude(text, '\u202E');
    assert.notMatch(text, /(?<!\\)<img/);
    const targets = [...text.matchAll(/(?<!\\)\]\((?:command:)?([^?)]*)/g)].map((m) => m[1] ?? '');
    assert.isTrue(
      targets.every((t) => t.startsWith('kvPlanner.')),
      targets.join(),
    );
    const lenses = await lensesOf(document);
    assert.notMatch(lenses.join(), /\$\(zap\)|\u202E/);
    const said = await eventually('its diagnostic', () => diagnosticsOf(document, (d) => /zap/.test(d.message))[0]);
    assert.notInclude(said.message, '\u202E');
  });
});

const titles = (actions: readonly CodeAction[]) => actions.map((a) => a.title).join('\n');

async function fixFor(document: TextDocument, code: string): Promise<CodeAction[]> {
  const diagnostic: Diagnostic = await eventually(code, () => diagnosticsOf(document, (d) => d.code === code)[0]);
  return (await quickFixes(document, diagnostic.range)).filter(
    (a) => a.diagnostics?.some((d) => d.code === code) ?? true,
  );
}

const apply = (action: CodeAction | undefined) => workspace.applyEdit(action?.edit ?? new WorkspaceEdit());

suite('quick fixes', () => {
  suiteSetup(activate);

  test('say what they come to', async () => {
    const document = await openText('surfaces/k.compose.yaml', compose(`--model ${LLAMA} --max-model-len 131072`));
    assert.match(
      titles(await fixFor(document, 'length-does-not-fit')),
      /max-model-len to 27,648.* → starts, ~?\d+ fit at once/,
    );
  });

  test('name the GPU in a comment', async () => {
    const document = await openText('surfaces/l.compose.yaml', compose(`--model ${LLAMA} --max-model-len 8192`, ''));
    const fixes = await fixFor(document, 'gpu-unknown');
    assert.match(titles(fixes), /GPU is L4 → starts/);
    await apply(fixes.find((a) => /is L4/.test(a.title)));
    assert.include(document.getText(), '  # kv-planner: gpu=L4\n  llm:');
    await eventually('the question to go', () =>
      diagnosticsOf(document, (d) => d.code === 'gpu-unknown').length === 0 ? true : undefined,
    );
  });

  for (const [code, command, title, after] of [
    ['bad-value', '--max-model-len 32kb', /32 × 1,024/, '--max-model-len 32768'],
    ['unknown-option', '--max-modell-len 4096', /max-model-len for/, '--max-model-len 4096'],
  ] as const) {
    test(`mend ${code}: ${command}`, async () => {
      const document = await openText(`surfaces/${code}.compose.yaml`, compose(`--model ${LLAMA} ${command}`));
      const fixes = await fixFor(document, code);
      assert.match(titles(fixes), title);
      await apply(fixes.find((a) => title.test(a.title)));
      assert.include(document.getText(), after);
    });
  }

  test('Fix All applies what is safe, in every launch', async () => {
    const one = (name: string) =>
      `  ${name}:\n    image: vllm/vllm-openai:v0.28.0\n    command: --model ${LLAMA} --max-model-len 131072\n`;
    const document = await openText(
      'surfaces/m.compose.yaml',
      `# kv-planner: gpu=L4\nservices:\n${one('a')}${one('b')}`,
    );
    const [all] = await commands.executeCommand<CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      new Range(0, 0, 0, 0),
      'source.fixAll.kvPlanner',
    );
    await apply(all);
    assert.notInclude(document.getText(), '131072');
    await eventually('no error', () =>
      diagnosticsOf(document, (d) => d.severity === DiagnosticSeverity.Error).length === 0 ? true : undefined,
    );
  });

  test('an option that is gone is struck through', async () => {
    const document = await openText('surfaces/n.compose.yaml', compose(`--model ${LLAMA} --swap-space 4`));
    const gone = await eventually('it', () => diagnosticsOf(document, (d) => d.code === 'option-removed')[0]);
    assert.deepEqual(gone.tags, [DiagnosticTag.Deprecated]);
    assert.equal(gone.severity, DiagnosticSeverity.Warning);
  });
});

suite('settings', () => {
  suiteSetup(activate);
  const settings = () => workspace.getConfiguration('kvPlanner');
  const set = (name: string, value: unknown) => settings().update(name, value, false);

  for (const [name, shown] of [
    ['hover', async (d: TextDocument) => (await hoverOver(d, '--max-model-len')).length],
    ['codeLens', async (d: TextDocument) => (await lensesOf(d)).length],
    ['inlayHints', async (d: TextDocument) => (await hintsOf(d)).length],
    ['diagnostics', async (d: TextDocument) => diagnosticsOf(d).length],
  ] as const) {
    test(`${name}.enabled switches it off`, async () => {
      const document = await openText(
        `surfaces/off-${name}.compose.yaml`,
        compose(`--model ${LLAMA} --max-model-len 131072`),
      );
      const become = (wanted: boolean) =>
        eventuallyAsync(`${name} ${wanted ? 'on' : 'off'}`, async () => (await shown(document)) > 0 === wanted);
      await become(true);
      await set(`${name}.enabled`, false);
      try {
        await become(false);
      } finally {
        await set(`${name}.enabled`, undefined);
      }
      await become(true);
    });
  }

  async function eventuallyAsync(what: string, ask: () => Promise<boolean>): Promise<void> {
    for (const until = Date.now() + 10_000; Date.now() < until; ) {
      if (await ask()) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`Waited in vain for ${what}`);
  }
});

suite('typing', () => {
  suiteSetup(activate);

  test('lenses and hints wait for a pause, and then are of the last text', async () => {
    const document = await openText('surfaces/typed.compose.yaml', compose(`--model ${LLAMA} --max-model-len 8192`));
    await lensesOf(document);
    const editor = await window.showTextDocument(document);
    const at = document.positionAt(document.getText().indexOf('8192'));
    await editor.edit((edit) => edit.replace(new Range(at, at.translate(0, 4)), '4096'));
    assert.include(await hintsOf(document), '0.500 GiB/request');
  });
});
