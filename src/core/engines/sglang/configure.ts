/** Written options + defaults of the version and the hardware → one configuration. */
import type { KvLayer, Model } from '../../model/model';
import { isExact } from '../../units';
import { type Configuration, type ConfigureInput, EngineRefusal, type Finding, type Setting } from '../engine';
import { type NumberedLayer, numberLayers } from '../stages';
import { versionOf } from '../version-rules';
import { isCompressed, isSparse, type PageSize, pageSize, type StoredDtype, storedDtype } from './backend';
import { type ContextLength, contextLength, lengthFindings } from './length';
import { placementFindings, placementOf, type Spread, squareFindings, stageLayers } from './placement';
import { approximate, refusal, refuseUncovered, refuseWhen } from './refusals';
import { blocksPlan, type Settings, settingsOf, valueFindings } from './settings';
import {
  chunkDefault,
  type Derived,
  graphDefault,
  memoryShare,
  runsEncoder,
  type Share,
  type ShareInput,
} from './share';
import { type Draft, draftOf, type Speculation, speculationOf } from './speculative';
import { type StateRules, stateRules } from './states';
import { rulesOf, SGLANG_VERSIONS, type SglangRules } from './versions';

export interface SglangConfiguration extends Configuration {
  readonly placement: Spread;
  readonly rules: SglangRules;
  readonly stored: StoredDtype;
  readonly page: PageSize;
  /** The model's own KV layers, by the transformer layer each is part of. */
  readonly own: readonly NumberedLayer[];
  readonly draftLayers: readonly KvLayer[];
  readonly draft?: Model;
  readonly speculation: Speculation;
  /** Transformer layers of each pipeline stage. */
  readonly stages: readonly number[];
  readonly sparse: boolean;
  /** Rows that each request keeps of what is being compressed, where the history is. */
  readonly rings?: { readonly fine: number; readonly coarse: number };
  /** Sliding layers have a pool of their own, with this many tokens for each of the full one's. */
  readonly windowRatio?: number;
  readonly states: StateRules;
  /** Absent when the written value cannot be known. */
  readonly share?: Share;
  /** Tokens of one prefill chunk of a worker; 0 is off. */
  readonly chunk: number;
  /** max-prefill-tokens. */
  readonly prefillTokens: number;
  /** max-total-tokens. */
  readonly maxTokens?: number;
  /** max-running-requests of one worker. */
  readonly running?: number;
  readonly radix: boolean;
  readonly overlap: boolean;
  /** Factor on the tokens that running requests may still write. */
  readonly conservativeness: number;
  /** MiB taken from the pool for media. */
  readonly mediaMiB: number;
  readonly host?: { readonly ratio: number; readonly gigabytes: number };
}

/** Architectures whose sliding layers SGLang keeps apart. Source: SGLang 0.5.18, srt/configs/model_config.py. */
const WINDOWED =
  /^(Llama4ForConditionalGeneration|DeepseekV4|GptOss|MiMoV2|Step3p5|Step3p7|Gemma4|Laguna|Mellum|MuseGlimmer|Inkling|UnlimitedOCR)/;

