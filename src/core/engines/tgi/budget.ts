/** Where a GPU's memory goes before the pool. Source: TGI 3.3, models/flash_causal_lm.py :: warmup; utils/import_utils.py :: get_cuda_free_memory. */
import type { Model } from '../../model/model';
import { addEstimates, between, ceilDiv, type Estimate, exactly, formatBytes, withCommas } from '../../units';
import type { Budget, Given, Hardware, Layout } from '../engine';
import {
  type BudgetWords,
  budgetFrom,
  type Cast,
  estimated,
  forwardTerm,
  gib,
  givenOr,
  nothing,
  originOfSetting,
  type StageBudget,
  type StageTerms,
  shareOfFree,
  shareOfTotal,
  spread,
  type Term,
  times,
  weightsTerm,
  whole,
} from '../memory';
import { numberLayers } from '../stages';
import type { TgiConfiguration } from './configure';

const SOURCE = 'TGI 3.3, models/flash_causal_lm.py :: warmup; utils/import_utils.py :: get_cuda_free_memory';

export function budgetOf(
  model: Model,
  c: TgiConfiguration,
  layout: Layout,
  hardware: Hardware,
  given: Given,
): Budget | undefined {
  const { fraction } = c;
  if (fraction === undefined || model.weights === undefined) {
    return undefined;
  }
  const terms = givenOr(given, {
    weights: () => weightsOf(model, c),
    activations: () => warmupOf(model, c),
    graphs: () => nothing('captured after the pool, in the engine’s own reserve', SOURCE),
    other: () => otherOf(c),
  });
  const { of } = c.rules.reserve;
  const stage =
    of === 'total'
      ? shareOfTotal(hardware.memory, terms, fraction * c.keeps)
      : ofFree(hardware.memory, terms, c, fraction, layout);
  return budgetFrom(layout, hardware, [stage], (s) => wordsOf(s, c, hardware.memory, fraction));
}

/**
 * Up to 2.4 the reserve is a share of what is free beside the warm-up's own cache, which is then given back whole.
 */
function ofFree(
  memory: Estimate,
  terms: StageTerms,
  c: TgiConfiguration,
  fraction: number,
  layout: Layout,
): StageBudget {
  const { kv, limit } = shareOfFree(times(memory, fraction), terms, c.keeps);
  const back = (1 - c.keeps) * warmupBytes(c, layout);
  return { ...terms, kv: whole(addEstimates(kv, exactly(back))), limit: whole(addEstimates(limit, exactly(back))) };
}

/** A cache for one batch of max_batch_prefill_tokens. */
export const warmupBytes = (c: TgiConfiguration, layout: Layout): number =>
  ceilDiv(c.prefillTokens, layout.blockSize) * layout.bytesPerBlock.value;

function wordsOf(s: StageBudget, c: TgiConfiguration, memory: Estimate, fraction: number): BudgetWords {
  const named = (name: string) => c.settings.findLast((x) => x.name === name);
  const share = `${fraction} × ${c.keeps}`;
  const origins = [
    originOfSetting(named('cuda-memory-fraction'), 'cuda-memory-fraction 1: default'),
    originOfSetting(named('TGI_WIGGLE_ROOM'), `reserve of TGI ${c.version.text}: ${c.keeps}`),
  ];
  return c.rules.reserve.of === 'total'
    ? {
        limit: {
          symbols: 'memory × cuda-memory-fraction × reserve',
          numbers: `${formatBytes(memory.value)} × ${share} = ${formatBytes(s.limit.value)}`,
        },
        kv: {
          why: 'what weights and the warm-up leave of the limit',
          symbols: 'limit − weights − warm-up − other',
          numbers: formatBytes(s.kv.value),
        },
        origins,
        source: SOURCE,
      }
    : {
        limit: {
          symbols: 'memory × cuda-memory-fraction − (1 − reserve) × free after the warm-up',
          numbers: formatBytes(s.limit.value),
        },
        kv: {
          why: `${Math.round(100 * c.keeps)} % of what weights and the warm-up leave free, and the warm-up’s own cache`,
          symbols: 'reserve × free after the warm-up + warm-up cache',
          numbers: formatBytes(s.kv.value),
        },
        origins,
        source: SOURCE,
      };
}

/** Methods that quantise 16-bit weights as they are loaded. */
const CASTS: Readonly<Record<string, number>> = {
  bitsandbytes: 0.51,
  eetq: 0.51,
  fp8: 0.5,
  'bitsandbytes-nf4': 0.27,
  'bitsandbytes-fp4': 0.27,
};

function weightsOf(model: Model, c: TgiConfiguration): Term {
  const { depth } = numberLayers(model);
  const factor = model.quantisation === undefined ? CASTS[c.quantize ?? ''] : undefined;
  const cast: Cast | undefined =
    factor === undefined ? undefined : { factor, how: `quantised with ${c.quantize} on loading` };
  return weightsTerm(model, c.placement, { number: 0, layers: depth, of: depth }, SOURCE, cast);
}

/** The warm-up prefills max_batch_prefill_tokens and asks for log probabilities of all of them: rows of logits. */
function warmupOf(model: Model, c: TgiConfiguration): Term {
  const T = c.prefillTokens;
  const forward = forwardTerm(model, T, c.placement.tensor, 'the warm-up', SOURCE);
  const logits = T * model.vocabSize * 2;
  const estimate = whole(addEstimates(forward.estimate, between(0, logits, 3.5 * logits)));
  return {
    ...forward,
    estimate,
    why: `${forward.why}, and their logits`,
    symbols: `${forward.symbols} + T × V × 2`,
    numbers: `${forward.numbers.split(' = ')[0]} + ${withCommas(T)} × ${model.vocabSize} × 2 = ${formatBytes(estimate.value)}`,
    origins: [{ kind: 'estimate', text: spread(estimate) }],
  };
}

function otherOf(c: TgiConfiguration): Term {
  const link = c.placement.tensor > 1 ? gib(0.3, 0.9, 2) : gib(0, 0, 0);
  const own = gib(0.3, 0.6, 1.5);
  const numbers = `${formatBytes(own.value)}${link.value > 0 ? ` + ${formatBytes(link.value)}` : ''}`;
  const why = link.value > 0 ? 'CUDA context, and buffers between GPUs' : 'CUDA context';
  return estimated(addEstimates(own, link), why, 'usual range', numbers, SOURCE);
}
