/**
 * Truss `config.yaml`: a command of its own (`docker_server`), TensorRT-LLM's build and runtime (`trt_llm`), or options
 * of vLLM among `model_metadata`. Fields as of Truss 0.11.
 */
import { isMap, isScalar, type Node } from 'yaml';
import { findOption } from '../../core/engines/option-find';
import { camelFlag, readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { rangeOf } from '../text/mapped';
import { readImage } from '../words/image';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { entries, entry, get, nodeRange, scalarAt, textAt } from '../yaml/view';
import type { YamlForm } from './form';
import { readKeyed } from './keyed';
import { acceleratorOf } from './machine';
import { modelUri } from './model-uri';

export const truss: YamlForm = {
  kind: 'yaml',
  form: 'truss',
  recognises: (keys, reading) =>
    reading.input.form === 'truss' ||
    keys.has('docker_server') ||
    keys.has('trt_llm') ||
    (keys.has('model_metadata') && keys.has('resources')),
  read: (doc, reading) => {
    const place = placeOf(doc, reading);
    const command = scalarAt(doc, get(doc, doc.root, 'docker_server', 'start_command'));
    const image = scalarAt(doc, get(doc, doc.root, 'base_image', 'image'));
    const known = image && readImage(image, reading.engines);
    if (command) {
      const around = { environment: place.environment, hardware: place.hardware, ...(known ? { image: known } : {}) };
      readScript(reading, { kind: 'script', script: command, ...around }, { form: 'truss', title: place.title });
    }
    readTrt(place);
    readMetadata(place);
  },
};

type Place = ReturnType<typeof placeOf>;

function placeOf(doc: YamlDocument, reading: Reading) {
  const environment: Variable[] = entries(doc, get(doc, doc.root, 'environment_variables')).flatMap((e) => {
    const value = isScalar(e.value) ? scalarAt(doc, e.value) : undefined;
    return value && value.text !== 'null' ? [{ name: e.key, value }] : [];
  });
  return {
    doc,
    reading,
    form: 'truss' as const,
    title: textAt(doc, doc.root, 'model_name') ?? 'truss',
    environment,
    hardware: acceleratorOf(scalarAt(doc, get(doc, doc.root, 'resources', 'accelerator'))),
  };
}

/** Keys of the build and of the runtime that are options of the server. */
const TRT_KEYS: Readonly<Record<string, string>> = {
  max_seq_len: 'max_seq_len',
  max_batch_size: 'max_batch_size',
  max_num_tokens: 'max_num_tokens',
  tensor_parallel_count: 'tp_size',
  tensor_parallel_size: 'tp_size',
  pipeline_parallel_count: 'pp_size',
  kv_cache_free_gpu_mem_fraction: 'kv_cache_free_gpu_mem_fraction',
  kv_cache_host_memory_bytes: 'kv_cache_config.host_cache_size',
  enable_chunked_context: 'enable_chunked_prefill',
};

function readTrt(place: Place): void {
  const { doc, reading } = place;
  const engine = reading.engines.find((e) => e.id === 'tensorrt-llm');
  const root = entry(doc, doc.root, 'trt_llm');
  const build = get(doc, root?.value, 'build');
  const runtime = get(doc, root?.value, 'runtime');
  if (!engine || !root || (!build && !runtime)) {
    return;
  }
  const lines = reading.lines();
  const flag = (k: string) => TRT_KEYS[k];
  const [map, other] = isMap(build) ? [build, runtime] : [runtime, build];
  const repository = scalarAt(doc, get(doc, build, 'checkpoint_repository', 'repo'));
  readKeyed({
    ...place,
    engine,
    head: nodeRange(doc, root.keyNode),
    range: nodeRange(doc, root.value as Node),
    map,
    flag,
    keys: keysOf(engine),
    more: [...readSettings({ doc, engine, lines, flag }, other), ...cacheType(place, build)],
    ...(repository ? { model: modelUri(repository) } : {}),
  });
}

/** The key of each option, first spelling first. */
function keysOf(engine: LaunchEngine): Readonly<Record<string, string>> {
  const pairs = Object.entries(TRT_KEYS).map(([key, flag]) => [findOption(engine.options, `--${flag}`), key] as const);
  return Object.fromEntries(
    pairs.flatMap(([found, key]) => (found && !('ambiguous' in found) ? [[found.spec.name, key]] : [])).reverse(),
  );
}

/** `fp8_kv` and `fp4_kv` quantise the cache as well; there is no text to write another number format over. */
function cacheType({ doc, reading }: Place, build: Node | null): readonly LaunchOption[] {
  const text = scalarAt(doc, get(doc, build, 'quantization_type'));
  const engine = reading.engines.find((e) => e.id === 'tensorrt-llm');
  const spec = engine?.options.find((o) => o.role === 'kv-dtype');
  const value = text && /^fp[48]\w*_kv$/.test(text.text) ? 'fp8' : undefined;
  if (!text || !spec || value === undefined) {
    return [];
  }
  const range = rangeOf(text);
  const line = reading.lines().line(range.start);
  return [{ name: spec.name, spec, value, raw: text.text, origin: 'file', range, nameRange: range, line }];
}

function readMetadata(place: Place): void {
  const { doc, reading } = place;
  const metadata = get(doc, doc.root, 'model_metadata');
  const found = ['vllm_config', 'engine_args'].map((k) => entry(doc, metadata, k)).find((e) => isMap(e?.value));
  const engine = reading.engines.find((e) => e.id === 'vllm');
  if (!found || !engine) {
    return;
  }
  const model = ['main_model', 'repo_id', 'model'].map((k) => scalarAt(doc, get(doc, metadata, k))).find((m) => m);
  readKeyed({
    ...place,
    engine,
    head: nodeRange(doc, found.keyNode),
    range: nodeRange(doc, metadata as Node),
    map: found.value,
    flag: (k) => camelFlag(engine, k),
    ...(model ? { model: modelUri(model) } : {}),
  });
}
