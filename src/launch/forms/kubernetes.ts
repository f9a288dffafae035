/** Kubernetes: every container that starts an engine, in whatever kind of object it stands. */
import { isSeq, type Node, type YAMLMap } from 'yaml';
import type { Launch } from '../launch';
import { inCopies, type Reading } from '../reading';
import type { Mapped } from '../text/mapped';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { objectOf, type Site, sitesIn, type Walk } from '../yaml/sites';
import { get, items, scalarAt, textAt } from '../yaml/view';
import { configMapsRead, type KubernetesFile, kubernetesFile, mountConfigs, scriptsRead } from './config-map';
import { type Container, readContainer } from './container';
import { readCustomResource } from './custom-resources';
import type { YamlForm } from './form';
import { chartValues } from './helm-fill';
import { machineOf, numberAt, times } from './machine';
import { modelUri } from './model-uri';
import { parallelismIn, serviceEngine, speculatorIn } from './parallelism';

export const kubernetes: YamlForm = {
  kind: 'yaml',
  form: 'kubernetes',
  recognises: (keys, reading) => reading.input.form === 'kubernetes' || (keys.has('apiVersion') && keys.has('kind')),
  read: (doc, reading, all) => {
    const file = kubernetesFile(all);
    for (const object of objectsIn(doc)) {
      const isKnown = readCustomResource({ doc, reading, file, object }) || textAt(doc, object, 'kind') === undefined;
      readPods(doc, reading, file, object, isKnown ? CONTAINERS : ANYTHING_LIKE_ONE);
      configMapsRead(doc, reading, file, object);
    }
  },
};

/** A `List` holds objects of its own. */
function objectsIn(doc: YamlDocument): readonly Node[] {
  const list = get(doc, doc.root, 'items');
  const all = isSeq(list) && /List$/.test(textAt(doc, doc.root, 'kind') ?? '') ? items(doc, list) : [doc.root];
  return all.filter((n) => n !== null);
}

/** Maps that are one container; lists of containers. What runs before, beside and inside them is not the engine. */
const CONTAINERS: Walk = {
  wanted: (key) => /^(?:containers|mainContainer|runner)$/.test(key),
  skipped: (key) =>
    /^(?:initContainers|ephemeralContainers|exec|lifecycle|status|metadata|data|router|routerConfig|scheduler)$/.test(
      key,
    ),
};

/** In resources of operators not known here, whatever has an image and words. */
const ANYTHING_LIKE_ONE: Walk = {
  ...CONTAINERS,
  wanted: (key, node) =>
    CONTAINERS.wanted(key, node) ||
    (['image', 'imageUri'].some((k) => node.has(k)) && ['args', 'command'].some((k) => node.has(k))),
};

function readPods(doc: YamlDocument, reading: Reading, file: KubernetesFile, object: Node, walk: Walk): void {
  const started = new Set<string>();
  for (const site of sitesIn(doc, object, walk)) {
    const group = groupOf(site);
    if (group?.role === 'worker' && started.has(group.leader)) {
      continue;
    }
    if (readSite(doc, reading, file, site) && group?.role === 'leader') {
      started.add(group.leader);
    }
  }
}

/** Leader and worker of one set are the same engine: written twice, started once. */
function groupOf(site: Site): { readonly role: 'leader' | 'worker'; readonly leader: string } | undefined {
  const at = site.keys.findIndex((k) => /^(?:leader|worker)(?:Template|Spec)?$/.test(k));
  if (at === -1) {
    const template = site.keys.findIndex((k) => k === 'template' || k === 'predictor');
    return template === -1 ? undefined : { role: 'leader', leader: site.keys.slice(template + 1).join('/') };
  }
  const role = site.keys[at]?.startsWith('leader') ? 'leader' : 'worker';
  return { role, leader: site.keys.slice(at + 1).join('/') };
}

function readSite(doc: YamlDocument, given: Reading, file: KubernetesFile, site: Site): boolean {
  const object = objectOf(site);
  const reading = inCopies(given, copiesOf(doc, site));
  if (file.isReplaced(object)) {
    return false;
  }
  mountConfigs(doc, reading, file, site);
  const nodes = nodesOf(doc, site);
  const chart = chartValues(doc, reading);
  const hardware = times(machineOf(doc, site, chart?.fill), nodes);
  const named = modelOf(doc, file, object);
  const container = {
    doc,
    reading,
    form: 'kubernetes' as const,
    node: site.node,
    title: titleOf(doc, site, object),
    hardware,
    config: file,
    ...chart,
    variables: groupVariables(doc, site),
    ...assumedIn(doc, reading, site, object),
    ...(named ? { model: named } : {}),
    ...roleOf(doc, site, object),
  };
  return readContainer(container) || scriptsRead(container, file, site);
}

