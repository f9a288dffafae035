/** ConfigMaps: files inside a manifest, which containers of the same file mount, name in a command or read as variables. */
import { isMap, isScalar, type Node } from 'yaml';
import type { Reading } from '../reading';
import type { Mapped } from '../text/mapped';
import { readImage } from '../words/image';
import { contentRange, type YamlDocument } from '../yaml/document';
import type { Site } from '../yaml/sites';
import { entries, get, items, scalarAt, textAt } from '../yaml/view';
import { type ConfigLookup, type Container, environmentAround } from './container';

interface Entry {
  readonly key: string;
  readonly value: Mapped;
}

export interface KubernetesFile extends ConfigLookup {
  /** The object of one of these kinds with this name. */
  object(kinds: readonly string[], name: string): { readonly doc: YamlDocument; readonly node: Node } | undefined;
  /** Another object of the file extends this one and starts it. */
  isReplaced(object: Node): boolean;
  /** The model that another object of the file gives this one. */
  modelFor(object: Node): Mapped | undefined;
  /** Containers of the file mount it. */
  isMounted(name: string): boolean;
  readonly used: Set<string>;
}

const files = new WeakMap<readonly YamlDocument[], KubernetesFile>();

export function kubernetesFile(all: readonly YamlDocument[]): KubernetesFile {
  const known = files.get(all) ?? makeFile(all);
  files.set(all, known);
  return known;
}

interface Placed {
  readonly doc: YamlDocument;
  readonly node: Node;
  readonly kind: string;
  readonly name: string;
}

function makeFile(all: readonly YamlDocument[]): KubernetesFile {
  const objects = all.flatMap(placedIn);
  const maps = new Map(
    objects.filter((o) => o.kind === 'ConfigMap').map((o) => [o.name, entriesOf(o.doc, get(o.doc, o.node, 'data'))]),
  );
  const services = objects.filter((o) => o.kind === 'InferenceService');
  const runtimes = new Map(services.map((s) => [runtimeName(s) ?? '', s]));
  const byNode = new Map(objects.map((o) => [o.node, o]));
  const byName = new Map(objects.map((o) => [`${o.kind}/${o.name}`, o]));
  let mounted: ReadonlySet<string> | undefined;
  return {
    entries: (name) => maps.get(name),
    object: (kinds, name) => kinds.map((kind) => byName.get(`${kind}/${name}`)).find((o) => o !== undefined),
    isReplaced: (node) => {
      const object = byNode.get(node);
      const service = object && isRuntime(object) ? runtimes.get(object.name) : undefined;
      return service !== undefined && get(service.doc, service.node, 'spec', 'predictor', 'model') !== null;
    },
    modelFor: (node) => {
      const object = byNode.get(node);
      const service = object && isRuntime(object) ? runtimes.get(object.name) : undefined;
      return service && scalarAt(service.doc, get(service.doc, service.node, 'spec', 'model', 'name'));
    },
    isMounted: (name) => {
      mounted ??= mountedNames(all);
      return mounted.has(name);
    },
    used: new Set(),
  };
}

const isRuntime = (o: Placed): boolean => /ServingRuntime$/.test(o.kind);

function runtimeName({ doc, node }: Placed): string | undefined {
  return (
    textAt(doc, node, 'spec', 'predictor', 'model', 'runtime') ??
    textAt(doc, node, 'spec', 'runtime', 'name') ??
    textAt(doc, node, 'metadata', 'annotations', 'serving.kserve.io/runtime')
  );
}

function placedIn(doc: YamlDocument): readonly Placed[] {
  const listed = items(doc, get(doc, doc.root, 'items')).filter((n) => isMap(n));
  const nodes = listed.length > 0 ? listed : isMap(doc.root) ? [doc.root] : [];
  return nodes.map((node) => ({
    doc,
    node: node as Node,
    kind: textAt(doc, node, 'kind') ?? '',
    name: textAt(doc, node, 'metadata', 'name') ?? '',
  }));
}

