/** Written options + defaults of the version and the hardware → one configuration. */
import type { KvLayer, Model } from '../../model/model';
import { GiB, withCommas } from '../../units';
import { approximate, notCovered, refuseLayers } from '../coverage';
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
import { stateElements } from '../state-bytes';
import { versionOf } from '../version-rules';
import { type Packing, packingOf } from './bytes';
import { LMDEPLOY_VERSIONS, type LmdeployRules, lmdeployRules } from './versions';

export const TITLE = 'LMDeploy';

export interface LmdeployConfiguration extends Configuration {
  readonly rules: LmdeployRules;
  readonly backend: 'turbomind' | 'pytorch';
  readonly packing: Packing;
  /** `quant-policy` as written. */
  readonly policy: string;
  /** Tokens per block of one GPU. */
  readonly block: number;
  /** GPUs that share the heads of attention. */
  readonly attentionTensor: number;
  /** Undefined when the written value cannot be known. */
  readonly share?: number;
  /** Blocks that the launch states. */
  readonly blocks?: { readonly count: number; readonly option: string };
  readonly prefillTokens: number;
  readonly states: { readonly slots: number; readonly recurrentBytes: number };
}

const DECISIVE = new Set(['tp', 'dp', 'cp', 'backend', 'quant-policy', 'cache-block-seq-len']);

export function configure(input: ConfigureInput): LmdeployConfiguration {
  const { model, hardware } = input;
  const version = versionOf(input.version, TITLE, LMDEPLOY_VERSIONS);
  const rules = lmdeployRules(version.text);
  const settings = settingsOf(input.settings);
  const fromValues = valueFindings(settings, TITLE, DECISIVE);
  if (anyUnknown(settings, DECISIVE)) {
    throw new EngineRefusal(fromValues);
  }
  const backend = settings.text('backend') === 'pytorch' ? 'pytorch' : 'turbomind';
  refuseUncovered(model, version.text, rules, backend);
  const { placement, attentionTensor } = placementOf(settings, backend, hardware?.count);
  const policy = settings.number('quant-policy') ?? 0;
  const broken = [
    ...headsRefusal(model, attentionTensor),
    ...shareRefusal(settings, rules, backend),
    ...policyRefusal(policy, backend),
  ];
  if (broken.length > 0) {
    throw new EngineRefusal([...fromValues, ...broken]);
  }
  const own = ownDtype(settings, model);
  const defaultBatch = batchDefault(hardware);
  const sequences = settings.unknown.has('max-batch-size')
    ? undefined
    : (settings.number('max-batch-size') ?? defaultBatch.sequences);
  const length = settings.unknown.has('session-len')
    ? undefined
    : (settings.number('session-len') ?? modelLength(model)?.tokens);
  const share = settings.unknown.has('cache-max-entry-count')
    ? undefined
    : (settings.number('cache-max-entry-count') ?? (rules.shareOf === 'total' ? 0.5 : 0.8));
  const block = settings.number('cache-block-seq-len') ?? 64;
  return {
    version,
    rules,
    backend,
    placement,
    attentionTensor,
    packing: packingOf(policy, own, rules.onlineQuantisation),
    policy: settings.find('quant-policy')?.raw ?? 'auto',
    block,
    share,
    blocks: statedBlocks(settings, rules, backend, share),
    prefillTokens: settings.number('max-prefill-token-num') ?? 8192,
    states: {
      slots: slotsOf(settings, rules, backend, sequences ?? defaultBatch.sequences),
      recurrentBytes: (model.stateDtype ?? own) === 'float32' ? 4 : 2,
    },
    layers: numberLayers(model).layers.map((l) => l.layer),
    maxLength: length,
    autoLength: backend === 'turbomind' && rules.cutsSession && length !== undefined,
    maxSequences: sequences,
    batchTokens: NO_STEP_LIMIT,
    tokensPerStep: 1,
    settings: [
      ...input.settings,
      ...defaults(settings, { share, block, length, sequences, backend, how: defaultBatch.how, model }),
    ],
    findings: [...fromValues, ...unsure(model, settings, rules, backend, version.text)],
  };
}

