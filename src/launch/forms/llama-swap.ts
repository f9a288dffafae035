/** llama-swap's config: `models.NAME.cmd` starts a server, with macros filled in; those of a model win. llama-swap `config.example.yaml`. */
import { isScalar } from 'yaml';
import { assemble } from '../assemble';
import type { Insertion, Layer } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { addPart, builder, finish, type Mapped, part } from '../text/mapped';
import { findStart } from '../words/find-start';
import { type Known, splice } from '../words/splice';
import { splitWords } from '../words/split';
import { surrounded } from '../words/start';
import { assignedName, type Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { type Entry, entries, get, items, nodeRange, scalarAt } from '../yaml/view';
import type { YamlForm } from './form';

export const llamaSwap: YamlForm = {
  kind: 'yaml',
  form: 'llama-swap',
  names: /(?:^|[\\/])llama-?swap[^\\/]*\.ya?ml$/i,
  recognises: (keys, reading) =>
    reading.input.form === 'llama-swap' ||
    (keys.has('models') && !keys.has('apiVersion') && /^\s+["']?cmd["']?\s*:/m.test(reading.text)),
  read: (doc, reading) => {
    const shared = macrosOf(doc, doc.root, () => undefined);
    for (const model of entries(doc, get(doc, doc.root, 'models'))) {
      readModel(doc, reading, model, shared);
    }
  },
};

type Macros = (name: string) => Known;

const REFERENCE = /\$\{([A-Za-z_][\w.-]*)\}/g;

/** Filled in when the server starts. */
const RESERVED: Readonly<Record<string, string>> = {
  PORT: 'llama-swap picks the port',
  PID: 'it is the number of the process',
};

/** A macro may hold the ones before it, and those of all models. */
function macrosOf(doc: YamlDocument, map: Entry['value'], outer: Macros): Macros {
  const known = new Map<string, Mapped>();
  const lookup: Macros = (name) => known.get(name) ?? outer(name) ?? unknown(name);
  const list = get(doc, map, 'macros');
  const single = items(doc, list).flatMap((i) => entries(doc, i));
  for (const macro of [...entries(doc, list), ...single]) {
    const text = scalarAt(doc, macro.value);
    if (text) {
      known.set(macro.key, splice(withoutComments(text), REFERENCE, lookup));
    }
  }
  return (name) => known.get(name) ?? outer(name);
}

function unknown(name: string): Known {
  const reason =
    RESERVED[name] ?? (name.startsWith('env.') ? `${name.slice(4)} comes from the environment` : undefined);
  return { unresolved: reason ?? `the macro ${name} is not defined` };
}

function readModel(doc: YamlDocument, reading: Reading, model: Entry, shared: Macros): void {
  const cmd = scalarAt(doc, get(doc, model.value, 'cmd'));
  if (!cmd) {
    return;
  }
  const own = macrosOf(doc, model.value, shared);
  const lookup: Macros = (name) => (name === 'MODEL_ID' ? nameOf(doc, model) : (own(name) ?? unknown(name)));
  const words = splitWords(splice(withoutComments(cmd), REFERENCE, lookup));
  const found = findStart(words, reading.engines);
  if (!found) {
    return;
  }
  const environment = items(doc, get(doc, model.value, 'env')).flatMap((i) => assigned(scalarAt(doc, i), lookup));
  const start = (model.keyNode.range?.[0] ?? 0) + doc.base;
  const range = { start, end: model.value ? Math.max(start, nodeRange(doc, model.value).end) : start };
  const around = surrounded(found, [...environment, ...found.environment], found.hardware);
  if (around.kind === 'script') {
    readScript(reading, around, { form: 'llama-swap', title: model.key, range });
    return;
  }
  const insertion = endsIn(cmd, words.at(-1)) ? {} : { insertion: insertionAt(doc.text, cmd) };
  reading.found(
    assemble(reading, { form: 'llama-swap', title: model.key, range, start: around, shell: true, ...insertion }),
  );
}

/** Else it came out of a macro, which other models may share. */
const endsIn = (cmd: Mapped, last: Mapped | undefined): boolean =>
  last !== undefined && last.extent.end >= cmd.extent.start && last.extent.end <= cmd.extent.end;

/** After the command's own last character, where its last words come out of a macro. */
function insertionAt(text: string, cmd: Mapped): Insertion {
  const end = cmd.segments.at(-1)?.end ?? cmd.extent.end;
  const at = end - (/\s*$/.exec(text.slice(0, end))?.[0].length ?? 0);
  const layers: readonly Layer[] = [...cmd.layers, { kind: 'shell-bare', range: { start: at, end: at } }];
  return { at, text: ' --{name} {value}', layers };
}

const nameOf = (doc: YamlDocument, model: Entry): Known =>
  isScalar(model.keyNode) ? scalarAt(doc, model.keyNode) : undefined;

function assigned(item: Mapped | undefined, lookup: Macros): readonly Variable[] {
  const name = item && assignedName(item.text);
  return item && name !== undefined
    ? [{ name, value: splice(part(item, name.length + 1, item.text.length), REFERENCE, lookup) }]
    : [];
}

/** Lines of a command that begin with `#` are left out. */
function withoutComments(m: Mapped): Mapped {
  if (!/^\s*#/m.test(m.text)) {
    return m;
  }
  const b = builder();
  let from = 0;
  for (const found of m.text.matchAll(/^[ \t]*#[^\n]*/gm)) {
    addPart(b, m, from, found.index);
    from = found.index + found[0].length;
  }
  addPart(b, m, from, m.text.length);
  return finish(b, m.layers, m.extent);
}
