/** Files that a launch names, in folders that are trusted and that are not: on a disk of a few entries. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Uri as VsUri } from 'vscode';

const FILE = 1;
const LINK = 64;
const disk: Record<string, number> = {
  '/w': 2,
  '/w/app': 2,
  '/w/app/plain.env': FILE,
  '/w/app/link.env': FILE | LINK,
  '/w/away': 2 | LINK,
  '/w/away/secret.env': FILE,
};
let trusted = true;

vi.mock('vscode', () => {
  class Uri {
    readonly scheme = 'file';
    constructor(readonly path: string) {}
    static joinPath = (uri: Uri, ...parts: string[]) =>
      new Uri(new URL([uri.path.replace(/\/$/, ''), ...parts].join('/'), 'file:///').pathname.replace(/(.)\/$/, '$1'));
    with = ({ path }: { path: string }) => new Uri(path);
    toString = () => `file://${this.path}`;
  }
  const event = () => ({ dispose: () => {} });
  return {
    Uri,
    FileType: { File: FILE, SymbolicLink: LINK },
    RelativePattern: class {},
    Disposable: { from: () => ({ dispose: () => {} }) },
    workspace: {
      get isTrusted() {
        return trusted;
      },
      textDocuments: [],
      getWorkspaceFolder: () => ({ uri: new Uri('/w') }),
      onDidChangeTextDocument: event,
      onDidSaveTextDocument: event,
      onDidCreateFiles: event,
      onDidDeleteFiles: event,
      onDidRenameFiles: event,
      onDidGrantWorkspaceTrust: event,
      createFileSystemWatcher: () => ({ ...event(), onDidChange: event, onDidCreate: event, onDidDelete: event }),
      fs: {
        stat: async ({ path }: Uri) => {
          if (disk[path] === undefined) {
            throw new Error('not there');
          }
          return { type: disk[path], size: 3 };
        },
        readFile: async ({ path }: Uri) => new TextEncoder().encode(path),
      },
    },
  };
});

const { Uri } = await import('vscode');
const { createFiles } = await import('../../../src/editor/files');

async function read(name: string): Promise<string | null | undefined> {
  const from = new (Uri as unknown as new (path: string) => VsUri)('/w/app/compose.yaml');
  const files = createFiles(() => {});
  await files.fetch(from, [name]);
  return files.sourceFor(from).read(name);
}

describe.each([true, false])('in a folder that is trusted: %s', (isTrusted) => {
  beforeEach(() => {
    trusted = isTrusted;
  });

  it.each([
    ['plain.env', true],
    ['link.env', isTrusted],
    ['../away/secret.env', isTrusted],
    ['../../etc/passwd', false],
    ['none.env', false],
  ])('%s is read: %s', async (name, isRead) => expect(typeof (await read(name))).toBe(isRead ? 'string' : 'object'));
});
