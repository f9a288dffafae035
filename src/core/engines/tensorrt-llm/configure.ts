/** Written options + defaults of the version and the hardware → one configuration. */
import type { KvLayer, Model } from '../../model/model';
import { approximate, notCovered, refuseLayers } from '../coverage';
import {
  type Configuration,
  type ConfigureInput,
  EngineRefusal,
  type Finding,
  type Placement,
  type Setting,
} from '../engine';
import { modelLength } from '../model-length';
import { anyUnknown, type Settings, settingsOf, valueFindings } from '../settings';
import { stateElements } from '../state-bytes';
import { versionOf } from '../version-rules';
import { dtypeName, headBytes } from './dtypes';
import { headsRefusal, placementOf } from './placement';
import { placedLayers, speculationOf } from './speculative';
import { TRT_VERSIONS, type TrtRules, trtRules } from './versions';

export const TITLE = 'TensorRT-LLM';

export interface TrtConfiguration extends Configuration {
  readonly rules: TrtRules;
  readonly backend: 'pytorch' | 'tensorrt';
  readonly stored: { readonly key: string; readonly value: string; readonly how: string };
  readonly block: { readonly tokens: number; readonly how: string };
  readonly stages: number;
  /** Stage of each of `layers`. */
  readonly stageOf: readonly number[];
  /** Tokens that each of `layers` looks back on; absent where it keeps all. */
  readonly windows: readonly (number | undefined)[];
  /** Shares of the pool by window, as an environment variable says them. */
  readonly windowShares?: readonly number[];
  readonly states: { readonly slots: number; readonly convBytes: number; readonly ssmBytes: number };
  /** Undefined when the written value cannot be known. */
  readonly share?: number;
  readonly maxTokens?: number;
  readonly maxBytes?: number;
  readonly hostBytes: number;
  /** Tokens a request may need beyond its length: one in flight under the overlap scheduler, and guessed ones. */
  readonly extraTokens: number;
  readonly draft?: Model;
  /** Why blocks are not reused though nobody said so; absent where they are, or where the launch turns it off. */
  readonly reuse: { readonly on: boolean; readonly why?: string };
  readonly policy: string;
}

const DECISIVE = new Set([
  'tensor_parallel_size',
  'pipeline_parallel_size',
  'kv_cache_dtype',
  'tokens_per_block',
  'quant_config.kv_cache_quant_algo',
  'kv_cache_config.max_attention_window',
  'enable_attention_dp',
  'backend',
]);

export function configure(input: ConfigureInput): TrtConfiguration {
  const { model, environment, hardware } = input;
  const version = versionOf(input.version, TITLE, TRT_VERSIONS);
  const rules = trtRules(version.text);
  const settings = settingsOf(input.settings);
  const fromValues = valueFindings(settings, TITLE, DECISIVE);
  if (anyUnknown(settings, DECISIVE)) {
    throw new EngineRefusal(fromValues);
  }
  const backend = backendOf(settings, rules);
  refuseUncovered(model, settings, backend);
  const placement = placementOf(settings);
  const heads = headsRefusal(model, placement);
  if (heads) {
    throw new EngineRefusal([...fromValues, heads]);
  }
  const speculation = speculationOf(settings);
  const { layers, stageOf } = placedLayers(model, input.draft, placement, speculation);
  const stored = storedDtype(model, settings);
  refuseDtype(layers, stored.value);
  const capability = Number(hardware?.gpu?.computeCapability ?? Number.NaN);
  const block = blockOf(model, settings, rules, backend, capability);
  const length = settings.unknown.has('max_seq_len')
    ? undefined
    : (settings.number('max_seq_len') ?? modelLength(model)?.tokens);
  const sequences = settings.unknown.has('max_batch_size') ? undefined : (settings.number('max_batch_size') ?? 2048);
  const batchTokens = settings.number('max_num_tokens') ?? 8192;
  const share = settings.unknown.has('kv_cache_free_gpu_memory_fraction')
    ? undefined
    : (settings.number('kv_cache_free_gpu_memory_fraction') ?? 0.9);
  const extraTokens =
    backend === 'pytorch' && settings.flag('disable_overlap_scheduler') !== true
      ? 1 + 2 * speculation.tokens
      : speculation.tokens;
  const reuse = reuseOf(model, settings, environment, stored.value, capability);
  return {
    version,
    rules,
    backend,
    placement,
    stored,
    block,
    layers,
    stages: placement.pipeline,
    stageOf,
    windows: windowsOf(layers, settings, length),
    windowShares: sharesOf(environment.get('TRTLLM_WINDOW_SIZE_SHARES')),
    states: statesOf(model, settings, sequences ?? 2048, placement.pipeline),
    share,
    maxTokens: settings.number('kv_cache_config.max_tokens'),
    maxBytes: settings.number('kv_cache_config.max_gpu_total_bytes') || undefined,
    hostBytes: settings.number('kv_cache_config.host_cache_size') ?? 0,
    extraTokens,
    draft: input.draft,
    reuse,
    policy: policyOf(settings),
    maxLength: length,
    // The PyTorch backend cuts the length to what the pool holds; an engine was built for one.
    autoLength: backend === 'pytorch' && length !== undefined,
    maxSequences: sequences,
    batchTokens,
    tokensPerStep: 1 + speculation.tokens,
    settings: [
      ...input.settings,
      ...defaults(settings, { backend, block, stored, share, length, sequences, batchTokens, model }),
    ],
    findings: [...fromValues, ...unsure(model, settings, rules, backend, version.text, placement)],
  };
}

