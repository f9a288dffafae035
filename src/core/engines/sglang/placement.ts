/** Parallel sizes and what they do to heads and layers. Source: SGLang 0.5.18, srt/server_args.py, srt/distributed/utils.py. */
import type { Model } from '../../model/model';
import { badShare, badShareMessage, type Division, fittingTensor } from '../block-fp8';
import type { Finding, Fix, Placement } from '../engine';
import { refusal } from './refusals';
import type { Settings } from './settings';

export interface Spread extends Placement {
  /** GPUs that attention of one request is divided over. */
  readonly attentionTensor: number;
  /** Each data-parallel worker is a part of the tensor group. */
  readonly dpAttention: boolean;
}

export function placementOf(settings: Settings): Spread {
  const tensor = settings.number('tp-size') ?? 1;
  const data = settings.number('dp-size') ?? 1;
  // With one worker the flag does nothing.
  const dpAttention = (settings.flag('enable-dp-attention') ?? false) && data > 1;
  return {
    tensor,
    pipeline: settings.number('pp-size') ?? 1,
    data: dpAttention ? 1 : data,
    context: settings.number('dcp-size') ?? 1,
    expert: expertGroup(settings, tensor),
    attentionData: dpAttention ? data : 1,
    replicas: data,
    attentionTensor: dpAttention ? Math.floor(tensor / data) : tensor,
    dpAttention,
  };
}

function expertGroup(settings: Settings, tensor: number): number {
  const exchange = settings.text('moe-a2a-backend') ?? 'none';
  const whole = settings.flag('enable-ep-moe') || settings.flag('enable-deepep-moe') || exchange !== 'none';
  return settings.number('ep-size') ?? (whole ? tensor : 1);
}

/** What SGLang refuses before it loads anything: assertions of its arguments and of its attention layers. */
export function placementFindings(model: Model, spread: Spread): readonly Finding[] {
  const { tensor, pipeline, context, attentionData, attentionTensor } = spread;
  if (tensor % attentionData !== 0) {
    return [
      refusal(
        'dp-does-not-divide-tp',
        `Attention data parallelism needs a tensor group it divides: tp_size ${tensor} is no multiple of dp_size ${attentionData} (assert tp_size % dp_size == 0).`,
        'dp-size',
        [fixTo('dp-size', largestDivisor(tensor, attentionData))],
      ),
    ];
  }
  const findings: Finding[] = [];
  if (model.attentionHeads > 0 && model.attentionHeads % attentionTensor !== 0) {
    findings.push(
      refusal(
        'tp-does-not-divide-heads',
        `${model.attentionHeads} attention heads cannot be divided over ${attentionTensor} GPUs (assert total_num_heads % tp_size == 0).`,
        'tp-size',
        [fixTo('tp-size', largestDivisor(model.attentionHeads, attentionTensor) * attentionData)],
      ),
    );
  } else if (isMultiHead(model) && model.kvHeads % attentionTensor !== 0 && attentionTensor % model.kvHeads !== 0) {
    findings.push(
      refusal(
        'tp-does-not-divide-kv-heads',
        `${model.kvHeads} KV heads can neither be divided over ${attentionTensor} GPUs nor replicated to them evenly.`,
        'tp-size',
      ),
    );
  }
  if (pipeline > model.layers.length) {
    findings.push(
      refusal(
        'pp-above-layers',
        `${pipeline} pipeline stages need at least as many layers; the model has ${model.layers.length}.`,
        'pp-size',
      ),
    );
  }
  if (attentionTensor % context !== 0) {
    findings.push(
      refusal(
        'dcp-does-not-divide-tp',
        `Decode context parallelism (${context}) must divide the attention group of ${attentionTensor} GPUs.`,
        'dcp-size',
      ),
    );
  }
  return findings;
}

/** Experts are divided over what expert parallelism leaves of the group. Shared experts, and MLPs beside attention data parallelism, are left to the engine. */
const divisionOf =
  ({ expert, dpAttention }: Spread) =>
  (tensor: number): Division => ({ dense: dpAttention ? 1 : tensor, expert: Math.max(1, tensor / expert), shared: 1 });

/** Refused while weights are made; the cache is planned all the same. */
export function squareFindings(model: Model, spread: Spread): readonly Finding[] {
  const divide = divisionOf(spread);
  const bad = badShare(model, divide(spread.tensor));
  const next = bad && spread.attentionData === 1 ? fittingTensor(model, spread.tensor, divide) : undefined;
  return bad
    ? [
        refusal(
          'fp8-squares-divided',
          badShareMessage(bad),
          'tp-size',
          next === undefined ? [] : [fixTo('tp-size', next)],
        ),
      ]
    : [];
}

const fixTo = (option: string, value: number): Fix => ({
  title: `Set ${option} to ${value}`,
  option,
  value: String(value),
});

const largestDivisor = (of: number, most: number): number => {
  let n = Math.min(of, most);
  while (of % n !== 0) {
    n--;
  }
  return n;
};

const isMultiHead = (model: Model): boolean =>
  model.layers.some((l) => l.kind === 'full' || l.kind === 'sliding' || l.kind === 'chunked');

/** Heads of one GPU: floor division, one replicated head when there are fewer heads than GPUs. */
export const headsPerRank = (kvHeads: number, { attentionTensor, context }: Spread): number =>
  Math.max(1, Math.floor(kvHeads / Math.floor(attentionTensor / context)));

/** Layers per stage: what does not divide goes one each to the first or the last stages. Undefined when a partition does not add up. */
export function stageLayers(
  depth: number,
  pipeline: number,
  larger: 'first' | 'last',
  partition: string | undefined,
): readonly number[] | undefined {
  if (partition) {
    const parts = partition.split(',').map(Number);
    const adds = parts.length === pipeline && parts.every((p) => Number.isInteger(p) && p >= 0);
    return adds && parts.reduce((a, b) => a + b, 0) === depth ? parts : undefined;
  }
  const least = Math.floor(depth / pipeline);
  const extra = depth % pipeline;
  return Array.from({ length: pipeline }, (_, i) =>
    (larger === 'first' ? i < extra : i >= pipeline - extra) ? least + 1 : least,
  );
}
