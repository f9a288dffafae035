/**
 * `mem-fraction-static` and the sizes it hangs on, where they are not written.
 * Source: SGLang 0.5.18, srt/server_args.py :: _handle_gpu_memory_settings, reserve_for_graph_mb; older rules by their commits.
 */
import type { Model } from '../../model/model';
import { between, type Estimate, exactly, MiB, toFixedHalfEven, withCommas } from '../../units';
import type { Hardware } from '../engine';
import { isLatent, writtenBackends } from './backend';
import type { Spread } from './placement';
import type { Settings } from './settings';
import type { Speculation } from './speculative';
import type { SglangRules } from './versions';

/** A value and how it came about. */
export interface Derived {
  readonly value: number;
  readonly how: string;
}

interface Class {
  /** In MiB, exclusive. */
  readonly below: number;
  readonly chunk: number;
  /** Largest decode graph under fewer than 4 GPUs, and from 4 on. */
  readonly graphs: readonly [number, number];
  readonly what: string;
}

const CLASSES: readonly Class[] = [
  { below: 20 * 1024, chunk: 2048, graphs: [8, 8], what: 'cards below 20 GiB' },
  { below: 35 * 1024, chunk: 2048, graphs: [24, 80], what: 'cards below 35 GiB' },
  { below: 60 * 1024, chunk: 4096, graphs: [32, 160], what: 'cards below 60 GiB' },
  { below: 90 * 1024, chunk: 8192, graphs: [256, 512], what: 'cards below 90 GiB' },
  { below: 160 * 1024, chunk: 8192, graphs: [256, 512], what: 'cards below 160 GiB' },
  { below: Number.POSITIVE_INFINITY, chunk: 16384, graphs: [512, 512], what: 'cards of 160 GiB and more' },
];

const UNKNOWN_CARD = { chunk: 4096, graphs: [160, 160], what: 'the GPU is not known' } as const;

const classOf = (card: number | undefined) =>
  card === undefined ? UNKNOWN_CARD : (CLASSES.find((c) => card < c.below) as Class);

/** As nvidia-smi counts it, in MiB: what SGLang's rules look at. A card known by its memory alone may have a little more. */
function cardMiB(hardware: Hardware | undefined): number | undefined {
  return hardware && Math.round((hardware.gpu?.reported ?? hardware.memory.value) / MiB);
}

export interface ShareInput {
  readonly settings: Settings;
  readonly environment: ReadonlyMap<string, string>;
  readonly rules: SglangRules;
  readonly model: Model;
  readonly spread: Spread;
  readonly speculation: Speculation;
  readonly hardware?: Hardware;
  readonly length?: number;
}

/** Tokens of one prefill chunk before data-parallel attention divides them; -1 or 0 is off. */
export function chunkDefault({ rules, hardware }: ShareInput): Derived {
  const card = cardMiB(hardware);
  switch (rules.chunkDefault) {
    case 'fixed':
      return { value: 8192, how: 'any card' };
    case 'small-card':
      return card !== undefined && card < 25_000
        ? { value: 2048, how: 'cards below 25,000 MiB' }
        : { value: 8192, how: 'cards from 25,000 MiB on' };
    case 'classes':
      return card === undefined || (card >= 35 * 1024 && card < 160 * 1024)
        ? { value: 8192, how: 'cards between 35 and 160 GiB' }
        : card < 35 * 1024
          ? { value: 2048, how: 'cards below 35 GiB' }
          : { value: 16384, how: 'cards of 160 GiB and more' };
    case 'table': {
      const { chunk, what } = classOf(card);
      return { value: chunk, how: what };
    }
  }
}

/** Largest decode batch that is captured; undefined where no rule needs it. */
export function graphDefault({ rules, hardware, spread }: ShareInput): Derived | undefined {
  if (rules.share !== 'formula') {
    return undefined;
  }
  const card = cardMiB(hardware);
  const { graphs, what } = classOf(card);
  const many = spread.tensor >= 4;
  const small = what === 'cards below 35 GiB' && !many;
  return {
    value: small ? rules.smallCardGraphs : graphs[many ? 1 : 0],
    how: `${what}, ${many ? '4 GPUs and more' : 'fewer than 4 GPUs'}`,
  };
}

/** Prefills that are captured up to `most` tokens: every 4 up to 32, then ever coarser. */
export function prefillSizes(most: number): number {
  const ranges: readonly (readonly [from: number, to: number, step: number])[] = [
    [4, 32, 4],
    [48, 256, 16],
    [288, 512, 32],
    [576, 1024, 64],
    [1280, 4096, 256],
    [4608, Number.POSITIVE_INFINITY, 512],
  ];
  return ranges.reduce((count, [from, to, step]) => {
    const end = Math.min(to, most);
    return count + (end < from ? 0 : Math.floor((end - from) / step) + 1);
  }, 0);
}

interface Part {
  readonly mib: number;
  readonly how: string;
}

const listed = (settings: Settings, name: string): readonly number[] => {
  const value = settings.find(name)?.value;
  return (Array.isArray(value) ? value : []).map(Number).filter(Number.isFinite);
};

