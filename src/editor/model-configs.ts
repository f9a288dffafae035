/**
 * A model's config.json beside the launch. As engines have it, a model id that is also a folder means the folder, so every
 * name is looked for.
 */
import type { FileSource } from '../launch/launch';
import type { ModelSource } from '../planner';

export interface ModelConfigs extends ModelSource {
  /** Files that were asked for and have not been fetched yet. */
  wanted(): readonly string[];
}

export function modelConfigs(files: FileSource): ModelConfigs {
  const wanted = new Set<string>();
  return {
    wanted: () => [...wanted],
    config(name) {
      const path = name.endsWith('.json') ? name : `${name.replace(/\/+$/, '')}/config.json`;
      const text = files.read(path);
      if (text === undefined) {
        wanted.add(path);
      }
      const json = text ? parsed(text) : undefined;
      return json === undefined ? undefined : { json, path };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
