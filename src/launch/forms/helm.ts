/**
 * Helm values that charts of engines make containers of: `servingEngineSpec.modelSpec[]` of the vLLM production stack,
 * containers of llm-d's model service, and any other map with an engine's image and arguments.
 */
import { isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { camelFlag, readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { HardwareHint, Launch, LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { addPart, builder, finish, type Mapped, plainText } from '../text/mapped';
import { readImage } from '../words/image';
import { isTellingSpec } from '../words/telling';
import type { YamlDocument } from '../yaml/document';
import { keyInsertion } from '../yaml/insertion';
import { type Site, sitesIn, type Walk } from '../yaml/sites';
import { entries, get, scalarAt, textAt } from '../yaml/view';
import { type Container, readContainer } from './container';
import { withoutTemplateEnding, type YamlForm } from './form';
import { readKubeaiCatalog } from './kubeai';
import { countOf, machineOf } from './machine';
import { modelUri } from './model-uri';
import { parallelismIn } from './parallelism';

export const helm: YamlForm = {
  kind: 'yaml',
  form: 'helm',
  recognises: (keys, reading) =>
    reading.input.form === 'helm' ||
    keys.has('servingEngineSpec') ||
    keys.has('modelArtifacts') ||
    /(?:^|[\\/])(?:[\w.-]*[._-])?values(?:[._-][\w.-]*)?\.ya?ml$/i.test(withoutTemplateEnding(reading.input.name)),
  read: (doc, reading) => readHelmValues(doc, doc.root, reading),
};

const VALUES: Walk = {
  wanted: (key, node) => key === 'modelSpec' || (key === 'containers' && isListed(node)) || isContainer(node),
  skipped: (key) =>
    /^(?:initContainers?|routerSpec|cacheserverSpec|routing|router|exec|lifecycle|epp|gateway)$/.test(key),
};

/** An image, whole or in parts, and words for it. */
const isContainer = (node: YAMLMap): boolean =>
  (node.has('image') || node.has('repository')) && (WORD_KEYS.some((k) => node.has(k)) || node.has('vllmConfig'));

const WORD_KEYS = ['args', 'extraArgs', 'command', 'env'];

/** An item of a list of containers; a map of them by name (`containers: {app: …}`) has maps alone. */
const isListed = (node: YAMLMap): boolean => node.items.some((i) => !isMap(i.value));

/** Settings of a platform not known here, whose containers are described as everywhere. */
export const containers: YamlForm = {
  ...helm,
  recognises: (_, reading) => namesImage(reading),
};

const IMAGE = /(?:image|repository)["']?[ \t]*:[ \t]*["']?([\w.:${}-]+(?:\/[\w.:@${}-]+)+)/gi;
const named = new WeakMap<Reading, boolean>();

/** Asked for each document of a file. */
function namesImage(reading: Reading): boolean {
  const known =
    named.get(reading) ??
    [...reading.text.matchAll(IMAGE)].some((m) => {
      const start = m.index + m[0].lastIndexOf(m[1] as string);
      return readImage(plainText(reading.text, start, m.index + m[0].length), reading.engines) !== undefined;
    });
  named.set(reading, known);
  return known;
}

export function readHelmValues(doc: YamlDocument, root: Node | null, reading: Reading): void {
  const whole: readonly Site[] = isMap(root) && isContainer(root) ? [{ node: root, keys: [], around: [] }] : [];
  for (const site of [...whole, ...sitesIn(doc, root, VALUES)]) {
    readSpec(doc, reading, site, root);
  }
  readKubeaiCatalog(doc, get(doc, root, 'catalog'), reading);
}

function readSpec(doc: YamlDocument, reading: Reading, site: Site, root: Node | null): void {
  const { node } = site;
  const image = imageOf(doc, node);
  const name = scalarAt(doc, get(doc, node, 'name')) ?? scalarAt(doc, get(doc, node, 'modelURL'));
  const model = namedModel(doc, node, root);
  const base: Container = {
    doc,
    reading,
    form: 'helm',
    node,
    title: titleOf(doc, site),
    hardware: hardwareOf(doc, site),
    ...(image ? { image } : {}),
    ...(model ? { model } : {}),
    ...roleIn(doc, site, root),
    ...(node.has('args') ? {} : { argsKey: 'extraArgs' }),
  };
  const head = scalarAt(doc, get(doc, node, 'repository')) ?? image ?? name;
  const engine = (image && readImage(image, reading.engines)?.engine) ?? reading.engines.find((e) => e.id === 'vllm');
  const config = get(doc, node, 'vllmConfig');
  if (engine && head && site.keys[0] === 'modelSpec') {
    readContainer({
      ...base,
      ...ofStack(doc, reading, engine, config),
      ...cacheConfig(doc, get(doc, node, 'lmcacheConfig')),
      assumed: { engine, head, positionalModel: true },
    });
  } else if (engine && head && textAt(doc, node, 'modelCommand') === 'vllmServe') {
    const options = parallelismIn(doc, reading, engine, site.around);
    readContainer({ ...base, assumed: { engine, head, positionalModel: true }, options });
  } else {
    const options = [...ownKeys(doc, reading, engine, node), ...parallelismIn(doc, reading, engine, site.around)];
    readContainer({ ...base, options });
  }
}

/** A chart of one's own has keys for the engine's settings beside its image: `maxModelLen: 8192`. */
function ownKeys(
  doc: YamlDocument,
  reading: Reading,
  engine: LaunchEngine | undefined,
  node: YAMLMap,
): readonly LaunchOption[] {
  const specOf = (key: string) => {
    const flag = engine && isScalar(get(doc, node, key)) ? camelFlag(engine, key) : undefined;
    return flag === undefined ? undefined : engine?.options.find((o) => o.name === flag);
  };
  const specs = entries(doc, node).flatMap((e) => specOf(e.key) ?? []);
  if (!engine || !specs.some(isTellingSpec)) {
    return [];
  }
  const flag = (key: string) => {
    const spec = specOf(key);
    return spec?.effect !== undefined || spec?.name === engine.start.modelOption ? spec.name : undefined;
  };
  return readSettings({ doc, engine, lines: reading.lines(), flag }, node);
}

/** `decode` says more than the name of its only container. */
function titleOf(doc: YamlDocument, { node, keys }: Site): string {
  const name = textAt(doc, node, 'name') ?? textAt(doc, node, 'modelURL');
  const outer = keys.find((k) => k !== 'image' && k !== 'containers' && k !== 'modelSpec');
  return (keys[0] === 'containers' ? outer : name) ?? name ?? outer ?? 'values';
}

/** Options are keys of `vllmConfig`; its `extraArgs` come after them. */
function ofStack(doc: YamlDocument, reading: Reading, engine: LaunchEngine, config: Node | null): Partial<Container> {
  const lines = reading.lines();
  const options = config ? readSettings({ doc, engine, lines, flag: (k) => camelFlag(engine, k) }, config) : [];
  const insertion = keyInsertion(doc, config, 'camel');
  return { options, words: get(doc, config, 'extraArgs'), insertion: insertion ?? null };
}

/** What moves the cache to another server says which half this one is, and on which GPUs it runs. */
function cacheConfig(doc: YamlDocument, config: Node | null): Partial<Container> {
  const role = /^kv_(producer|consumer)$/.exec(textAt(doc, config, 'kvRole') ?? '')?.[1];
  const devices = scalarAt(doc, get(doc, config, 'cudaVisibleDevices'));
  return {
    ...(role ? { role: role === 'producer' ? 'prefill' : 'decode' } : {}),
    ...(devices ? { variables: [{ name: 'CUDA_VISIBLE_DEVICES', value: devices }] } : {}),
  };
}

/** `repository` and `tag` of the production stack; `image: x`; `image: {repository, tag}`. */
function imageOf(doc: YamlDocument, node: YAMLMap): Mapped | undefined {
  const image = get(doc, node, 'image');
  const parts = isMap(image) ? image : node;
  const whole = isMap(image) ? undefined : scalarAt(doc, image);
  const repository = scalarAt(doc, get(doc, parts, 'repository'));
  return whole ?? (repository && tagged(repository, scalarAt(doc, get(doc, parts, 'tag'))));
}

function tagged(repository: Mapped, tag: Mapped | undefined): Mapped {
  if (!tag) {
    return repository;
  }
  const b = builder();
  addPart(b, repository, 0, repository.text.length);
  b.segments.push({ at: b.text.length, length: 1, start: tag.extent.start, end: tag.extent.start, exact: false });
  b.text += ':';
  addPart(b, tag, 0, tag.text.length);
  return finish(b, repository.layers, repository.extent);
}

function namedModel(doc: YamlDocument, node: YAMLMap, root: Node | null): Launch['model'] {
  const named =
    scalarAt(doc, get(doc, node, 'modelURL')) ??
    scalarAt(doc, get(doc, root, 'modelArtifacts', 'uri')) ??
    scalarAt(doc, get(doc, root, 'modelArtifacts', 'name'));
  return named && modelUri(named);
}

function hardwareOf(doc: YamlDocument, site: Site): HardwareHint {
  const machine = machineOf(doc, site);
  const count = countOf(scalarAt(doc, get(doc, site.node, 'requestGPU')));
  return count ? { ...machine, count } : machine;
}

/** `decode` alone serves like any other: only beside a `prefill` that runs is it one half. */
function roleIn(doc: YamlDocument, site: Site, root: Node | null): { readonly role?: Launch['role'] } {
  const prefill = get(doc, root, 'prefill');
  const off = /^(?:false|no)$/i.test(textAt(doc, prefill, 'create') ?? '') || textAt(doc, prefill, 'replicas') === '0';
  if (!prefill || off) {
    return {};
  }
  return site.keys.includes('prefill') ? { role: 'prefill' } : site.keys.includes('decode') ? { role: 'decode' } : {};
}
