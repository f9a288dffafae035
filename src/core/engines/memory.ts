/** Terms of one GPU's memory and the budget they add up to, for engines that size the pool by what is left free. */
import { type Explanation, type Figure, figure, type Origin } from '../figure';
import type { KvLayer, Model } from '../model/model';
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
} from '../units';
import type { Budget, BudgetTerm, Given, Hardware, Layout, Placement } from './engine';

/** Bytes of one GPU, and why. */
export interface Term {
  readonly estimate: Estimate;
  readonly why: string;
  readonly symbols: string;
  readonly numbers: string;
  readonly origins: readonly Origin[];
  readonly source: string;
}

export const whole = (e: Estimate): Estimate => between(Math.round(e.low), Math.round(e.value), Math.round(e.high));

export const times = (e: Estimate, factor: number): Estimate =>
  between(e.low * factor, e.value * factor, e.high * factor);

export const spread = (e: Estimate): string => `between ${formatBytes(e.low)} and ${formatBytes(e.high)}`;

export const nothing = (why: string, source: string): Term => ({
  estimate: exactly(0),
  why,
  symbols: '0',
  numbers: '0',
  origins: [{ kind: 'derived', text: why }],
  source,
});

/** An estimate that says so. */
export const estimated = (estimate: Estimate, why: string, symbols: string, numbers: string, source: string): Term => ({
  estimate: whole(estimate),
  why,
  symbols,
  numbers: `${numbers} = ${formatBytes(estimate.value)}`,
  origins: [{ kind: 'estimate', text: spread(estimate) }],
  source,
});

export const gib = (low: number, value: number, high: number): Estimate => between(low * GiB, value * GiB, high * GiB);

/** What somebody stated in place of an estimate. */
export const orGiven = (bytes: number | undefined, estimate: () => Term): Term =>
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

/** Embedding and output head, as a share of all weights. */
const embeddingShare = (model: Model, bytes: number): number =>
  Math.min(0.5, (2 * model.vocabSize * model.hiddenSize) / bytes);

/** Bytes that loading leaves of what is not embedding: quantisation on the fly. */
export interface Cast {
  readonly factor: number;
  readonly how: string;
}

/**
 * Weights of one GPU: the checkpoint's bytes divided over the tensor group and the stages. Norms and small projections
 * are kept whole, and the allocator rounds up: 0–2 % more.
 */
export function weightsTerm(
  model: Model,
  { tensor, pipeline }: Placement,
  stage: { readonly number: number; readonly layers: number; readonly of: number },
  source: string,
  cast?: Cast,
): Term {
  const weights = model.weights as NonNullable<Model['weights']>;
  const embedding = embeddingShare(model, weights.bytes);
  const share =
    pipeline === 1
      ? 1
      : (stage.layers / stage.of) * (1 - 2 * embedding) +
        (stage.number === 0 ? embedding : 0) +
        (stage.number === pipeline - 1 ? embedding : 0);
  const factor = cast ? embedding + (1 - embedding) * cast.factor : 1;
  const loaded = times(between(weights.low, weights.bytes, weights.high), (share / tensor) * factor);
  const slack =
    tensor > 1
      ? between(0, 0.003 * loaded.value, 0.02 * loaded.value + 64 * MiB)
      : between(0, 0, 0.005 * loaded.value + 64 * MiB);
  const estimate = whole(addEstimates(loaded, slack));
  const over = tensor > 1 ? `, over ${tensor} GPUs` : '';
  const part = pipeline > 1 ? `, stage ${stage.number + 1} of ${pipeline}` : '';
  return {
    estimate,
    why: `${weights.why}${cast ? `, ${cast.how}` : ''}${over}${part}`,
    symbols: `weight bytes × share of this stage ÷ tensor parallel size${cast ? ' × quantised share' : ''}`,
    numbers: `${formatBytes(weights.bytes)} × ${share.toFixed(3)} ÷ ${tensor}${cast ? ` × ${factor.toFixed(2)}` : ''} = ${formatBytes(estimate.value)}`,
    origins: [{ kind: 'catalogue', text: weights.why }],
    source,
  };
}

/**
 * One layer's tensors of a forward pass over `tokens`: 2T·(3·I/tp + 5·H), which holds within a third for dense decoders
 * (16-bit activations; kernels and graphs of tensors differ from engine to engine); experts multiply what is routed.
 */
export function forwardTerm(model: Model, tokens: number, tensor: number, what: string, source: string): Term {
  const { experts, hiddenSize: H } = model;
  const inner = experts
    ? (3 * Math.max(experts.intermediate * experts.expertsPerToken, experts.sharedIntermediate)) / tensor +
      experts.expertsPerToken * H
    : (3 * model.intermediateSize) / tensor;
  const value = 2 * tokens * (inner + 5 * H);
  return estimated(
    between(0.5 * value, value, 1.6 * value),
    `${what}, one layer’s forward pass over ${withCommas(tokens)} tokens`,
    '2T × (3I ÷ tp + 5H)',
    `2 × ${tokens} × (${Math.round(inner)} + 5 × ${H})`,
    source,
  );
}

/** What one pipeline stage comes to. */
export interface StageBudget {
  readonly weights: Term;
  readonly activations: Term;
  readonly graphs: Term;
  readonly other: Term;
  /** What the engine may use of the card's memory. */
  readonly limit: Estimate;
  readonly kv: Estimate;
}