/** A container of an LLMInferenceService runs vLLM, and what is said beside it becomes its options. */
function assumedIn(doc: YamlDocument, reading: Reading, site: Site, object: Node): Partial<Container> {
  const engine = serviceEngine(doc, reading, object);
  const head = scalarAt(doc, get(doc, site.node, 'name'));
  if (!engine || !head || !/^LLMInferenceService/.test(textAt(doc, object, 'kind') ?? '')) {
    return {};
  }
  const options = [
    ...parallelismIn(doc, reading, engine, site.around),
    ...speculatorIn(doc, reading, engine, get(doc, object, 'spec')),
  ];
  return /^(?:main|vllm|sglang)$/.test(head.text)
    ? { assumed: { engine, head, positionalModel: engine.start.positionalModel }, options }
    : { options };
}

function titleOf(doc: YamlDocument, site: Site, object: Node): string {
  // The only container of a step has the step's name.
  const step = site.keys[0] === 'container' ? textAt(doc, site.around[0], 'name') : undefined;
  const own = textAt(doc, site.node, 'name') ?? step;
  const service = site.keys[0] === 'mainContainer' ? site.keys[2] : undefined;
  return service ?? own ?? textAt(doc, object, 'metadata', 'name') ?? 'container';
}

/** Pods of a Deployment and its kin, sets of a LeaderWorkerSet. */
const copiesOf = (doc: YamlDocument, site: Site): number | undefined =>
  site.around.map((map) => numberAt(doc, map, 'replicas')).find((n) => n !== undefined);

/** Pods that make one engine: the size of a set, the nodes of a service. */
function nodesOf(doc: YamlDocument, site: Site): number | undefined {
  for (const map of [site.node, ...site.around]) {
    const found = numberAt(doc, map, 'leaderWorkerTemplate', 'size') ?? numberAt(doc, map, 'multinode', 'nodeCount');
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** What a LeaderWorkerSet sets in its pods, as far as the file says. */
function groupVariables(doc: YamlDocument, site: Site): readonly Variable[] {
  const set = site.around.find((m) => m.has('leaderWorkerTemplate'));
  const size = set && scalarAt(doc, get(doc, set, 'leaderWorkerTemplate', 'size'));
  return size ? [{ name: 'LWS_GROUP_SIZE', value: size }] : [];
}

/** A service that only prefills or only decodes; beside a `prefill` of its own it decodes. */
function roleOf(doc: YamlDocument, site: Site, object: Node): { readonly role?: Launch['role'] } {
  const said = [site.node, ...site.around].map((m) => textAt(doc, m, 'subComponentType')).find((t) => t !== undefined);
  const named = [site.node, ...site.around].map((m) => namedRole(doc, m)).find((t) => t !== undefined);
  const key = site.keys.find((k) => /^(?:prefill|decode|decoder)$/i.test(k)) ?? said ?? named ?? '';
  if (/^prefill/i.test(key)) {
    return { role: 'prefill' };
  }
  return /^decode/i.test(key) || get(doc, object, 'spec', 'prefill') ? { role: 'decode' } : {};
}

/** llm-d's label of a pod; the name of a role in a DisaggregatedSet. */
const namedRole = (doc: YamlDocument, map: YAMLMap): string | undefined =>
  textAt(doc, map, 'metadata', 'labels', 'llm-d.ai/role') ??
  (map.has('spec') && !map.has('kind') ? /^(?:prefill|decode)$/.exec(textAt(doc, map, 'name') ?? '')?.[0] : undefined);

/** The model that the object names beside its containers: where it is stored, what the service is asked for. */
function modelOf(doc: YamlDocument, file: KubernetesFile, object: Node): Launch['model'] {
  const stored =
    scalarAt(doc, get(doc, object, 'spec', 'model', 'uri')) ??
    scalarAt(doc, get(doc, object, 'spec', 'predictor', 'model', 'storageUri')) ??
    storageVariable(doc, object) ??
    scalarAt(doc, get(doc, object, 'spec', 'model', 'name')) ??
    file.modelFor(object);
  return stored && modelUri(stored);
}

/** KServe's own containers name it in a variable. */
function storageVariable(doc: YamlDocument, object: Node): Mapped | undefined {
  const containers = items(doc, get(doc, object, 'spec', 'predictor', 'containers'));
  const all = containers.flatMap((c) => items(doc, get(doc, c, 'env')));
  const found = all.find((e) => textAt(doc, e, 'name') === 'STORAGE_URI');
  return found ? scalarAt(doc, get(doc, found, 'value')) : undefined;
}
