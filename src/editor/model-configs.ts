/**
 * A model's config.json or GGUF file beside the launch. As engines have it, a model id that is also a folder means the
 * folder, so every name is looked for.
 */
import { WEIGHT_INDEX } from '../core/model/weight-index';
import type { FileSource } from '../launch/launch';
import type { ModelFacts, ModelSource } from '../planner';

export interface ModelConfigs extends ModelSource {
  /** Files that were asked for and have not been fetched yet. */
  wanted(): readonly string[];
  /** GGUF files among them. */
  wantedHeads(): readonly string[];
  /** Models that the catalogue does not know, to be looked for elsewhere. */
  wantedFacts(): readonly string[];
}

/** `heads` gives the first bytes of a GGUF file: null when there are none, undefined when they are to be fetched. */
export function modelConfigs(
  files: FileSource,
  heads: (name: string) => Uint8Array | null | undefined = () => null,
  facts: (name: string) => ModelFacts | null | undefined = () => null,
): ModelConfigs {
  const wanted = new Set<string>();
  const wantedHeads = new Set<string>();
  const wantedFacts = new Set<string>();
  const jsonAt = (path: string): unknown => {
    const text = files.read(path);
    if (text === undefined) {
      wanted.add(path);
    }
    return text ? parsed(text) : undefined;
  };
  return {
    wanted: () => [...wanted],
    wantedHeads: () => [...wantedHeads],
    wantedFacts: () => [...wantedFacts],
    cached(name) {
      const found = facts(name);
      if (found === undefined) {
        wantedFacts.add(name);
      }
      return found ?? undefined;
    },
    config(name) {
      if (isGguf(name)) {
        return undefined;
      }
      const path = name.endsWith('.json') ? name : `${name.replace(/\/+$/, '')}/config.json`;
      const json = jsonAt(path);
      if (json === undefined) {
        return undefined;
      }
      const index = jsonAt(path.replace(/[^/]*$/, WEIGHT_INDEX));
      return index === undefined ? { json, path } : { json, path, index };
    },
    gguf(name) {
      if (!isGguf(name)) {
        return undefined;
      }
      const parts = partsOf(name).map((path) => ({ path, head: heads(path) }));
      for (const { path } of parts.filter((p) => p.head === undefined)) {
        wantedHeads.add(path);
      }
      const bytes = parts.flatMap(({ head }) => (head ? [head] : []));
      return parts[0]?.head ? { parts: bytes, path: name } : undefined;
    },
  };
}

const isGguf = (name: string): boolean => /\.gguf$/i.test(name);

/** All parts of a split file: `name-00001-of-00003.gguf`. */
function partsOf(name: string): readonly string[] {
  const [, stem, tail, digits] = /^(.*-)\d{5}(-of-(\d{5})\.gguf)$/i.exec(name) ?? [];
  const count = Number(digits ?? 0);
  return stem === undefined || count < 2 || count > 1000
    ? [name]
    : Array.from({ length: count }, (_, i) => `${stem}${String(i + 1).padStart(5, '0')}${tail}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
