/**
 * Where a GPU's memory goes before the KV pool: weights, activations, graphs, what torch does not see.
 * Everything but the limit is an estimate, fitted to published start-up measurements (vLLM 0.5–0.19 on A100, H100, H200).
 */
import { type Explanation, type Figure, figure, type Origin } from '../../figure';
import type { Model } from '../../model/model';
import {
  addEstimates,
  between,
  type Estimate,
  exactly,
  formatBytes,
  GiB,
  isExact,
  MiB,
  subtractEstimates,
  withCommas,
} from '../../units';
import type { Budget, BudgetTerm, Given, Hardware, Layout } from '../engine';
import { transformerLayers, type VllmConfiguration } from './configure';

interface Term {
  readonly estimate: Estimate;
  readonly why: string;
  readonly symbols: string;
  readonly numbers: string;
  readonly origins: readonly Origin[];
  readonly source: string;
}

interface StageTerms {
  readonly weights: Term;
  readonly activations: Term;
  readonly graphs: Term;
  readonly other: Term;
  readonly kv: Estimate;
}

export function budgetOf(
  model: Model,
  c: VllmConfiguration,
  layout: Layout,
  hardware: Hardware,
  given: Given,
): Budget | undefined {
  if (c.utilisation === undefined || model.weights === undefined) {
    return undefined;
  }
  const limit = limitOf(hardware.memory, c.utilisation);
  const stages = c.stages.map((_, stage) => stageTerms(stage, model, c, limit, given));
  const blocks = stages.map((s, i) => s.kv.value / (layout.ranks[i]?.bytesPerBlock ?? 1));
  const decidingRank = blocks.indexOf(Math.min(...blocks));
  const own = stages[decidingRank] as StageTerms;
  const utilisation = c.settings.findLast((s) => s.name === 'gpu-memory-utilization');
  return {
    ranks: stages.map((s) => s.kv),
    decidingRank,
    total: bytesFigure(hardware.memory, () => ({
      symbols: 'memory of the card as the driver reports it',
      numbers: formatBytes(hardware.memory.value),
      origins: [hardware.origin, { kind: 'driver', text: (hardware.gpu?.sources ?? []).join('; ') || hardware.name }],
    })),
    limit: bytesFigure(limit, () => ({
      symbols: '⌈memory × utilisation⌉',
      numbers: `⌈${withCommas(hardware.memory.value)} × ${c.utilisation}⌉ = ${withCommas(limit.value)}`,
      origins: [utilisation ? originOf(utilisation) : { kind: 'default', text: `default of vLLM ${c.version.text}` }],
      source: 'vLLM 0.28, v1/worker/utils.py :: request_memory',
    })),
    weights: termFigure(own.weights),
    activations: termFigure(own.activations),
    graphs: termFigure(own.graphs),
    other: termFigure(own.other),
    kv: {
      why: 'what is left of the limit',
      figure: bytesFigure(own.kv, () => ({
        symbols: 'limit − weights − activations − graphs − other',
        numbers: `${[limit, own.weights.estimate, own.activations.estimate, own.graphs.estimate, own.other.estimate].map((e) => formatBytes(e.value)).join(' − ')} = ${formatBytes(own.kv.value)}`,
        origins: [{ kind: 'estimate', text: `between ${formatBytes(own.kv.low)} and ${formatBytes(own.kv.high)}` }],
        source: 'vLLM 0.28, v1/worker/gpu_worker.py :: determine_available_memory',
      })),
    },
  };
}

const originOf = (s: {
  readonly origin: Origin['kind'];
  readonly raw: string;
  readonly line?: number;
  readonly name: string;
}): Origin => ({
  kind: s.origin,
  text: s.line === undefined ? `${s.name}: ${s.raw}` : `line ${s.line}`,
  line: s.line,
});

const bytesFigure = (e: Estimate, explain: () => Explanation): Figure =>
  figure(e.value, 'bytes', explain, { scope: 'per GPU', range: isExact(e) ? undefined : e });

const termFigure = (t: Term): BudgetTerm => ({
  why: t.why,
  figure: bytesFigure(t.estimate, () => ({
    symbols: t.symbols,
    numbers: t.numbers,
    origins: t.origins,
    source: t.source,
  })),
});

