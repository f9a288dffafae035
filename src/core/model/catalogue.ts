/**
 * The bundled catalogue: models by name, without a network. The rows are a JSON text, parsed when the first model is
 * asked for; `catalogue-row.ts` describes them.
 */
import { nearest } from '../nearest';
import { catalogueJson } from './catalogue.generated';
import { modelFromRow } from './catalogue-model';
import type { CatalogueFile, ModelRow } from './catalogue-row';
import type { Model } from './model';
import { isQuantSuffix } from './quantisation';

/** A known name, as it is written, and its row. */
interface Entry {
  readonly row: ModelRow;
  readonly id: string;
}

/** Each is made when it is first needed: most launches give an exact id. */
let file: CatalogueFile | undefined;
let ids: ReadonlyMap<string, Entry> | undefined;
let basenames: ReadonlyMap<string, Entry> | undefined;
const cache = new Map<string, Model | undefined>();
/** Names typed letter by letter must not grow the cache without end. */
const CACHE_LIMIT = 500;

const catalogue = (): CatalogueFile => {
  file ??= JSON.parse(catalogueJson) as CatalogueFile;
  return file;
};

/** Parses it, if nobody has asked yet: some milliseconds, for which one who must not wait long finds a time of its own. */
export const openCatalogue = (): void => void catalogue();

/** By whole id, lower case. */
function byId(): ReadonlyMap<string, Entry> {
  if (!ids) {
    const map = new Map<string, Entry>();
    for (const row of catalogue().models) {
      for (const id of idsOf(row)) {
        map.set(id.toLowerCase(), { row, id });
      }
    }
    ids = map;
  }
  return ids;
}

/** By basename, lower case. Of two ids with one basename the first counts. */
function byBasename(): ReadonlyMap<string, Entry> {
  if (!basenames) {
    const map = new Map<string, Entry>();
    for (const entry of byId().values()) {
      addTo(map, basename(entry.id), entry);
    }
    for (const row of catalogue().models) {
      for (const name of row.b?.split(' ') ?? []) {
        addTo(map, name, { row, id: row.id });
      }
    }
    basenames = map;
  }
  return basenames;
}

function addTo(map: Map<string, Entry>, name: string, entry: Entry): void {
  const key = name.toLowerCase();
  if (!map.has(key)) {
    map.set(key, entry);
  }
}

/** The row's id and its aliases, each with its owner. */
function idsOf(row: ModelRow): string[] {
  const owner = row.id.slice(0, row.id.indexOf('/') + 1);
  return [row.id, ...(row.a?.split(' ') ?? []).map((id) => (id.includes('/') ? id : owner + id))];
}

const basename = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

/**
 * The model that an id or a local path names: an exact id or alias, else its basename, else its basename without the
 * words of a quantised fork. Case does not matter. Undefined when nothing known is meant.
 */
export function findModel(id: string): Model | undefined {
  if (cache.has(id)) {
    return cache.get(id);
  }
  if (cache.size >= CACHE_LIMIT) {
    cache.clear();
  }
  const model = look(id);
  cache.set(id, model);
  return model;
}

function look(asked: string): Model | undefined {
  const text = asked.trim();
  const exact = byId().get(text.toLowerCase());
  if (exact) {
    return modelFromRow(exact.row, catalogue().sources, exact.id, exact.id);
  }
  const entry = forkOf(plainName(text).toLowerCase());
  return entry && modelFromRow(entry.row, catalogue().sources, entry.id, text);
}

/** The longest known basename that the name starts with, the rest being words of a quantised fork. */
function forkOf(name: string): Entry | undefined {
  const known = byBasename();
  const whole = known.get(name);
  if (whole) {
    return whole;
  }
  for (let end = name.length - 1; end > 0; end--) {
    if (/[-_.]/.test(name[end] ?? '')) {
      const entry = known.get(name.slice(0, end));
      if (entry && isQuantSuffix(name.slice(end))) {
        return entry;
      }
    }
  }
  return undefined;
}

/**
 * The model's own name in a path, a Hub cache folder (`models--owner--name/snapshots/…`), a file name
 * (`name-Q4_K_M.gguf`, `name-00001-of-00002.gguf`) or a tagged reference (`name:Q4_K_M`).
 */
function plainName(text: string): string {
  const cached = /models--[^/\\]*?--([^/\\]+)/.exec(text)?.[1];
  const last = cached ?? text.replace(/[/\\]+$/, '').replace(/^.*[/\\]/, '');
  return last.replace(/:[\w.-]+$/, '').replace(/(?:-\d{5}-of-\d{5})?\.gguf$/i, '');
}

/** Every id the catalogue knows, for completion. */
export function modelIds(): string[] {
  return [...byId().values()].map((entry) => entry.id);
}

/** Known ids whose basename is nearest to this one's, nearest first: `Did you mean …?` */
export function nearestModels(id: string, n: number): string[] {
  return nearest(id, modelIds(), n, (name) => plainName(name).toLowerCase());
}
