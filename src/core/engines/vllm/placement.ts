/** Parallel sizes and what they do to heads and layers. Source: vLLM 0.28, config/model.py, distributed/utils.py. */
import type { Model } from '../../model/model';
import { badShare, badShareMessage, type Division, fittingTensor } from '../block-fp8';
import type { Finding, Placement } from '../engine';
import type { Settings } from './settings';

export function placementOf(settings: Settings): Placement {
  const tensor = settings.number('tensor-parallel-size') ?? 1;
  const data = settings.number('data-parallel-size') ?? 1;
  return {
    tensor,
    pipeline: settings.number('pipeline-parallel-size') ?? 1,
    data,
    context: settings.number('decode-context-parallel-size') ?? 1,
    expert: settings.flag('enable-expert-parallel') ? tensor * data : 1,
    attentionData: 1,
    // Every data-parallel rank is an engine of its own with its own pool.
    replicas: data,
  };
}

/** Largest number up to `most` that divides `heads`. */
function largestDivisor(heads: number, most: number): number {
  for (let t = Math.min(heads, most); t > 1; t--) {
    if (heads % t === 0) {
      return t;
    }
  }
  return 1;
}

/** Without expert parallelism experts are divided over the data-parallel group as well; with both, shared experts may be whole. */
const divisionOf =
  ({ data, expert }: Placement) =>
  (tensor: number): Division => ({
    dense: tensor,
    expert: expert > 1 ? 1 : tensor * data,
    shared: expert > 1 && data > 1 ? 1 : tensor,
  });

/** Refused while weights are made; the cache is planned all the same. */
export function squareFindings(model: Model, placement: Placement): readonly Finding[] {
  const { tensor } = placement;
  const divide = divisionOf(placement);
  const bad = badShare(model, divide(tensor));
  if (!bad) {
    return [];
  }
  const next = fittingTensor(model, tensor, divide);
  const option = 'tensor-parallel-size';
  return [
    {
      code: 'fp8-squares-divided',
      severity: 'error',
      option,
      message: badShareMessage(bad),
      fixes: next === undefined ? [] : [{ title: `Set ${option} to ${next}`, option, value: String(next) }],
    },
  ];
}

/** What vLLM refuses before it loads anything. */
export function placementFindings(model: Model, placement: Placement): readonly Finding[] {
  const { tensor, pipeline, context } = placement;
  const findings: Finding[] = [];
  const refuse = (code: string, option: string, message: string) =>
    findings.push({ code, severity: 'error', option, message, fixes: [] });
  if (model.attentionHeads % tensor !== 0) {
    const next = largestDivisor(model.attentionHeads, tensor);
    findings.push({
      code: 'tp-does-not-divide-heads',
      severity: 'error',
      option: 'tensor-parallel-size',
      message: `Total number of attention heads (${model.attentionHeads}) must be divisible by tensor parallel size (${tensor}).`,
      fixes: [{ title: `Set tensor-parallel-size to ${next}`, option: 'tensor-parallel-size', value: String(next) }],
    });
  } else if (isMultiHead(model) && model.kvHeads % tensor !== 0 && tensor % model.kvHeads !== 0) {
    refuse(
      'tp-does-not-divide-kv-heads',
      'tensor-parallel-size',
      `${model.kvHeads} KV heads can neither be divided by tensor parallel size ${tensor} nor replicated to it evenly.`,
    );
  }
  if (pipeline > model.layers.length) {
    refuse(
      'pp-above-layers',
      'pipeline-parallel-size',
      `${pipeline} pipeline stages need at least as many layers; the model has ${model.layers.length}.`,
    );
  }
  if (tensor % context !== 0) {
    refuse(
      'dcp-does-not-divide-tp',
      'decode-context-parallel-size',
      `Tensor parallel size (${tensor}) must be divisible by decode context parallel size (${context}).`,
    );
  } else if (
    context > 1 &&
    isMultiHead(model) &&
    (tensor <= model.kvHeads || context > Math.floor(tensor / model.kvHeads))
  ) {
    refuse(
      'dcp-needs-replicated-heads',
      'decode-context-parallel-size',
      `Decode context parallelism of ${context} needs KV heads replicated at least as often; ${model.kvHeads} KV heads over ${tensor} GPUs are not.`,
    );
  }
  return findings;
}

const isMultiHead = (model: Model): boolean =>
  model.layers.some((l) => l.kind === 'full' || l.kind === 'sliding' || l.kind === 'chunked');

/** Heads of one rank: floor division, one replicated head when there are fewer heads than GPUs. */
export const headsPerRank = (kvHeads: number, tensor: number): number => Math.max(1, Math.floor(kvHeads / tensor));

/**
 * Layers per pipeline stage. The remainder goes one each to stages −2, −3, … from the end, so the last stage
 * never gets one. `partition` (VLLM_PP_LAYER_PARTITION) overrides; undefined when it does not add up.
 * Source: vLLM 0.28, distributed/utils.py :: get_pp_indices.
 */
export function stageLayers(layers: number, pipeline: number, partition?: string): readonly number[] | undefined {
  if (partition) {
    const parts = partition.split(',').map(Number);
    const adds = parts.length === pipeline && parts.every((p) => Number.isInteger(p) && p >= 0);
    return adds && parts.reduce((a, b) => a + b, 0) === layers ? parts : undefined;
  }
  const stages = new Array<number>(pipeline).fill(Math.floor(layers / pipeline));
  for (let i = 0; i < layers % pipeline; i++) {
    const stage = pipeline - 2 - i;
    // With one stage there is no remainder; with remainder = stages − 1 the first gets its one as well.
    stages[stage] = (stages[stage] as number) + 1;
  }
  return stages;
}
