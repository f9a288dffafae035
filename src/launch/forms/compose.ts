/** Docker Compose: every service that starts an engine. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { assemble } from '../assemble';
import { readEnvFile } from '../env-file';
import type { HardwareHint, Insertion } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type Mapped, part, rangeOf, unit, unresolvedIn } from '../text/mapped';
import { gpuCount } from '../words/container';
import { expandCompose, type Lookup } from '../words/expand';
import { readImage } from '../words/image';
import { joined } from '../words/joined';
import { splitWords } from '../words/split';
import { type Found, nearer, type Surroundings, startInImage, surrounded } from '../words/start';
import { assignedName, type Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { endOfItem, eolOf, listInsertion } from '../yaml/insertion';
import { type Entry, entries, entry, get, items, nodeRange, scalarAt } from '../yaml/view';
import type { YamlForm } from './form';

export const compose: YamlForm = {
  kind: 'yaml',
  form: 'compose',
  names: /(?:^|[\\/])(?:docker-)?compose[^\\/]*\.ya?ml$|\.compose\.ya?ml$/i,
  recognises: (keys, reading) => reading.input.form === 'compose' || (keys.has('services') && !keys.has('apiVersion')),
  read: (doc, reading) => {
    const lookup = projectVariables(reading);
    for (const service of entries(doc, get(doc, doc.root, 'services'))) {
      readService({ doc, reading, lookup }, service);
    }
  },
};

/** What `${X}` means in the file: the project's `.env` where there is one; read only when asked. */
function projectVariables(reading: Reading): Lookup {
  let known: ReadonlyMap<string, string> | undefined;
  return (name) => {
    known ??= readEnvFile(reading.file('.env') ?? '');
    return known.get(name);
  };
}

interface Context {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly lookup: Lookup;
}

function readService(c: Context, service: Entry): void {
  const image = scalarOf(c, get(c.doc, service.value, 'image'));
  const entry = wordsOf(c, get(c.doc, service.value, 'entrypoint'));
  const command = wordsOf(c, get(c.doc, service.value, 'command'));
  const known = image && readImage(image, c.reading.engines);
  if (!known && !entry && !command) {
    return;
  }
  const around: Surroundings = { environment: [], hardware: {}, image: known };
  const found = startInImage(entry?.words, command?.words ?? [], c.reading.engines, around, image);
  if (found) {
    place(c, service, withMachine(c, service, found), command ?? entry, image);
  }
}

/** Read only for a service that starts something. */
function withMachine(c: Context, service: Entry, found: Found): Found {
  const environment = [...environmentOf(c, service.value), ...found.environment];
  return surrounded(found, environment, nearer(hardwareOf(c, service.value), found.hardware));
}

function place(c: Context, service: Entry, found: Found, words: Words | undefined, image: Mapped | undefined): void {
  const { reading, doc } = c;
  const range = serviceRange(doc, service);
  if (found.kind === 'script') {
    readScript(reading, found, { form: 'compose', title: service.key, range });
    return;
  }
  const insertion = insertionOf(c, service, words, image);
  const shell = words?.shell ?? false;
  reading.found(assemble(reading, { form: 'compose', title: service.key, range, start: found, shell, insertion }));
}

function serviceRange(doc: YamlDocument, service: Entry) {
  const start = (service.keyNode.range?.[0] ?? 0) + doc.base;
  const value = service.value ? nodeRange(doc, service.value) : { start, end: start };
  return { start, end: value.start >= start ? value.end : start + service.key.length };
}

