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

/** `set_fact` of an earlier task of the same list. */
function factsBefore(doc: YamlDocument, map: Node, site: Site): Node | null {
  const tasks = ['tasks', 'pre_tasks', 'block'].flatMap((k) => items(doc, get(doc, map, k)));
  const at = tasks.indexOf(site.node);
  const facts = tasks
    .slice(0, Math.max(at, 0))
    .map((t) => get(doc, t, 'set_fact') ?? get(doc, t, 'ansible.builtin.set_fact'));
  return facts.findLast((f) => f !== null) ?? null;
}

/** `vars_files` of the play; those of the role whose task this is; those of all hosts. */
function filesOf(reading: Reading, named: readonly string[]): readonly Variables[] {
  const inRole = /(?:^|[\\/])(?:tasks|handlers|templates)[\\/][^\\/]+$/.test(reading.input.name);
  const paths = inRole
    ? ['../vars/main.yml', '../defaults/main.yml']
    : [...named.filter((f) => f !== '' && !f.includes('{{')), 'group_vars/all.yml'];
  return paths.flatMap((path) => {
    const text = reading.file(path);
    const doc = typeof text === 'string' ? parseYaml(text, { start: 0, end: text.length }) : undefined;
    return doc && isMap(doc.root) ? [{ doc, root: doc.root }] : [];
  });
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
