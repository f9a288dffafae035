/** Models that were downloaded before: the Hugging Face cache of this machine. Nothing is fetched. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolderOf, ggufFiles, hubCache, hubName, isCommit } from '../core/model/hub-names';
import { headerEnd, tensorBytes } from '../core/model/safetensors';
import { INDEXED, indexedBytes, WEIGHT_INDEX } from '../core/model/weight-index';
import type { ModelFacts } from '../planner';
import { ggufParts } from './gguf';

/** No config or index is larger: the index of 1 T parameters in 91 k tensors has 9 MB. */
const LARGEST = 64 * 2 ** 20;

/** The facts of the snapshot that `main` points to; undefined where there is none. */
export function cachedFacts(text: string, env: NodeJS.ProcessEnv): ModelFacts | undefined {
  const name = hubName(text);
  const cache = name && hubCache(env);
  const folder = name && cache && join(cache, cacheFolderOf(name));
  const commit = folder && textOf(join(folder, 'refs', 'main'))?.trim();
  if (!name || !folder || !commit || !isCommit(commit)) {
    return undefined;
  }
  const snapshot = join(folder, 'snapshots', commit);
  const path = `Hugging Face cache, ${name.repo}@${commit.slice(0, 8)}`;
  const json = name.tag === undefined ? parsed(textOf(join(snapshot, 'config.json'))) : undefined;
  return json === undefined ? gguf(snapshot, name.tag, path) : { path, json, ...weights(snapshot) };
}

function gguf(snapshot: string, tag: string | undefined, path: string): ModelFacts | undefined {
  const [first] = ggufFiles(entries(snapshot), tag);
  const found = first === undefined ? undefined : ggufParts(join(snapshot, first));
  return found && 'parts' in found ? { path, parts: found.parts } : undefined;
}

function weights(snapshot: string): Pick<ModelFacts, 'weights'> {
  const indexed = indexedBytes(parsed(textOf(join(snapshot, WEIGHT_INDEX))));
  if (indexed !== undefined) {
    return { weights: { bytes: indexed, why: INDEXED } };
  }
  const bytes = headerBytes(join(snapshot, 'model.safetensors'));
  return bytes === undefined ? {} : { weights: { bytes, why: 'header of model.safetensors' } };
}

function headerBytes(path: string): number | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const first = new Uint8Array(8);
      readSync(file, first, 0, 8, 0);
      const head = new Uint8Array(headerEnd(first) ?? 0);
      readSync(file, head, 0, head.length, 0);
      return tensorBytes(head);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // not downloaded
  }
}

function textOf(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= LARGEST ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
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