function insertionOf(
  c: Context,
  service: Entry,
  words: Words | undefined,
  image: Mapped | undefined,
): Insertion | undefined {
  if (words) {
    return words.shell ? undefined : listInsertion(c.doc, words.node, 'compose');
  }
  const key = entry(c.doc, service.value, 'image')?.keyNode;
  if (!key || !image || !isMap(service.value) || service.value.flow) {
    return undefined;
  }
  const start = (key.range?.[0] ?? 0) + c.doc.base;
  const indent = c.doc.text.slice(c.doc.text.lastIndexOf('\n', start - 1) + 1, start);
  const at = endOfItem(c.doc.text, image.extent.end);
  const range = { start: at, end: at };
  return /^\s*$/.test(indent)
    ? {
        at,
        text: `${eolOf(c.doc.text)}${indent}command: ["--{name}", "{value}"]`,
        layers: [
          { kind: 'yaml-double', range },
          { kind: 'compose', range },
        ],
      }
    : undefined;
}

interface Words {
  readonly words: readonly Mapped[];
  readonly shell: boolean;
  readonly node: Node;
}

function scalarOf(c: Context, node: Node | null): Mapped | undefined {
  const text = scalarAt(c.doc, node);
  return text && expandCompose(text, c.lookup);
}

/** A string is split as a shell would; items of a list are words as they stand. */
function wordsOf(c: Context, node: Node | null): Words | undefined {
  if (isScalar(node)) {
    const text = scalarOf(c, node);
    return text && { words: splitWords(text), shell: true, node };
  }
  if (!isSeq(node)) {
    return undefined;
  }
  const words = items(c.doc, node).flatMap((i) => {
    const word = scalarOf(c, i);
    return word ? joined(word) : [];
  });
  return { words, shell: false, node };
}

function environmentOf(c: Context, service: Node | null): readonly Variable[] {
  const node = get(c.doc, service, 'environment');
  const own = isSeq(node)
    ? items(c.doc, node).flatMap((i) => listed(scalarOf(c, i)))
    : entries(c.doc, node).flatMap((e) => mapped(e.key, scalarOf(c, e.value)));
  return [...fromEnvFiles(c, service), ...own];
}

const mapped = (name: string, value: Mapped | undefined): readonly Variable[] => (value ? [{ name, value }] : []);

function listed(item: Mapped | undefined): readonly Variable[] {
  const name = item && assignedName(item.text);
  return item && name !== undefined ? [{ name, value: part(item, name.length + 1, item.text.length) }] : [];
}

/** Their texts stand in another file: the place is the name of that file. */
function fromEnvFiles(c: Context, service: Node | null): readonly Variable[] {
  const node = get(c.doc, service, 'env_file');
  const named = isSeq(node) ? items(c.doc, node) : [node];
  return named.flatMap((n) => {
    const path = scalarOf(c, isMap(n) ? get(c.doc, n, 'path') : n);
    const text = path && unresolvedIn(path) === undefined ? c.reading.file(path.text) : undefined;
    return path && typeof text === 'string'
      ? [...readEnvFile(text)].map(([name, value]) => ({ name, value: unit(value, rangeOf(path)) }))
      : [];
  });
}

/** `gpus:`, and devices reserved under `deploy`. */
function hardwareOf(c: Context, service: Node | null): HardwareHint {
  const gpus = scalarOf(c, get(c.doc, service, 'gpus'));
  const reserved = items(c.doc, get(c.doc, service, 'deploy', 'resources', 'reservations', 'devices'));
  const listed = items(c.doc, get(c.doc, service, 'gpus'));
  for (const device of [...reserved, ...listed]) {
    const count = deviceCount(c, device);
    if (count) {
      return { count };
    }
  }
  const count = gpus && gpuCount(gpus.text);
  return gpus && count !== undefined ? { count: { value: count, range: rangeOf(gpus) } } : {};
}

function deviceCount(c: Context, device: Node | null): HardwareHint['count'] {
  const written = scalarOf(c, get(c.doc, device, 'count'));
  if (written && /^\d+$/.test(written.text)) {
    return { value: Number(written.text), range: rangeOf(written) };
  }
  const ids = get(c.doc, device, 'device_ids');
  return isSeq(ids) && ids.items.length > 0 ? { value: ids.items.length, range: nodeRange(c.doc, ids) } : undefined;
}
