/** Where the command line finds a model's config.json: the path the user named, or a folder beside the launch's file. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelSource } from '../planner';
import { readNamed } from './files';

export interface Config {
  readonly json: unknown;
  readonly path: string;
}

/** `--model-config P`: a config.json, or a folder that has one. */
export function namedConfig(path: string): Config | { readonly error: string } {
  if (/\.gguf$/i.test(path)) {
    return { error: 'GGUF files are not read yet: give the config.json of the model' };
  }
  const file = isFolder(path) ? join(path, 'config.json') : path;
  const content = readNamed(file);
  if ('error' in content) {
    return { error: file === path ? content.error : `config.json in it: ${content.error}` };
  }
  return parsed(content.text, file) ?? { error: 'not JSON' };
}

/**
 * The named config when the planner asks for it by the name the user gave; else a model path that the launch gives,
 * through `read`, which keeps to the folder of the launch's file. A model id that is also such a folder means the folder,
 * as engines have it.
 */
export function modelSource(
  named: { readonly name: string; readonly config: Config } | undefined,
  read: (path: string) => string | null,
  note: (line: string) => void,
): ModelSource {
  return {
    config(model) {
      if (named?.name === model) {
        return named.config;
      }
      const path = /\.json$/i.test(model) ? model : join(model, 'config.json');
      const text = read(path);
      const config = text === null ? undefined : parsed(text, path);
      if (text !== null && !config) {
        note(`${path}: not JSON, so it says nothing about the model`);
      }
      return config;
    },
  };
}

function parsed(text: string, path: string): Config | undefined {
  try {
    return { json: JSON.parse(text), path };
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