function refuseUncovered(model: Model, version: string, rules: LmdeployRules, backend: string): void {
  refuseLayers(model, TITLE, (layer) => {
    switch (layer.kind) {
      case 'full':
      case 'sliding':
      case 'chunked':
      case 'latent':
        return true;
      case 'indexer':
        return 'a sparse indexer';
      case 'cross':
        return 'cross-attention layers';
      case 'state':
        return layer.state && stateElements(layer.state) && rules.extraStates !== undefined
          ? true
          : `state layers, which ${TITLE} ${version} (${backend}) is not known to keep`;
      default:
        return 'layers of a kind that no rule covers';
    }
  });
  if (backend === 'turbomind' && !rules.latentOnce && model.layers.some((l) => l.kind === 'state')) {
    throw notCovered(
      `TurboMind of ${TITLE} ${version} has no state layers; name the PyTorch engine: --backend pytorch.`,
      'backend',
    );
  }
}

/**
 * Groups of data parallelism share the GPUs of the tensor group where there are not enough for groups of their own:
 * attention then runs over fewer of them. Source: lmdeploy/turbomind/turbomind.py :: update_parallel_config;
 * lmdeploy/pytorch/config.py :: DistConfig, where they always share.
 */
function placementOf(
  settings: Settings,
  backend: string,
  count: number | undefined,
): { readonly placement: Placement; readonly attentionTensor: number } {
  const tensor = settings.number('tp') ?? 1;
  const data = settings.number('dp') ?? 1;
  const context = settings.number('cp') ?? 1;
  const devices = backend === 'turbomind' && count !== undefined ? Math.min(count, tensor * data) : tensor;
  const overlap = (tensor * data) / devices;
  const shared = Number.isInteger(overlap) && tensor % overlap === 0 ? overlap : 1;
  return {
    attentionTensor: Math.max(1, Math.floor(tensor / shared / context)),
    placement: {
      tensor,
      pipeline: 1,
      data,
      context,
      expert: settings.number('ep') ?? 1,
      attentionData: shared,
      replicas: data,
    },
  };
}

function headsRefusal(model: Model, tensor: number): readonly Finding[] {
  return model.attentionHeads % tensor === 0
    ? []
    : [
        {
          code: 'tp-does-not-divide-heads',
          severity: 'error',
          option: 'tp',
          message: `${model.attentionHeads} attention heads cannot be divided over ${tensor} GPUs.`,
          fixes: [],
        },
      ];
}

/** 0 < share < 1, but where 1 and more is a number of blocks. */
function shareRefusal(settings: Settings, rules: LmdeployRules, backend: string): readonly Finding[] {
  const share = settings.number('cache-max-entry-count');
  const counts = backend === 'turbomind' && rules.countsBlocks;
  if (share === undefined || share < 1 || counts) {
    return [];
  }
  return [
    {
      code: 'share-out-of-range',
      severity: 'error',
      option: 'cache-max-entry-count',
      message: `cache_max_entry_count must be above 0 and below 1, not ${share}.`,
      fixes: [{ title: 'Set cache-max-entry-count to 0.8', option: 'cache-max-entry-count', value: '0.8' }],
    },
  ];
}

const policyRefusal = (policy: number, backend: string): readonly Finding[] =>
  backend === 'turbomind' && policy > 8
    ? [
        {
          code: 'quant-policy-not-supported',
          severity: 'error',
          option: 'quant-policy',
          message: `TurboMind does not take quant-policy ${policy}: 0, 4 or 8.`,
          fixes: [{ title: 'Set quant-policy to 8', option: 'quant-policy', value: '8' }],
        },
      ]
    : [];

const ownDtype = (settings: Settings, model: Model): string => {
  const asked = settings.text('dtype') ?? 'auto';
  return asked === 'auto' ? (model.dtype === 'float32' ? 'float16' : model.dtype) : asked;
};

/** Source: lmdeploy/utils.py :: get_max_batch_size. */
function batchDefault(hardware: Hardware | undefined): { readonly sequences: number; readonly how: string } {
  const name = hardware?.name ?? '';
  if (/\b(A100|A800)\b/i.test(name)) {
    return { sequences: 384, how: 'A100 and A800' };
  }
  if (/\b(H100|H800|H200|L20Y)\b/i.test(name)) {
    return { sequences: 1024, how: 'H100, H800, H200 and L20Y' };
  }
  return { sequences: 128, how: hardware ? 'other NVIDIA cards' : 'other NVIDIA cards (the GPU is not known)' };
}

