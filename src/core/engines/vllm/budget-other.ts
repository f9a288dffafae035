/** CUDA graphs, and memory that torch does not see. */

import { addEstimates, between, type Estimate, exactly, formatBytes, GiB } from '../../units';
import type { Hardware } from '../engine';
import { type BudgetRules, budgetRules, type GiBRange } from './budget-rules';
import { nothing, PROFILES, type StageInput, spread, type Term, times, whole } from './budget-terms';

const GRAPH_SOURCE = 'vLLM 0.28, v1/worker/gpu_worker.py :: determine_available_memory; config/vllm.py';

/** Mixtures of experts that run on the V2 model runner all the same. Source: vLLM 0.28, config/vllm.py :: use_v2_model_runner. */
const V2_EXPERTS =
  /^(DeepseekV2|DeepseekV3|DeepseekV32|DeepseekV4|GlmMoeDsa|GraniteMoe|Inkling|KimiK3|LongcatFlashNgram|Qwen2Moe)For/;

/** From 0.21 the capture of CUDA graphs is taken out of the budget; the V2 runner estimates none. */
export function graphsTerm(input: StageInput): Term {
  const { model, c } = input;
  if (c.eager) {
    return nothing('enforce-eager: no CUDA graphs', GRAPH_SOURCE);
  }
  if (!c.rules.graphsInBudget) {
    return nothing('captured outside the budget in this version', GRAPH_SOURCE);
  }
  const captures = capturedGraphs(input);
  const own = graphEstimate(captures, c.placement.expert > 1);
  const hybrid = c.layers.some((layer) => layer.kind === 'state');
  const first = !hybrid && (model.experts === undefined || V2_EXPERTS.test(model.architecture));
  const estimate = whole(first ? between(0, 0, own.value) : own);
  return {
    estimate,
    tell: () => ({
      why: first
        ? 'the V2 model runner, default for this model, estimates none'
        : `${captures} CUDA graphs, as the V1 model runner estimates them`,
      symbols: first ? '0' : '0.15 GiB + graphs × 0.007 GiB',
      numbers: first ? '0' : `0.15 GiB + ${captures} × 0.007 GiB = ${formatBytes(estimate.value)}`,
      origins: [{ kind: 'estimate', text: `${spread(estimate)}: estimates in start-up logs` }],
      source: GRAPH_SOURCE,
    }),
  };
}

/**
 * Batch sizes 1, 2, 4, then every 8 to 256 and every 16 above, up to twice the sequences (at most 512, 1024 on Blackwell):
 * once piecewise, and once whole for decoding up to the sequences. Source: vLLM 0.28, config/vllm.py.
 */
function capturedGraphs({ c, hardware, model }: StageInput): number {
  const running = (c.maxSequences ?? c.batchTokens) * (1 + c.speculation.tokens);
  const ceiling =
    (hardware.gpu?.computeCapability ?? '').startsWith('10') || /^GptOss/.test(model.architecture) ? 1024 : 512;
  const most = Math.min(2 * running, ceiling, c.batchTokens);
  return sizesUpTo(most) + sizesUpTo(Math.min(running, most));
}

const sizesUpTo = (most: number): number =>
  [1, 2, 4].filter((size) => size <= most).length +
  Math.max(0, Math.floor(Math.min(most, 248) / 8)) +
  Math.max(0, Math.floor((most - 256) / 16) + 1);

/**
 * In logs: 0.58 GiB for 136 graphs of a 1.2B model, 0.51–1.85 (mean 1.04) for about 90 on H100, 0.22 for 15, 0.18 and 0.26
 * for 5, 0.13 and 1.22 for a dozen. Expert-parallel models say 5 GiB and more.
 */
function graphEstimate(graphs: number, expertParallel: boolean): Estimate {
  const value = (0.15 + 0.007 * graphs) * GiB;
  return times(between(0.45, 1, expertParallel ? 6 : 2.2), value);
}

const range = ([low, usual, high]: GiBRange): Estimate => times(between(low, usual, high), GiB);

/** Cards that servers join by NVLink (or AMD's fabric). Names without the word say PCIe or belong to desktops. */
const JOINED = /\b(SXM\d?|H100|H200|H20|H800|A100|A800|V100|P100|B100|B200|B300|GB200|GB300|GH200|MI\d{3}\w*)\b/i;

/** Which of the measured groups a card belongs to; a card known by its memory alone may be of either. */
function linkOf(hardware: Hardware, rules: BudgetRules): { readonly estimate: Estimate; readonly how: string } {
  const { gpu } = hardware;
  const bus = range(rules.nonTorch.bus);
  const joined = range((gpu?.computeCapability ?? '9').startsWith('9') ? rules.nonTorch.hopper : rules.nonTorch.nvlink);
  if (!gpu) {
    return {
      estimate: between(bus.low, (bus.value + joined.value) / 2, joined.high),
      how: 'how the GPUs are joined is not known',
    };
  }
  return JOINED.test(gpu.name) && !/PCIe/i.test(gpu.name)
    ? { estimate: joined, how: 'GPUs joined by NVLink' }
    : { estimate: bus, how: 'GPUs joined by the bus' };
}

/**
 * Where host and GPU share their memory, what processes of the host take in the meantime counts as well. One log only
 * (5.72 GiB on a second GB10 that talks over RDMA), hence the width.
 */
const UNIFIED_SINGLE: GiBRange = [0.2, 1, 5];
const UNIFIED_GROUP: GiBRange = [1, 5, 8];

/** NCCL, workspaces and all else that torch does not see and that comes after the first snapshot. */
export function otherTerm({ c, hardware, settings }: StageInput): Term {
  const { tensor, pipeline } = c.placement;
  const rules = budgetRules(c.version.text, c.rules.core);
  const unified = hardware.gpu?.unifiedMemory ?? false;
  const link = tensor > 1 && !unified ? linkOf(hardware, rules) : undefined;
  // Stages on one GPU each: 0.07 on both a second and a fourth stage (vLLM 0.19, H100).
  const apart = pipeline > 1 ? ([0.05, 0.07, 0.35] as const) : rules.nonTorch.single;
  const shared = tensor * pipeline > 1 ? UNIFIED_GROUP : UNIFIED_SINGLE;
  const measured = link?.estimate ?? range(unified ? shared : apart);
  const ipc = (settings.number('mm-ipc-gpu-memory-gb') ?? 0) * GiB;
  const estimate = whole(addEstimates(measured, exactly(ipc)));
  const alone = unified ? 'memory outside torch, and of the host’s processes (unified memory)' : 'memory outside torch';
  const what = link ? `NCCL and all-reduce buffers (${link.how})` : alone;
  return {
    estimate,
    tell: () => ({
      why: ipc > 0 ? `${what}, and mm-ipc-gpu-memory-gb` : what,
      symbols: ipc > 0 ? 'measured range + mm-ipc-gpu-memory-gb' : 'measured range',
      numbers: `${formatBytes(measured.value)}${ipc > 0 ? ` + ${formatBytes(ipc)}` : ''} (${spread(estimate)})`,
      origins: [{ kind: 'estimate', text: '“non-torch” in start-up logs of this version and kind of card' }],
      source: PROFILES,
    }),
  };
}
