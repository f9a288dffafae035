/** A launch to try things on, for who has none at hand: a copy, so that it can be edited and thrown away. */
import { commands, type Disposable, Uri, window, workspace } from 'vscode';
import { COMMANDS } from './command-names';

const SAMPLE = 'samples/vllm/llama-3.1-8b-l4.compose.yaml';

export const registerWalkthrough = (extension: Uri): Disposable =>
  commands.registerCommand(COMMANDS.openSample, async () => {
    const content = new TextDecoder().decode(await workspace.fs.readFile(Uri.joinPath(extension, SAMPLE)));
    await window.showTextDocument(await workspace.openTextDocument({ language: 'yaml', content }));
  });
