/**
 * Taskfiles (Task 3): `cmds` of every task, each a shell's own, with the variables of the file and the task filled in.
 */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { readEnvFile } from '../env-file';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type Mapped, refilled, unit } from '../text/mapped';
import { filledNames, type NameLookup } from '../text/replace';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { entries, get, items, nodeRange, scalarAt, textAt } from '../yaml/view';
import type { YamlForm } from './form';

export const taskfile: YamlForm = {
  kind: 'yaml',
  form: 'taskfile',
  names: /(?:^|[\\/])taskfile[\w.-]*\.ya?ml$/i,
  recognises: (keys, reading) =>
    reading.input.form === 'taskfile' || (keys.has('tasks') && keys.has('version') && !keys.has('apiVersion')),
  read: (doc, reading) => {
    for (const { key, value } of entries(doc, get(doc, doc.root, 'tasks'))) {
      readTask(doc, reading, key, value);
    }
  },
};

function readTask(doc: YamlDocument, reading: Reading, title: string, task: Node | null): void {
  const maps = [task, doc.root].filter((n) => isMap(n));
  const fill = filling(doc, maps);
  const environment = [...fromFiles(doc, reading, maps), ...maps.reverse().flatMap((m) => variablesIn(doc, m, fill))];
  const written = isMap(task)
    ? [get(doc, task, 'cmd'), ...items(doc, get(doc, task, 'cmds'))]
    : isSeq(task)
      ? items(doc, task)
      : [task];
  for (const command of written) {
    const script = scalarAt(doc, isMap(command) ? get(doc, command, 'cmd') : command);
    if (script) {
      readScript(
        reading,
        { kind: 'script', environment, hardware: {}, script: fill(script) },
        { form: 'taskfile', title },
      );
    }
  }
}

function variablesIn(doc: YamlDocument, map: Node, fill: (m: Mapped) => Mapped): readonly Variable[] {
  return entries(doc, get(doc, map, 'env')).flatMap((e) => {
    const value = isScalar(e.value) ? scalarAt(doc, e.value) : undefined;
    return value ? [{ name: e.key, value: fill(value) }] : [];
  });
}

/** `dotenv: ['.env']`: the first file that sets a variable counts; the place is the file's name. */
function fromFiles(doc: YamlDocument, reading: Reading, maps: readonly Node[]): readonly Variable[] {
  return maps
    .flatMap((map) => items(doc, get(doc, map, 'dotenv')))
    .reverse()
    .flatMap((item) => {
      const path = textAt(doc, item);
      const text =
        item && path !== undefined && !path.includes('{{') ? reading.file(path.replace(/^\.\//, '')) : undefined;
      const at = item && nodeRange(doc, item);
      return at && typeof text === 'string'
        ? [...readEnvFile(text)].map(([name, v]) => ({ name, value: unit(v, at) }))
        : [];
    });
}

const REFERENCE = /^\{\{-?\s*(?:default\s+("[^"]*"|\d+)\s+)?\.(\w+)\s*(?:\|\s*default\s+("[^"]*"|\d+)\s*)?-?\}\}$/;

/** `{{.X}}`, `{{.X | default "y"}}`, `{{default "y" .X}}` of the task's own variables, then the file's. */
function filling(doc: YamlDocument, maps: readonly Node[]): (m: Mapped) => Mapped {
  const node = (name: string) =>
    maps.map((m) => get(doc, m, 'vars', name) ?? get(doc, m, 'env', name)).find((n) => n !== null);
  const print = (reference: string, lookup: NameLookup): string | undefined => {
    const [, before, name = '', after] = REFERENCE.exec(reference) ?? [];
    return node(name) ? lookup(name) : (before ?? after)?.replaceAll('"', '');
  };
  const lookup = filledNames((name) => textAt(doc, node(name)), print);
  return (m) => refilled(m, ({ start, end }) => print(doc.text.slice(start, end), lookup));
}
