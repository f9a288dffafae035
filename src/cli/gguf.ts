/** The heads of GGUF files: as much of each as its header takes, never the weights. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { readGguf } from '../core/model/gguf';
import { ModelError } from '../core/model/model';

export interface GgufParts {
  readonly parts: readonly Uint8Array[];
  readonly path: string;
}

/** Vocabularies of 256 k words take about 10 MB. */
const FIRST = 2 * 2 ** 20;
const MOST = 256 * 2 ** 20;
/** Parts of a split file. */
const MOST_PARTS = 1000;

/** Of a split file all parts that are there: `name-00001-of-00003.gguf`. */
export function ggufParts(path: string): GgufParts | { readonly error: string } {
  try {
    return { parts: partsOf(path).map(headOf), path };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { error: code === 'ENOENT' ? 'no such file' : message };
  }
}

function partsOf(path: string): readonly string[] {
  const [, stem, digits] = /^(.*-)\d{5}(-of-(\d{5})\.gguf)$/i.exec(path) ?? [];
  const count = Number(/(\d{5})/.exec(digits ?? '')?.[1] ?? 0);
  if (stem === undefined || digits === undefined || count < 2 || count > MOST_PARTS) {
    return [path];
  }
  const parts = Array.from({ length: count }, (_, i) => `${stem}${String(i + 1).padStart(5, '0')}${digits}`);
  return [parts[0] as string, ...parts.slice(1).filter(isFile)];
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function headOf(path: string): Uint8Array {
  if (!isFile(path)) {
    throw Object.assign(new Error('not a file'), { code: 'ENOENT' });
  }
  const file = openSync(path, 'r');
  try {
    const { size } = statSync(path);
    for (let length = Math.min(size, FIRST); ; ) {
      const bytes = new Uint8Array(length);
      const read = readSync(file, bytes, 0, length, 0);
      const needs = needsOf(bytes.subarray(0, read));
      if (needs <= read || length >= size || needs > MOST) {
        return bytes.subarray(0, read);
      }
      length = Math.min(size, Math.max(2 * length, needs));
    }
  } finally {
    closeSync(file);
  }
}

/** What is malformed is told by the planner, with the model's name. */
function needsOf(bytes: Uint8Array): number {
  try {
    const header = readGguf(bytes);
    return 'needs' in header ? header.needs : 0;
  } catch (error) {
    if (error instanceof ModelError) {
      return 0;
    }
    throw error;
  }
}
