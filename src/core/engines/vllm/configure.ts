/** Written options + defaults of the version and the hardware → one configuration. */
import type { KvLayer, Model } from '../../model/model';
import { GiB } from '../../units';
import { type Configuration, type ConfigureInput, EngineRefusal, type Hardware, type Setting } from '../engine';
import type { Usage } from '../start-words';
import { type BlockSize, baseBlockSize, isLatent, layerDtypes, type StoredDtype, storedDtype } from './backend';
import { type BatchDefaults, batchDefaults, usesChunkedPrefill } from './batch';
import { v1TakesFormat } from './kv-formats';
import { lengthFindings, type MaxLength, maxLength } from './length';
import { overridden } from './overrides';
import { placementFindings, placementOf, squareFindings, stageLayers } from './placement';
import { refusal, refuseDtype, refuseUncovered, refuseWhen } from './refusals';
import { blocksPlan, type Settings, settingsOf, valueFindings } from './settings';
import { allowsAsync, draftLayers, type Speculation, speculationOf } from './speculative';
import { type StateRules, stateRules } from './states';
import { resolveVersion, rulesFor, type VllmRules } from './versions';

export interface VllmConfiguration extends Configuration {
  readonly rules: VllmRules;
  readonly stored: StoredDtype;
  /** Dtype each of `layers` is stored in. */
  readonly layerDtypes: readonly string[];
  readonly block: BlockSize;
  /** Transformer layers of each pipeline stage. */
  readonly stages: readonly number[];
  /** Stage that each of `layers` runs on; draft layers run on the last. */
  readonly stageOf: readonly number[];
  /** Every layer is treated as full attention, and why. */
  readonly allFull?: string;
  /** Tokens in flight that a window reserves for. */
  readonly inFlight: number;
  /** Undefined when the written value cannot be known or is not accepted. */
  readonly utilisation?: number;
  readonly blocksOverride?: number;
  /** Bytes per GPU that replace the profiled budget. */
  readonly kvCacheMemory?: number;
  readonly eager: boolean;
  /** V0's host blocks, per GPU. */
  readonly swapBytes: number;
  /** V1's native host offload, over all GPUs of a replica; 0 when it is off. */
  readonly offloadBytes: number;
  /** How state layers keep their states. */
  readonly states: StateRules;
  readonly speculation: Speculation;
  readonly draft?: Model;
  /** Skips the multimodal encoder's profile. */
  readonly languageOnly: boolean;
}

export function configure(input: ConfigureInput): VllmConfiguration {
  const { environment, hardware } = input;
  const version = resolveVersion(input.version);
  const settings = settingsOf(input.settings);
  const fallsBack = isLatent(input.model) ? false : !v1TakesFormat(version.text, settings, environment, hardware);
  const rules = rulesFor(version.text, environment, fallsBack);
  const model = overridden(rules.latentCache ? input.model : asMultiHead(input.model), settings);
  const placement = placementOf(settings);
  const fromValues = valueFindings(settings, 'vLLM');
  refuseWhen([...fromValues, ...placementFindings(model, placement)], blocksPlan(settings) ? undefined : 'bad-value');
  refuseUncovered(model, environment);

  const speculation = speculationOf(settings);
  const draft = draftLayers(speculation, model, input.draft);
  const { layers: own, at, depth } = numberLayers(model);
  const layers = draft.layers.length === 0 ? own : [...own, ...draft.layers];
  const stored = storedDtype(model, settings, rules, hardware);
  const dtypes = layerDtypes(layers, at, depth, model, stored, settings);
  refuseDtype(layers, dtypes, stored);

  const length = maxLength(settings, model);
  const batch = batchOf(settings, rules, hardware, length.tokens, input.usage);
  const block = baseBlockSize(model, settings, environment, rules, hardware);
  const allFull = whyAllFull(settings, environment, rules, placement.pipeline, own);
  const eager = settings.flag('enforce-eager') ?? false;
  const stages = stageLayers(depth, placement.pipeline, environment.get('VLLM_PP_LAYER_PARTITION'));
  if (!stages) {
    throw new EngineRefusal([
      refusal(
        'pp-partition',
        'VLLM_PP_LAYER_PARTITION does not add up to the layers of the model.',
        'pipeline-parallel-size',
      ),
    ]);
  }
  const utilisation = unless(settings, 'gpu-memory-utilization', rules.utilisation);
  return {
    version,
    rules,
    placement,
    stored,
    layerDtypes: dtypes,
    layers,
    block,
    stages,
    stageOf: layers.map((_, i) => (i < at.length ? stageAt(at[i] as number, stages) : stages.length - 1)),
    allFull,
    maxLength: length.tokens,
    autoLength: length.auto,
    maxSequences: settings.unknown.has('max-num-seqs') ? undefined : batch.sequences,
    batchTokens: batch.tokens,
    tokensPerStep: 1 + speculation.tokens,
    inFlight: inFlightTokens(settings, rules, placement.pipeline, batch.tokens, speculation, model),
    utilisation,
    blocksOverride: settings.number('num-gpu-blocks-override'),
    kvCacheMemory: settings.number('kv-cache-memory-bytes'),
    eager,
    offloadBytes: offloadBytes(settings, rules),
    swapBytes: (settings.number('swap-space') ?? 4) * GiB,
    states: stateRules(model, settings, rules, speculation.tokens),
    speculation,
    draft: input.draft,
    languageOnly: (settings.flag('language-model-only') ?? false) || (settings.flag('skip-mm-profiling') ?? false),
    settings: [...input.settings, ...defaults(settings, { block, stored, length, batch, utilisation })],
    findings: [
      ...fromValues,
      ...squareFindings(model, placement),
      ...draft.findings,
      ...lengthFindings(settings, length, environment),
    ],
  };
}