const policyOf = (settings: Settings): string =>
  settings.text('gpt_model_type') === 'V1'
    ? 'STATIC_BATCH'
    : (settings.text('scheduler_config.capacity_scheduler_policy') ?? 'GUARANTEED_NO_EVICT').toUpperCase();

function backendOf(settings: Settings, rules: TrtRules): TrtConfiguration['backend'] {
  const asked = settings.text('backend');
  return asked === undefined
    ? rules.backend
    : ['tensorrt', 'trt', 'tensorrtllm'].includes(asked)
      ? 'tensorrt'
      : 'pytorch';
}

function refuseUncovered(model: Model, settings: Settings, backend: TrtConfiguration['backend']): void {
  refuseLayers(model, TITLE, ({ kind, state }) => {
    if (kind === 'cross') {
      return 'cross-attention layers';
    }
    if (kind === 'other') {
      return 'layers of a kind that no rule covers';
    }
    if (kind !== 'state') {
      return true;
    }
    if (backend === 'tensorrt') {
      return 'state layers in an engine of the TensorRT backend';
    }
    return state && stateElements(state) ? true : 'state layers of a shape whose slots are not known';
  });
  if ((settings.number('context_parallel_size') ?? 1) > 1) {
    throw notCovered(
      'What context parallelism does to the pool of TensorRT-LLM was not verified, so it is not planned.',
      'context_parallel_size',
    );
  }
  if ((settings.text('kv_cache_type') ?? 'paged') !== 'paged') {
    throw notCovered('Only a paged cache of TensorRT-LLM is planned.', 'kv_cache_type');
  }
}

function storedDtype(model: Model, settings: Settings): TrtConfiguration['stored'] {
  const key = settings.text('kv_cache_dtype') ?? 'auto';
  if (key !== 'auto') {
    return { key, value: dtypeName(key), how: 'as written' };
  }
  const algorithm = settings.text('quant_config.kv_cache_quant_algo');
  if (algorithm !== undefined) {
    return { key, value: dtypeName(algorithm), how: 'auto: quant_config.kv_cache_quant_algo' };
  }
  if (model.checkpointKvDtype !== undefined) {
    return { key, value: dtypeName(model.checkpointKvDtype), how: 'auto: the checkpoint’s own KV metadata' };
  }
  const asked = settings.text('dtype') ?? 'auto';
  const own = asked === 'auto' ? model.dtype : asked;
  return { key, value: own === 'float32' ? 'float16' : own, how: 'auto: the model’s dtype' };
}

