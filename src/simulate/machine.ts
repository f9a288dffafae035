/** From a plan to what the time of a step is estimated from. */
import type { Machine } from '../core/pool';
import type { Plan } from '../planner';

export interface Estimated {
  readonly machine: Machine;
  /** Pipeline stages that a step goes through, one after another. */
  readonly stages: number;
  readonly notes: readonly string[];
}

/**
 * Seconds a step takes beside reading and computing (scheduler, sampling, launches): a round guess, part of the estimate.
 * Published shares differ too much to take one: less than 1 % of the time with one request and 11 to 15 % with 32 (vLLM 0.19,
 * andyluo7.github.io, 2026-05-14), more than half in the vLLM of 2024 (mlsys.wuklab.io/posts/scheduling_overhead).
 */
const OVERHEAD_SECONDS = 0.003;

/** The machine of one GPU, or why it is not known. */
export function machineOf(plan: Plan): Estimated | { readonly reason: string } {
  const { model, kv, placement, budget } = plan;
  const { bandwidthGBs, teraflops, computeCapability } = plan.hardware?.gpu ?? {};
  const gpus = (placement?.tensor ?? 1) * (placement?.pipeline ?? 1);
  // Without a budget the KV bytes were given: an even share of the weights is near enough for an estimate.
  const weights = budget?.weights.figure.value ?? (model?.weights && model.weights.bytes / gpus);
  if (isPartlyOnHost(plan)) {
    return {
      reason: 'Layers in the host’s memory pass through the CPU, whose speed is not known: times are left out.',
    };
  }
  if (!model?.parameters || !kv || !placement || weights === undefined || !bandwidthGBs || !teraflops) {
    return { reason: 'The speed of the GPU or the size of the model is not known: times are left out.' };
  }
  const machine: Machine = {
    bytesPerSecond: bandwidthGBs * 1e9,
    operationsPerSecond: teraflops * 1e12,
    weightBytes: weights,
    operationsPerToken: (2 * activeParameters(plan)) / gpus,
    operationsPerPair: operationsPerPair(plan) / gpus,
    bytesPerToken: kv.layout.bytesPerToken.value,
    bytesPerBlock: kv.layout.bytesPerBlock.value,
    linkBytesPerSecond: hostLink(computeCapability),
    overheadSeconds: OVERHEAD_SECONDS,
  };
  return {
    machine,
    stages: placement.pipeline,
    notes:
      placement.pipeline > 1
        ? [`A step goes through the ${placement.pipeline} pipeline stages one after another; batches do not overlap.`]
        : [],
  };
}

const isPartlyOnHost = ({ findings }: Plan): boolean =>
  findings.some(({ code }) => code === 'layers-on-host' || code === 'kv-on-host' || code === 'fit-moves-layers');

/** Parameters that one token is multiplied with: of the experts only those it is sent to; with the input embedding, a little more. */
function activeParameters({ model }: Plan): number {
  const all = model?.parameters ?? 0;
  const { experts, expertsPerToken, intermediate } = model?.experts ?? {};
  if (!model || !experts || !expertsPerToken || !intermediate) {
    return all;
  }
  const layers = model.layers.filter((layer) => !layer.joined).length;
  const idle = layers * (experts - expertsPerToken) * 3 * model.hiddenSize * intermediate;
  // The first layers of some models have no experts: never fewer than the share the router picks.
  return Math.max(all - idle, (all * expertsPerToken) / experts);
}

/** Operations for one query token over one cached token, of the whole model: 4 × heads × head size × layers. */
function operationsPerPair({ model, layers }: Plan): number {
  return (layers ?? [])
    .filter(({ kind }) => kind === 'full' || kind === 'latent')
    .reduce((sum, { headDim }) => sum + 4 * (model?.attentionHeads ?? 0) * headDim, 0);
}

/** Bytes a second of PCIe ×16 in one direction: generation 5 from Hopper on, 4 with Ampere and Ada, else 3. */
function hostLink(computeCapability: string | undefined): number {
  const capability = Number(computeCapability ?? 8);
  return capability >= 9 ? 64e9 : capability >= 8 ? 32e9 : 16e9;
}
