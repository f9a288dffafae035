/** Written options + defaults of the version and the hardware → one configuration. */
import type { KvLayer, Model } from '../../model/model';
import { approximate, refuseLayers } from '../coverage';
import {
  type Configuration,
  type ConfigureInput,
  EngineRefusal,
  type Finding,
  type Hardware,
  NO_STEP_LIMIT,
  type Placement,
  type Setting,
} from '../engine';
import { modelLength } from '../model-length';
import { anyUnknown, type Settings, settingsOf, valueFindings } from '../settings';
import { numberLayers } from '../stages';
import { versionOf } from '../version-rules';
import { isDeepseek, type Kernels, kernelsOf, noPrefixes } from './attention';
import { TGI_VERSIONS, type TgiRules, tgiRules } from './versions';

export const TITLE = 'TGI';

export interface TgiConfiguration extends Configuration {
  readonly rules: TgiRules;
  readonly kernels: Kernels;
  readonly stored: { readonly key: string; readonly value: string; readonly bytes: number };
  /** `cuda-memory-fraction`; undefined when the written value cannot be known. */
  readonly fraction?: number;
  /** The engine's own reserve, and where it comes from. */
  readonly keeps: number;
  readonly prefillTokens: number;
  readonly speculate: number;
  readonly quantize?: string;
  /** Why prompts are not reused though nobody said so. */
  readonly noPrefixes?: string;
  /** The launch gives the longest request. */
  readonly givenLength: boolean;
}

const DECISIVE = new Set(['num-shard', 'sharded', 'kv-cache-dtype', 'dtype', 'ATTENTION']);

export function configure(input: ConfigureInput): TgiConfiguration {
  const { hardware } = input;
  const version = versionOf(input.version, TITLE, TGI_VERSIONS);
  const rules = tgiRules(version.text);
  const settings = settingsOf(input.settings);
  const fromValues = valueFindings(settings, TITLE, DECISIVE);
  if (anyUnknown(settings, DECISIVE)) {
    throw new EngineRefusal(fromValues);
  }
  refuseUncovered(input.model);
  const model = uncompressed(input.model);
  const placement = placementOf(settings, hardware);
  const length = lengthOf(settings, rules, model);
  const broken = refusals(model, settings, placement, length, rules);
  if (broken.length > 0) {
    throw new EngineRefusal([...fromValues, ...broken]);
  }
  const kernels = kernelsOf(input.model, settings, rules, version.text, hardware);
  const stored = storedDtype(settings);
  const unlessUnknown = (name: string, otherwise: number) =>
    settings.unknown.has(name) ? undefined : (settings.number(name) ?? otherwise);
  const accepted = unlessUnknown('max-concurrent-requests', 128);
  const batch = unlessUnknown('max-batch-size', Number.POSITIVE_INFINITY);
  const sequences = accepted === undefined || batch === undefined ? undefined : Math.min(accepted, batch);
  const fraction = unlessUnknown('cuda-memory-fraction', 1);
  const prefillTokens = settings.number('max-batch-prefill-tokens') ?? defaultPrefill(length.tokens, model);
  return {
    version,
    rules,
    kernels,
    stored,
    placement,
    fraction,
    keeps: (rules.wiggle ? settings.number('TGI_WIGGLE_ROOM') : undefined) ?? rules.reserve.keeps,
    prefillTokens,
    speculate: settings.number('speculate') ?? 0,
    quantize: settings.text('quantize'),
    noPrefixes: noPrefixes(input.model, settings, kernels),
    givenLength: settings.has('max-total-tokens'),
    layers: numberLayers(model).layers.map((l) => l.layer),
    maxLength: length.tokens,
    autoLength: length.auto,
    maxSequences: sequences,
    batchTokens: NO_STEP_LIMIT,
    tokensPerStep: 1,
    settings: [...input.settings, ...defaults(settings, { fraction, length, prefillTokens, shards: placement.tensor })],
    findings: [...fromValues, ...unsure(input.model, settings, rules, version.text)],
  };
}

function refuseUncovered(model: Model): void {
  refuseLayers(model, TITLE, ({ kind }) => {
    switch (kind) {
      case 'full':
      case 'sliding':
      case 'chunked':
        return true;
      case 'latent':
        return isDeepseek(model) ? true : `latent attention outside of DeepSeek V2 and V3 (${model.architecture})`;
      case 'indexer':
        return 'a sparse indexer';
      case 'cross':
        return 'cross-attention layers';
      case 'state':
        return 'state layers';
      default:
        return 'layers of a kind that no rule covers';
    }
  });
}

/** Rows of a DeepSeek key that carry no position. Source: DeepSeek-V2 and V3, config.json :: qk_nope_head_dim. */
const NOPE = 128;

/** DeepSeek's keys and values of every head, both as wide as the key. Source: TGI 3.3, models/flash_causal_lm.py. */
function uncompressed(model: Model): Model {
  if (!model.layers.some((l) => l.kind === 'latent')) {
    return model;
  }
  const full = (layer: KvLayer): KvLayer => {
    const width = NOPE + (layer.ropeDim ?? 64);
    return { kind: 'full', kvHeads: model.attentionHeads, headDim: width, valueDim: width };
  };
  const layers = model.layers.map((layer) => (layer.kind === 'latent' ? full(layer) : layer));
  return { ...model, layers, kvHeads: model.attentionHeads };
}