function refuseDtype(layers: readonly KvLayer[], dtype: string): void {
  const without = layers.find((l) => l.kind !== 'state' && headBytes(l, dtype) === undefined);
  if (without) {
    const kind = without.kind === 'latent' ? 'latent (MLA)' : 'multi-head';
    throw notCovered(`KV dtype ${dtype} has no layout that is known here for ${kind} layers.`, 'kv_cache_dtype');
  }
}

const isLatent = (model: Model): boolean => model.layers.some((l) => l.kind === 'latent');

/** Source: _torch/pyexecutor/py_executor_creator.py. */
function blockOf(
  model: Model,
  settings: Settings,
  rules: TrtRules,
  backend: TrtConfiguration['backend'],
  capability: number,
): TrtConfiguration['block'] {
  if (backend === 'pytorch' && isLatent(model) && capability === 9) {
    return { tokens: 64, how: 'FlashMLA on Hopper takes blocks of 64, whatever is asked for' };
  }
  if (backend === 'pytorch' && settings.text('attn_backend') === 'VANILLA') {
    return { tokens: settings.number('max_num_tokens') ?? 8192, how: 'VANILLA attention: one block of max_num_tokens' };
  }
  const written = settings.number('tokens_per_block');
  if (written !== undefined) {
    return { tokens: written, how: 'as written' };
  }
  return backend === 'pytorch'
    ? { tokens: 32, how: 'default' }
    : { tokens: rules.engineBlock, how: 'default of trtllm-build' };
}

/** The list repeats over the layers; a window as long as the longest request is none. */
function windowsOf(
  layers: readonly KvLayer[],
  settings: Settings,
  length: number | undefined,
): TrtConfiguration['windows'] {
  const written = settings.find('kv_cache_config.max_attention_window')?.value;
  const list = Array.isArray(written) ? written.filter((w): w is number => typeof w === 'number' && w > 0) : [];
  let at = 0;
  return layers.map((layer) => {
    if (layer.kind === 'state' || list.length === 0) {
      return undefined;
    }
    const window = list[at++ % list.length] as number;
    return length !== undefined && window >= length ? undefined : window;
  });
}

function sharesOf(text: string | undefined): readonly number[] | undefined {
  const shares = text?.split(',').map(Number);
  return shares?.every((s) => s > 0) ? shares : undefined;
}

/** Slots of states: one for each request of a full batch on every stage, and one for the capture of CUDA graphs. */
function statesOf(model: Model, settings: Settings, sequences: number, pipeline: number): TrtConfiguration['states'] {
  const asked = settings.text('kv_cache_config.mamba_ssm_cache_dtype') ?? 'auto';
  const ssm = asked === 'auto' ? (model.stateDtype ?? model.dtype) : asked;
  return { slots: sequences * pipeline + 1, convBytes: 2, ssmBytes: ssm === 'float32' ? 4 : 2 };
}

/** What switches block reuse off without a word in the launch. Source: py_executor_creator.py. */
function reuseOf(
  model: Model,
  settings: Settings,
  environment: ReadonlyMap<string, string>,
  dtype: string,
  capability: number,
): TrtConfiguration['reuse'] {
  if (settings.flag('kv_cache_config.enable_block_reuse') === false) {
    return { on: false };
  }
  const off = (why: string) => ({ on: false, why });
  if (settings.text('attn_backend')?.toUpperCase() === 'FLASHINFER') {
    return off('the FLASHINFER attention backend does not support it');
  }
  if (environment.get('FORCE_DETERMINISTIC') === '1') {
    return off('FORCE_DETERMINISTIC=1');
  }
  if (!isLatent(model)) {
    return { on: true };
  }
  if (!Number.isNaN(capability) && ![9, 10, 10.3, 12].includes(capability)) {
    return off(
      `latent attention (MLA) reuses blocks on SM 90, 100, 103 and 120 only, and this GPU is SM ${Math.round(capability * 10)}`,
    );
  }
  const quantised = dtype !== 'fp8' && dtype !== 'float16' && dtype !== 'bfloat16';
  return quantised ? off(`latent attention (MLA) with a ${dtype} cache does not support it`) : { on: true };
}

