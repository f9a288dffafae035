/**
 * Ray Serve LLM: `llm_configs` of an application (or one such config in a file of its own), and RayLLM's model files
 * before it. Options are the engine's keyword arguments (`engine_kwargs`). Fields as of Ray 2.50 and RayLLM 0.5.
 */
import { isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { elsewhere } from '../assemble';
import { camelFlag, readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { HardwareHint, Launch, LaunchOption } from '../launch';
import { linesOf } from '../lines';
import type { Reading } from '../reading';
import { type Mapped, rangeOf } from '../text/mapped';
import type { Variable } from '../words/variable';
import { parseYaml, type YamlDocument } from '../yaml/document';
import { type Site, sitesIn, type Walk } from '../yaml/sites';
import { entries, entry, get, items, nodeRange, scalarAt, textAt } from '../yaml/view';
import { namedEngine } from './engine-names';
import type { YamlForm } from './form';
import { readKeyed } from './keyed';
import { countOf, namedGpu, numberAt } from './machine';
import { modelUri } from './model-uri';

export const rayServe: YamlForm = {
  kind: 'yaml',
  form: 'ray-serve',
  recognises: (keys, reading) =>
    reading.input.form === 'ray-serve' ||
    ['applications', 'llm_configs', 'model_loading_config'].some((k) => keys.has(k)) ||
    (keys.has('engine_config') && (keys.has('deployment_config') || keys.has('scaling_config'))),
  read: (doc, reading) => {
    const root = isMap(doc.root) ? doc.root : null;
    const whole: readonly Site[] = root && isConfig(root) ? [{ node: root, keys: [], around: [] }] : [];
    for (const site of whole.length > 0 ? whole : sitesIn(doc, root, CONFIGS)) {
      readSite(doc, reading, site);
    }
    for (const named of configFiles(doc, root)) {
      readConfigFile(doc, reading, named);
    }
  },
};

/** `llm_configs` that are paths. */
function configFiles(doc: YamlDocument, root: Node | null): readonly Mapped[] {
  const applications = [root, ...items(doc, get(doc, root, 'applications')).map((a) => get(doc, a, 'args'))];
  const all = applications.flatMap((a) => items(doc, get(doc, a, 'llm_configs')));
  return all.flatMap((c) => (isScalar(c) ? (scalarAt(doc, c) ?? []) : []));
}

const isConfig = (node: YAMLMap): boolean =>
  ['model_loading_config', 'engine_kwargs', 'engine_config'].some((k) => node.has(k));

const CONFIGS: Walk = {
  wanted: (key, node) => (isConfig(node) || key === 'applications' ? !holdsConfigs(node) : false),
  skipped: () => false,
};

const holdsConfigs = (node: YAMLMap): boolean => {
  const args = node.get('args');
  return (
    isMap(args) &&
    (args.has('llm_configs') || args.has('models') || args.items.some((i) => isMap(i.value) && isConfig(i.value)))
  );
};

function readSite(doc: YamlDocument, reading: Reading, site: Site): void {
  if (!isConfig(site.node)) {
    application(doc, reading, site.node);
    return;
  }
  const old = get(doc, site.node, 'engine_config');
  const inner = isMap(old) ? old : site.node;
  const kwargs = entry(doc, inner, 'engine_kwargs');
  const named = nameOf(doc, inner);
  const type = textAt(doc, inner, 'type') ?? textAt(doc, inner, 'llm_engine') ?? 'vllm';
  const engine = namedEngine(reading, type);
  const keyNode = kwargs?.keyNode ?? entry(doc, site.node, 'model_loading_config')?.keyNode;
  if (!engine || (!named && !keyNode)) {
    return;
  }
  const role = (/^(prefill|decode)_config$/.exec(site.keys[0] ?? '')?.[1] ?? undefined) as Launch['role'] | undefined;
  const head = named?.shown ? rangeOf(named.shown) : nodeRange(doc, keyNode as Node);
  readKeyed({
    doc,
    reading,
    form: 'ray-serve',
    title: named?.shown.text ?? 'llm',
    engine,
    head,
    range: nodeRange(doc, site.node),
    map: kwargs?.value ?? null,
    hardware: hardwareOf(doc, site.node),
    environment: variablesOf(doc, site.node),
    ...(named ? { model: named.model } : {}),
    ...(role ? { role } : {}),
  });
}

/** The source is the model, the id what clients call it. */
function nameOf(
  doc: YamlDocument,
  map: Node,
): { readonly model: NonNullable<Launch['model']>; readonly shown: Mapped } | undefined {
  const loading = get(doc, map, 'model_loading_config') ?? map;
  const id = scalarAt(doc, get(doc, loading, 'model_id'));
  const source = scalarAt(doc, get(doc, loading, 'model_source')) ?? scalarAt(doc, get(doc, loading, 'hf_model_id'));
  const model = source ?? id;
  return model && { model: modelUri(model), shown: id ?? model };
}

function hardwareOf(doc: YamlDocument, config: Node): HardwareHint {
  const gpu = namedGpu(scalarAt(doc, get(doc, config, 'accelerator_type'))) ?? workerAccelerator(doc, config);
  const workers = get(doc, config, 'scaling_config');
  const count = countOf(scalarAt(doc, get(doc, workers, 'num_workers'))) ?? bundles(doc, config);
  const each = numberAt(doc, workers, 'num_gpus_per_worker') ?? 1;
  return { ...(gpu ? { gpu } : {}), ...(count ? { count: { ...count, value: count.value * each } } : {}) };
}

/** `accelerator_type:A10: 0.01` among the resources of a worker. */
function workerAccelerator(doc: YamlDocument, config: Node): HardwareHint['gpu'] {
  const resources = entries(doc, get(doc, config, 'scaling_config', 'resources_per_worker'));
  const found = resources.find((e) => e.key.startsWith('accelerator_type:'));
  if (!found) {
    return undefined;
  }
  const { start, end } = nodeRange(doc, found.keyNode);
  const text = found.key.slice('accelerator_type:'.length);
  const at = doc.text.slice(start, end).lastIndexOf(text);
  return { text, range: { start: start + at, end: start + at + text.length } };
}

/** GPUs of all bundles of a placement group. */
function bundles(doc: YamlDocument, config: Node): HardwareHint['count'] {
  const group =
    get(doc, config, 'placement_group_config') ?? get(doc, config, 'engine_kwargs', 'placement_group_config');
  const list = get(doc, group, 'bundles');
  const all = items(doc, list).map((b) => numberAt(doc, b, 'GPU') ?? 0);
  const value = all.reduce((sum, n) => sum + n, 0);
  return list && value > 0 ? { value, range: nodeRange(doc, list) } : undefined;
}

function variablesOf(doc: YamlDocument, config: Node): readonly Variable[] {
  return entries(doc, get(doc, config, 'runtime_env', 'env_vars')).flatMap((e) => {
    const value = isScalar(e.value) ? scalarAt(doc, e.value) : undefined;
    return value ? [{ name: e.key, value }] : [];
  });
}

/** An application of one's own that hands its arguments to the engine; `llm_configs` may be files beside. */
function application(doc: YamlDocument, reading: Reading, node: YAMLMap): void {
  const path = textAt(doc, node, 'import_path') ?? '';
  const args = get(doc, node, 'args');
  const engine = namedEngine(reading, path);
  const model = scalarAt(doc, get(doc, args, 'model'));
  if (engine && isMap(args) && model) {
    readKeyed({
      doc,
      reading,
      form: 'ray-serve',
      title: textAt(doc, node, 'name') ?? path,
      engine,
      head: rangeOf(model),
      range: nodeRange(doc, node),
      map: args,
      flag: (k) => camelFlag(engine, k),
      environment: variablesOf(doc, node),
    });
  }
}

/** A config in a file beside: its places are those of the word that names it. */
function readConfigFile(doc: YamlDocument, reading: Reading, named: Mapped): void {
  const text = reading.file(named.text);
  const engine: LaunchEngine | undefined = namedEngine(reading, 'vllm');
  if (typeof text !== 'string' || !engine) {
    return;
  }
  const inner = parseYaml(text, { start: 0, end: text.length });
  const kwargs = get(inner, inner.root, 'engine_kwargs');
  const at = { range: rangeOf(named), line: reading.lines().line(named.extent.start) };
  const read = readSettings({ doc: inner, engine, lines: linesOf(text), flag: (k) => k }, kwargs);
  const more: readonly LaunchOption[] = read.map((o) => elsewhere(o, named.text, at, false));
  const model = nameOf(inner, inner.root as Node)?.model;
  const place = { doc, reading, form: 'ray-serve' as const, engine, head: at.range, range: at.range, map: null, more };
  readKeyed({ ...place, title: named.text, ...(model ? { model: { text: model.text, range: at.range } } : {}) });
}