/** Head size that MLA was padded to before it had a cache of its own: FlashAttention took 32, 64, 128 and 256 only. */
const PADDED_HEAD = 256;

/** MLA as it was kept before 0.7.1. Source: vLLM 0.6.6, config.py :: get_head_size. */
function asMultiHead(model: Model): Model {
  const full: KvLayer = { kind: 'full', kvHeads: model.attentionHeads, headDim: PADDED_HEAD, valueDim: PADDED_HEAD };
  return { ...model, layers: model.layers.map((layer) => (layer.kind === 'latent' ? full : layer)) };
}

interface Numbered {
  /** Layers that keep something. */
  readonly layers: readonly KvLayer[];
  /** The transformer layer that each of them is part of, from 0. */
  readonly at: readonly number[];
  /** Transformer layers, those that keep nothing included: where pipeline stages are cut. */
  readonly depth: number;
}

const numberings = new WeakMap<Model, Numbered>();

/** Numbers are the model's own, so they are made once for it. */
function numberLayers(model: Model): Numbered {
  const known = numberings.get(model);
  if (known) {
    return known;
  }
  let number = -1;
  const layers: KvLayer[] = [];
  const at: number[] = [];
  for (const layer of model.layers) {
    number += layer.joined ? 0 : 1;
    if (layer.kind !== 'shared' && layer.kind !== 'none') {
      layers.push(layer);
      at.push(number);
    }
  }
  const numbered = { layers, at, depth: number + 1 };
  numberings.set(model, numbered);
  return numbered;
}

export const transformerLayers = (model: Model): number => numberLayers(model).depth;

function stageAt(layer: number, stages: readonly number[]): number {
  let stage = 0;
  let left = layer;
  while (left >= (stages[stage] as number)) {
    left -= stages[stage] as number;
    stage++;
  }
  return stage;
}

/** `kv-offloading-size` is a total over the tensor-parallel ranks; lmcache ignores it. */
function offloadBytes(settings: Settings, rules: VllmRules): number {
  const native = (settings.text('kv-offloading-backend') ?? 'native') === 'native';
  const bytes = (settings.number('kv-offloading-size') ?? 0) * GiB;
  return rules.core === 'V1' && native ? Math.min(bytes, Number.MAX_SAFE_INTEGER) : 0;
}

const unless = (settings: Settings, name: string, fallback: number): number | undefined =>
  settings.unknown.has(name) ? undefined : (settings.number(name) ?? fallback);

interface Batch {
  readonly tokens: number;
  readonly sequences: number;
  readonly defaults: BatchDefaults;
}

