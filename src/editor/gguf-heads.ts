/** The heads of GGUF files beside a launch: their header says all about the model, and the weights are never read. */
import { FileType, type Uri, workspace } from 'vscode';
import { readGguf } from '../core/model/gguf';
import { reachable } from './files';
import { recent } from './recent';

export interface GgufHeads {
  /** The bytes; null when there are none to read, undefined when they have not been fetched. */
  read(from: Uri, name: string): Uint8Array | null | undefined;
  fetch(from: Uri, names: readonly string[]): Promise<void>;
}

/** Largest file that is read whole where the host reads no parts. */
const LARGEST_WHOLE = 64 * 2 ** 20;
const FIRST = 2 * 2 ** 20;
const LARGEST_HEAD = 64 * 2 ** 20;

/** Heads that are kept: of a split file all parts are needed at once. */
const MOST = 4096;
const MOST_BYTES = 512 * 2 ** 20;

export function createGgufHeads(): GgufHeads {
  const heads = recent<Uint8Array | null>(MOST_BYTES, MOST, (_, head) => head?.length ?? 0);
  return {
    read(from, name) {
      const uri = reachable(from, name);
      return uri ? heads.get(uri.toString()) : null;
    },
    async fetch(from, names) {
      await Promise.all(
        names.map(async (name) => {
          const uri = reachable(from, name);
          if (uri && heads.get(uri.toString()) === undefined) {
            heads.set(uri.toString(), await ggufHeadOf(uri).catch(() => null));
          }
        }),
      );
    },
  };
}

export async function ggufHeadOf(uri: Uri): Promise<Uint8Array | null> {
  const { type, size } = await workspace.fs.stat(uri);
  const mayFollow = workspace.isTrusted || !(type & FileType.SymbolicLink);
  if (!(type & FileType.File) || !mayFollow) {
    return null;
  }
  const parts = uri.scheme === 'file' ? partReader() : undefined;
  if (!parts) {
    return size <= LARGEST_WHOLE ? workspace.fs.readFile(uri) : null;
  }
  for (let length = Math.min(size, FIRST); ; length = Math.min(size, 2 * length)) {
    const bytes = await parts(uri.fsPath, length);
    const isWhole = !('needs' in headerOf(bytes));
    if (isWhole || length >= size || length > LARGEST_HEAD) {
      return bytes;
    }
  }
}

/** What is malformed is told by the plan. */
function headerOf(bytes: Uint8Array): object {
  try {
    return readGguf(bytes);
  } catch {
    return {};
  }
}

type PartReader = (path: string, length: number) => Promise<Uint8Array>;

interface NodeFiles {
  open(path: string): Promise<{
    read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
    close(): Promise<void>;
  }>;
}

/** `vscode.workspace.fs` reads whole files; a Node host reads the first bytes of one. A web host has no such module. */
export function partReader(): PartReader | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(id: string): unknown } };
  const files = process?.getBuiltinModule?.('node:fs/promises') as NodeFiles | undefined;
  return (
    files &&
    (async (path, length) => {
      const file = await files.open(path);
      try {
        const bytes = new Uint8Array(length);
        const { bytesRead } = await file.read(bytes, 0, length, 0);
        return bytes.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    })
  );
}
