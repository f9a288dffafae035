/** Triton's `config.pbtxt` of a model whose backend is an engine: `parameters { key: "X" value: { string_value: "Y" } }`. */
import { findOption } from '../../core/engines/option-find';
import { readOptionValue } from '../../core/engines/option-read';
import type { LaunchEngine } from '../engines';
import type { Insertion, LaunchOption, TextRange } from '../launch';
import type { Reading } from '../reading';
import { eolOf } from '../yaml/insertion';
import type { TextForm } from './form';

export const triton: TextForm = {
  kind: 'text',
  form: 'triton',
  names: /\.pbtxt$/i,
  recognises: () => false,
  read: (reading) => {
    const backend = fieldOf(reading.text, 'backend');
    const engine = backend && engineOf(reading, backend);
    if (!backend || !engine) {
      return;
    }
    const unfilled = isUnfilled(reading.text);
    const name = fieldOf(reading.text, 'name');
    reading.found({
      file: reading.input.name,
      form: 'triton',
      engine: engine.id,
      role: 'serve',
      title: name && !isTemplate(name.value) ? name.value : reading.input.name.replace(/^.*[\\/]/, ''),
      range: { start: 0, end: reading.text.trimEnd().length },
      head: backend.range,
      options: written(reading.text).flatMap((w) => optionsOf(w, engine, reading, unfilled)),
      environment: new Map(),
      hardware: devicesOf(reading.text),
      directives: [],
      insertion: insertionAfter(reading.text, engine),
    });
  },
};

interface Written {
  readonly key: string;
  readonly value: string;
  readonly keyRange: TextRange;
  /** Without quotes. */
  readonly range: TextRange;
}

/** A field at the margin of the file: `backend: "tensorrtllm"`, `max_batch_size: 64`. */
function fieldOf(text: string, key: string): Written | undefined {
  return fields(text).find((f) => f.key === key);
}

const FIELD = /^[ \t]*(\w+)[ \t]*:[ \t]*(?:"([^"\n]*)"|([\w.${}-]+))/gm;

/** A block's fields look like the file's own: those at the margin are the file's. */
function fields(text: string): readonly Written[] {
  return [...text.matchAll(FIELD)].filter((m) => /^\w/.test(m[0])).map(placed);
}

const PARAMETER =
  /parameters\s*:?\s*\{\s*key\s*:\s*"([^"\n]*)"\s*,?\s*value\s*:?\s*\{\s*string_value\s*:\s*"([^"\n]*)"\s*,?\s*\}\s*,?\s*\}/g;

const written = (text: string): readonly Written[] => [
  ...fields(text),
  ...[...withoutComments(text).matchAll(PARAMETER)].map(placed),
];

/** As long as the text, so that places stay. */
const withoutComments = (text: string): string =>
  text.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));

function placed(match: RegExpMatchArray): Written {
  const [all, key = '', quoted, bare = ''] = match;
  const value = quoted ?? bare;
  const start = match.index ?? 0;
  const keyAt = start + all.indexOf(key);
  const valueAt = start + all.lastIndexOf(value === '' ? '""' : value) + (value === '' ? 1 : 0);
  return {
    key,
    value,
    keyRange: { start: keyAt, end: keyAt + key.length },
    range: { start: valueAt, end: valueAt + value.length },
  };
}

/** A template names the backend by a variable: its parameters tell the engine. */
function engineOf(reading: Reading, backend: Written): LaunchEngine | undefined {
  const isEngine = (e: LaunchEngine) => e.start.tritonBackends !== undefined;
  const keys = isTemplate(backend.value) ? written(reading.text).filter((w) => PARAMETERS.includes(w.key)) : [];
  return (
    reading.engines.find((e) => e.start.tritonBackends?.includes(backend.value)) ??
    (keys.length > 0 ? reading.engines.find(isEngine) : undefined)
  );
}

/** Triton itself would refuse a field such as `max_batch_size: ${X}`: the file is a template still. */
const isUnfilled = (text: string): boolean =>
  /^[ \t]*\w+[ \t]*:[ \t]*\$\{/m.test(text) || /^backend[ \t]*:[ \t]*"\$\{/m.test(text);

/** A template's `${X}` that nobody filled in is not set, and neither is an empty value. */
const isTemplate = (value: string): boolean => value === '' || /^\$\{[^}]*\}$/.test(value);

/** Most keys are Triton's own and say nothing to the engine. */
function optionsOf(w: Written, engine: LaunchEngine, reading: Reading, unfilled: boolean): readonly LaunchOption[] {
  const isOpen = w.key === 'backend' && isTemplate(w.value);
  const found = isOpen ? undefined : findOption(engine.options, `--${w.key}`);
  if (
    !found ||
    'ambiguous' in found ||
    found.abbreviated ||
    found.negated ||
    w.value === '' ||
    (isTemplate(w.value) && !unfilled)
  ) {
    return [];
  }
  const { spec } = found;
  const range = { start: w.keyRange.start, end: Math.max(w.keyRange.end, w.range.end) };
  return [
    {
      name: spec.name,
      spec,
      raw: w.value,
      origin: 'file',
      line: reading.lines().line(w.range.start),
      range,
      nameRange: w.keyRange,
      valueRange: w.range,
      layers: [{ kind: 'pbtxt', range: w.range }],
      ...(isTemplate(w.value)
        ? { unresolved: `${w.value} is filled in before Triton reads the file` }
        : readOptionValue(spec, w.value)),
    },
  ];
}

/** Another parameter at the end, under the name that Triton's backend has for it. */
function insertionAfter(text: string, engine: LaunchEngine): Insertion {
  const at = text.trimEnd().length;
  const eol = eolOf(text);
  const known = PARAMETERS.flatMap((key) => {
    const found = findOption(engine.options, `--${key}`);
    return found && !('ambiguous' in found) && !found.abbreviated ? [[found.spec.name, key] as const] : [];
  });
  return {
    at,
    text: `${eol}parameters: {${eol}  key: "{name}"${eol}  value: { string_value: "{value}" }${eol}}`,
    layers: [{ kind: 'pbtxt', range: { start: at, end: at } }],
    names: Object.fromEntries(known),
    only: new RegExp(`^(?:${PARAMETERS.join('|')})$`),
  };
}

/** Of `tensorrt_llm/config.pbtxt` in tensorrtllm_backend, 0.20: those that size the cache. */
const PARAMETERS = [
  'max_beam_width',
  'max_tokens_in_paged_kv_cache',
  'max_attention_window_size',
  'sink_token_length',
  'kv_cache_free_gpu_mem_fraction',
  'cross_kv_cache_fraction',
  'kv_cache_host_memory_bytes',
  'kv_cache_onboard_blocks',
  'enable_kv_cache_reuse',
  'batch_scheduler_policy',
  'enable_chunked_context',
  'gpu_device_ids',
];

/** `gpu_device_ids` lists the GPUs that one engine runs on. */
function devicesOf(text: string): { readonly count?: { readonly value: number; readonly range: TextRange } } {
  const listed = written(text).find((w) => w.key === 'gpu_device_ids');
  return listed && /^\d+(,\d+)*$/.test(listed.value)
    ? { count: { value: listed.value.split(',').length, range: listed.range } }
    : {};
}
