/** Where the command line finds a model's facts: the path the user named, or a file beside the launch's. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WEIGHT_INDEX } from '../core/model/weight-index';
import type { ModelSource } from '../planner';
import { readNamed } from './files';
import { type GgufParts, ggufParts } from './gguf';

export interface Config {
  readonly json: unknown;
  readonly path: string;
  /** `model.safetensors.index.json` beside it: what its weights take. */
  readonly index?: unknown;
}

/** What `--model-config` gave. */
export type NamedModel = Config | GgufParts;

/** `--model-config P`: a config.json, a folder that has one, or a GGUF file. */
export function namedConfig(path: string): NamedModel | { readonly error: string } {
  if (/\.gguf$/i.test(path)) {
    return ggufParts(path);
  }
  const file = isFolder(path) ? join(path, 'config.json') : path;
  const content = readNamed(file);
  if ('error' in content) {
    return { error: file === path ? content.error : `config.json in it: ${content.error}` };
  }
  const text = (name: string) => {
    const found = readNamed(name);
    return 'text' in found ? found.text : null;
  };
  return withIndex(parsed(content.text, file), text) ?? { error: 'not JSON' };
}

/**
 * What the user named, when the planner asks for it by that name; else a model path that the launch gives. A model id
 * that is also such a folder means the folder, as engines have it. `read`
 * and `find` keep to the folder of the launch's file.
 */
export function modelSource(
  named: { readonly name: string; readonly config: NamedModel } | undefined,
  read: (path: string) => string | null,
  note: (line: string) => void,
  find: (path: string) => string | null = () => null,
  cached?: ModelSource['cached'],
): ModelSource {
  const asked = (model: string) => (named?.name === model ? named.config : undefined);
  const heads = new Map<string, GgufParts | undefined>();
  return {
    config(model) {
      const own = asked(model);
      if (own || /\.gguf$/i.test(model)) {
        return own && 'json' in own ? own : undefined;
      }
      const path = /\.json$/i.test(model) ? model : join(model, 'config.json');
      const text = read(path);
      const config = text === null ? undefined : withIndex(parsed(text, path), read);
      if (text !== null && !config) {
        note(`${path}: not JSON, so it says nothing about the model`);
      }
      return config;
    },
    gguf(model) {
      const own = asked(model);
      if (own || !/\.gguf$/i.test(model)) {
        return own && 'parts' in own ? own : undefined;
      }
      if (!heads.has(model)) {
        heads.set(model, beside(model));
      }
      return heads.get(model);
    },
    ...(cached && { cached }),
  };

  function beside(model: string): GgufParts | undefined {
    const path = find(model);
    const found = path === null ? undefined : ggufParts(path);
    if (found && 'error' in found) {
      note(`${model}: ${found.error}`);
      return undefined;
    }
    return found && { parts: found.parts, path: model };
  }
}

function parsed(text: string, path: string): Config | undefined {
  try {
    return { json: JSON.parse(text), path };
  } catch {
    return undefined;
  }
}

function withIndex(config: Config | undefined, read: (path: string) => string | null): Config | undefined {
  const text = config && read(join(dirname(config.path), WEIGHT_INDEX));
  const index = text ? parsed(text, WEIGHT_INDEX)?.json : undefined;
  return config && index !== undefined ? { ...config, index } : config;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
