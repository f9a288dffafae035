/** A service of a compose file with all it extends, and what stands around it: variables, files that it sees. */
import type { Node } from 'yaml';
import { readEnvFile } from '../env-file';
import type { TextRange } from '../launch';
import type { Reading } from '../reading';
import { type Mapped, rangeOf, unit, unknown, unresolvedIn } from '../text/mapped';
import { expandCompose, type Lookup } from '../words/expand';
import { contentRange, parseYaml, type YamlDocument } from '../yaml/document';
import { get, items, scalarAt, textAt } from '../yaml/view';

/** What `${X}` means in the file: the project's `.env` where there is one; read only when asked. */
export function projectVariables(reading: Reading): Lookup {
  let known: ReadonlyMap<string, string> | undefined;
  return (name) => {
    known ??= readEnvFile(reading.file('.env') ?? '');
    return known.get(name);
  };
}

export interface Context {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly lookup: Lookup;
  /** Where the words stand that name this document, which is another file's. */
  readonly named?: TextRange;
}

/** What a service says itself, and what it extends: nearest first. */
export interface Layered {
  readonly c: Context;
  readonly node: Node | null;
}

/** The nearest that says something. */
export function nearestOf<T>(layers: readonly Layered[], read: (l: Layered) => T | undefined): T | undefined {
  for (const layer of layers) {
    const found = read(layer);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** Services that extend others further than this are cut. */
const MAX_EXTENDS = 20;

/** `extends: base`, `extends: {service: base}`, `extends: {file: common.yaml, service: base}`. */
export function layersOf(c: Context, node: Node | null, depth = 0): readonly Layered[] {
  const own = { c, node };
  const extended = get(c.doc, node, 'extends');
  const name = scalarAt(c.doc, extended) ?? scalarAt(c.doc, get(c.doc, extended, 'service'));
  if (!name || depth > MAX_EXTENDS) {
    return [own];
  }
  const file = scalarOf(c, get(c.doc, extended, 'file'));
  const inner = file ? otherFile(c, file) : c;
  const base = inner && get(inner.doc, inner.doc.root, 'services', name.text);
  return inner && base ? [own, ...layersOf(inner, base, depth + 1)] : [own];
}

/** Another file has its place where it is named. */
function otherFile(c: Context, file: Mapped): Context | undefined {
  const text = unresolvedIn(file) === undefined ? c.reading.file(file.text) : undefined;
  return typeof text === 'string'
    ? { ...c, doc: parseYaml(text, { start: 0, end: text.length }), named: c.named ?? rangeOf(file) }
    : undefined;
}

/** Files written in the compose file itself (`configs: {x: {content: …}}`), where the service sees them. */
export function mountConfigs(c: Context, layers: readonly Layered[]): void {
  for (const { c: at, node } of layers.filter((l) => !l.c.named)) {
    for (const mount of items(at.doc, get(at.doc, node, 'configs'))) {
      const source = scalarAt(at.doc, mount)?.text ?? textAt(at.doc, mount, 'source');
      const target = textAt(at.doc, mount, 'target') ?? `/${source}`;
      const content = scalarAt(at.doc, get(at.doc, at.doc.root, 'configs', source ?? '', 'content'));
      const range = content && contentRange(at.doc.text, content.extent);
      if (content && range) {
        c.reading.written.set(target, { body: { ...content, extent: range }, lookup: c.lookup });
      }
    }
  }
}

/** The file of the host that the container sees at a path. */
export function hostPath(layers: readonly Layered[], path: string): string | undefined {
  for (const { c, node } of layers) {
    for (const volume of items(c.doc, get(c.doc, node, 'volumes'))) {
      const short = scalarOf(c, volume)?.text.split(':');
      const source = short?.[0] ?? scalarOf(c, get(c.doc, volume, 'source'))?.text;
      const target = (short?.[1] ?? scalarOf(c, get(c.doc, volume, 'target'))?.text)?.replace(/\/$/, '');
      if (source?.startsWith('.') && target && (path === target || path.startsWith(`${target}/`))) {
        return source.replace(/^\.\//, '').replace(/\/$/, '') + path.slice(target.length);
      }
    }
  }
  return undefined;
}

export function scalarOf(c: Context, node: Node | null): Mapped | undefined {
  const text = scalarAt(c.doc, node);
  const expanded = text && expandCompose(text, c.lookup);
  return expanded && c.named ? moved(expanded, c.named) : expanded;
}

/** Text of another file, with the place of its name. */
function moved(text: Mapped, named: TextRange): Mapped {
  const unresolved = unresolvedIn(text);
  return unresolved === undefined ? unit(text.text, named) : unknown(text.text, named, unresolved);
}
