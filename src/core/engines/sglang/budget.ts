/**
 * One GPU's memory before the pools: SGLang takes a share of what was free before loading, and leaves the rest of it to
 * activations and graphs. Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py.
 */
import type { Origin } from '../../figure';
import type { Model } from '../../model/model';
import {
  addEstimates,
  between,
  type Estimate,
  exactly,
  formatBytes,
  GiB,
  MiB,
  subtractEstimates,
  withCommas,
} from '../../units';
import type { Budget, Given, Hardware, Layout } from '../engine';
import {
  budgetFrom,
  type Cast,
  estimated,
  gib,
  mtpBytes,
  nothing,
  orGiven,
  originOfSetting,
  type StageBudget,
  type Term,
  times,
  weightsTerm,
  whole,
} from '../memory';
import type { SglangConfiguration } from './configure';
import { settingsOf } from './settings';

const SOURCE = 'SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py';

interface Input {
  readonly model: Model;
  readonly c: SglangConfiguration;
  readonly hardware: Hardware;
  readonly given: Given;
  readonly share: Estimate;
}

export function budgetOf(
  model: Model,
  c: SglangConfiguration,
  layout: Layout,
  hardware: Hardware,
  given: Given,
): Budget | undefined {
  if (!c.share || model.weights === undefined) {
    return undefined;
  }
  const input: Input = { model, c, hardware, given, share: c.share.share };
  const stages = c.stages.map((_, stage) => stageBudget(input, stage));
  // Every rank sizes its pool by the least that any has free.
  const least = between(
    Math.min(...stages.map((s) => s.kv.low)),
    Math.min(...stages.map((s) => s.kv.value)),
    Math.min(...stages.map((s) => s.kv.high)),
  );
  const setting = c.settings.findLast((s) => s.name === 'mem-fraction-static');
  const origin: Origin =
    setting?.origin === 'default'
      ? { kind: 'default', text: `default of SGLang ${c.version.text}: ${c.share.how}` }
      : originOfSetting(setting, `default of SGLang ${c.version.text}`);
  return budgetFrom(
    layout,
    hardware,
    stages.map((s) => ({ ...s, kv: least })),
    (s) => ({
      limit: {
        symbols: 'memory − (1 − mem-fraction-static) × free before loading',
        numbers: `${formatBytes(hardware.memory.value)} − ${(1 - input.share.value).toFixed(3)} × ${formatBytes(hardware.memory.value - s.other.estimate.value)} = ${formatBytes(s.limit.value)}`,
      },
      kv: {
        why: stages.length > 1 ? 'what is left of the limit on the fullest GPU' : 'what is left of the limit',
        symbols: 'limit − weights − other',
        numbers: `${[s.limit, s.weights.estimate, s.other.estimate].map((e) => formatBytes(e.value)).join(' − ')} = ${formatBytes(s.kv.value)}`,
      },
      origins: [origin],
      source: SOURCE,
    }),
  );
}

function stageBudget(input: Input, stage: number): StageBudget {
  const { c, hardware, given, share } = input;
  const other = orGiven(given.other, () => otherTerm(input));
  const weights = orGiven(given.weights, () => stageWeights(input, stage));
  const free = subtractEstimates(hardware.memory, other.estimate);
  const kept = between((1 - share.high) * free.low, (1 - share.value) * free.value, (1 - share.low) * free.high);
  const why = `in the ${formatBytes(kept.value)} that mem-fraction-static leaves free, not taken from the pool`;
  const media = exactly(c.mediaMiB * MiB);
  const usable = between(free.low * share.low, free.value * share.value, free.high * share.high);
  const left = subtractEstimates(usable, addEstimates(weights.estimate, media));
  return {
    weights,
    activations: nothing(why, SOURCE),
    graphs: nothing(why, SOURCE),
    other: c.mediaMiB > 0 ? withMedia(other, c.mediaMiB) : other,
    limit: whole(addEstimates(usable, other.estimate)),
    kv: between(Math.floor(left.low), Math.floor(left.value), Math.floor(left.high)),
  };
}

const withMedia = (t: Term, mib: number): Term => ({
  ...t,
  estimate: addEstimates(t.estimate, exactly(mib * MiB)),
  why: `${t.why}, and ${withCommas(mib)} MiB kept for media`,
  symbols: `${t.symbols} + media`,
  numbers: `${t.numbers} + ${withCommas(mib)} MiB`,
});

/**
 * Held before anything is loaded: the CUDA context and NCCL. Total less what logs show as free then: one GPU 0.4 to
 * 0.9 GiB (sglang#4094, #7590, #522), four on the bus 0.4 and 0.6 (#4127, #565), eight and sixteen over NVLink 2.3 and
 * 2.5 (#1386, #4161), eight MI308X 6.7 (#6001).
 */
function otherTerm({ c, hardware }: Input): Term {
  const { tensor, pipeline } = c.placement;
  const symbols = 'measured range';
  const term = (e: Estimate, why: string) =>
    estimated(e, why, symbols, formatBytes(e.value), 'public start-up logs: “avail mem” before loading');
  if (tensor * pipeline === 1) {
    return term(gib(0.35, 0.55, 0.95), 'the CUDA context');
  }
  if (hardware.gpu?.vendor === 'amd') {
    return term(gib(1, 4, 7), 'the HIP context and RCCL');
  }
  const joined =
    /\b(SXM\d?|H100|H200|H20|H800|A100|A800|B200|B300|GB200|GB300)\b/i.test(hardware.name) &&
    !/PCIe/i.test(hardware.name);
  return joined
    ? term(gib(0.8, 1.8, 2.7), 'the CUDA context, NCCL and all-reduce buffers (GPUs joined by NVLink)')
    : term(gib(0.35, 0.6, 1.4), 'the CUDA context and NCCL (GPUs joined by the bus)');
}

