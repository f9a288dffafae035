/** Where a GPU's memory goes before the pool, which is a share of what is left. Source: _torch/pyexecutor/_util.py :: KvCacheCreator. */
import type { Model } from '../../model/model';
import { addEstimates, between, exactly, formatBytes, GiB, withCommas } from '../../units';
import type { Budget, Given, Hardware, Layout } from '../engine';
import {
  budgetFrom,
  estimated,
  forwardTerm,
  freeShareWords,
  gib,
  givenOr,
  nothing,
  originOfSetting,
  type StageBudget,
  shareOfFree,
  spread,
  type Term,
  weightsTerm,
  whole,
} from '../memory';
import { numberLayers } from '../stages';
import type { TrtConfiguration } from './configure';
import { stateSlotBytes } from './layout';

const SOURCE = 'TensorRT-LLM 1.3, _torch/pyexecutor/_util.py :: KvCacheCreator';
const SHARE = 'kv_cache_free_gpu_memory_fraction';

export function budgetOf(
  model: Model,
  c: TrtConfiguration,
  layout: Layout,
  hardware: Hardware,
  given: Given,
): Budget | undefined {
  const { share } = c;
  if (share === undefined || model.weights === undefined) {
    return undefined;
  }
  const stages = layout.ranks.map((_, stage): StageBudget => {
    const terms = givenOr(given, {
      weights: () => weightsOf(model, c, stage),
      activations: () => activationsOf(model, c, stage),
      graphs: () => graphsOf(c),
      other: () => otherOf(layout, c, stage),
    });
    return shareOfFree(hardware.memory, terms, share);
  });
  const written = c.settings.findLast((s) => s.name === SHARE);
  const origin = originOfSetting(written, `default of TensorRT-LLM ${c.version.text}`);
  const after = c.backend === 'pytorch' ? 'weights and the profile run' : 'the engine and its buffers';
  return budgetFrom(
    layout,
    hardware,
    stages,
    freeShareWords(share, origin, { total: hardware.memory, after, source: SOURCE }),
  );
}

function weightsOf(model: Model, c: TrtConfiguration, stage: number): Term {
  const { depth } = numberLayers(model);
  const numbers = new Set(
    numberLayers(model)
      .layers.filter((_, i) => c.stageOf[i] === stage)
      .map((l) => l.at),
  );
  const term = weightsTerm(model, c.placement, { number: stage, layers: numbers.size, of: depth }, SOURCE);
  const extra = replicatedAttention(model, c);
  const draft = c.draft?.weights && stage === c.placement.pipeline - 1 ? c.draft.weights.bytes / c.placement.tensor : 0;
  if (extra === 0 && draft === 0) {
    return term;
  }
  const estimate = whole(addEstimates(term.estimate, between(0.7 * extra, extra, 1.3 * extra), exactly(draft)));
  return {
    ...term,
    estimate,
    why: `${term.why}${extra > 0 ? ', attention whole on every GPU' : ''}${draft > 0 ? `, and the draft model ${c.draft?.id}` : ''}`,
    numbers: `${term.numbers} + ${formatBytes(extra + draft)} = ${formatBytes(estimate.value)}`,
    origins: [...term.origins, { kind: 'estimate', text: spread(estimate) }],
  };
}

/** Attention's weights beyond the share of them that tensor parallelism would leave on a GPU. */
function replicatedAttention(model: Model, { placement, stages }: TrtConfiguration): number {
  const { tensor, attentionData } = placement;
  if (attentionData === 1 || model.parameters === undefined || !model.weights) {
    return 0;
  }
  const own = model.layers.filter((l) => !l.joined && l.kind !== 'state');
  const H = model.hiddenSize;
  // Queries and output at the hidden size each, keys and values at theirs; latent attention takes about as much.
  const elements = own.reduce((sum, l) => sum + 2 * H * H + 2 * H * l.kvHeads * Math.max(l.headDim, 1), 0) / stages;
  return elements * (model.weights.bytes / model.parameters) * (1 - 1 / tensor);
}

/** The profile run: a prefill of max_num_tokens, and logits of the sequences it ends. */
function activationsOf(model: Model, c: TrtConfiguration, stage: number): Term {
  const tensor = c.placement.attentionData > 1 ? 1 : c.placement.tensor;
  const what = c.backend === 'pytorch' ? 'the profile run' : 'the engine’s own buffers';
  const forward = forwardTerm(model, c.batchTokens, tensor, what, SOURCE);
  if (stage !== c.placement.pipeline - 1) {
    return forward;
  }
  const rows = Math.min(c.maxSequences ?? c.batchTokens, 2048);
  const logits = (rows * model.vocabSize * 4) / c.placement.tensor;
  const estimate = whole(addEstimates(forward.estimate, between(0, 0.5 * logits, 2 * logits)));
  return {
    ...forward,
    estimate,
    why: `${forward.why}, and logits of up to ${withCommas(rows)} sequences`,
    symbols: `${forward.symbols} + ½ × sequences × V × 4 ÷ tp`,
    numbers: `${forward.numbers.split(' = ')[0]} + ½ × ${rows} × ${model.vocabSize} × 4 ÷ ${c.placement.tensor} = ${formatBytes(estimate.value)}`,
    origins: [{ kind: 'estimate', text: spread(estimate) }],
  };
}

function graphsOf(c: TrtConfiguration): Term {
  if (c.backend === 'tensorrt') {
    return nothing('engines run without CUDA graphs unless asked', SOURCE);
  }
  return estimated(gib(0.1, 0.5, 2), 'CUDA graphs, captured in the profile run', 'usual range', '0.5 GiB', SOURCE);
}

function otherOf(layout: Layout, c: TrtConfiguration, stage: number): Term {
  const slots = stateSlotBytes(layout, c, stage);
  const link = c.placement.tensor > 1 || c.placement.pipeline > 1 ? gib(0.3, 1.2, 3) : gib(0, 0, 0);
  const estimate = addEstimates(gib(0.4, 0.9, 2), link, exactly(slots));
  const parts = [
    'CUDA context and workspaces',
    ...(link.high > 0 ? ['NCCL and all-reduce buffers'] : []),
    ...(slots > 0 ? [`${withCommas(c.states.slots)} slots of states`] : []),
  ];
  const numbers = `${formatBytes(0.9 * GiB)}${link.high > 0 ? ` + ${formatBytes(link.value)}` : ''}${slots > 0 ? ` + ${formatBytes(slots)}` : ''}`;
  return estimated(estimate, parts.join(', '), 'usual range', numbers, SOURCE);
}
