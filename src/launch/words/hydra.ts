/**
 * Trainers that start an engine for their rollouts, told by overrides on their command line (Hydra):
 * `python -m verl.trainer.main_ppo actor_rollout_ref.rollout.gpu_memory_utilization=0.6`. Keys of verl 0.6,
 * `verl/trainer/config/rollout/rollout.yaml`.
 */
import type { LaunchEngine } from '../engines';
import type { HardwareHint } from '../launch';
import { type Mapped, part, rangeOf, unresolvedIn } from '../text/mapped';

/** A setting written as a word `key=value`. */
interface Override {
  readonly key: string;
  readonly word: Mapped;
  readonly value: Mapped;
}

export interface Rollout {
  readonly engine: LaunchEngine;
  /** What stands before the key of every override. */
  readonly prefix: string;
  readonly pairs: readonly {
    readonly keyRange: { start: number; end: number };
    readonly flag: string;
    readonly value: Mapped;
    readonly shell: true;
  }[];
  readonly model?: Mapped;
  readonly hardware: HardwareHint;
}

const KEY = /^\+{0,2}((?:\w+\.)*rollout\.)([a-z][\w.]*)=/;

export function readRollout(words: readonly Mapped[], engines: readonly LaunchEngine[]): Rollout | undefined {
  const overrides = words.flatMap(overrideIn);
  const prefix = overrides.map((o) => KEY.exec(o.word.text)?.[1]).find((p) => p !== undefined);
  const engine = engineNamed(overrides.findLast((o) => o.key === 'rollout.name')?.value.text ?? 'vllm', engines);
  if (prefix === undefined || !engine) {
    return undefined;
  }
  const pairs = overrides.flatMap(({ key, word, value }) => {
    const flag = key.startsWith('rollout.') ? rolloutFlag(engine, key.slice('rollout.'.length)) : undefined;
    const length = word.text.indexOf('=');
    return flag === undefined || isNone(value.text)
      ? []
      : [{ keyRange: rangeOf(word, 0, length), flag, value, shell: true as const }];
  });
  const model = overrides.findLast((o) => o.key === 'model.path')?.value;
  const gpus = overrides.findLast((o) => o.key === 'trainer.n_gpus_per_node')?.value;
  const count = gpus && /^\d+$/.test(gpus.text) && unresolvedIn(gpus) === undefined ? Number(gpus.text) : undefined;
  return pairs.length === 0
    ? undefined
    : {
        engine,
        prefix,
        pairs,
        ...(model ? { model } : {}),
        hardware: gpus && count !== undefined ? { count: { value: count, range: rangeOf(gpus) } } : {},
      };
}

/** Keys from `rollout.`, `model.` or `trainer.` on. */
function overrideIn(word: Mapped): readonly Override[] {
  const found = /^\+{0,2}(?:\w+\.)*?((?:rollout|model|trainer)\.[a-z][\w.]*)=/.exec(word.text);
  return found ? [{ key: found[1] as string, word, value: part(word, found[0].length, word.text.length) }] : [];
}

export const engineNamed = (name: string, engines: readonly LaunchEngine[]): LaunchEngine | undefined =>
  engines.find((e) => e.id === name.replace(/_(?:async|rollout)$/, ''));

/** Not set: the engine's own default holds. */
const isNone = (text: string): boolean => /^(?:null|None|~|)$/.test(text);

const VLLM: Readonly<Record<string, string>> = {
  tensor_model_parallel_size: 'tensor-parallel-size',
  pipeline_model_parallel_size: 'pipeline-parallel-size',
  data_parallel_size: 'data-parallel-size',
  gpu_memory_utilization: 'gpu-memory-utilization',
  max_model_len: 'max-model-len',
  max_num_batched_tokens: 'max-num-batched-tokens',
  max_num_seqs: 'max-num-seqs',
  dtype: 'dtype',
  enforce_eager: 'enforce-eager',
  enable_chunked_prefill: 'enable-chunked-prefill',
  enable_prefix_caching: 'enable-prefix-caching',
  load_format: 'load-format',
};

const SGLANG: Readonly<Record<string, string>> = {
  tensor_model_parallel_size: 'tp-size',
  pipeline_model_parallel_size: 'pp-size',
  data_parallel_size: 'dp-size',
  gpu_memory_utilization: 'mem-fraction-static',
  max_model_len: 'context-length',
  max_num_seqs: 'max-running-requests',
  dtype: 'dtype',
  enforce_eager: 'disable-cuda-graph',
};

const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = { vllm: VLLM, sglang: SGLANG };

/** The flag that a key of `rollout` sets; keys of `engine_kwargs` are the engine's own. */
export function rolloutFlag(engine: LaunchEngine, key: string): string | undefined {
  const own = /^engine_kwargs\.(\w+)\.([\w.]+)$/.exec(key);
  const name = own ? (own[1] === engine.id ? own[2] : undefined) : KEYS[engine.id]?.[key];
  return name === undefined ? undefined : `--${name.replaceAll('_', '-')}`;
}

/** Options by the keys that set them. */
export const rolloutNames = (engine: LaunchEngine): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(KEYS[engine.id] ?? {}).map(([key, name]) => [name, key]));
