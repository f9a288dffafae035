/**
 * Where a GPU's memory goes before the KV pool: weights, activations, graphs, what torch does not see.
 * Everything but the limit is an estimate, fitted to published start-up measurements; each term names its own.
 */
import { type Explanation, type Figure, figure } from '../../figure';
import type { Model } from '../../model/model';
import {
  addEstimates,
  between,
  type Estimate,
  exactly,
  formatBytes,
  isExact,
  subtractEstimates,
  withCommas,
} from '../../units';
import type { Budget, BudgetTerm, Given, Hardware, Layout } from '../engine';
import { settingOrigin } from '../setting-origin';
import { activationsTerm } from './budget-activations';
import { graphsTerm, otherTerm } from './budget-other';
import type { StageInput, Term } from './budget-terms';
import { weightsTerm } from './budget-weights';
import type { VllmConfiguration } from './configure';
import { settingsOf } from './settings';

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
  const settings = settingsOf(c.settings);
  const stages = c.stages.map((_, stage) => stageTerms({ stage, model, c, settings, hardware }, limit, given));
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
      origins: [
        utilisation
          ? settingOrigin(utilisation, `vLLM ${c.version.text}`)
          : { kind: 'default', text: `default of vLLM ${c.version.text}` },
      ],
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

const bytesFigure = (e: Estimate, explain: () => Explanation): Figure =>
  figure(e.value, 'bytes', explain, { scope: 'per GPU', range: isExact(e) ? undefined : e });

const termFigure = (t: Term): BudgetTerm => ({
  get why() {
    return t.tell().why;
  },
  figure: bytesFigure(t.estimate, t.tell),
});

const limitOf = (memory: Estimate, share: number): Estimate =>
  between(Math.ceil(memory.low * share), Math.ceil(memory.value * share), Math.ceil(memory.high * share));

function stageTerms(input: StageInput, limit: Estimate, given: Given): StageTerms {
  const weights = replaced(given.weights, () => weightsTerm(input));
  const activations = replaced(given.activations, () => activationsTerm(input));
  const graphs = replaced(given.graphs, () => graphsTerm(input));
  const other = replaced(given.other, () => otherTerm(input));
  const used = addEstimates(weights.estimate, activations.estimate, graphs.estimate, other.estimate);
  const left = subtractEstimates(limit, used);
  return {
    weights,
    activations,
    graphs,
    other,
    kv: between(Math.floor(left.low), Math.floor(left.value), Math.floor(left.high)),
  };
}

const replaced = (bytes: number | undefined, estimate: () => Term): Term =>
  bytes === undefined
    ? estimate()
    : {
        estimate: exactly(bytes),
        tell: () => ({
          why: 'given',
          symbols: 'given',
          numbers: formatBytes(bytes),
          origins: [{ kind: 'flag', text: 'given by a directive, flag or setting' }],
          source: 'given',
        }),
      };