export type StageTerms = Pick<StageBudget, 'weights' | 'activations' | 'graphs' | 'other'>;

export const givenOr = (given: Given, terms: { [K in keyof StageTerms]: () => Term }): StageTerms => ({
  weights: orGiven(given.weights, terms.weights),
  activations: orGiven(given.activations, terms.activations),
  graphs: orGiven(given.graphs, terms.graphs),
  other: orGiven(given.other, terms.other),
});

export const usedBy = (t: StageTerms): Estimate =>
  addEstimates(t.weights.estimate, t.activations.estimate, t.graphs.estimate, t.other.estimate);

const floored = (e: Estimate): Estimate => between(Math.floor(e.low), Math.floor(e.value), Math.floor(e.high));

/** `share` of what the terms leave free: the rest of it stays outside the limit. */
export function shareOfFree(memory: Estimate, terms: StageTerms, share: number): StageBudget {
  const used = usedBy(terms);
  const free = atLeastZero(subtractEstimates(memory, used));
  const kv = floored(times(free, share));
  return { ...terms, kv, limit: whole(addEstimates(times(memory, share), times(used, 1 - share))) };
}

/** `share` of the card's whole memory, less the terms. */
export function shareOfTotal(memory: Estimate, terms: StageTerms, share: number): StageBudget {
  const limit = floored(times(memory, share));
  return { ...terms, limit, kv: floored(subtractEstimates(limit, usedBy(terms))) };
}

const atLeastZero = (e: Estimate): Estimate => between(Math.max(0, e.low), Math.max(0, e.value), Math.max(0, e.high));

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

/** How the engine gets from memory to the pool. */
export interface BudgetWords {
  readonly limit: Pick<Explanation, 'symbols' | 'numbers'>;
  readonly kv: Pick<Explanation, 'symbols' | 'numbers'> & { readonly why: string };
  readonly origins: readonly Origin[];
  readonly source: string;
}

export function budgetFrom(
  layout: Layout,
  hardware: Hardware,
  stages: readonly StageBudget[],
  words: (deciding: StageBudget) => BudgetWords,
): Budget {
  const blocks = stages.map((s, i) => s.kv.value / (layout.ranks[i]?.bytesPerBlock ?? 1));
  const decidingRank = blocks.indexOf(Math.min(...blocks));
  const own = stages[decidingRank] as StageBudget;
  const said = words(own);
  return {
    ranks: stages.map((s) => s.kv),
    decidingRank,
    total: bytesFigure(hardware.memory, () => ({
      symbols: 'memory of the card as the driver reports it',
      numbers: formatBytes(hardware.memory.value),
      origins: [hardware.origin, { kind: 'driver', text: (hardware.gpu?.sources ?? []).join('; ') || hardware.name }],
    })),
    limit: bytesFigure(own.limit, () => ({ ...said.limit, origins: said.origins, source: said.source })),
    weights: termFigure(own.weights),
    activations: termFigure(own.activations),
    graphs: termFigure(own.graphs),
    other: termFigure(own.other),
    kv: {
      why: said.kv.why,
      figure: bytesFigure(own.kv, () => ({
        symbols: said.kv.symbols,
        numbers: said.kv.numbers,
        origins: [{ kind: 'estimate', text: spread(own.kv) }, ...said.origins],
        source: said.source,
      })),
    },
  };
}

/** The words for `shareOfFree`. */
export function freeShareWords(
  share: number,
  origin: Origin,
  { total, after, source }: { readonly total: Estimate; readonly after: string; readonly source: string },
): (s: StageBudget) => BudgetWords {
  return (s) => {
    const free = total.value - usedBy(s).value;
    return {
      limit: {
        symbols: `memory − (1 − share) × free after ${after}`,
        numbers: `${formatBytes(total.value)} − ${(1 - share).toFixed(2)} × ${formatBytes(free)} = ${formatBytes(s.limit.value)}`,
      },
      kv: {
        why: `${Math.round(100 * share * 10) / 10} % of what ${after} leave free`,
        symbols: `share × free after ${after}`,
        numbers: `${share} × ${formatBytes(free)} = ${formatBytes(s.kv.value)}`,
      },
      origins: [origin],
      source,
    };
  };
}

/** Where the setting behind a number stands. */
export function originOfSetting(
  setting:
    | { readonly name: string; readonly origin: Origin['kind']; readonly raw: string; readonly line?: number }
    | undefined,
  otherwise: string,
): Origin {
  return setting
    ? {
        kind: setting.origin,
        text:
          setting.line === undefined
            ? `${setting.name} ${setting.raw}`
            : `${setting.name} ${setting.raw}, line ${setting.line}`,
        line: setting.line,
      }
    : { kind: 'default', text: otherwise };
}

/**
 * Weights of MTP layers on one GPU, which are loaded only to speculate: each about a layer of the model's own (with fewer
 * experts it is less, with a projection of two hidden states and embeddings of its own more).
 */
export function mtpBytes(model: Model, layers: readonly KvLayer[], tensor: number): Estimate {
  const whole = (of: readonly KvLayer[]) => of.filter((l) => !l.joined).length;
  const layer = (model.weights?.bytes ?? 0) / Math.max(1, whole(model.layers)) / tensor;
  const all = layer * whole(layers);
  return between(0.2 * all, all, 1.6 * all);
}
