/** Facts that were fetched from the Hub, kept in the extension's own storage: being offline is normal. */

import * as v from 'valibot';
import { Uri, workspace } from 'vscode';
import type { HubName } from '../core/model/hub-names';
import type { ModelFacts } from '../planner';

const KEPT = v.object({
  version: v.literal(1),
  path: v.string(),
  json: v.optional(v.unknown()),
  weights: v.optional(v.object({ bytes: v.number(), why: v.string() })),
  /** How many heads of GGUF files lie beside. */
  parts: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))),
});

export interface FactsStore {
  read(name: HubName): Promise<ModelFacts | undefined>;
  write(name: HubName, facts: ModelFacts): Promise<void>;
}

export function createFactsStore(storage: Uri): FactsStore {
  const folder = Uri.joinPath(storage, 'models');
  const file = ({ repo, tag = '' }: HubName, ending: string) =>
    Uri.joinPath(folder, `${encodeURIComponent(`${repo}:${tag}`).replaceAll('%', '_')}.${ending}`);
  return {
    async read(name) {
      try {
        const text = new TextDecoder().decode(await workspace.fs.readFile(file(name, 'json')));
        const { path, json, weights, parts } = v.parse(KEPT, JSON.parse(text));
        const numbers = Array.from({ length: parts ?? 0 }, (_, i) => i);
        const heads = await Promise.all(numbers.map((i) => workspace.fs.readFile(file(name, `${i}.gguf`))));
        return {
          path,
          ...(json !== undefined && { json }),
          ...(weights && { weights }),
          ...(heads.length > 0 && { parts: heads }),
        };
      } catch {
        return undefined; // never fetched, or of an older version of this extension
      }
    },
    async write(name, { parts, ...facts }) {
      for (const [i, part] of (parts ?? []).entries()) {
        await workspace.fs.writeFile(file(name, `${i}.gguf`), part);
      }
      const kept = { version: 1, ...facts, ...(parts && { parts: parts.length }) };
      await workspace.fs.writeFile(file(name, 'json'), new TextEncoder().encode(JSON.stringify(kept)));
    },
  };
}