export function configure(input: ConfigureInput): SglangConfiguration {
  const { model, hardware, environment } = input;
  const version = versionOf(input.version, 'SGLang', SGLANG_VERSIONS);
  const rules = rulesOf(version.text);
  const settings = settingsOf(input.settings);
  const placement = placementOf(settings);
  const fromValues = valueFindings(settings);
  refuseWhen([...fromValues, ...placementFindings(model, placement)], blocksPlan(settings));
  refuseUncovered(model, rules, version.text);

  const numbered = numberLayers(model);
  const speculation = speculationOf(settings);
  const draft = draftOf(speculation, model, input.draft);
  const length = contextLength(settings, model);
  const page = pageSize(model, settings, rules, hardware);
  const sharing: ShareInput = {
    settings,
    environment,
    rules,
    model,
    spread: placement,
    speculation,
    hardware,
    length: length.tokens,
  };
  const chunk = chunkDefault(sharing);
  const wholeChunk = settings.number('chunked-prefill-size') ?? chunk.value;
  const ownChunk = Math.floor(Math.max(0, wholeChunk) / placement.attentionData);
  const share = memoryShare(sharing, wholeChunk);
  const windowRatio = ratioOf(model, settings, rules);
  const stages = stageLayers(
    numbered.depth,
    placement.pipeline,
    rules.largerStages,
    environment.get('SGLANG_PP_LAYER_PARTITION'),
  );
  const chunkFindings = chunkRefusal(wholeChunk, page.tokens);
  if (!stages || chunkFindings.length > 0) {
    const partition = refusal(
      'pp-partition',
      'SGLANG_PP_LAYER_PARTITION does not add up to the layers of the model.',
      'pp-size',
    );
    throw new EngineRefusal(stages ? chunkFindings : [partition]);
  }
  const written = settings.number('max-running-requests');
  const running = written === undefined ? undefined : Math.floor(written / placement.attentionData);
  const states = stateRules(model, settings, rules, placement.attentionData);
  const stored = storedDtype(model, settings, hardware);
  const c: SglangConfiguration = {
    version,
    rules,
    placement,
    stored,
    page,
    own: numbered.layers,
    draftLayers: draft.layers,
    draft: input.draft,
    speculation,
    stages,
    layers: [...numbered.layers.map((n) => n.layer), ...draft.layers],
    sparse: isSparse(model),
    rings: isCompressed(model) ? rings(speculation) : undefined,
    windowRatio,
    states,
    share,
    chunk: ownChunk,
    prefillTokens: settings.number('max-prefill-tokens') ?? 16384,
    maxTokens: settings.number('max-total-tokens'),
    running,
    radix: !settings.flag('disable-radix-cache'),
    overlap: !settings.flag('disable-overlap-schedule'),
    conservativeness: (settings.number('schedule-conservativeness') ?? 1) * (placement.dpAttention ? 0.3 : 1),
    mediaMiB: mediaMiB(settings, model, environment),
    host: hostOf(settings),
    maxLength: length.tokens,
    autoLength: false,
    maxSequences: running,
    // A decode step takes every running request: only prefills come in chunks.
    batchTokens: Number.POSITIVE_INFINITY,
    tokensPerStep: 1,
    settings: [],
    findings: [],
  };
  return {
    ...c,
    settings: [
      ...input.settings,
      ...defaults(settings, {
        c,
        length,
        chunk,
        graphs: settings.has('cuda-graph-bs-decode') ? undefined : graphDefault(sharing),
      }),
    ],
    findings: [
      ...fromValues,
      ...squareFindings(model, placement),
      ...draft.findings,
      ...lengthFindings(settings, length, environment),
      ...unsure(model, settings, c, draft),
    ],
  };
}

function ratioOf(model: Model, settings: Settings, rules: SglangRules): number | undefined {
  const windows = model.layers.some((l) => l.kind === 'sliding' || l.kind === 'chunked');
  const apart = rules.windowPool && windows && WINDOWED.test(model.architecture);
  return apart && !settings.flag('disable-hybrid-swa-memory')
    ? (settings.number('swa-full-tokens-ratio') ?? (isCompressed(model) ? 0.1 : 0.8))
    : undefined;
}

/** Source: SGLang 0.5.18, srt/mem_cache/deepseek_v4_memory_pool.py :: get_compress_state_ring_size. */
const rings = ({ draftTokens }: Speculation): SglangConfiguration['rings'] =>
  draftTokens > 0 ? { fine: 16, coarse: 256 } : { fine: 8, coarse: 128 };

function chunkRefusal(chunk: number, page: number): readonly Finding[] {
  return chunk > 0 && chunk % page !== 0
    ? [
        refusal(
          'chunk-not-in-pages',
          `chunked_prefill_size (${chunk}) must be a multiple of page_size (${page}).`,
          'chunked-prefill-size',
          [
            {
              title: `Set chunked-prefill-size to ${Math.max(page, Math.floor(chunk / page) * page)}`,
              option: 'chunked-prefill-size',
              value: String(Math.max(page, Math.floor(chunk / page) * page)),
            },
          ],
        ),
      ]
    : [];
}

const GPU_TRANSPORTS = new Set(['cuda_ipc', 'cuda_vmm']);

/** Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py :: mm_runtime_reservation_gb. */
function mediaMiB(settings: Settings, model: Model, environment: ReadonlyMap<string, string>): number {
  if (!runsEncoder(settings, model)) {
    return 0;
  }
  const number = (name: string, otherwise: number) => {
    const value = Number(environment.get(name) ?? otherwise);
    return Number.isFinite(value) && value >= 0 ? value : otherwise;
  };
  const onGpu = GPU_TRANSPORTS.has(settings.text('mm-feature-transport') ?? 'cpu');
  return number('SGLANG_VLM_CACHE_SIZE_MB', 100) + (onGpu ? number('SGLANG_MM_FEATURE_CACHE_MB', 1024) : 0);
}

