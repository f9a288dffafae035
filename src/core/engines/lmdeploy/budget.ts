/** Where a GPU's memory goes before the pool. Source: LMDeploy 0.16, src/turbomind; lmdeploy/pytorch/engine/executor/base.py. */
import type { Model } from '../../model/model';
import { addEstimates, between, type Estimate, exactly, formatBytes, withCommas } from '../../units';
import type { Budget, Given, Hardware, Layout } from '../engine';
import {
  budgetFrom,
  estimated,
  freeShareWords,
  gib,
  nothing,
  orGiven,
  originOfSetting,
  type StageBudget,
  type StageTerms,
  shareOfFree,
  type Term,
  usedBy,
  weightsTerm,
  whole,
} from '../memory';
import { numberLayers } from '../stages';
import type { LmdeployConfiguration } from './configure';
import { slotBytes } from './layout';

const SOURCES = {
  turbomind: 'LMDeploy 0.16, src/turbomind',
  pytorch: 'LMDeploy 0.16, lmdeploy/pytorch/engine/executor/base.py',
};

export function budgetOf(
  model: Model,
  c: LmdeployConfiguration,
  layout: Layout,
  hardware: Hardware,
  given: Given,
): Budget | undefined {
  const { share } = c;
  if (share === undefined || model.weights === undefined) {
    return undefined;
  }
  const weights = orGiven(given.weights, () => weightsOf(model, c));
  const other = orGiven(given.other, () => otherOf(c));
  const free = hardware.memory.value - weights.estimate.value - other.estimate.value;
  const terms: StageTerms = {
    weights,
    other,
    activations: orGiven(given.activations, () =>
      c.backend === 'pytorch' ? runtimeOf(model, c, layout, free) : laterTerm(c),
    ),
    graphs: orGiven(given.graphs, () =>
      nothing('taken after the pool, from what the share leaves', SOURCES[c.backend]),
    ),
  };
  const origin = originOfSetting(
    c.settings.findLast((s) => s.name === 'cache-max-entry-count'),
    `default of LMDeploy ${c.version.text}`,
  );
  const source = SOURCES[c.backend];
  if (c.backend === 'turbomind' && c.rules.shareOf === 'total') {
    return budgetFrom(layout, hardware, [ofTotal(hardware.memory, terms, share)], (s) => ({
      limit: { symbols: 'weights + other + pool', numbers: formatBytes(s.limit.value) },
      kv: {
        why: `${100 * share} % of the card’s whole memory, whatever the weights leave`,
        symbols: 'share × memory',
        numbers: `${share} × ${formatBytes(hardware.memory.value)} = ${formatBytes(s.kv.value)}`,
      },
      origins: [origin],
      source,
    }));
  }
  const after = c.backend === 'pytorch' ? 'weights and logits' : 'weights';
  return budgetFrom(
    layout,
    hardware,
    [shareOfFree(hardware.memory, terms, share)],
    freeShareWords(share, origin, { total: hardware.memory, after, source }),
  );
}

/** Up to 0.2.1 the pool was a share of the card, allocated beside the weights. */
function ofTotal(memory: Estimate, terms: StageTerms, share: number): StageBudget {
  const kv = between(Math.floor(memory.low * share), Math.floor(memory.value * share), Math.floor(memory.high * share));
  return { ...terms, kv, limit: addEstimates(usedBy(terms), kv) };
}

function weightsOf(model: Model, c: LmdeployConfiguration): Term {
  const { depth } = numberLayers(model);
  return weightsTerm(model, c.placement, { number: 0, layers: depth, of: depth }, SOURCES[c.backend]);
}

const laterTerm = (c: LmdeployConfiguration): Term =>
  nothing(
    `taken after the pool, from the ${Math.round(100 * (1 - (c.share ?? 0)))} % that the share leaves`,
    SOURCES[c.backend],
  );

/**
 * Rows of logits in 16 bit: (max_prefill_token_num + 2 × max_batch_size) × vocabulary × 2. The number of prefill tokens
 * is halved until sixteen blocks fit.
 */
function runtimeOf(model: Model, c: LmdeployConfiguration, layout: Layout, free: number): Term {
  const { bytes, perRequest } = c.rules.logits;
  const requests = perRequest ? 2 * (c.maxSequences ?? 0) : 0;
  const of = (tokens: number) => (tokens + requests) * model.vocabSize * bytes;
  const enough = (tokens: number) => (free - of(tokens)) * (c.share ?? 0) >= 16 * layout.bytesPerBlock.value;
  let tokens = c.prefillTokens;
  while (tokens > 1 && !enough(tokens)) {
    tokens = Math.floor(tokens / 2);
  }
  const value = of(tokens);
  return {
    estimate: exactly(value),
    why: `logits of ${withCommas(tokens)} prefill tokens${requests > 0 ? ` and two rows for each of ${withCommas(requests / 2)} requests` : ''}, set aside before the share is taken${tokens < c.prefillTokens ? '; halved until blocks fit' : ''}`,
    symbols: perRequest ? '(prefill tokens + 2 × requests) × V × 2' : `prefill tokens × V × ${bytes}`,
    numbers: `(${tokens} + ${requests}) × ${model.vocabSize} × ${bytes} = ${withCommas(value)}`,
    origins: [{ kind: 'derived', text: 'max-prefill-token-num and max-batch-size' }],
    source: SOURCES.pytorch,
  };
}

function otherOf(c: LmdeployConfiguration): Term {
  const slots = slotBytes(c);
  const link = c.placement.tensor > 1 ? gib(0.2, 0.8, 2) : gib(0, 0, 0);
  const own = gib(0.3, 0.6, 1.2);
  const estimate = whole(addEstimates(own, link, exactly(slots)));
  const parts = [
    'CUDA context',
    ...(link.high > 0 ? ['buffers between GPUs'] : []),
    ...(slots > 0 ? [`${withCommas(c.states.slots)} slots of states`] : []),
  ];
  const numbers = [own.value, link.value, slots]
    .filter((b) => b > 0)
    .map(formatBytes)
    .join(' + ');
  return estimated(estimate, parts.join(', '), 'usual range', numbers, SOURCES[c.backend]);
}
