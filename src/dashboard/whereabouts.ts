/** Where files are now that a panel shows: they are renamed and deleted, by the editor and behind its back. */
import { Disposable, RelativePattern, type TextDocument, Uri, workspace } from 'vscode';

export interface Whereabouts extends Disposable {
  /** The address that a file has now: itself, unless it or a folder above it was renamed. */
  now(file: Uri): Uri;
  /** It was deleted, and nobody has written it since. */
  isGone(file: Uri): boolean;
  /** These alone are watched on the disk; what the editor itself does is always known. */
  watch(files: readonly Uri[]): void;
}

/** Renames that are remembered; the oldest goes first. */
const MOST = 200;

interface Move {
  readonly from: Uri;
  readonly to: Uri;
}

export function createWhereabouts(onDidChange: () => void): Whereabouts {
  /** In the order in which they were done. */
  let moves: readonly Move[] = [];
  const gone = new Map<string, Uri>();
  const watchers = new Map<string, Disposable>();
  let watched = new Set<string>();
  let over = false;

  const now = (file: Uri): Uri => moves.reduce((at, move) => movedBy(move, at) ?? at, file);

  const renamed = (files: readonly { readonly oldUri: Uri; readonly newUri: Uri }[]): void => {
    moves = [...moves, ...files.map(({ oldUri, newUri }) => ({ from: oldUri, to: newUri }))].slice(-MOST);
    for (const { newUri } of files) {
      forget(newUri);
    }
    onDidChange();
  };

  /** Another file has an old name now. */
  const taken = (file: Uri): void => {
    moves = moves.filter((move) => !movedBy(move, file));
  };

  const lose = (file: Uri): void => {
    gone.set(file.toString(), file);
    for (const oldest of [...gone.keys()].slice(0, Math.max(0, gone.size - MOST))) {
      gone.delete(oldest);
    }
    onDidChange();
  };

  const forget = (file: Uri): boolean =>
    [...gone].filter(([key, lost]) => isWithin(file, lost) && gone.delete(key)).length > 0;

  const back = (file: Uri): void => {
    if (forget(file)) {
      onDidChange();
    }
  };

  const listeners = Disposable.from(
    workspace.onDidRenameFiles((event) => renamed(event.files)),
    workspace.onDidDeleteFiles((event) => event.files.forEach(lose)),
    workspace.onDidCreateFiles((event) => event.files.forEach(back)),
    workspace.onDidSaveTextDocument(({ uri }: TextDocument) => back(uri)),
    workspace.onDidChangeTextDocument(
      ({ document, contentChanges }) => contentChanges.length > 0 && back(document.uri),
    ),
    workspace.onDidOpenTextDocument(({ uri }) => {
      taken(uri);
      back(uri);
    }),
  );

  const watcherOf = (folder: Uri): Disposable => {
    const watcher = workspace.createFileSystemWatcher(new RelativePattern(folder, '*'), false, true, false);
    return Disposable.from(
      watcher,
      watcher.onDidDelete((file) => watched.has(file.toString()) && lose(file)),
      watcher.onDidCreate((file) => watched.has(file.toString()) && back(file)),
    );
  };

  return {
    now,
    isGone: (file) => [...gone.values()].some((lost) => isWithin(file, lost)),
    watch(files) {
      if (over) {
        return; // an answer came when the panel was closed
      }
      const onDisk = files.filter((file) => file.scheme === 'file' || workspace.getWorkspaceFolder(file));
      watched = new Set(onDisk.map(String));
      const folders = new Map(
        onDisk.map((file) => Uri.joinPath(file, '..')).map((folder) => [folder.toString(), folder]),
      );
      for (const [key, watcher] of watchers) {
        if (!folders.has(key)) {
          watcher.dispose();
          watchers.delete(key);
        }
      }
      for (const [key, folder] of folders) {
        if (!watchers.has(key)) {
          watchers.set(key, watcherOf(folder));
        }
      }
    },
    dispose() {
      over = true;
      Disposable.from(listeners, ...watchers.values()).dispose();
    },
  };
}

const isWithin = (file: Uri, folder: Uri): boolean =>
  file.scheme === folder.scheme &&
  file.authority === folder.authority &&
  (file.path === folder.path || file.path.startsWith(`${folder.path}/`));

const movedBy = ({ from, to }: Move, file: Uri): Uri | undefined =>
  isWithin(file, from) ? to.with({ path: to.path + file.path.slice(from.path.length) }) : undefined;