const limitOf = (memory: Estimate, share: number): Estimate =>
  between(Math.ceil(memory.low * share), Math.ceil(memory.value * share), Math.ceil(memory.high * share));

function stageTerms(stage: number, model: Model, c: VllmConfiguration, limit: Estimate, given: Given): StageTerms {
  const weights = replaced(given.weights, () => weightsTerm(stage, model, c));
  const activations = replaced(given.activations, () => activationsTerm(stage, model, c));
  const graphs = replaced(given.graphs, () => graphsTerm(model, c));
  const other = replaced(given.other, () => otherTerm(c));
  const used = addEstimates(weights.estimate, activations.estimate, graphs.estimate, other.estimate);
  const left = subtractEstimates(limit, used);
  const whole = (x: number) => Math.floor(x);
  return { weights, activations, graphs, other, kv: between(whole(left.low), whole(left.value), whole(left.high)) };
}

const replaced = (bytes: number | undefined, estimate: () => Term): Term =>
  bytes === undefined
    ? estimate()
    : {
        estimate: exactly(bytes),
        why: 'given',
        symbols: 'given',
        numbers: formatBytes(bytes),
        origins: [{ kind: 'flag', text: 'given by a directive, flag or setting' }],
        source: 'given',
      };

const scaled = (e: { readonly low: number; readonly bytes: number; readonly high: number }, factor: number): Estimate =>
  between(Math.round(e.low * factor), Math.round(e.bytes * factor), Math.round(e.high * factor));

/** Embeddings stay on the first and last stage; everything is divided by tensor parallelism. */
function weightsTerm(stage: number, model: Model, c: VllmConfiguration): Term {
  const weights = model.weights as NonNullable<Model['weights']>;
  const { tensor, pipeline } = c.placement;
  const embedding = Math.min(0.5, (2 * model.vocabSize * model.hiddenSize) / weights.bytes);
  const body = ((c.stages[stage] as number) / transformerLayers(model)) * (1 - 2 * embedding);
  const ends = (stage === 0 ? embedding : 0) + (stage === pipeline - 1 ? embedding : 0);
  const share = pipeline === 1 ? 1 : body + ends;
  const e = scaled(weights, share / tensor);
  // Loading rounds up to the allocator's segments, and tensor parallelism keeps norms and small projections whole.
  const slack = between(0, 0, 64 * MiB + (tensor > 1 ? 0.01 * e.value : 0));
  const draft = stage === pipeline - 1 && c.draft?.weights ? scaled(c.draft.weights, 1 / tensor) : exactly(0);
  return {
    estimate: roundEstimate(addEstimates(e, slack, draft)),
    why: `${weights.why}${draft.high > 0 ? ` and the draft model ${c.draft?.id}` : ''}${tensor > 1 ? `, over ${tensor} GPUs` : ''}${pipeline > 1 ? `, stage ${stage + 1} of ${pipeline}` : ''}`,
    symbols: 'weight bytes × share of this stage ÷ tensor parallel size',
    numbers: `${formatBytes(weights.bytes)} × ${share.toFixed(3)} ÷ ${tensor} = ${formatBytes(e.value)}`,
    origins: [{ kind: 'catalogue', text: weights.why }],
    source: 'vLLM, "Model loading took …" in public logs',
  };
}

const roundEstimate = (e: Estimate): Estimate => between(Math.round(e.low), Math.round(e.value), Math.round(e.high));

/**
 * Peak of the profile run: the sampler's on the last stage, a layer's forward pass elsewhere.
 * Sampler: k·B·V·4 + T·H·2, B = min(S, T), V padded to 64, not divided by tensor parallelism (logits are gathered).
 * Forward: 2T·(3·I/tp + 4.25·H). Mixture of experts: 2T·(topk·(3·I/tp + H) + 6H) and a workspace of about 0.4 GiB.
 * Fitted to the measurements in the planner accuracy report of llm-d (vLLM 0.19, H100) and public logs; dense models within 5 %.
 */