function stageWeights(input: Input, stage: number): Term {
  const { model, c } = input;
  const settings = settingsOf(c.settings);
  const base = weightsTerm(
    model,
    c.placement,
    { number: stage, layers: c.stages[stage] as number, of: c.stages.reduce((a, b) => a + b, 0) },
    'SGLang, “Load weight end” in public logs',
    castOf(model, settings.text('quantization'), settings.text('dtype')),
  );
  const extras = [
    LOADING,
    attentionExtra(input, base),
    draftExtra(input, stage),
    offloaded(settings.number('cpu-offload-gb') ?? 0, base),
  ].filter((e) => e !== undefined);
  const estimate = whole(addEstimates(base.estimate, ...extras.map((e) => e.estimate)));
  const symbols = extras.map((e) => e.symbol).join('');
  return extras.length === 0
    ? base
    : {
        ...base,
        estimate,
        why: `${base.why}${extras.map((e) => e.why).join('')}`,
        symbols: `${base.symbols}${symbols}`,
        numbers: `${base.numbers}${extras.map((e) => ` ${e.estimate.value < 0 ? '−' : '+'} ${formatBytes(Math.abs(e.estimate.value))}`).join('')} = ${formatBytes(estimate.value)}`,
      };
}

interface Extra {
  readonly estimate: Estimate;
  readonly why: string;
  readonly symbol: string;
}

/** Kernels and workspaces that loading leaves: 0.01 to 0.25 GiB beyond the weights in five logs (sglang#4094, #3451, #4127, #1386, #565). */
const LOADING: Extra = { estimate: gib(0, 0.12, 0.3), why: ', and what loading leaves', symbol: ' + loading' };

function castOf(model: Model, quantization: string | undefined, dtype: string | undefined): Cast | undefined {
  if (model.quantisation !== undefined || model.dtype === 'float32') {
    return undefined;
  }
  if (dtype === 'float32' || dtype === 'float') {
    return { factor: 2, how: 'in 32 bit' };
  }
  return quantization === 'fp8' || quantization === 'w8a8_fp8'
    ? { factor: 0.5, how: 'quantised to fp8 on loading' }
    : undefined;
}

/**
 * Attention and embeddings are divided over a worker's own GPUs only. Attention of MLA: 1.6 × hidden × heads × 128
 * parameters a layer (DeepSeek V3: 187 million); of other models 2 × hidden × head dim × (heads + KV heads).
 */
function attentionExtra({ model, c }: Input, base: Term): Extra | undefined {
  const { attentionData, attentionTensor, tensor, pipeline } = c.placement;
  const bytes = model.weights?.bytes ?? 0;
  if (attentionData === 1 || !model.parameters) {
    return undefined;
  }
  const perLayer = c.own
    .filter(({ layer }) => !layer.joined)
    .reduce((all, { layer }) => {
      const own =
        layer.kind === 'latent'
          ? 1.6 * model.hiddenSize * model.attentionHeads * 128
          : 2 * model.hiddenSize * layer.headDim * (model.attentionHeads + layer.kvHeads);
      return all + own;
    }, 0);
  const parameters = (perLayer + 2 * model.vocabSize * model.hiddenSize) / pipeline;
  const value = Math.min(
    base.estimate.value * attentionData,
    parameters * (bytes / model.parameters) * (1 / attentionTensor - 1 / tensor),
  );
  return {
    estimate: between(0.7 * value, value, 1.6 * value),
    why: `, with attention and embeddings over ${attentionTensor} of them`,
    symbol: ' + attention that workers repeat',
  };
}

/** Since 0.5.14 a draft is loaded before the pool is sized. MTP layers: a layer of the model each. */
function draftExtra({ c, model }: Input, stage: number): Extra | undefined {
  if (c.rules.speculativeReserve !== 'no' || c.draftLayers.length === 0 || stage !== c.stages.length - 1) {
    return undefined;
  }
  const { tensor } = c.placement;
  const draft = c.speculation.draftModel === undefined ? undefined : c.draft?.weights;
  if (draft) {
    const estimate = times(between(draft.low, draft.bytes, draft.high), 1 / tensor);
    return { estimate, why: ` and the draft model ${c.draft?.id}`, symbol: ' + draft model' };
  }
  return {
    estimate: mtpBytes(model, c.draftLayers, tensor),
    why: ' and its MTP layers',
    symbol: ' + MTP layers',
  };
}

function offloaded(gigabytes: number, base: Term): Extra | undefined {
  if (gigabytes <= 0) {
    return undefined;
  }
  const gone = Math.min(gigabytes * GiB, base.estimate.value);
  return {
    estimate: between(-Math.min(1.05 * gone, base.estimate.low), -gone, -0.8 * gone),
    why: `, ${formatBytes(gone)} of them in host memory`,
    symbol: ' − cpu-offload-gb',
  };
}