function decodeGraphs(input: ShareInput): number {
  const sizes = listed(input.settings, 'cuda-graph-bs-decode');
  return (
    input.settings.number('cuda-graph-max-bs-decode') ??
    (sizes.length > 0 ? Math.max(...sizes) : (graphDefault(input)?.value ?? 0))
  );
}

const roleOf = ({ settings }: ShareInput): string => settings.text('disaggregation-mode') ?? 'null';

function decodeOff(input: ShareInput): boolean {
  const { settings } = input;
  return (
    (settings.flag('disable-cuda-graph') ?? false) ||
    (settings.flag('disable-decode-cuda-graph') ?? false) ||
    settings.text('cuda-graph-backend-decode') === 'disabled' ||
    roleOf(input) === 'prefill'
  );
}

/** Media of models whose encoders run have no prefill graphs, nor have decode servers and MLA on TensorRT-LLM's kernels. */
function prefillOff(input: ShareInput): boolean {
  const { settings, rules, model } = input;
  const asked = settings.flag('enable-piecewise-cuda-graph') ?? false;
  return (
    rules.prefillGraphs === 'no' ||
    (rules.prefillGraphs === 'asked' && !asked) ||
    (settings.flag('disable-cuda-graph') ?? false) ||
    (settings.flag('disable-prefill-cuda-graph') ?? false) ||
    settings.text('cuda-graph-backend-prefill') === 'disabled' ||
    roleOf(input) === 'decode' ||
    runsEncoder(settings, model) ||
    (isLatent(model) && writtenBackends(settings).includes('trtllm_mla'))
  );
}

export const runsEncoder = (settings: Settings, model: Model): boolean =>
  model.multimodal &&
  settings.flag('enable-multimodal') !== false &&
  !settings.flag('language-only') &&
  !settings.flag('language-model-only');

function prefillPart(input: ShareInput, chunk: number): Part | undefined {
  const { settings, model } = input;
  if (prefillOff(input)) {
    return undefined;
  }
  if (isLatent(model)) {
    return { mib: 1536, how: '1,536 (prefill graphs of MLA)' };
  }
  const written = listed(settings, 'cuda-graph-bs-prefill');
  const most = settings.number('cuda-graph-max-bs-prefill') ?? (chunk > 0 ? chunk : maxPrefill(settings));
  const capped = Math.min(most, settings.number('max-total-tokens') ?? most);
  const count = written.length > 0 ? written.length : prefillSizes(capped);
  return { mib: 8 * count, how: `8 × ${count} (prefill graphs)` };
}

const maxPrefill = (settings: Settings): number => settings.number('max-prefill-tokens') ?? 16384;

/** Tokens whose activations are reserved for. */
function activationTokens(input: ShareInput, chunk: number): number {
  const { settings, rules, speculation } = input;
  const tokens =
    rules.reserveByRole && roleOf(input) === 'decode'
      ? (settings.number('max-running-requests') ?? 0) * Math.max(1, speculation.draftTokens)
      : chunk > 0
        ? chunk
        : maxPrefill(settings);
  return Math.max(tokens, 2048);
}

/** Bytes that experts' exchange keeps come on top and depend on its kernels: not in here. */
function reserve(input: ShareInput, card: number, chunk: number): { readonly mib: number; readonly how: string } {
  const { spread, rules, environment } = input;
  const gpus = spread.tensor * spread.pipeline;
  const shared: Part = { mib: (gpus / 8) * 1024, how: `${gpus} ÷ 8 × 1,024` };
  if (/^(1|true)$/i.test(environment.get('SGLANG_ENABLE_POST_CAPTURE_KV_SIZING') ?? '') && rules.reserveByRole) {
    return { mib: 1536 + shared.mib, how: `1,536 + ${shared.how}, pool sized after capture` };
  }
  const tokens = activationTokens(input, chunk);
  const graphs = decodeGraphs(input);
  const { attentionData } = spread;
  const parts: readonly (Part | undefined)[] = [
    { mib: 512, how: '512' },
    { mib: 1.5 * tokens, how: `1.5 × ${withCommas(tokens)} (activations)` },
    shared,
    decodeOff(input) ? undefined : { mib: 2 * graphs, how: `2 × ${graphs} (decode graphs)` },
    attentionData > 1
      ? {
          mib: (3 + (graphs > 300 ? 1.5 : 0)) * graphs * attentionData,
          how: `${graphs > 300 ? 4.5 : 3} × ${graphs} × ${attentionData} (attention data parallelism)`,
        }
      : undefined,
    prefillPart(input, chunk),
  ];
  const known = parts.filter((p) => p !== undefined);
  const sum = known.reduce((total, p) => total + p.mib, 0);
  const floor = card > 60 * 1024 ? Math.max(sum, 10_240) : sum;
  const draft = speculativeReserve(input);
  return {
    mib: floor + draft,
    how: `${known.map((p) => p.how).join(' + ')}${floor > sum ? ', at least 10,240' : ''}${draft > 0 ? ` + ${withCommas(draft)} (speculation)` : ''}`,
  };
}