function statedBlocks(
  settings: Settings,
  rules: LmdeployRules,
  backend: string,
  share: number | undefined,
): LmdeployConfiguration['blocks'] {
  if (backend === 'turbomind') {
    return rules.countsBlocks && share !== undefined && share >= 1
      ? { count: Math.floor(share), option: 'cache-max-entry-count' }
      : undefined;
  }
  const count = settings.number('num-gpu-blocks') ?? 0;
  return count > 0 ? { count, option: 'num-gpu-blocks' } : undefined;
}

function slotsOf(settings: Settings, rules: LmdeployRules, backend: string, sequences: number): number {
  return backend === 'turbomind'
    ? sequences
    : sequences + (rules.extraStates ?? 0) + (settings.number('prefix-cache-state-budget') ?? 0);
}

/** Rules that are known to be approximate. */
function unsure(
  model: Model,
  settings: Settings,
  rules: LmdeployRules,
  backend: string,
  version: string,
): readonly Finding[] {
  const has = (...kinds: readonly KvLayer['kind'][]) => model.layers.some((l) => kinds.includes(l.kind));
  const policy = settings.number('quant-policy') ?? 0;
  const tensor = settings.number('tp') ?? 1;
  const rows: readonly (readonly [when: boolean, message: string, option?: string])[] = [
    [
      settings.text('backend') === undefined,
      `Planned for TurboMind, the default; a model that it does not know runs on PyTorch, which ${TITLE} says in its log. --backend says which.`,
      'backend',
    ],
    [
      backend === 'turbomind' && rules.slabs,
      `How ${TITLE} ${version} carves blocks out of its arena is reckoned from its slab sizes alone; what pages of other objects take is left out.`,
      'cache-max-entry-count',
    ],
    [
      backend === 'pytorch' && has('sliding', 'chunked'),
      'Layers with a window are planned as if they kept every token: that the PyTorch engine gives blocks outside of it back was not verified.',
      'model',
    ],
    [
      has('state'),
      'Slots of states are reckoned with the model’s own dtypes; they are taken before the pool is sized.',
      'max-batch-size',
    ],
    [
      !rules.onlineQuantisation && policy > 0,
      `${TITLE} ${version} is planned with 8-bit keys and values and one scale for each layer: its quant-policy meant that before 0.4.`,
      'quant-policy',
    ],
    [
      (settings.number('dp') ?? 1) > 1 || (settings.number('cp') ?? 1) > 1,
      'Data and context parallelism divide the tensor-parallel group: attention runs over tp ÷ dp ÷ cp GPUs, as the newest versions do by default.',
      (settings.number('dp') ?? 1) > 1 ? 'dp' : 'cp',
    ],
    [
      backend === 'pytorch' && !has('latent') && model.kvHeads % tensor !== 0,
      `The PyTorch engine repeats KV heads for some architectures only; ${withCommas(model.kvHeads)} heads over ${tensor} GPUs are planned repeated.`,
      'tp',
    ],
  ];
  return rows.filter(([when]) => when).map(([, message, option]) => approximate(message, option));
}

interface Resolved {
  readonly share?: number;
  readonly block: number;
  readonly length?: number;
  readonly sequences?: number;
  readonly backend: string;
  readonly how: string;
  readonly model: Model;
}

function defaults(settings: Settings, r: Resolved): readonly Setting[] {
  const rows: readonly (readonly [name: string, value: number | string | undefined, how?: string])[] = [
    ['backend', r.backend],
    ['cache-max-entry-count', r.share],
    ['session-len', r.length, modelLength(r.model)?.how],
    ['cache-block-seq-len', r.block],
    ['quant-policy', 0, 'as computed'],
    ['max-batch-size', r.sequences, r.how],
    ['max-prefill-token-num', 8192],
    ['tp', 1],
  ];
  return rows
    .filter(([name, value]) => value !== undefined && !settings.has(name))
    .map(([name, value, how]): Setting => ({ name, value, raw: String(value), how, origin: 'default' }));
}

/** Slabs of TurboMind's object cache: whole pages, doubled until little of one is wasted. */
export const PAGE = GiB / 32;
