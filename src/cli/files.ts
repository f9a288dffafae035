/** Reading files, within bounds: what the user names, and what a launch names inside its own folder. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** A launch file is text written by people; anything larger was named by mistake. */
export const MAX_BYTES = 8 * 2 ** 20;

export type Content = { readonly text: string } | { readonly error: string };

/** A file that the user named: anything that can be read, pipes included. */
export function readNamed(path: string): Content {
  try {
    const stat = statSync(path);
    if (stat.isCharacterDevice() || stat.isBlockDevice()) {
      return { error: 'is a device: not a launch file' };
    }
    return stat.size > MAX_BYTES ? { error: 'larger than 8 MiB: not a launch file' } : decode(readFileSync(path));
  } catch (error) {
    return { error: reason(error) };
  }
}

/** UTF-8, or UTF-16 with its mark (PowerShell writes it). The mark is not part of the text, as in editors. */
export function decode(bytes: Uint8Array): Content {
  if (bytes.length > MAX_BYTES) {
    return { error: 'larger than 8 MiB: not a launch file' };
  }
  const little = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = new TextDecoder(little ? 'utf-16le' : 'utf-8').decode(bytes);
  return text.includes('\0') ? { error: 'not a text file' } : { text };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'no permission to read it',
  EISDIR: 'is a folder: name the files in it',
};

export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}

/**
 * Where files that a launch names really are. They are read only inside the folder of the launch's file, links followed first;
 * outside it only those that the user named on the command line too: a file under review cannot make the tool read
 * elsewhere. Null when there is none.
 */
export function reachable(
  folder: string,
  opened: ReadonlySet<string>,
  note: (line: string) => void,
): (path: string) => string | null {
  return (path) => {
    const real = realPath(resolve(folder, path));
    if (real === undefined) {
      return null;
    }
    if (opened.has(real) || inside(realPath(folder) ?? folder, real)) {
      return real;
    }
    note(`${path}: not read, because it is outside the folder of the file that names it`);
    return null;
  };
}

/** Their texts. */
export function neighbours(
  folder: string,
  opened: ReadonlySet<string>,
  note: (line: string) => void,
): (path: string) => string | null {
  const find = reachable(folder, opened, note);
  const seen = new Map<string, string | null>();
  const look = (path: string): string | null => {
    const real = find(path);
    return real === null ? null : regularText(real);
  };
  return (path) => {
    const text = seen.has(path) ? seen.get(path) : look(path);
    seen.set(path, text ?? null);
    return text ?? null;
  };
}

function regularText(path: string): string | null {
  try {
    const stat = statSync(path);
    const content = stat.isFile() && stat.size <= MAX_BYTES ? decode(readFileSync(path)) : undefined;
    return content && 'text' in content ? content.text : null;
  } catch {
    return null;
  }
}

export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function inside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
