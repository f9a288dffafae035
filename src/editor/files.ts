/** Files that a launch names, fetched before the plan: only from the launch's own folder and its workspace folder. */
import { Disposable, FileType, RelativePattern, Uri, workspace } from 'vscode';
import type { FileSource } from '../launch/launch';
import { recent } from './recent';

/** No options file is larger. */
const LARGEST = 1024 * 1024;

/** A name that is typed letter by letter leaves a file that is not there at every key. Far more than one text names. */
const MOST = 4096;
const MOST_CHARACTERS = 64 * LARGEST;

export interface Files extends Disposable {
  /** Reads what is not yet known; what may not be read counts as absent. */
  fetch(from: Uri, names: readonly string[]): Promise<void>;
  sourceFor(from: Uri): FileSource;
}

export function createFiles(onDidChange: () => void): Files {
  const texts = recent<string | null>(MOST_CHARACTERS, MOST, (key, text) => key.length + (text?.length ?? 0));
  const watched = new Set<string>();

  const forget = (uri: Uri): void => {
    if (texts.delete(uri.toString())) {
      onDidChange();
    }
  };

  const listeners: Disposable[] = [
    workspace.onDidChangeTextDocument(({ document }) => forget(document.uri)),
    workspace.onDidSaveTextDocument(({ uri }) => forget(uri)),
    workspace.onDidCreateFiles((event) => event.files.forEach(forget)),
    workspace.onDidDeleteFiles((event) => event.files.forEach(forget)),
    workspace.onDidGrantWorkspaceTrust(() => {
      texts.clear(); // what was not followed counted as absent
      onDidChange();
    }),
    workspace.onDidRenameFiles((event) => event.files.flatMap((f) => [f.oldUri, f.newUri]).forEach(forget)),
  ];

  // Only folders of files that were found: what is missing is seen when the editor saves or creates it.
  const watch = (uri: Uri): void => {
    const folder = Uri.joinPath(uri, '..');
    if (watched.has(folder.toString())) {
      return;
    }
    watched.add(folder.toString());
    const watcher = workspace.createFileSystemWatcher(new RelativePattern(folder, '*'));
    listeners.push(watcher, watcher.onDidChange(forget), watcher.onDidCreate(forget), watcher.onDidDelete(forget));
  };

  return {
    async fetch(from, names) {
      await Promise.all(
        names.map(async (name) => {
          const uri = reachable(from, name);
          if (uri && texts.get(uri.toString()) === undefined) {
            const text = await textOf(uri);
            texts.set(uri.toString(), text);
            if (text !== null) {
              watch(uri);
            }
          }
        }),
      );
    },
    sourceFor: (from) => ({
      read(name) {
        const uri = reachable(from, name);
        return uri ? texts.get(uri.toString()) : null;
      },
    }),
    dispose: () => Disposable.from(...listeners).dispose(),
  };
}

/** Where a name in a file leads, unless that is outside the file's folder and its workspace folder. */
export function reachable(from: Uri, name: string): Uri | undefined {
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
    return type & FileType.File && size <= LARGEST && (workspace.isTrusted || !(await isBehindLink(uri)))
      ? new TextDecoder().decode(await workspace.fs.readFile(uri))
      : null;
  } catch {
    return null;
  }
}

/** In a folder that is not trusted a link may lead anywhere, be it the file or a folder on the way to it. */
async function isBehindLink(uri: Uri): Promise<boolean> {
  const root = workspace.getWorkspaceFolder(uri)?.uri.path ?? Uri.joinPath(uri, '..').path;
  for (let at = uri; at.path.length > root.length; at = Uri.joinPath(at, '..')) {
    if ((await workspace.fs.stat(at)).type & FileType.SymbolicLink) {
      return true;
    }
  }
  return false;
}
