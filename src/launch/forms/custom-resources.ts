/**
 * Resources whose operator makes the container: KServe (`predictor.model`, LLMInferenceService), KubeAI, KAITO, llmkube;
 * and those that carry another form inside: RayService, Flux and Argo CD with Helm values. Fields as of KServe 0.17,
 * KubeAI 0.23, KAITO 0.9, llmkube 0.9, the vLLM production stack's operator 0.1.
 */
import { isMap, type Node, type YAMLMap } from 'yaml';
import { camelFlag, readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { HardwareHint, Launch, LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type Mapped, rangeOf, unresolvedIn } from '../text/mapped';
import { joined } from '../words/joined';
import { contentRange, parseYaml, type YamlDocument } from '../yaml/document';
import { keyInsertion } from '../yaml/insertion';
import { entry, get, items, scalarAt, textAt } from '../yaml/view';
import type { KubernetesFile } from './config-map';
import { type Container, readContainer } from './container';
import { namedEngine } from './engine-names';
import { readHelmValues } from './helm';
import { readKubeaiModel } from './kubeai';
import { countOf, limitIn, machineOf, namedGpu, numberAt, times } from './machine';
import { modelUri } from './model-uri';
import { parallelismIn, serviceEngine, speculatorIn } from './parallelism';
import { readArgoWorkflow, readTekton } from './workflow';

export interface KubernetesObject {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly file: KubernetesFile;
  readonly object: Node;
}

type Reader = (o: KubernetesObject) => void;

/** By group and kind. */
const READERS: readonly (readonly [RegExp, RegExp, Reader])[] = [
  [/^serving\.kserve\.io\//, /^InferenceService$/, kserve],
  [/^serving\.kserve\.io\//, /^LLMInferenceService(?:Config)?$/, llmService],
  [/^kubeai\.org\//, /^Model$/, kubeai],
  [/^kaito\.sh\//, /^(?:Workspace|InferenceSet)$/, kaito],
  [/^kaito\.sh\//, /^MultiRoleInference$/, kaitoRoles],
  [/llmkube\.dev\//, /^InferenceService$/, llmkube],
  [/^production-stack\.vllm\.ai\//, /^VLLMRuntime$/, vllmRuntime],
  [/^ray\.io\//, /^RayService$/, rayService],
  [/^ray\.io\//, /^RayJob$/, rayJob],
  [/^kustomize\.config\.k8s\.io\//, /^(?:Kustomization|Component)$/, kustomization],
  [/fluxcd\.io\//, /^HelmRelease$/, (o) => readHelmValues(o.doc, get(o.doc, o.object, 'spec', 'values'), o.reading)],
  [/^argoproj\.io\//, /^Application$/, argo],
  [/^argoproj\.io\//, /^(?:Cron|Cluster)?Workflow(?:Template)?$/, readArgoWorkflow],
  [/^tekton\.dev\//, /^(?:(?:Cluster)?Task|Pipeline)(?:Run)?$|^StepAction$/, readTekton],
];

/** False where no operator is known that makes the object's containers. */
export function readCustomResource(o: KubernetesObject): boolean {
  const version = textAt(o.doc, o.object, 'apiVersion') ?? '';
  const kind = textAt(o.doc, o.object, 'kind') ?? '';
  const reader = READERS.find(([group, name]) => group.test(version) && name.test(kind))?.[2];
  const off = /^0$/.test(textAt(o.doc, o.object, 'spec', 'replicas') ?? '');
  if (reader && !off) {
    reader(o);
  }
  return reader !== undefined;
}

const engineOf = (reading: Reading, id: string): LaunchEngine | undefined => reading.engines.find((e) => e.id === id);

const titleOf = (o: KubernetesObject): string => textAt(o.doc, o.object, 'metadata', 'name') ?? 'service';

function container(o: KubernetesObject, node: YAMLMap, more: Partial<Container>): void {
  const { doc, reading, file, object } = o;
  readContainer({
    doc,
    reading,
    form: 'kubernetes',
    node,
    title: titleOf(o),
    hardware: machineOf(doc, { node, keys: [], around: ancestors(o, node) }),
    config: file,
    whole: object,
    ...more,
  });
}

/** Only the maps that may say something of the machine. */
function ancestors({ doc, object }: KubernetesObject, node: YAMLMap): readonly YAMLMap[] {
  const all = [get(doc, object, 'spec', 'predictor'), get(doc, object, 'spec'), object];
  return all.filter((n): n is YAMLMap => isMap(n) && n !== node);
}

/** `predictor.model`: arguments for the runtime, whose container may stand in the same file. */
function kserve(o: KubernetesObject): void {
  const { doc, reading, file, object } = o;
  const node = get(doc, object, 'spec', 'predictor', 'model');
  if (!isMap(node)) {
    return;
  }
  const format = scalarAt(doc, get(doc, node, 'modelFormat', 'name'));
  const runtime = scalarAt(doc, get(doc, node, 'runtime'));
  const base = runtime && runtimeContainer(file, runtime.text);
  const engine = [runtime, format].map((n) => n && namedEngine(reading, n.text)).find((e) => e !== undefined);
  const head = format ?? runtime;
  const stored = scalarAt(doc, get(doc, node, 'storageUri'));
  const served = hubModel(doc, node);
  const model = served ?? (stored && modelUri(stored));
  const more: Partial<Container> = {
    ...(model ? { model } : {}),
    options: workerOptions(o, engine),
  };
  if (base) {
    container(o, node, { ...more, ...base });
  } else if (engine && head && !isTransformers(doc, node)) {
    container(o, node, { ...more, assumed: { engine, head }, foreign: HUGGING_FACE_SERVER });
  }
}

/** Flags of KServe's Hugging Face server (`huggingfaceserver/__main__.py`, 0.17); all others are vLLM's. */
const HUGGING_FACE_SERVER = new Set(
  `model-name model-id model-dir model-revision tokenizer-revision backend task disable-lower-case
  disable-special-tokens return-token-type-ids return-probabilities http-port grpc-port workers predictor-host
  predictor-protocol enable-docs-url enable-latency-logging max-threads max-asyncio-workers disable-log-requests`.split(
    /\s+/,
  ),
);

/** Words of `--backend=huggingface`: the server then runs without vLLM. */
const isTransformers = (doc: YamlDocument, node: Node): boolean =>
  items(doc, get(doc, node, 'args')).some((i) => /^--backend=huggingface$/.test(scalarAt(doc, i)?.text ?? ''));

/** `--model_id=org/m` is the Hugging Face server's word for the model. */
function hubModel(doc: YamlDocument, node: Node): Launch['model'] {
  for (const item of items(doc, get(doc, node, 'args'))) {
    const text = scalarAt(doc, item);
    const found = text && /^--model_id=(.+)$/.exec(text.text)?.[1];
    if (text && found && unresolvedIn(text) === undefined) {
      return { text: found, range: rangeOf(text, text.text.length - found.length) };
    }
  }
  return undefined;
}

/** Image, command and arguments of the runtime that the file has itself. */
function runtimeContainer(file: KubernetesFile, name: string): Pick<Container, 'base' | 'image'> | undefined {
  const runtime = file.object(['ServingRuntime', 'ClusterServingRuntime'], name);
  const first = runtime && items(runtime.doc, get(runtime.doc, runtime.node, 'spec', 'containers'))[0];
  if (!runtime || !first) {
    return undefined;
  }
  const { doc } = runtime;
  const texts = ['command', 'args'].flatMap((k) => items(doc, get(doc, first, k)).map((w) => scalarAt(doc, w)));
  const image = scalarAt(doc, get(doc, first, 'image'));
  return { base: texts.flatMap((t) => (t ? joined(t) : [])), ...(image ? { image } : {}) };
}

const WORKER_KEYS: Readonly<Record<string, string>> = {
  tensorParallelSize: 'tensor-parallel-size',
  pipelineParallelSize: 'pipeline-parallel-size',
};

/** Several machines: said of the workers, not of the server. */
function workerOptions(
  { doc, reading, object }: KubernetesObject,
  engine: LaunchEngine | undefined,
): readonly LaunchOption[] {
  const map = get(doc, object, 'spec', 'predictor', 'workerSpec');
  return engine && map ? readSettings({ doc, engine, lines: reading.lines(), flag: (k) => WORKER_KEYS[k] }, map) : [];
}

/** Where it describes no container itself, its own runs vLLM; else the container is read like any other. */
function llmService(o: KubernetesObject): void {
  const { doc, reading, object } = o;
  const engine = serviceEngine(doc, reading, object);
  const spec = get(doc, object, 'spec');
  const uri = scalarAt(doc, get(doc, spec, 'model', 'uri'));
  const described = ['template', 'worker'].some((k) => items(doc, get(doc, spec, k, 'containers')).length > 0);
  if (engine && isMap(spec) && uri && !described) {
    const options = [...parallelismIn(doc, reading, engine, [spec]), ...speculatorIn(doc, reading, engine, spec)];
    container(o, spec, {
      assumed: { engine, head: uri, positionalModel: engine.start.positionalModel },
      model: modelUri(uri),
      options,
    });
  }
}

function kubeai(o: KubernetesObject): void {
  const { doc, reading, object } = o;
  const spec = get(doc, object, 'spec');
  if (isMap(spec)) {
    readKubeaiModel({ doc, reading, form: 'kubernetes', title: titleOf(o), whole: object }, spec);
  }
}

/** `preset` is a model, run by vLLM; its options stand in a ConfigMap. */
function kaito(o: KubernetesObject): void {
  const { doc, reading, object, file } = o;
  const template = get(doc, object, 'spec', 'template') ?? object;
  const inference = get(doc, template, 'inference');
  const preset = scalarAt(doc, get(doc, inference, 'preset', 'name'));
  const engine = engineOf(reading, 'vllm');
  const runtime = textAt(doc, object, 'metadata', 'annotations', 'kaito.sh/runtime');
  if (!isMap(inference) || !preset || !engine || runtime === 'transformers') {
    return;
  }
  const resource = get(doc, template, 'resource') ?? get(doc, object, 'resource');
  const machine = namedGpu(scalarAt(doc, get(doc, resource, 'instanceType')));
  const hardware = times(machine ? { gpu: machine } : {}, numberAt(doc, resource, 'count'));
  const settings = kaitoSettings(o, engine, file.entries(textAt(doc, inference, 'config') ?? '') ?? []);
  container(o, inference, { assumed: { engine, head: preset }, model: modelUri(preset), hardware, ...settings });
}

/** Section `vllm` of `inference_config.yaml`; nothing of the resource itself is an option. */
function kaitoSettings(
  { doc, reading }: KubernetesObject,
  engine: LaunchEngine,
  config: readonly { readonly key: string; readonly value: Mapped }[],
): Partial<Container> {
  const block = config.find((e) => e.key === 'inference_config.yaml')?.value;
  const range = block && contentRange(doc.text, block.extent);
  const inner = range && parseYaml(doc.text, range);
  const section = inner && get(inner, inner.root, 'vllm');
  return {
    options: inner ? readSettings({ doc: inner, engine, lines: reading.lines() }, section ?? null) : [],
    insertion: (inner && keyInsertion(inner, section ?? null)) ?? null,
  };
}

/** One model, prefilled and decoded on machines of their own. */
function kaitoRoles(o: KubernetesObject): void {
  const { doc, reading, object } = o;
  const engine = engineOf(reading, 'vllm');
  const head = scalarAt(doc, get(doc, object, 'spec', 'model', 'name'));
  for (const role of items(doc, get(doc, object, 'spec', 'roles')).filter((r) => isMap(r))) {
    const type = /^(?:prefill|decode)$/.exec(textAt(doc, role, 'type') ?? '')?.[0] as Launch['role'] | undefined;
    const machine = namedGpu(scalarAt(doc, get(doc, role, 'instanceType')));
    if (engine && head) {
      container(o, role, {
        assumed: { engine, head },
        model: modelUri(head),
        hardware: machine ? { gpu: machine } : {},
        title: `${titleOf(o)} ${type ?? ''}`.trim(),
        whole: role,
        insertion: null,
        ...(type ? { role: type } : {}),
      });
    }
  }
}

const LLAMA_KEYS: Readonly<Record<string, string>> = {
  contextSize: 'ctx-size',
  parallelSlots: 'parallel',
  flashAttention: 'flash-attn',
  cacheTypeK: 'cache-type-k',
  cacheTypeV: 'cache-type-v',
  batchSize: 'batch-size',
  uBatchSize: 'ubatch-size',
  moeCPULayers: 'n-cpu-moe',
  noKvOffload: 'no-kv-offload',
  moeCPUOffload: 'cpu-moe',
  jinja: 'jinja',
};

/** The model is an object of its own, in this file or another. */
function llmkube(o: KubernetesObject): void {
  const { doc, reading, object, file } = o;
  const spec = get(doc, object, 'spec');
  const runtime = scalarAt(doc, get(doc, spec, 'runtime'));
  const engine = runtime ? namedEngine(reading, runtime.text) : engineOf(reading, 'llama-cpp');
  const reference = scalarAt(doc, get(doc, spec, 'modelRef')) ?? scalarAt(doc, get(doc, spec, 'modelRef', 'name'));
  if (!isMap(spec) || !engine || !reference) {
    return;
  }
  const model = file.object(['Model'], reference.text);
  const source = model && scalarAt(model.doc, get(model.doc, model.node, 'spec', 'source'));
  const lines = reading.lines();
  const own = engine.id === 'llama-cpp' ? (k: string) => LLAMA_KEYS[k] : () => undefined;
  const section = get(doc, spec, `${engine.id}Config`);
  const options = [
    ...readSettings({ doc, engine, lines, flag: own }, spec),
    ...(section ? readSettings({ doc, engine, lines, flag: (k) => camelFlag(engine, k) }, section) : []),
  ];
  const gpu = model && get(model.doc, model.node, 'spec', 'hardware', 'gpu');
  const count = limitIn(doc, spec) ?? (model && countOf(scalarAt(model.doc, get(model.doc, gpu, 'count'))));
  const hardware: HardwareHint = {
    ...machineOf(doc, { node: spec, keys: [], around: [] }),
    ...(count ? { count } : {}),
  };
  const assumed = { engine, head: runtime ?? reference };
  container(o, spec, { assumed, model: modelUri(source ?? reference), options, hardware, argsKey: 'extraArgs' });
}

/** Settings stand with the model and with the engine; a container is made of them. */
function vllmRuntime(o: KubernetesObject): void {
  const { doc, reading, object } = o;
  const engine = engineOf(reading, 'vllm');
  const spec = get(doc, object, 'spec');
  const url = scalarAt(doc, get(doc, spec, 'model', 'modelURL'));
  if (!isMap(spec) || !engine || !url) {
    return;
  }
  const settings = { doc, engine, lines: reading.lines(), flag: (k: string) => camelFlag(engine, k) };
  const config = get(doc, spec, 'vllmConfig');
  const deployed = get(doc, spec, 'deploymentConfig');
  const image = scalarAt(doc, get(doc, deployed, 'image', 'name'));
  const count = isMap(deployed) ? limitIn(doc, deployed) : undefined;
  container(o, spec, {
    assumed: { engine, head: url, positionalModel: true },
    model: modelUri(url),
    options: [...readSettings(settings, get(doc, spec, 'model')), ...readSettings(settings, config)],
    words: get(doc, config, 'extraArgs'),
    hardware: count ? { count } : {},
    ...(image ? { image } : {}),
  });
}

function rayService({ doc, reading, object }: KubernetesObject): void {
  const config = entry(doc, get(doc, object, 'spec'), 'serveConfigV2');
  const text = config && scalarAt(doc, config.value);
  if (text) {
    reading.embedded('serveConfigV2.yaml', text, { environment: [], hardware: {} });
  }
}

/** What the job runs, on a cluster of its own. */
function rayJob(o: KubernetesObject): void {
  const { doc, reading, object } = o;
  const script = scalarAt(doc, get(doc, object, 'spec', 'entrypoint'));
  if (script) {
    const around = { environment: [], hardware: {}, script };
    readScript(reading, { kind: 'script', ...around }, { form: 'kubernetes', title: titleOf(o) });
  }
}

/** Patches that are objects themselves, and values of the charts it renders. */
function kustomization({ doc, reading, object }: KubernetesObject): void {
  const patches = items(doc, get(doc, object, 'patches')).map((p) => get(doc, p, 'patch'));
  for (const patch of [...patches, ...items(doc, get(doc, object, 'patchesStrategicMerge'))]) {
    const text = scalarAt(doc, patch);
    if (text && /^apiVersion:/m.test(text.text)) {
      reading.embedded('patch.yaml', text, { environment: [], hardware: {} });
    }
  }
  for (const chart of items(doc, get(doc, object, 'helmCharts'))) {
    readHelmValues(doc, get(doc, chart, 'valuesInline'), reading);
  }
}

/** Values of a chart: as a map, or as a text. */
function argo({ doc, reading, object }: KubernetesObject): void {
  const one = get(doc, object, 'spec', 'source');
  for (const source of [one, ...items(doc, get(doc, object, 'spec', 'sources'))]) {
    readHelmValues(doc, get(doc, source, 'helm', 'valuesObject'), reading);
    const text = scalarAt(doc, get(doc, source, 'helm', 'values'));
    if (text) {
      reading.embedded('values.yaml', text, { environment: [], hardware: {} });
    }
  }
}
