/**
 * LocalAI's model files: `name`, `backend`, `parameters.model`, and settings under its own names. LocalAI
 * `core/config/model_config.go` and `core/backend/options.go`, v3.
 */
import { isMap } from 'yaml';
import { assemble } from '../assemble';
import { readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { settingOf } from '../setting';
import { part, rangeOf } from '../text/mapped';
import { NOTHING, started } from '../words/start';
import type { YamlDocument } from '../yaml/document';
import { keyInsertion } from '../yaml/insertion';
import { scalarText } from '../yaml/scalar';
import { entries, get, items, nodeRange, scalarAt } from '../yaml/view';
import type { YamlForm } from './form';

const LLAMA: Readonly<Record<string, string>> = {
  context_size: 'ctx-size',
  gpu_layers: 'gpu-layers',
  batch: 'batch-size',
  cache_type_k: 'cache-type-k',
  cache_type_v: 'cache-type-v',
  flash_attention: 'flash-attn',
  no_kv_offloading: 'no-kv-offload',
  tensor_split: 'tensor-split',
  main_gpu: 'main-gpu',
  mmproj: 'mmproj',
  mmap: 'mmap',
  mmlock: 'mlock',
  threads: 'threads',
  draft_model: 'model-draft',
};

/** LocalAI hands these on to vLLM under the names they have there. */
const VLLM: Readonly<Record<string, string>> = Object.fromEntries(
  `gpu_memory_utilization max_model_len tensor_parallel_size swap_space dtype quantization enforce_eager trust_remote_code
  load_format`
    .split(/\s+/)
    .map((key) => [key, key.replaceAll('_', '-')]),
);

const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = { 'llama-cpp': LLAMA, vllm: VLLM };

export const localai: YamlForm = {
  kind: 'yaml',
  form: 'localai',
  recognises: (keys, reading) =>
    reading.input.form === 'localai' ||
    (keys.has('name') &&
      keys.has('parameters') &&
      (keys.has('backend') || [...Object.keys(LLAMA), ...Object.keys(VLLM)].some((k) => keys.has(k)))),
  read: (doc, reading) => {
    const parameters = get(doc, doc.root, 'parameters');
    const model = entries(doc, parameters).find((e) => e.key === 'model');
    const engine = engineOf(doc, reading);
    if (!engine || !isMap(doc.root) || !model) {
      return;
    }
    const keys = KEYS[engine.id] ?? {};
    const lines = reading.lines();
    const name = scalarAt(doc, get(doc, doc.root, 'name'));
    const named = readSettings(
      { doc, engine, lines, flag: (k) => (k === 'model' ? engine.start.modelOption : undefined) },
      parameters,
    );
    const options = [
      ...named,
      ...readSettings({ doc, engine, lines, flag: (k) => keys[k] }, doc.root),
      ...listed(doc, engine, reading),
      ...readSettings({ doc, engine, lines }, get(doc, doc.root, 'engine_args')),
    ];
    const names = Object.fromEntries(Object.entries(keys).map(([key, flag]) => [flag, key]));
    const insertion = keyInsertion(doc, doc.root);
    reading.found(
      assemble(reading, {
        form: 'localai',
        title: name?.text ?? reading.input.name.replace(/^.*[\\/]/, ''),
        range: nodeRange(doc, doc.root),
        start: started(NOTHING, engine, name ? rangeOf(name) : rangeOf(scalarText(doc, model.keyNode)), [], false),
        shell: false,
        options,
        ...(insertion
          ? { insertion: { ...insertion, names, only: new RegExp(`^(?:${Object.keys(keys).join('|')})$`) } }
          : {}),
      }),
    );
  },
};

/** `cuda12-llama-cpp`, `llama-cpp`, `llama`, `vllm`; without one LocalAI picks llama.cpp for a GGUF file. */
function engineOf(doc: YamlDocument, reading: Reading): LaunchEngine | undefined {
  const backend = scalarAt(doc, get(doc, doc.root, 'backend'))?.text;
  const file = scalarAt(doc, get(doc, doc.root, 'parameters', 'model'))?.text ?? '';
  const id =
    backend === undefined
      ? /\.gguf$/i.test(file)
        ? 'llama-cpp'
        : undefined
      : /(?:^|-)(?:llama-cpp|llama)(?:-|$)/.test(backend)
        ? 'llama-cpp'
        : /(?:^|-)vllm(?:-|$)/.test(backend)
          ? 'vllm'
          : undefined;
  return reading.engines.find((e) => e.id === id);
}

/** `options: ["parallel:4", "cache_ram:4096"]` of the llama.cpp backend. */
function listed(doc: YamlDocument, engine: LaunchEngine, reading: Reading): readonly LaunchOption[] {
  const all = engine.id === 'llama-cpp' ? items(doc, get(doc, doc.root, 'options')) : [];
  return all.flatMap((item) => {
    const text = scalarAt(doc, item);
    const key = text && /^([a-z_]+):/.exec(text.text)?.[1];
    if (!text || !key) {
      return [];
    }
    const keyRange = rangeOf(text, 0, key.length);
    const value = part(text, key.length + 1, text.text.length);
    return settingOf(reading, engine, { keyRange, flag: `--${key.replaceAll('_', '-')}`, value }) ?? [];
  });
}
