/** Docker Compose: every service that starts an engine. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { assemble, elsewhere } from '../assemble';
import type { LaunchEngine } from '../engines';
import { readEnvFile } from '../env-file';
import type { HardwareHint, Insertion, Launch, LaunchOption, TextRange } from '../launch';
import { inCopies } from '../reading';
import { readScript } from '../shell/script';
import { type Mapped, part, rangeOf, unit, unresolvedIn } from '../text/mapped';
import { gpuCount } from '../words/container';
import { startInImage } from '../words/find-start';
import { readImage } from '../words/image';
import { VARIABLE } from '../words/insertion';
import { joined } from '../words/joined';
import { splitWords } from '../words/split';
import { type Found, nearer, type Start, type Surroundings, surrounded } from '../words/start';
import { assignedName, type Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { endOfItem, eolOf, listInsertion, variableInsertionIn } from '../yaml/insertion';
import { saysNull } from '../yaml/scalar';
import { type Entry, entries, entry, get, items, nodeRange, textAt } from '../yaml/view';
import {
  type Context,
  hostPath,
  type Layered,
  layersOf,
  mountConfigs,
  nearestOf,
  projectVariables,
  scalarOf,
} from './compose-service';
import { setsOptions, variableNames } from './container';
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

function readService(given: Context, service: Entry): void {
  const layers = layersOf(given, service.value);
  const copies = copiesOf(layers);
  if (copies === 0) {
    return;
  }
  const c = { ...given, reading: inCopies(given.reading, copies) };
  const image = nearestOf(layers, (l) => scalarOf(l.c, get(l.c.doc, l.node, 'image')));
  const entry = nearestOf(layers, (l) => wordsOf(l.c, get(l.c.doc, l.node, 'entrypoint')));
  const command = nearestOf(layers, (l) => wordsOf(l.c, get(l.c.doc, l.node, 'command')));
  const known = image && readImage(image, c.reading.engines);
  if (!known && !entry && !command) {
    return;
  }
  const around: Surroundings = { environment: [], hardware: {}, image: known };
  const found = startInImage(entry?.words, command?.words ?? [], c.reading.engines, around, image);
  if (found) {
    mountConfigs(c, layers);
    place({ c, layers, service, words: command ?? entry, image }, withMachine(layers, found));
  }
}

/** `deploy: {replicas: 0}` and `scale: 0`: nothing starts. A profile is started when somebody names it. */
function copiesOf(layers: readonly Layered[]): number | undefined {
  const said = nearestOf(
    layers,
    ({ c, node }) => textAt(c.doc, node, 'deploy', 'replicas') ?? textAt(c.doc, node, 'scale'),
  );
  return /^\d{1,6}$/.test(said ?? '') ? Number(said) : undefined;
}

/** Read only for a service that starts something. */
function withMachine(layers: readonly Layered[], found: Found): Found {
  const environment = [...layers].reverse().flatMap((l) => environmentOf(l.c, l.node));
  const hardware = nearestOf(layers, (l) => hardwareOf(l.c, l.node)) ?? {};
  return surrounded(found, [...environment, ...found.environment], nearer(hardware, found.hardware));
}

interface Service {
  readonly c: Context;
  readonly layers: readonly Layered[];
  readonly service: Entry;
  readonly words: Words | undefined;
  readonly image: Mapped | undefined;
}

function place(s: Service, found: Found): void {
  const { c, service, words } = s;
  const { reading, doc } = c;
  const range = serviceRange(doc, service);
  const title = service.key;
  const host = (path: string) => hostPath(s.layers, path);
  if (found.kind === 'script') {
    readScript(reading, found, { form: 'compose', title, range, hostPath: host });
    return;
  }
  const insertion = insertionOf(s, found);
  const shell = words?.shell ?? false;
  const launch = assemble(reading, { form: 'compose', title, range, start: found, shell, insertion, hostPath: host });
  reading.found(withForeign(s, launch));
}

/** What another file says has the place of its name, and is not edited there. */
function withForeign({ c, layers }: Service, launch: Launch): Launch {
  const at = layers.find((l) => l.c.named)?.c.named;
  const file = at && c.doc.text.slice(at.start, at.end);
  if (!at || file === undefined) {
    return launch;
  }
  const isThere = (o: LaunchOption) =>
    o.from === undefined && o.nameRange.start >= at.start && o.nameRange.end <= at.end;
  const named = { range: at, line: c.reading.lines().line(at.start) };
  const options = launch.options.map((o) => (isThere(o) ? elsewhere(o, file, named, false) : o));
  return { ...launch, options };
}