/** Post-processing of defaulted values only: T ≤ S × L, S ≤ T; without chunked prefill T ≥ L. */
function batchOf(
  settings: Settings,
  rules: VllmRules,
  hardware: Hardware | undefined,
  length: number | undefined,
  usage: Usage | undefined,
): Batch {
  const chunked = usesChunkedPrefill(settings, rules, length);
  const defaults = batchDefaults(rules, hardware, chunked, usage);
  const doubled = settings.text('performance-mode') === 'throughput' ? 2 : 1;
  const writtenTokens = settings.number('max-num-batched-tokens');
  const writtenSequences = settings.number('max-num-seqs');
  const sequences = writtenSequences ?? defaults.sequences * doubled;
  const base = chunked ? defaults.tokens * doubled : Math.max(length ?? 0, defaults.tokens * doubled);
  const tokens = writtenTokens ?? Math.min(base, sequences * (length ?? base));
  return { tokens, sequences: writtenSequences ?? Math.min(sequences, tokens), defaults };
}

/**
 * `max_concurrent_batches × max_num_batched_tokens`. Source: vLLM 0.28, config/vllm.py, v1/executor.
 * Two batches are in flight with asynchronous scheduling; with pipeline stages, one each (and one more on the V2 runner).
 */
function inFlightTokens(
  settings: Settings,
  rules: VllmRules,
  pipeline: number,
  batchTokens: number,
  speculation: Speculation,
  model: Model,
): number {
  if (!rules.inFlightBatches) {
    return batchTokens;
  }
  const asynchronous = settings.flag('async-scheduling') ?? (rules.asyncByDefault && allowsAsync(speculation.method));
  const v2Runner = model.experts === undefined;
  const batches = asynchronous && (v2Runner || pipeline === 1) ? pipeline + 1 : pipeline;
  return batches * batchTokens;
}

/** Source: vLLM 0.28, config/vllm.py; chunked layers keep the manager off unless an environment variable asks for it. */
function whyAllFull(
  settings: Settings,
  environment: ReadonlyMap<string, string>,
  rules: VllmRules,
  pipeline: number,
  layers: readonly KvLayer[],
): string | undefined {
  if (!layers.some((l) => l.kind === 'sliding' || l.kind === 'chunked')) {
    return undefined;
  }
  if (!rules.groups) {
    return 'this version gives every layer the whole context';
  }
  if (settings.flag('disable-hybrid-kv-cache-manager')) {
    return '--disable-hybrid-kv-cache-manager';
  }
  if (settings.flag('disable-sliding-window') && layers.some((l) => l.kind === 'sliding')) {
    return '--disable-sliding-window';
  }
  if (pipeline > 1 && !rules.groupsWithPipeline) {
    return 'this version has no hybrid manager with pipeline parallelism';
  }
  const chunkedAllowed = /^(1|true)$/i.test(
    environment.get('VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE') ?? '',
  );
  if (layers.some((l) => l.kind === 'chunked') && !chunkedAllowed) {
    return 'models with attention chunks run without the hybrid manager unless VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE=1';
  }
  return undefined;
}

interface Resolved {
  readonly block: BlockSize;
  readonly stored: StoredDtype;
  readonly length: MaxLength;
  readonly batch: Batch;
  readonly utilisation?: number;
}

/** The options a plan rests on and the launch does not write, with the value they take. */
function defaults(settings: Settings, r: Resolved): readonly Setting[] {
  const rows: readonly (readonly [name: string, value: number | string | undefined, how?: string])[] = [
    ['gpu-memory-utilization', r.utilisation, undefined],
    ['max-model-len', r.length.derived?.tokens, r.length.derived?.how],
    ['block-size', r.block.tokens, r.block.how],
    ['kv-cache-dtype', 'auto', r.stored.how],
    ['max-num-seqs', r.batch.sequences, r.batch.defaults.how],
    ['max-num-batched-tokens', r.batch.tokens, r.batch.defaults.how],
    ['tensor-parallel-size', 1],
    ['pipeline-parallel-size', 1],
  ];
  return rows
    .filter(([name, value]) => value !== undefined && !settings.has(name))
    .map(([name, value, how]): Setting => ({ name, value, raw: String(value), how, origin: 'default' }));
}
