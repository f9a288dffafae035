/** Reading of parsed YAML: keys with merges, items, aliases followed; bounded whatever the document says. */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { TextRange } from '../launch';
import type { Mapped } from '../text/mapped';
import type { YamlDocument } from './document';
import { scalarText } from './scalar';
import { isMasked } from './template';

/** A chain of aliases or merges longer than this is cut. */
const MAX_CHAIN = 50;

export interface Entry {
  readonly key: string;
  readonly keyNode: Scalar;
  /** Aliases followed; null for a missing value. */
  readonly value: Node | null;
}

export function follow(doc: YamlDocument, node: unknown): Node | null {
  let at = node;
  for (let i = 0; isAlias(at); i++) {
    if (i >= MAX_CHAIN) {
      return null;
    }
    at = doc.target(at);
  }
  return (at as Node | null | undefined) ?? null;
}

/** The map's own keys and those merged in, each once: the last own one wins, then the first merge that has it. */
export function entries(doc: YamlDocument, node: unknown): readonly Entry[] {
  const map = follow(doc, node);
  if (!isMap(map)) {
    return [];
  }
  const found = new Map<string, Entry>();
  collect(doc, map, found, { left: MAX_CHAIN });
  return [...found.values()];
}

function collect(doc: YamlDocument, map: YAMLMap, found: Map<string, Entry>, budget: { left: number }): void {
  const merged: unknown[] = [];
  const before = new Set(found.keys());
  for (const pair of map.items) {
    const key = keyOf(pair);
    if (key?.value === '<<' && key.type === 'PLAIN') {
      merged.push(pair.value);
    } else if (key && !before.has(String(key.value))) {
      found.delete(String(key.value));
      found.set(String(key.value), { key: String(key.value), keyNode: key, value: follow(doc, pair.value) });
    }
  }
  for (const source of merged.flatMap((m) => mergeSources(doc, m))) {
    if (budget.left-- > 0) {
      collect(doc, source, found, budget);
    }
  }
}

function keyOf(pair: Pair<unknown, unknown>): Scalar | undefined {
  return isScalar(pair.key) ? pair.key : undefined;
}

function mergeSources(doc: YamlDocument, node: unknown): readonly YAMLMap[] {
  const target = follow(doc, node);
  const all = isSeq(target) ? target.items.map((i) => follow(doc, i)) : [target];
  return all.filter((m) => isMap(m));
}

export function entry(doc: YamlDocument, node: unknown, key: string): Entry | undefined {
  const map = follow(doc, node);
  if (!isMap(map)) {
    return undefined;
  }
  const own = ownPair(map, key);
  const ownKey = own && keyOf(own);
  if (own && ownKey) {
    return { key, keyNode: ownKey, value: follow(doc, own.value) };
  }
  return ownPair(map, '<<') ? entries(doc, map).find((e) => e.key === key) : undefined;
}

/** Maps with more keys than this are looked up by an index. */
const FEW = 16;
const indexes = new WeakMap<YAMLMap, ReadonlyMap<unknown, Pair<unknown, unknown>>>();

/** The last one with that key. */
function ownPair(map: YAMLMap, key: string): Pair<unknown, unknown> | undefined {
  if (map.items.length <= FEW) {
    for (let i = map.items.length - 1; i >= 0; i--) {
      const pair = map.items[i] as Pair<unknown, unknown>;
      if (keyOf(pair)?.value === key) {
        return pair;
      }
    }
    return undefined;
  }
  let index = indexes.get(map);
  if (!index) {
    index = new Map(map.items.map((p) => [keyOf(p)?.value, p]));
    indexes.set(map, index);
  }
  return index.get(key);
}

export function get(doc: YamlDocument, node: unknown, ...path: readonly string[]): Node | null {
  let at: Node | null = follow(doc, node);
  for (const key of path) {
    at = entry(doc, at, key)?.value ?? null;
  }
  return at;
}

export function items(doc: YamlDocument, node: unknown): readonly (Node | null)[] {
  const list = follow(doc, node);
  return isSeq(list) ? list.items.map((i) => follow(doc, i)) : [];
}

/** The text of a scalar; undefined for anything else and for an empty value. */
export function scalarAt(doc: YamlDocument, node: unknown): Mapped | undefined {
  const scalar = follow(doc, node);
  return isScalar(scalar) && (scalar.value !== '' || scalar.type !== 'PLAIN') ? scalarText(doc, scalar) : undefined;
}

export function textAt(doc: YamlDocument, node: unknown, ...path: readonly string[]): string | undefined {
  const found = get(doc, node, ...path);
  if (!isScalar(found)) {
    return undefined;
  }
  const text = String(found.value ?? '');
  return doc.template && isMasked(text) ? shown(doc, found) : text;
}

/** With its templates as they are written. */
function shown(doc: YamlDocument, node: Scalar): string {
  const { start, end } = nodeRange(doc, node);
  return doc.text.slice(start, end).replace(/^(["'])(.*)\1$/s, '$2');
}

/** Source range of a node, without trailing comments and line ends. */
export function nodeRange(doc: YamlDocument, node: Node): TextRange {
  const [start, end] = node.range ?? [0, 0];
  return { start: start + doc.base, end: trimmedEnd(doc.text, start + doc.base, end + doc.base) };
}

/** A block ends where its last character does, not on the next line. */
export function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(text.charAt(at - 1))) {
    at--;
  }
  return at;
}