function serviceRange(doc: YamlDocument, service: Entry) {
  const start = (service.keyNode.range?.[0] ?? 0) + doc.base;
  const value = service.value ? nodeRange(doc, service.value) : { start, end: start };
  return { start, end: value.start >= start ? value.end : start + service.key.length };
}

function insertionOf({ c, layers, service, words, image }: Service, start: Start): Insertion | undefined {
  if (start.engine.start.byEnvironment || (!words && setsOptions(start))) {
    return variableInsertion(c, service.value, start.engine);
  }
  if (words) {
    const isHere = layers.some((l) => !l.c.named && words.doc === l.c.doc);
    return words.shell || !isHere ? undefined : listInsertion(c.doc, words.node, 'compose');
  }
  const key = entry(c.doc, service.value, 'image')?.keyNode;
  if (!key || !image || !isMap(service.value) || service.value.flow) {
    return undefined;
  }
  const from = (key.range?.[0] ?? 0) + c.doc.base;
  const indent = c.doc.text.slice(c.doc.text.lastIndexOf('\n', from - 1) + 1, from);
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

/** Another variable in the manner of the ones that stand there. */
function variableInsertion(c: Context, service: Node | null, engine: LaunchEngine): Insertion | undefined {
  const place = variableInsertionIn(c.doc, get(c.doc, service, 'environment'));
  return place && { ...place, names: variableNames(engine), only: VARIABLE };
}

interface Words {
  readonly words: readonly Mapped[];
  readonly shell: boolean;
  readonly node: Node;
  readonly doc: YamlDocument;
}

/** A string is split as a shell would; items of a list are words as they stand. */
function wordsOf(c: Context, node: Node | null): Words | undefined {
  if (isScalar(node)) {
    const text = scalarOf(c, node);
    return text && { words: splitWords(text), shell: true, node, doc: c.doc };
  }
  if (!isSeq(node)) {
    return undefined;
  }
  const words = items(c.doc, node).flatMap((i) => {
    const word = scalarOf(c, i);
    return word ? joined(word) : [];
  });
  return { words, shell: false, node, doc: c.doc };
}

function environmentOf(c: Context, service: Node | null): readonly Variable[] {
  const node = get(c.doc, service, 'environment');
  const own = isSeq(node)
    ? items(c.doc, node).flatMap((i) => listed(c, scalarOf(c, i)))
    : entries(c.doc, node).flatMap((e) => mapped(c, e));
  return [...fromEnvFiles(c, service), ...own];
}

/** Without a text it is handed on from the shell, or from `.env`. */
function mapped(c: Context, { key, keyNode, value }: Entry): readonly Variable[] {
  const text = scalarOf(c, value);
  return text && !saysNull(text) ? [{ name: key, value: text }] : handedOn(c, key, nodeRange(c.doc, keyNode));
}

function listed(c: Context, item: Mapped | undefined): readonly Variable[] {
  const name = item && assignedName(item.text);
  if (item && name === undefined && /^\w+$/.test(item.text)) {
    return handedOn(c, item.text, rangeOf(item));
  }
  return item && name !== undefined ? [{ name, value: part(item, name.length + 1, item.text.length) }] : [];
}

function handedOn(c: Context, name: string, where: TextRange): readonly Variable[] {
  const value = c.lookup(name);
  return typeof value === 'string' ? [{ name, value: unit(value, c.named ?? where) }] : [];
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
function hardwareOf(c: Context, service: Node | null): HardwareHint | undefined {
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
  return gpus && count !== undefined ? { count: { value: count, range: rangeOf(gpus) } } : genericCount(c, service);
}

/** Swarm's `generic_resources: [{discrete_resource_spec: {kind: NVIDIA-GPU, value: 2}}]`. */
function genericCount(c: Context, service: Node | null): HardwareHint | undefined {
  const all = items(c.doc, get(c.doc, service, 'deploy', 'resources', 'reservations', 'generic_resources'));
  const specs = all.map((g) => get(c.doc, g, 'discrete_resource_spec'));
  const spec = specs.find((g) => /gpu/i.test(textAt(c.doc, g, 'kind') ?? ''));
  const value = spec && scalarOf(c, get(c.doc, spec, 'value'));
  return value && /^\d+$/.test(value.text)
    ? { count: { value: Number(value.text), range: rangeOf(value) } }
    : undefined;
}

function deviceCount(c: Context, device: Node | null): HardwareHint['count'] {
  const written = scalarOf(c, get(c.doc, device, 'count'));
  if (written && /^\d+$/.test(written.text)) {
    return { value: Number(written.text), range: rangeOf(written) };
  }
  const ids = get(c.doc, device, 'device_ids');
  return isSeq(ids) && ids.items.length > 0
    ? { value: ids.items.length, range: c.named ?? nodeRange(c.doc, ids) }
    : undefined;
}