/** Until 0.5.14 a draft was reserved for in place of being counted. */
function speculativeReserve({ rules, speculation: { algorithm } }: ShareInput): number {
  if (algorithm === undefined || rules.speculativeReserve === 'no') {
    return 0;
  }
  if (algorithm === 'STANDALONE') {
    return 6 * 1024;
  }
  const eagle = rules.speculativeReserve === 'formula-4' ? 4 : 2;
  return algorithm === 'NGRAM' ? 0 : eagle * 1024;
}

/** The rule of mid-2025: some GiB by class of memory. */
function classReserve(input: ShareInput, card: number): { readonly mib: number; readonly how: string } {
  const { spread, rules } = input;
  const gpus = spread.tensor * spread.pipeline;
  const [small, medium, large] = rules.wideClasses ? [50, 12, 15] : [35, 9.5, 12];
  const [gib, how] =
    card < (small as number) * 1024
      ? [2.8 + gpus / 10, `2.8 + ${gpus} ÷ 10 GiB`]
      : card < 90 * 1024
        ? [(medium as number) + gpus / 2, `${medium} + ${gpus} ÷ 2 GiB`]
        : card < 160 * 1024
          ? [(large as number) + gpus / 2, `${large} + ${gpus} ÷ 2 GiB`]
          : [32, '32 GiB'];
  const draft = speculativeReserve(input);
  const workers = spread.dpAttention ? 4 * 1024 : 0;
  return {
    mib: gib * 1024 + draft + workers,
    how: `${how}${draft > 0 ? ` + ${draft / 1024} GiB (speculation)` : ''}${workers > 0 ? ' + 4 GiB (attention data parallelism)' : ''}`,
  };
}

const shareByGpus = (rules: SglangRules, gpus: number): number =>
  rules.shares.find(([from]) => gpus >= from)?.[1] ?? 0.88;

/** The rule of spring 2025: the table by GPUs on cards of 80 GiB and less; large cards keep 18 GiB and more. */
function shareByCard(rules: SglangRules, gpus: number, card: number): number {
  const base = card <= 81_920 ? shareByGpus(rules, gpus) : 0.88;
  return card > 96 * 1024 ? Math.min(base + (48 * 1024 * (1 - base)) / card, (card - 18 * 1024) / card) : base;
}

const round3 = (x: number): number => Number(toFixedHalfEven(x, 3));

/** Share of memory when the GPU is not known. */
const BLIND_SHARE = 0.88;

function textShare(input: ShareInput, chunk: number): Derived {
  const { rules, spread } = input;
  const card = cardMiB(input.hardware);
  const gpus = spread.tensor * spread.pipeline;
  if (rules.share === 'tensor') {
    return { value: shareByGpus(rules, spread.tensor), how: `table, ${spread.tensor} GPUs` };
  }
  if (card === undefined) {
    return { value: BLIND_SHARE, how: 'the GPU is not known' };
  }
  if (rules.share === 'gpus') {
    return { value: shareByCard(rules, gpus, card), how: `table, ${gpus} GPUs of ${withCommas(card)} MiB` };
  }
  const kept = rules.share === 'classes' ? classReserve(input, card) : reserve(input, card, chunk);
  const mib = Math.round(kept.mib * 100) / 100;
  return {
    value: round3((card - kept.mib) / card),
    how: `(${withCommas(card)} − ${withCommas(mib)}) ÷ ${withCommas(card)} MiB: ${kept.how}`,
  };
}

export interface Share {
  readonly share: Estimate;
  /** Absent where it is written. */
  readonly how?: string;
  /** Part of the rule depends on what is not known. */
  readonly unsure?: string;
}

/** An encoder lowers it by its size, which is not in the catalogue: × 0.95 × 0.8…1.05. */
const ENCODER = between(0.95 * 0.8, 0.95 * 0.9, 0.95 * 1.05);

/** Undefined when the written value cannot be known. `chunk` is before data-parallel attention divides it. */
export function memoryShare(input: ShareInput, chunk: number): Share | undefined {
  const { settings, model, rules, hardware, length } = input;
  if (settings.unknown.has('mem-fraction-static')) {
    return undefined;
  }
  const written = settings.number('mem-fraction-static');
  if (written !== undefined) {
    return { share: exactly(written) };
  }
  const { value, how } = textShare(input, chunk);
  const aiter =
    rules.share === 'formula' && (writtenBackends(settings)[0] ?? (isAmd(hardware) ? 'aiter' : '')) === 'aiter';
  const long = aiter && (length ?? 0) > 8192;
  const base = long ? value * 0.85 : value;
  const told = long ? `${how}, × 0.85 (aiter beyond 8,192 tokens)` : how;
  if (!runsEncoder(settings, model) || roleOf(input) === 'decode') {
    return { share: exactly(base), how: told };
  }
  return {
    share: between(base * ENCODER.low, base * ENCODER.value, base * ENCODER.high),
    how: `${told}, × 0.76 to 1.00 by the size of the encoder`,
    unsure:
      'the default memory share of a multimodal model depends on the size of its encoder, which is not known here',
  };
}

const isAmd = (hardware: Hardware | undefined): boolean => hardware?.gpu?.vendor === 'amd';
