/** What the tests ask of the editor, in either host. */
import {
  type CodeAction,
  type CodeLens,
  commands,
  type Diagnostic,
  extensions,
  type Hover,
  type InlayHint,
  languages,
  type MarkdownString,
  Range,
  type TextDocument,
  Uri,
  window,
  workspace,
} from 'vscode';

/** Providers answer only once the extension is active: a question asked before is not asked again. */
export const activate = () => extensions.getExtension('kv-planner.kv-planner')?.activate();

/** Asks again until the answer is one: diagnostics and tabs come some time after what causes them. */
export async function eventually<T>(what: string, ask: () => T | undefined): Promise<T> {
  for (const until = Date.now() + 10_000; Date.now() < until; ) {
    const answer = ask();
    if (answer !== undefined) {
      return answer;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Waited in vain for ${what}`);
}

/** Opens and shows a file of samples/. */
export async function openSample(path: string): Promise<TextDocument> {
  const folder = workspace.workspaceFolders?.[0];
  if (!folder) {
    throw new Error('No folder is open.');
  }
  const document = await workspace.openTextDocument(Uri.joinPath(folder.uri, path));
  await window.showTextDocument(document);
  return document;
}

/** Writes a file into the opened folder and shows it: its name decides its language. */
export async function openText(path: string, text: string): Promise<TextDocument> {
  const folder = workspace.workspaceFolders?.[0];
  if (!folder) {
    throw new Error('No folder is open.');
  }
  const uri = Uri.joinPath(folder.uri, path);
  await workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  const document = await workspace.openTextDocument(uri);
  await window.showTextDocument(document);
  return document;
}

/** What stands behind the values of a document. */
export async function hintsOf(document: TextDocument): Promise<string[]> {
  const whole = new Range(0, 0, document.lineCount, 0);
  const hints = await commands.executeCommand<InlayHint[]>('vscode.executeInlayHintProvider', document.uri, whole);
  return hints.map(({ label }) => (typeof label === 'string' ? label : label.map((part) => part.value).join('')));
}

/** The text of the hovers over the first place that holds the words. */
export async function hoverOver(document: TextDocument, words: string): Promise<string> {
  const offset = document.getText().indexOf(words);
  const at = document.positionAt(offset + Math.floor(words.length / 2));
  const hovers = await commands.executeCommand<Hover[]>('vscode.executeHoverProvider', document.uri, at);
  return hovers
    .flatMap((hover) => hover.contents)
    .map((content) => (content as MarkdownString).value)
    .join('\n');
}

export async function lensesOf(document: TextDocument): Promise<string[]> {
  const lenses = await commands.executeCommand<CodeLens[]>('vscode.executeCodeLensProvider', document.uri, 10);
  return lenses.map((lens) => lens.command?.title ?? '');
}

/** Our diagnostics of a document that pass a test. */
export const diagnosticsOf = (document: TextDocument, wanted: (d: Diagnostic) => boolean = () => true): Diagnostic[] =>
  languages.getDiagnostics(document.uri).filter((d) => d.source === 'KV Planner' && wanted(d));

export const quickFixes = (document: TextDocument, range: Range): Thenable<CodeAction[]> =>
  commands.executeCommand<CodeAction[]>('vscode.executeCodeActionProvider', document.uri, range, 'quickfix');

export const tabLabels = (): string[] => window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label);
