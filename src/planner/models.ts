/** The model of a launch: what flags, directives or the file name, looked up in a config.json at hand and the catalogue. */

import type { Engine, Fix } from '../core/engines/engine';
import { findModel, nearestModels } from '../core/model/catalogue';
import { modelFromConfig } from '../core/model/config-json';
import { readGguf } from '../core/model/gguf';
import { modelFromGguf } from '../core/model/gguf-model';
import { type Model, ModelError } from '../core/model/model';
import { INDEXED, indexedBytes, withWeights } from '../core/model/weight-index';
import type { Launch } from '../launch/launch';
import type { ModelFacts, ModelSource } from '../planner';
import type { Ask } from './asks';
import type { Located } from './findings';

/** Facts at hand win over the catalogue: they are the very model's. Throws `ModelError` when they cannot be understood. */
export function namedModel(
  name: string,
  models: ModelSource | undefined,
  engine: Pick<Engine, 'modelName'>,
): Model | undefined {
  const config = models?.config(name);
  if (config) {
    const model = modelFromConfig(config.json, { id: name, path: config.path });
    const bytes = indexedBytes(config.index);
    return bytes === undefined ? model : withWeights(model, bytes, INDEXED);
  }
  const gguf = models?.gguf?.(name);
  const asked = engine.modelName?.(name) ?? name;
  return gguf ? ggufModel(name, gguf) : (findModel(asked) ?? cachedModel(name, models?.cached?.(asked)));
}

const cachedModels = new WeakMap<ModelFacts, Model>();

function cachedModel(id: string, facts: ModelFacts | undefined): Model | undefined {
  const known = facts && cachedModels.get(facts);
  if (!facts || known?.id === id) {
    return known;
  }
  const { json, parts, path, weights } = facts;
  const bare = parts ? ggufModel(id, { parts, path }) : modelFromConfig(json, { id, path });
  const model = weights ? withWeights(bare, weights.bytes, weights.why) : bare;
  cachedModels.set(facts, model);
  return model;
}

/** A header is read once, and a model is one object: plans are remembered by it. */
const ggufModels = new WeakMap<Uint8Array, Model>();

function ggufModel(id: string, { parts, path }: NonNullable<ReturnType<NonNullable<ModelSource['gguf']>>>): Model {
  const [first] = parts;
  const known = first && ggufModels.get(first);
  if (known?.id === id) {
    return known;
  }
  const headers = parts.map((bytes) => {
    const header = readGguf(bytes);
    if ('needs' in header) {
      throw new ModelError('the GGUF file is cut off within its header');
    }
    return header;
  });
  const model = modelFromGguf({ headers, path }, id);
  if (first) {
    ggufModels.set(first, model);
  }
  return model;
}

export function modelOf(
  launch: Launch,
  ask: Ask,
  models: ModelSource | undefined,
  engine: Pick<Engine, 'modelName'>,
  found: Located[],
): Model | undefined {
  const asked = ask.get('model-config') ?? ask.get('model');
  const written = launch.model;
  const name = asked?.text ?? (written?.unresolved === undefined ? written?.text : undefined);
  const range = asked?.range ?? written?.range;
  const refuse = (code: string, message: string, fixes: readonly Fix[] = []): undefined => {
    const option = launch.options.findLast((o) => o.spec?.role === 'model')?.name ?? 'model';
    found.push({ finding: { code, severity: 'error', message, option, fixes, refuses: false }, range });
    return undefined;
  };
  const unknown = (model: string): undefined => {
    const near = nearestModels(model, 3);
    // Only where the launch itself names it: a directive is no option.
    return refuse('model-unknown', unknownModel(model, near), asked ? [] : near.map(nearModel));
  };
  if (name === undefined) {
    return written?.unresolved === undefined
      ? refuse('model-missing', 'The launch names no model. Say it in a comment, `# kv-planner: model=org/name`.')
      : refuse(
          'model-unresolved',
          `The model is unknown: ${written.unresolved}. Say it in a comment, \`# kv-planner: model=org/name\`.`,
        );
  }
  try {
    return namedModel(name, models, engine) ?? unknown(name);
  } catch (error) {
    if (error instanceof ModelError) {
      return refuse('model-not-understood', `The config of ${name} was not understood: ${error.message}`);
    }
    throw error;
  }
}

/** A name long enough to be a mistake is told by its beginning. */
const clipped = (name: string): string => (name.length > 120 ? `${name.slice(0, 120)}…` : name);

const nearModel = (id: string): Fix => ({ title: `Use ${id}, which is known`, option: 'model', value: id });

function unknownModel(name: string, near: readonly string[]): string {
  const like = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '';
  return `The model “${clipped(name)}” is not in the catalogue.${like} A config.json gives its facts: \`--model-config\`, or \`# kv-planner: model=\` one that is known.`;
}