function activationsTerm(stage: number, model: Model, c: VllmConfiguration): Term {
  const T = c.batchTokens;
  const B = Math.min(c.maxSequences ?? T, T);
  const V = Math.ceil(model.vocabSize / 64) * 64;
  const H = model.hiddenSize;
  const { tensor, pipeline } = c.placement;
  const sampler = stage === pipeline - 1 ? c.rules.samplerFactor * B * V * 4 + T * H * 2 : 0;
  const { experts } = model;
  const forward = experts
    ? 2 * T * (experts.expertsPerToken * ((3 * experts.intermediate) / tensor + H) + 6 * H) + 0.4 * GiB
    : 2 * T * ((3 * model.intermediateSize) / tensor + 4.25 * H);
  const peak = Math.max(sampler, forward);
  const spread = experts ? 0.25 : 0.12;
  const encoder = model.multimodal && !c.languageOnly ? between(0, 0.4 * GiB, 2 * GiB) : exactly(0);
  const estimate = addEstimates(between(peak * (1 - spread), peak, peak * (1 + spread)), encoder);
  const which = sampler >= forward ? 'the sampler’s peak' : 'one layer’s forward pass';
  return {
    estimate: roundEstimate(estimate),
    why: `${which} over ${withCommas(T)} tokens and ${withCommas(B)} sequences${encoder.high > 0 ? ', and the multimodal encoder' : ''}`,
    symbols:
      sampler >= forward
        ? 'k × B × V × 4 + T × H × 2'
        : experts
          ? '2T × (top-k × (3I ÷ tp + H) + 6H) + workspace'
          : '2T × (3I ÷ tp + 4.25H)',
    numbers:
      sampler >= forward
        ? `${c.rules.samplerFactor} × ${B} × ${V} × 4 + ${T} × ${H} × 2 = ${formatBytes(peak)}`
        : `T = ${T}, H = ${H}: ${formatBytes(peak)}`,
    origins: [{ kind: 'estimate', text: `± ${spread * 100} %: fitted to measured profile runs` }],
    source: 'formula fitted to measured vLLM profile runs (0.8–0.19)',
  };
}

/** From 0.21 the capture of CUDA graphs is taken out of the budget; the V2 runner (dense models) estimates none. */
function graphsTerm(model: Model, c: VllmConfiguration): Term {
  const none = (why: string): Term => ({
    estimate: exactly(0),
    why,
    symbols: '0',
    numbers: '0',
    origins: [{ kind: 'derived', text: why }],
    source: 'vLLM 0.28, v1/worker/gpu_worker.py',
  });
  if (c.eager) {
    return none('enforce-eager: no CUDA graphs');
  }
  if (!c.rules.graphsInBudget) {
    return none('captured outside the budget in this version');
  }
  const dense = model.experts === undefined;
  const low = dense ? 0 : 0.3 * GiB;
  const value = dense ? 0 : 0.8 * GiB;
  const high = dense ? 0.9 * GiB : 1.9 * GiB;
  return {
    estimate: roundEstimate(between(low, value, high)),
    why: dense ? 'the V2 model runner, default for dense models, estimates none' : 'CUDA graphs of the V1 model runner',
    symbols: 'measured range',
    numbers: `${formatBytes(low)} … ${formatBytes(high)}`,
    origins: [{ kind: 'estimate', text: '0.5–1.9 GiB in public logs (H100)' }],
    source: 'vLLM 0.21–0.28 start-up logs',
  };
}

/** NCCL and other memory torch does not see that comes after the first snapshot. */
function otherTerm(c: VllmConfiguration): Term {
  const { tensor, pipeline } = c.placement;
  const measured =
    tensor > 1
      ? between(1.3, 2.1, 2.6)
      : pipeline > 1
        ? between(0.05, 0.07, 0.3)
        : between(0.1, c.rules.nonTorchGiB, 0.45);
  return {
    estimate: roundEstimate(between(measured.low * GiB, measured.value * GiB, measured.high * GiB)),
    why: tensor > 1 ? 'NCCL and all-reduce buffers' : 'memory outside torch',
    symbols: 'measured range',
    numbers: `${measured.low} … ${measured.high} GiB`,
    origins: [{ kind: 'estimate', text: 'planner accuracy report of llm-d, and public logs' }],
    source: 'vLLM start-up logs: "non torch"',
  };
}
