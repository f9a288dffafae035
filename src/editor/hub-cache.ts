/** Models that were downloaded before: the Hugging Face cache of the machine that the extension runs on. */
import { FileType, Uri, workspace } from 'vscode';
import { cacheFolderOf, ggufFiles, type HubName, hubCache, isCommit } from '../core/model/hub-names';
import { headerEnd, tensorBytes } from '../core/model/safetensors';
import { INDEXED, indexedBytes, WEIGHT_INDEX } from '../core/model/weight-index';
import type { ModelFacts } from '../planner';
import { ggufHeadOf, partReader } from './gguf-heads';

const LARGEST = 64 * 2 ** 20;

/** What a Node host runs under; a web worker has none. */
export const environment = (): Readonly<Record<string, string | undefined>> =>
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};

/** The facts of the snapshot that `main` points to; undefined where there is none. Not asked in a folder without trust. */
export async function cachedFacts(name: HubName): Promise<ModelFacts | undefined> {
  const cache = partReader() && hubCache(environment());
  if (!cache) {
    return undefined;
  }
  const folder = Uri.joinPath(Uri.file(cache), cacheFolderOf(name));
  const commit = (await textOf(Uri.joinPath(folder, 'refs/main')))?.trim();
  if (!commit || !isCommit(commit)) {
    return undefined;
  }
  const snapshot = Uri.joinPath(folder, 'snapshots', commit);
  const path = `Hugging Face cache, ${name.repo}@${commit.slice(0, 8)}`;
  const json = name.tag === undefined ? parsed(await textOf(Uri.joinPath(snapshot, 'config.json'))) : undefined;
  return json === undefined ? gguf(snapshot, name.tag, path) : { path, json, ...(await weights(snapshot)) };
}

async function gguf(snapshot: Uri, tag: string | undefined, path: string): Promise<ModelFacts | undefined> {
  const files = ggufFiles(await entries(snapshot), tag);
  const heads = await Promise.all(files.map((file) => ggufHeadOf(Uri.joinPath(snapshot, file)).catch(() => null)));
  const parts = heads.filter((head) => head !== null);
  return parts.length > 0 ? { path, parts } : undefined;
}

async function weights(snapshot: Uri): Promise<Pick<ModelFacts, 'weights'>> {
  const indexed = indexedBytes(parsed(await textOf(Uri.joinPath(snapshot, WEIGHT_INDEX))));
  if (indexed !== undefined) {
    return { weights: { bytes: indexed, why: INDEXED } };
  }
  const bytes = await headerBytes(Uri.joinPath(snapshot, 'model.safetensors').fsPath);
  return bytes === undefined ? {} : { weights: { bytes, why: 'header of model.safetensors' } };
}

async function headerBytes(path: string): Promise<number | undefined> {
  const read = partReader();
  try {
    const end = read && headerEnd(await read(path, 8));
    return read && end !== undefined ? tensorBytes(await read(path, end)) : undefined;
  } catch {
    return undefined; // not downloaded
  }
}

async function textOf(uri: Uri): Promise<string | undefined> {
  try {
    const { type, size } = await workspace.fs.stat(uri);
    return type & FileType.File && size <= LARGEST
      ? new TextDecoder().decode(await workspace.fs.readFile(uri))
      : undefined;
  } catch {
    return undefined;
  }
}

async function entries(folder: Uri): Promise<readonly string[]> {
  try {
    return (await workspace.fs.readDirectory(folder)).map(([name]) => name);
  } catch {
    return [];
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