function entriesOf(doc: YamlDocument, data: Node | null): readonly Entry[] {
  return entries(doc, data).flatMap((e) => {
    const value = isScalar(e.value) ? scalarAt(doc, e.value) : undefined;
    return value ? [{ key: e.key, value }] : [];
  });
}

/** Names that stand where ConfigMaps are named: `configMap: {name: X}` of a volume, KAITO's `config: X`. */
function mountedNames(all: readonly YamlDocument[]): ReadonlySet<string> {
  const texts = all
    .filter((doc) => textAt(doc, doc.root, 'kind') !== 'ConfigMap')
    .map((doc) => doc.text.slice(doc.base, doc.end))
    .filter((text) => /configMap:|inference:/.test(text));
  return new Set(texts.flatMap((t) => [...t.matchAll(/\b(?:name|config):\s*["']?([\w.-]+)/g)].map((m) => m[1] ?? '')));
}

interface Mount {
  readonly path: string;
  readonly entry: Entry;
}

/** Files of ConfigMaps as the container sees them. */
function mountsOf(doc: YamlDocument, file: KubernetesFile, site: Site): readonly Mount[] {
  const volumes = [site.node, ...site.around].flatMap((m) => items(doc, get(doc, m, 'volumes')));
  return items(doc, get(doc, site.node, 'volumeMounts')).flatMap((mount) => {
    const volume = volumes.find((v) => textAt(doc, v, 'name') === textAt(doc, mount, 'name'));
    const name = textAt(doc, volume, 'configMap', 'name');
    const all = name === undefined ? undefined : file.entries(name);
    const [path = '', only] = [textAt(doc, mount, 'mountPath'), textAt(doc, mount, 'subPath')];
    const renamed = items(doc, get(doc, volume, 'configMap', 'items'));
    return (all ?? []).flatMap((entry) => {
      const item = renamed.find((i) => textAt(doc, i, 'key') === entry.key);
      const as = textAt(doc, item, 'path') ?? entry.key;
      return only === undefined
        ? [{ path: `${path.replace(/\/$/, '')}/${as}`, entry }]
        : only === as
          ? [{ path, entry }]
          : [];
    });
  });
}

/** A command that names one of them follows it. */
export function mountConfigs(doc: YamlDocument, reading: Reading, file: KubernetesFile, site: Site): void {
  for (const { path, entry } of mountsOf(doc, file, site)) {
    const range = contentRange(doc.text, entry.value.extent);
    if (range && /\.ya?ml$/.test(path)) {
      reading.written.set(path, { body: { ...entry.value, extent: range }, lookup: undefined });
    }
  }
}

/** The container runs a script of a ConfigMap: the engine starts there. */
export function scriptsRead(c: Container, file: KubernetesFile, site: Site): boolean {
  const { doc, reading } = c;
  const words = ['command', 'args'].flatMap((k) => {
    const node = get(doc, site.node, k);
    return [...items(doc, node), node].flatMap((n) => scalarAt(doc, n)?.text ?? []);
  });
  const before = file.used.size;
  for (const { path, entry } of mountsOf(doc, file, site)) {
    if (words.some((w) => w.includes(path)) && !file.used.has(usedKey(entry))) {
      file.used.add(usedKey(entry));
      const image = scalarAt(doc, get(doc, site.node, 'image'));
      const known = image && readImage(image, reading.engines);
      const around = { environment: environmentAround(c), hardware: c.hardware, ...(known ? { image: known } : {}) };
      reading.embedded(entry.key, entry.value, around);
    }
  }
  return file.used.size > before;
}

const usedKey = (entry: Entry): string => String(entry.value.extent.start);

/** What no container of the file starts or mounts stands for itself. */
export function configMapsRead(doc: YamlDocument, reading: Reading, file: KubernetesFile, object: Node): void {
  const name = textAt(doc, object, 'metadata', 'name') ?? '';
  if (textAt(doc, object, 'kind') !== 'ConfigMap' || file.isMounted(name)) {
    return;
  }
  for (const entry of file.entries(name) ?? []) {
    reading.embedded(entry.key, entry.value, { environment: [], hardware: {} });
  }
}