function hostOf(settings: Settings): SglangConfiguration['host'] {
  if (!settings.flag('enable-hierarchical-cache')) {
    return undefined;
  }
  const buffer = settings.text('hicache-host-memory-mode') === 'buffer_only';
  return {
    ratio: settings.number('hicache-ratio') ?? (buffer ? 1.2 : 2),
    gigabytes: settings.number('hicache-size') ?? 0,
  };
}

/** Rules that were read and not seen in logs, or that depend on what is not known. */
function unsure(model: Model, settings: Settings, c: SglangConfiguration, draft: Draft): readonly Finding[] {
  const { rules, placement, speculation } = c;
  const states = model.layers.some((l) => l.kind === 'state');
  const rows: readonly (readonly [when: boolean, message: string, option?: string])[] = [
    [c.share?.unsure !== undefined && !isExact(c.share.share), c.share?.unsure ?? '', 'mem-fraction-static'],
    [
      (settings.text('moe-a2a-backend') ?? 'none') !== 'none' && !settings.has('mem-fraction-static'),
      'the reserve for the exchange of experts is not counted in the default memory share',
      'moe-a2a-backend',
    ],
    [
      c.rings !== undefined,
      'the pools of DeepSeek V4, and its default memory share, are planned by rules that were read and not seen in a log',
      'model-path',
    ],
    [
      states && speculation.draftTokens > 0,
      'states of guessed tokens are sized by a rule that was read and not seen in a log',
      'speculative-algorithm',
    ],
    [
      states &&
        (settings.text('mamba-radix-cache-strategy') ?? 'auto') === 'auto' &&
        c.radix &&
        !/^Qwen3(Next|_5)/.test(model.architecture),
      `how states are kept by default is known for Qwen models; planned here with ${c.states.strategy}`,
      'mamba-radix-cache-strategy',
    ],
    [
      c.windowRatio !== undefined && placement.pipeline > 1,
      'a stage may count the first sliding or full layer of the next one',
      'pp-size',
    ],
    [
      c.windowRatio !== undefined && !rules.windowCell,
      `pools of windows before 0.5.10 were sized from a uniform model; planned with the later rule, which gives the same where layers cost the same`,
      'swa-full-tokens-ratio',
    ],
    [
      settings.has('hybrid-kvcache-ratio'),
      'the mix of buffers of Llama 4 is planned with the later rule',
      'hybrid-kvcache-ratio',
    ],
    [
      placement.context > 1,
      'decode context parallelism is planned by a rule that was read and not seen in a log',
      'dcp-size',
    ],
    [
      draft.layers.length > 0 && rules.speculativeReserve !== 'no',
      'this version reserves a few GiB for the draft in place of counting its KV cache and weights',
      'speculative-algorithm',
    ],
    [
      settings.flag('enable-unified-memory') ?? false,
      'pools are planned as if they were divided at the start',
      'enable-unified-memory',
    ],
    [
      settings.flag('enable-lora') ?? settings.has('lora-paths'),
      'buffers of LoRA adapters are not counted',
      'enable-lora',
    ],
  ];
  return rows
    .filter(([when]) => when)
    .map(([, message, option]) => approximate(`${message[0]?.toUpperCase()}${message.slice(1)}.`, option));
}

interface Resolved {
  readonly c: SglangConfiguration;
  readonly length: ContextLength;
  readonly chunk: Derived;
  readonly graphs?: Derived;
}

/** The options a plan rests on and the launch does not write, with the value they take. */
function defaults(settings: Settings, { c, length, chunk, graphs }: Resolved): readonly Setting[] {
  const { share } = c;
  const rows: readonly (readonly [name: string, value: number | string | undefined, how?: string])[] = [
    ['mem-fraction-static', share && Number(share.share.value.toFixed(4)), share?.how],
    ['context-length', length.derived?.tokens, length.derived?.how],
    ['page-size', c.page.tokens, c.page.how],
    ['kv-cache-dtype', 'auto', c.stored.how],
    ['chunked-prefill-size', chunk.value, chunk.how],
    ['cuda-graph-max-bs-decode', graphs?.value, graphs?.how],
    ['swa-full-tokens-ratio', c.windowRatio],
    ['mamba-full-memory-ratio', c.layers.some((l) => l.kind === 'state') ? c.states.ratio : undefined],
    ['tp-size', 1],
    ['pp-size', 1],
  ];
  return rows
    .filter(([name, value]) => value !== undefined && !settings.has(name))
    .map(([name, value, how]): Setting => ({ name, value, raw: String(value), how, origin: 'default' }));
}
