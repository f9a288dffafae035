/** Files of keys and values: options of vLLM, SGLang and TensorRT-LLM, srt-slurm, LocalAI, llama-swap, verl, model.json. */
import type { OptionSpec } from '../../../../src/core/engines/option';
import type { Choice } from '../choices';
import { isFlag, type Renderer, shellWord, words } from './renderer';

/** A value as YAML writes it so that it stays what it is. */
const yaml = ({ spec, text }: Choice): string =>
  spec.type === 'list' && spec.read === undefined
    ? `[${text
        .split(' ')
        .map((w) => JSON.stringify(w))
        .join(', ')}]`
    : /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(text) || spec.type === 'json'
      ? text
      : JSON.stringify(text);

const keys = (choices: readonly Choice[], indent = '', dash = '-'): string =>
  choices.map((c) => `${indent}${c.spec.name.replaceAll('-', dash)}: ${yaml(c)}\n`).join('');

/** Nothing is set by `false` where a flag has no `--no-` form, and a section’s key goes into its section. */
const isKey = (spec: OptionSpec): boolean => isFlag(spec) && spec.type !== 'flag';

const only =
  (...names: readonly string[]) =>
  (spec: OptionSpec): boolean =>
    names.includes(spec.name);

const VERL = {
  'gpu-memory-utilization': 'gpu_memory_utilization',
  'tensor-parallel-size': 'tensor_model_parallel_size',
  'max-num-seqs': 'max_num_seqs',
  'max-model-len': 'max_model_len',
  'enforce-eager': 'enforce_eager',
  dtype: 'dtype',
} as const;
const LOCALAI = {
  'ctx-size': 'context_size',
  'gpu-layers': 'gpu_layers',
  'cache-type-k': 'cache_type_k',
  'cache-type-v': 'cache_type_v',
  threads: 'threads',
} as const;

const renamed = (choices: readonly Choice[], names: Readonly<Record<string, string>>, indent = ''): string =>
  choices.map((c) => `${indent}${names[c.spec.name]}: ${yaml(c)}\n`).join('');

export const renderers: readonly Renderer[] = [
  {
    what: 'vLLM options',
    engine: 'vllm',
    name: 'engine.yaml',
    form: 'vllm-config',
    holds: isKey,
    render: (choices) => `model: org/m\n${keys(choices)}`,
  },
  {
    what: 'SGLang options, underscores and CRLF',
    engine: 'sglang',
    name: 'engine.yaml',
    form: 'sglang-config',
    holds: isKey,
    render: (choices) => `model_path: org/m\n# note\n${keys(choices, '', '_')}`.replaceAll('\n', '\r\n'),
  },
  {
    what: 'TensorRT-LLM options',
    engine: 'tensorrt-llm',
    name: 'extra.yaml',
    form: 'trtllm-config',
    holds: isKey,
    render: (choices) => keys(choices),
  },
  {
    what: 'TensorRT-LLM options of the cache',
    engine: 'tensorrt-llm',
    name: 'extra.yaml',
    form: 'trtllm-config',
    closed: true,
    holds: (spec) => /^kv_cache_config\.\w+$/.test(spec.name) && spec.type !== 'json',
    render: (choices) =>
      `kv_cache_config:\n${choices.map((c) => `  ${c.spec.name.slice('kv_cache_config.'.length)}: ${yaml(c)}\n`).join('')}`,
  },
  {
    what: 'srt-slurm',
    engine: 'sglang',
    name: 'recipe.yaml',
    holds: isKey,
    render: (choices) =>
      `name: x\nmodel: {path: org/m}\nresources: {gpus_per_node: 8}\nbackend:\n  sglang_config:\n    aggregated:\n${keys(choices, '      ')}benchmark: {isl: 1}\n`,
  },
  {
    what: 'model.json of Triton',
    engine: 'vllm',
    name: 'model.json',
    holds: (spec) =>
      isKey(spec) && spec.name.split('-').length > 2 && spec.effect !== undefined && spec.type !== 'list',
    render: (choices) =>
      `{\n  "model": "org/m",\n${choices.map((c) => `  "${c.spec.name.replaceAll('-', '_')}": ${yaml(c)}`).join(',\n')}\n}\n`,
  },
  {
    what: 'LocalAI',
    engine: 'llama-cpp',
    name: 'm.yaml',
    holds: only(...Object.keys(LOCALAI)),
    render: (choices) => `name: m\nbackend: llama-cpp\nparameters:\n  model: m.gguf\n${renamed(choices, LOCALAI)}`,
  },
  {
    what: 'verl in YAML',
    engine: 'vllm',
    name: 'ppo.yaml',
    holds: only(...Object.keys(VERL)),
    render: (choices) =>
      `actor_rollout_ref:\n  model: {path: org/m}\n  rollout:\n    name: vllm\n${renamed(choices, VERL, '    ')}trainer: {n_gpus_per_node: 8}\n`,
  },
  {
    what: 'Hydra overrides',
    engine: 'vllm',
    name: 'ppo.sh',
    holds: only(...Object.keys(VERL)),
    render: (choices) =>
      `python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm \\\n${choices
        .map((c) => `  actor_rollout_ref.rollout.${VERL[c.spec.name as keyof typeof VERL]}=${c.text} \\\n`)
        .join('')}  trainer.n_gpus_per_node=8\n`,
  },
  {
    what: 'llama-swap, literal',
    engine: 'llama-cpp',
    name: 'llama-swap.yaml',
    holds: (spec) => isFlag(spec) && spec.type !== 'flag' && spec.name !== 'model' && spec.name !== 'hf-repo',
    render: (choices) =>
      `models:\n  m:\n    cmd: |\n      llama-server -m m.gguf\n      # note\n      ${words(choices).map(shellWord).join('\n      ')}\n    ttl: 1\n`,
  },
  {
    what: 'llama-swap, macros',
    engine: 'llama-cpp',
    name: 'llama-swap.yaml',
    holds: (spec) => isFlag(spec) && spec.type !== 'flag' && spec.name !== 'model' && spec.name !== 'hf-repo',
    render: (choices) =>
      `macros:\n  flags: ${JSON.stringify(words(choices).map(shellWord).join(' '))}\nmodels:\n  m: {cmd: "llama-server -m m.gguf \${flags}"}\n`,
  },
];
