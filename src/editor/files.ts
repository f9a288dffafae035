/** Files that a launch names, fetched before the plan: only from the launch's own folder and its workspace folder. */
import { Disposable, FileType, type TextDocument, Uri, workspace } from 'vscode';
import type { FileSource } from '../launch/launch';

/** No options file is larger. */
const LARGEST = 1024 * 1024;

export interface Files extends Disposable {
  /** Reads what is not yet known; what may not be read counts as absent. */
  fetch(document: TextDocument, names: readonly string[]): Promise<void>;
  sourceFor(document: TextDocument): FileSource;
}

export function createFiles(onDidChange: () => void): Files {
  const texts = new Map<string, string | null>();
  const listeners: Disposable[] = [];

  const forget = (uri: Uri): void => {
    if (texts.delete(uri.toString())) {
      onDidChange();
    }
  };

  // Watched from the first file on: most launches name none.
  const watch = (): void => {
    if (listeners.length > 0) {
      return;
    }
    const watcher = workspace.createFileSystemWatcher('**/*');
    listeners.push(
      watcher,
      watcher.onDidChange(forget),
      watcher.onDidCreate(forget),
      watcher.onDidDelete(forget),
      workspace.onDidChangeTextDocument((event) => forget(event.document.uri)),
    );
  };

  return {
    async fetch(document, names) {
      watch();
      await Promise.all(
        names.map(async (name) => {
          const uri = reachable(document.uri, name);
          if (uri && !texts.has(uri.toString())) {
            texts.set(uri.toString(), await textOf(uri));
          }
        }),
      );
    },
    sourceFor: (document) => ({
      read(name) {
        const uri = reachable(document.uri, name);
        return uri ? texts.get(uri.toString()) : null;
      },
    }),
    dispose: () => Disposable.from(...listeners).dispose(),
  };
}

/** Where a name in a file leads, unless that is outside the file's folder and its workspace folder. */
function reachable(from: Uri, name: string): Uri | undefined {
  const root = workspace.getWorkspaceFolder(from)?.uri;
  const folder = from.scheme === 'untitled' ? root : Uri.joinPath(from, '..');
  if (!folder) {
    return undefined;
  }
  const uri = name.startsWith('/') ? Uri.joinPath(folder.with({ path: '/' }), name) : Uri.joinPath(folder, name);
  return [folder, root].some((r) => r && uri.path.startsWith(r.path.endsWith('/') ? r.path : `${r.path}/`))
    ? uri
    : undefined;
}

async function textOf(uri: Uri): Promise<string | null> {
  const open = workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  if (open) {
    return open.getText();
  }
  try {
    const { type, size } = await workspace.fs.stat(uri);
    // In a folder that is not trusted a link may lead anywhere.
    const mayFollow = workspace.isTrusted || !(type & FileType.SymbolicLink);
    return type & FileType.File && mayFollow && size <= LARGEST
      ? new TextDecoder().decode(await workspace.fs.readFile(uri))
      : null;
  } catch {
    return null;
  }
}