function placementOf(settings: Settings, hardware: Hardware | undefined): Placement {
  const all = settings.text('sharded') === 'true' ? hardware?.count : undefined;
  return {
    tensor: settings.number('num-shard') ?? all ?? 1,
    pipeline: 1,
    data: 1,
    context: 1,
    expert: 1,
    attentionData: 1,
    replicas: 1,
  };
}

export interface Length {
  readonly tokens?: number;
  readonly auto: boolean;
  readonly how: string;
}

function lengthOf(settings: Settings, rules: TgiRules, model: Model): Length {
  if (settings.unknown.has('max-total-tokens')) {
    return { auto: false, how: '' };
  }
  const written = settings.number('max-total-tokens');
  if (written !== undefined) {
    return { tokens: written, auto: false, how: 'as written' };
  }
  const own = modelLength(model);
  return rules.infersLength
    ? { tokens: own?.tokens, auto: own !== undefined, how: 'what the pool holds, at most the model’s own' }
    : { tokens: 2048, auto: false, how: 'default' };
}

/** 4096 where the launcher makes no estimate; a model's shorter length caps it. */
const defaultPrefill = (length: number | undefined, model: Model): number =>
  Math.min(4096, modelLength(model)?.tokens ?? 4096, length === undefined ? 4096 : Math.max(length, 1));

/** Source: launcher/src/main.rs :: ArgumentValidation, in 1.x, 2.x and 3.x. */
function refusals(
  model: Model,
  settings: Settings,
  { tensor }: Placement,
  length: Length,
  rules: TgiRules,
): readonly Finding[] {
  const input = settings.number('max-input-tokens');
  const prefill = settings.number('max-batch-prefill-tokens');
  const rows: readonly (readonly [when: boolean, code: string, message: string, option: string])[] = [
    [
      model.attentionHeads % tensor !== 0,
      'tp-does-not-divide-heads',
      `\`num_heads\` must be divisible by \`num_shards\` (got \`num_heads\`: ${model.attentionHeads} and \`num_shards\`: ${tensor}).`,
      'num-shard',
    ],
    [
      input !== undefined && settings.has('max-total-tokens') && input >= (length.tokens ?? Number.POSITIVE_INFINITY),
      'input-not-below-total',
      rules.infersLength
        ? `\`max_input_tokens\`(${input}) must be < \`max_total_tokens\`(${length.tokens})`
        : `\`max_input_length\` must be < \`max_total_tokens\`: ${input} and ${length.tokens}.`,
      'max-input-tokens',
    ],
    [
      !rules.splitsPrompts && prefill !== undefined && input !== undefined && input > prefill,
      'prefill-below-input',
      `\`max_batch_prefill_tokens\` must be >= \`max_input_length\`. Given: ${prefill} and ${input}.`,
      'max-batch-prefill-tokens',
    ],
  ];
  return rows
    .filter(([when]) => when)
    .map(([, code, message, option]) => ({ code, severity: 'error', message, option, fixes: [] }));
}

function storedDtype(settings: Settings): TgiConfiguration['stored'] {
  const written = settings.text('kv-cache-dtype');
  if (written !== undefined) {
    return { key: written, value: written, bytes: 1 };
  }
  return { key: 'auto', value: settings.text('dtype') ?? 'float16', bytes: 2 };
}

function unsure(model: Model, settings: Settings, rules: TgiRules, version: string): readonly Finding[] {
  const rows: readonly (readonly [when: boolean, message: string, option?: string])[] = [
    [
      !settings.has('max-batch-prefill-tokens') && rules.infersLength,
      'The launcher estimates max-batch-prefill-tokens from the card and the model; planned with 4096, its value where it cannot. The warm-up needs memory for as many.',
      'max-batch-prefill-tokens',
    ],
    [
      !rules.infersLength && !settings.has('max-total-tokens') && /^2\./.test(version),
      'Versions 2.x take another default of max-total-tokens for some models; planned with 2048.',
      'max-total-tokens',
    ],
    [
      model.layers.some((l) => l.kind === 'latent'),
      'Keys and values of every head are planned 192 wide, as DeepSeek V2 and V3 have them: TGI does not keep the latent vector.',
      'model-id',
    ],
  ];
  return rows.filter(([when]) => when).map(([, message, option]) => approximate(message, option));
}

interface Resolved {
  readonly fraction?: number;
  readonly length: Length;
  readonly prefillTokens: number;
  readonly shards: number;
}

function defaults(settings: Settings, r: Resolved): readonly Setting[] {
  const rows: readonly (readonly [name: string, value: number | undefined, how?: string])[] = [
    ['cuda-memory-fraction', r.fraction],
    ['max-total-tokens', r.length.tokens, r.length.how],
    ['max-batch-prefill-tokens', r.prefillTokens],
    ['max-concurrent-requests', 128],
    ['num-shard', r.shards],
  ];
  return rows
    .filter(([name, value]) => value !== undefined && !settings.has(name))
    .map(([name, value, how]): Setting => ({ name, value, raw: String(value), how, origin: 'default' }));
}
