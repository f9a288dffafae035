/** BentoML: OpenLLM's recipes and configs of services that hold the engine's arguments as `engine_config`. */
import { isMap, type Node } from 'yaml';
import type { HardwareHint } from '../launch';
import type { Reading } from '../reading';
import type { YamlDocument } from '../yaml/document';
import { type Site, sitesIn, type Walk } from '../yaml/sites';
import { entry, get, nodeRange, scalarAt, textAt } from '../yaml/view';
import { namedEngine } from './engine-names';
import type { YamlForm } from './form';
import { readKeyed } from './keyed';
import { countOf, namedGpu } from './machine';
import { modelUri } from './model-uri';

const OPTIONS = ['engine_config', 'engine_args'];

export const bentoml: YamlForm = {
  kind: 'yaml',
  form: 'bentoml',
  recognises: (keys, reading) =>
    reading.input.form === 'bentoml' ||
    (/(?:^|[\\/])recipe\.ya?ml$/i.test(reading.input.name) && reading.text.includes('engine_config')) ||
    (keys.has('engine_config') && (keys.has('service_config') || keys.has('project'))),
  read: (doc, reading) => {
    const root = isMap(doc.root) ? doc.root : null;
    const whole: readonly Site[] =
      root && OPTIONS.some((k) => root.has(k)) ? [{ node: root, keys: [], around: [] }] : [];
    for (const site of whole.length > 0 ? whole : sitesIn(doc, root, RECIPES)) {
      recipe(doc, reading, site);
    }
  },
};

const RECIPES: Walk = {
  wanted: (_key, node) => OPTIONS.some((k) => node.has(k)),
  skipped: () => false,
};

function recipe(doc: YamlDocument, reading: Reading, { node, keys }: Site): void {
  const found = OPTIONS.map((k) => entry(doc, node, k)).find((e) => isMap(e?.value));
  const engine = namedEngine(reading, textAt(doc, node, 'project') ?? 'vllm') ?? namedEngine(reading, 'vllm');
  const model = scalarAt(doc, get(doc, found?.value, 'model')) ?? scalarAt(doc, get(doc, node, 'model'));
  if (!found || !engine || !model) {
    return;
  }
  readKeyed({
    doc,
    reading,
    form: 'bentoml',
    title: keys[0] ?? textAt(doc, node, 'name') ?? 'service',
    engine,
    head: nodeRange(doc, found.keyNode),
    range: nodeRange(doc, node),
    map: found.value as Node,
    hardware: hardwareOf(doc, node),
    model: modelUri(model),
  });
}

function hardwareOf(doc: YamlDocument, node: Node): HardwareHint {
  const resources = get(doc, node, 'service_config', 'resources') ?? get(doc, node, 'resources');
  const gpu = namedGpu(scalarAt(doc, get(doc, resources, 'gpu_type')));
  const count = countOf(scalarAt(doc, get(doc, resources, 'gpu')));
  return { ...(gpu ? { gpu } : {}), ...(count ? { count } : {}) };
}
