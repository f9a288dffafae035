/** What Ansible fills in: `{{ x }}` from the variables around a task, and from the defaults of its role. */
import { isMap, isScalar, type Node } from 'yaml';
import type { Reading } from '../reading';
import { type Mapped, refilled } from '../text/mapped';
import { filledNames, type NameLookup } from '../text/replace';
import { parseYaml, type YamlDocument } from '../yaml/document';
import type { Site } from '../yaml/sites';
import { get, items, textAt } from '../yaml/view';

export type Fill = (written: Mapped) => Mapped;

interface Variables {
  readonly doc: YamlDocument;
  readonly root: Node;
}

/** Nearest first; files beside the playbook and of the role are asked for only when a name is not found here. */
export function ansibleVariables(doc: YamlDocument, reading: Reading, site: Site): Fill {
  const maps = [site.node, ...site.around].flatMap((m) => [get(doc, m, 'vars'), factsBefore(doc, m, site)]);
  const own = maps.filter((m) => isMap(m)).map((root): Variables => ({ doc, root }));
  const named = site.around.flatMap((m) => items(doc, get(doc, m, 'vars_files')).map((f) => textAt(doc, f) ?? ''));
  let others: readonly Variables[] | undefined;
  const written = (path: string): string | undefined => {
    const found = valueIn(own, path.split('.'));
    others ??= found === undefined ? filesOf(reading, named) : undefined;
    return found ?? valueIn(others ?? [], path.split('.'));
  };
  const print = (reference: string, lookup: NameLookup) =>
    printed(reference, (path) => written(path) !== undefined, lookup);
  const lookup = filledNames(written, print);
  return (m) => refilled(m, ({ start, end }) => print(doc.text.slice(start, end), lookup));
}

const facts = new WeakMap<Node, ReadonlyMap<Node, Node>>();

/** The nearest `set_fact` before the task in the same list. */
function factsBefore(doc: YamlDocument, map: Node, site: Site): Node | null {
  const known = facts.get(map) ?? factsIn(doc, map);
  facts.set(map, known);
  return known.get(site.node) ?? null;
}

/** By task; one walk of the lists. */
function factsIn(doc: YamlDocument, map: Node): ReadonlyMap<Node, Node> {
  const found = new Map<Node, Node>();
  let last: Node | null = null;
  for (const task of ['pre_tasks', 'tasks', 'block'].flatMap((k) => items(doc, get(doc, map, k)))) {
    if (task && last) {
      found.set(task, last);
    }
    last = get(doc, task, 'set_fact') ?? get(doc, task, 'ansible.builtin.set_fact') ?? last;
  }
  return found;
}

const files = new WeakMap<Reading, Map<string, Variables | undefined>>();

/** `vars_files` of the play; those of the role whose task this is; those of all hosts. */
function filesOf(reading: Reading, named: readonly string[]): readonly Variables[] {
  const inRole = /(?:^|[\\/])(?:tasks|handlers|templates)[\\/][^\\/]+$/.test(reading.input.name);
  const paths = inRole
    ? ['../vars/main.yml', '../defaults/main.yml']
    : [...named.filter((f) => f !== '' && !f.includes('{{')), 'group_vars/all.yml'];
  const read = files.get(reading) ?? new Map<string, Variables | undefined>();
  files.set(reading, read);
  return paths.flatMap((path) => {
    if (!read.has(path)) {
      read.set(path, variablesOf(reading.file(path)));
    }
    return read.get(path) ?? [];
  });
}

function variablesOf(text: string | null | undefined): Variables | undefined {
  const doc = typeof text === 'string' ? parseYaml(text, { start: 0, end: text.length }) : undefined;
  return doc && isMap(doc.root) ? { doc, root: doc.root } : undefined;
}

function valueIn(all: readonly Variables[], path: readonly string[]): string | undefined {
  for (const { doc, root } of all) {
    const node = get(doc, root, ...path);
    if (isScalar(node)) {
      return textAt(doc, node);
    }
  }
  return undefined;
}

const REFERENCE = /^\{\{-?\s*(?:([A-Za-z_][\w.]*)|("[^"]*"|'[^']*'|-?\d+(?:\.\d+)?))\s*((?:\|[^|]*)*?)-?\}\}$/s;

/** `{{ x }}`, `{{ x.y }}`, `{{ x | default('z') | int }}`. Other filters change the value in ways not followed. */
function printed(reference: string, isSet: (path: string) => boolean, lookup: NameLookup): string | undefined {
  const [, name, literal, filters = ''] = REFERENCE.exec(reference) ?? [];
  let value = name === undefined ? literal?.replace(/^["']|["']$/g, '') : lookup(name);
  for (const filter of filters
    .split('|')
    .map((f) => f.trim())
    .filter((f) => f !== '')) {
    const fallback = /^(?:default|d)\(\s*(?:"([^"]*)"|'([^']*)'|(-?\d+(?:\.\d+)?))\s*(?:,\s*(?:true|True)\s*)?\)$/.exec(
      filter,
    );
    if (!fallback && !/^(?:int|float|string|quote|trim|default\(omit\))$/.test(filter)) {
      return undefined;
    }
    if (name !== undefined && !isSet(name)) {
      value ??= fallback?.[1] ?? fallback?.[2] ?? fallback?.[3];
    }
  }
  return value;
}
