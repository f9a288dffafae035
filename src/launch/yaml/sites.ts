/** Maps of a document with the maps around them: what a pod says holds for its containers. */
import { isMap, isPair, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { YamlDocument } from './document';
import { follow, textAt } from './view';

export interface Site {
  readonly node: YAMLMap;
  /** Keys on the way to it, innermost first; an item has its list's. */
  readonly keys: readonly string[];
  /** Innermost first. */
  readonly around: readonly YAMLMap[];
}

export interface Walk {
  /** Keys of maps, and of lists of maps, that are wanted. */
  wanted(key: string, node: YAMLMap): boolean;
  /** Keys that are not looked into. */
  skipped(key: string): boolean;
}

const MAX_DEPTH = 40;

/** In document order. Aliases are followed only where they stand for something wanted: the rest is walked where it stands. */
export function* sitesIn(doc: YamlDocument, root: Node | null, walk: Walk): Generator<Site> {
  const around: Around = { maps: [], keys: [] };
  if (isMap(root)) {
    yield* inMap(doc, root, around, walk);
  } else if (isSeq(root)) {
    yield* inList(doc, root.items, around, walk);
  }
}

interface Around {
  readonly maps: readonly YAMLMap[];
  readonly keys: readonly string[];
}

function* inMap(doc: YamlDocument, map: YAMLMap, around: Around, walk: Walk): Generator<Site> {
  if (around.maps.length > MAX_DEPTH || isOff(doc, map)) {
    return;
  }
  const maps = [map, ...around.maps];
  for (const pair of map.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    if (!isPair(pair) || walk.skipped(key)) {
      continue;
    }
    const value = key === '<<' ? pair.value : follow(doc, pair.value);
    const inside = { maps, keys: [key, ...around.keys] };
    if (isMap(value)) {
      yield* at(doc, value, inside, walk, value === pair.value);
    } else if (isSeq(value)) {
      yield* inList(doc, value.items, inside, walk);
    }
  }
}

function* inList(doc: YamlDocument, list: readonly unknown[], around: Around, walk: Walk): Generator<Site> {
  for (const item of list) {
    const value = follow(doc, item);
    if (isMap(value)) {
      yield* at(doc, value, around, walk, value === item);
    }
  }
}

function* at(doc: YamlDocument, node: YAMLMap, around: Around, walk: Walk, direct: boolean): Generator<Site> {
  if (walk.wanted(around.keys[0] ?? '', node)) {
    if (!isOff(doc, node)) {
      yield { node, keys: around.keys, around: around.maps };
    }
  } else if (direct) {
    yield* inMap(doc, node, around, walk);
  }
}

/** Keys that say whether what stands in the map runs at all. */
const SWITCHES: readonly (readonly [string, RegExp])[] = [
  ['enabled', /^(?:false|no|off)$/i],
  ['create', /^(?:false|no|off)$/i],
  ['replicas', /^0$/],
  ['replicaCount', /^0$/],
];

/** `enabled: false`, `replicas: 0`: nothing in it starts. */
function isOff(doc: YamlDocument, map: YAMLMap): boolean {
  return SWITCHES.some(([key, off]) => map.has(key) && off.test(textAt(doc, map, key) ?? ''));
}

/** The nearest value under this path in the maps around, the site itself first. */
export function nearest<T>(site: Site, read: (map: YAMLMap) => T | undefined): T | undefined {
  for (const map of [site.node, ...site.around]) {
    const found = read(map);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** The whole object the site stands in: a list of objects holds several. */
export const objectOf = (site: Site): Node =>
  [site.node, ...site.around].find((m) => m.has('kind') && m.has('apiVersion')) ?? site.around.at(-1) ?? site.node;
