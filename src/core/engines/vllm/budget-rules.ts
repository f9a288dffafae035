/** What a vLLM version changes in the budget's estimates, and which measurements say so. */
import { compareVersions } from '../option';
import type { VllmRules } from './versions';

/** `[low, usual, high]` in GiB. */
export type GiBRange = readonly [low: number, usual: number, high: number];

/**
 * Memory outside torch that comes after the engine's first look at the card: on one GPU, over a tensor group that talks
 * over NVLink, and over one that talks over the bus.
 */
interface NonTorch {
  readonly single: GiBRange;
  readonly nvlink: GiBRange;
  /** NVLink on Hopper, where the fused all-reduce has a workspace of its own. */
  readonly hopper: GiBRange;
  readonly bus: GiBRange;
}

export interface BudgetRules {
  /** k of the sampler's peak, k·B·V·4 bytes. */
  readonly samplerFactor: number;
  /** Experts keep their buffers in a workspace that outlives the forward pass. */
  readonly expertWorkspace: boolean;
  readonly nonTorch: NonTorch;
}

type Row = readonly [since: string, change: Partial<BudgetRules>];

/** Nine logs on one GPU say 0.01–0.26; two GPUs on the bus 0.25, 0.30 and 0.33 (vllm-project/vllm#13061, #15815, #14452). */
const V0: BudgetRules = {
  samplerFactor: 9.6,
  expertWorkspace: false,
  nonTorch: { single: [0.01, 0.15, 0.35], nvlink: [0.3, 0.8, 1.6], hopper: [0.3, 0.8, 1.6], bus: [0.2, 0.3, 0.6] },
};

const V0_CHANGES: readonly Row[] = [
  [
    // What other processes hold on the card counts too, until #10511: 0.35 with none (#10517), 1.79 (#10511), 4.09 (#11230).
    '0.6.4',
    { nonTorch: { single: [0.2, 0.35, 4.2], nvlink: [0.4, 1, 5.5], hopper: [0.4, 1, 5.5], bus: [0.3, 0.5, 4.5] } },
  ],
  ['0.6.6', { nonTorch: V0.nonTorch }],
];

/**
 * The first V1 takes all that torch does not hold: the CUDA context (0.4–0.6 GiB, total less free at start in logs) and
 * NCCL too. Its profile stops at the logits, in two copies of 16 bit: a sampler of 1024 rows ran out of memory after it
 * (0.8.2, vllm-project/vllm#15617).
 */
const V1: BudgetRules = {
  samplerFactor: 1,
  expertWorkspace: false,
  nonTorch: { single: [0.45, 0.7, 1], nvlink: [1.2, 2, 2.8], hopper: [1.2, 2, 2.8], bus: [0.7, 1.5, 2.6] },
};

const V1_CHANGES: readonly Row[] = [
  // The sampler is profiled: k 9.56–9.64 on six models (0.10.2–0.16). Between 0.8.2 and 0.8.5.
  ['0.8.5', { samplerFactor: 9.6 }],
  [
    // Measured against a snapshot that is taken before NCCL starts: 1.38 on two H200 (0.10.2).
    '0.9.0',
    {
      nonTorch: { single: [0.08, 0.13, 0.3], nvlink: [0.8, 1.4, 2.2], hopper: [0.8, 1.4, 2.2], bus: [0.25, 0.5, 1.2] },
    },
  ],
  [
    // NCCL starts before the snapshot (abad204be): 0.55 on two H100.
    '0.11.0',
    {
      nonTorch: {
        single: [0.08, 0.13, 0.3],
        nvlink: [0.3, 0.55, 1.4],
        hopper: [0.4, 0.55, 1.5],
        bus: [0.15, 0.3, 0.9],
      },
    },
  ],
  [
    // Workspace of the experts: not in 0.10.2, there in 0.19. Fused all-reduce of Hopper: 0.55 in 0.11, 2.06–2.21 on two and four
    // H100 in 0.19. In which release between each came was not measured: both are taken to be those of the end of 2025.
    '0.13.0',
    {
      expertWorkspace: true,
      nonTorch: { single: [0.08, 0.13, 0.3], nvlink: [0.3, 0.8, 1.8], hopper: [0.5, 2.1, 2.3], bus: [0.15, 0.3, 0.9] },
    },
  ],
  // Triton top-k/top-p sampler (c656ba3b4): k 3.67–3.74 on 17 models (0.17–0.19).
  ['0.17.0', { samplerFactor: 3.7 }],
  [
    // One GPU: 0.24–0.27 on 20 models, 0.46 on two (0.19, H100); 0.16–0.26 in later logs. Four B200 0.95, B300 1.63.
    '0.18.0',
    { nonTorch: { single: [0.13, 0.25, 0.46], nvlink: [0.4, 1.1, 1.9], hopper: [0.9, 2.1, 2.3], bus: [0.2, 0.4, 1] } },
  ],
];

const cache = new Map<string, BudgetRules>();

export function budgetRules(version: string, core: VllmRules['core']): BudgetRules {
  const key = `${core} ${version}`;
  let rules = cache.get(key);
  if (!rules) {
    const [first, changes] = core === 'V0' ? [V0, V0_CHANGES] : [V1, V1_CHANGES];
    rules = Object.assign(
      {},
      first,
      ...changes.filter(([since]) => compareVersions(version, since) >= 0).map(([, c]) => c),
    ) as BudgetRules;
    if (cache.size < 100) {
      cache.set(key, rules); // versions typed digit by digit must not grow it without end
    }
  }
  return rules;
}