/** Rules that are known to be approximate. */
function unsure(
  model: Model,
  settings: Settings,
  rules: TrtRules,
  backend: TrtConfiguration['backend'],
  version: string,
  placement: Placement,
): readonly Finding[] {
  const windows = settings.find('kv_cache_config.max_attention_window')?.value;
  const several = Array.isArray(windows) && new Set(windows).size > 1;
  const v2 = settings.find('kv_cache_config.use_kv_cache_manager_v2')?.value;
  const rows: readonly (readonly [when: boolean, message: string, option?: string])[] = [
    [
      several,
      `How TensorRT-LLM ${version} divides the pool over attention windows is read from neighbouring versions: ${rules.windowShares === 'equal' ? 'equal shares' : 'by bytes, window and layers'}. Windows shrink where one full request does not fit, which is not planned.`,
      'kv_cache_config.max_attention_window',
    ],
    [
      v2 === true || v2 === 'auto',
      'The second KV cache manager sizes its pool in pages of several sizes; the plan is that of the first manager.',
      'kv_cache_config.use_kv_cache_manager_v2',
    ],
    [
      settings.text('backend') === '_autodeploy',
      'The AutoDeploy backend has a cache manager of its own; the plan is that of the PyTorch backend, and the size that AutoDeploy logs (0.00 GiB) says nothing.',
      'backend',
    ],
    [
      settings.has('gpu_device_ids') && !settings.has('tensor_parallel_size'),
      'What an engine was built for stands in the engine: it is planned with tensor parallelism over the GPUs that gpu_device_ids lists, and with the block size and length of trtllm-build’s defaults.',
      'gpu_device_ids',
    ],
    [
      model.layers.some((l) => l.kind === 'chunked'),
      'Layers that attend in chunks are planned as full ones: that TensorRT-LLM frees what lies outside a chunk was not verified.',
      'model',
    ],
    [
      (settings.number('max_beam_width') ?? 1) > 1,
      'Requests are planned with one beam; every further beam holds blocks of its own for what it generates.',
      'max_beam_width',
    ],
    [
      backend === 'pytorch' && /^1\.2(\.|$)/.test(version),
      'About 1.2 the PyTorch backend went from rounding blocks up to rounding them down: one block more or less.',
    ],
    [
      placement.attentionData > 1,
      'Under attention data parallelism the weights of attention are whole on every GPU; how much that is, is estimated.',
      'enable_attention_dp',
    ],
    [
      model.layers.some((l) => l.kind === 'state'),
      'Slots of states are reckoned by the rule of the 1.x versions: max_batch_size × pipeline stages + 1, without snapshots for reuse.',
      'max_batch_size',
    ],
  ];
  return rows.filter(([when]) => when).map(([, message, option]) => approximate(message, option));
}

interface Resolved extends Pick<TrtConfiguration, 'backend' | 'block' | 'stored' | 'share'> {
  readonly length?: number;
  readonly sequences?: number;
  readonly batchTokens: number;
  readonly model: Model;
}

/** The options a plan rests on and the launch does not write, with the value they take. */
function defaults(settings: Settings, r: Resolved): readonly Setting[] {
  const rows: readonly (readonly [name: string, value: number | string | undefined, how?: string])[] = [
    ['backend', r.backend],
    ['kv_cache_free_gpu_memory_fraction', r.share],
    ['max_seq_len', r.length, modelLength(r.model)?.how],
    ['tokens_per_block', r.block.tokens, r.block.how],
    ['kv_cache_dtype', 'auto', r.stored.how],
    ['max_batch_size', r.sequences],
    ['max_num_tokens', r.batchTokens],
    ['tensor_parallel_size', 1],
    ['pipeline_parallel_size', 1],
  ];
  return rows
    .filter(([name, value]) => value !== undefined && !settings.has(name))
    .map(([name, value, how]): Setting => ({ name, value, raw: String(value), how, origin: 'default' }));
}
