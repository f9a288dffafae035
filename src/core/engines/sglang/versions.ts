/**
 * What an SGLang version changes in a plan. Each row holds from the release it names. Dates and commits: SGLang's
 * history, main as of 2026-08-23.
 */
import { type Change, rulesAt } from '../version-rules';

export interface SglangRules {
  /** How `mem-fraction-static` comes about when it is not written. */
  readonly share: 'tensor' | 'gpus' | 'classes' | 'formula';
  /** Shares by tensor-parallel size, largest first. */
  readonly shares: readonly (readonly [from: number, share: number])[];
  /** Cards below 50 GiB count as small ones, and larger ones keep 12 and 15 GiB. */
  readonly wideClasses: boolean;
  /** Prefill graphs are counted in the reserve: never, when they are asked for, or unless they are off. */
  readonly prefillGraphs: 'no' | 'asked' | 'default';
  /** Speculation adds GiB to the reserve; after that its weights and its KV cache are counted themselves. */
  readonly speculativeReserve: 'no' | 'classes' | 'formula' | 'formula-4';
  /** Largest decode graph on cards below 35 GiB. */
  readonly smallCardGraphs: number;
  /** Prefill and decode servers reserve for what they run. */
  readonly reserveByRole: boolean;
  /** Stages that get a layer more where they do not divide evenly. */
  readonly largerStages: 'first' | 'last';
  /** Sliding layers of some architectures have a pool of their own. */
  readonly windowPool: boolean;
  /** Both pools come from one cell; before, from the tokens of a uniform model. */
  readonly windowCell: boolean;
  /** States have slots of their own. */
  readonly statePool: boolean;
  readonly stateStrategy: 'no_buffer' | 'extra_buffer';
  /** Most running requests when none are written: tokens ÷ context length × 512 between these, and what is added. */
  readonly running: { readonly low: number; readonly high: number; readonly more: number };
  /** Blackwell's default backend of multi-head attention keeps pages of 64. */
  readonly blackwellPages: boolean;
  readonly chunkDefault: 'fixed' | 'small-card' | 'classes' | 'table';
  /** A server without memory for the pool says which share it would take. */
  readonly namesShare: boolean;
  readonly logsDtype: boolean;
}

const shares = (from16: number, from8: number, from4: number, from2: number, one: number): SglangRules['shares'] => [
  [16, from16],
  [8, from8],
  [4, from4],
  [2, from2],
  [1, one],
];

const FIRST: SglangRules = {
  share: 'tensor',
  shares: shares(0.8, 0.8, 0.8, 0.85, 0.9),
  wideClasses: false,
  prefillGraphs: 'no',
  speculativeReserve: 'no',
  smallCardGraphs: 16,
  reserveByRole: false,
  largerStages: 'first',
  windowPool: false,
  windowCell: false,
  statePool: false,
  stateStrategy: 'no_buffer',
  running: { low: 2048, high: Number.POSITIVE_INFINITY, more: -1 },
  blackwellPages: false,
  chunkDefault: 'fixed',
  namesShare: false,
  logsDtype: false,
};

const CHANGES: readonly Change<SglangRules>[] = [
  ['0.2.0', { shares: shares(0.79, 0.83, 0.85, 0.87, 0.88) }, 'shares of the first tables (0.3.0 logs 0.83 on 8 GPUs)'],
  ['0.3.0', { running: { low: 2048, high: 5120, more: -1 } }, 'at most 5120 requests (a log of 0.3.0: sglang#1386)'],
  [
    '0.4.0',
    { shares: shares(0.79, 0.81, 0.85, 0.87, 0.88), running: { low: 2048, high: 4096, more: 1 } },
    'at most 4096 requests and one more slot (logs of 0.4.2 and 0.4.3: sglang#3451, #4127)',
  ],
  [
    '0.4.5',
    { running: { low: 2048, high: 4096, more: 0 }, logsDtype: true },
    'between 0.4.3 and June 2025 (sglang#7590)',
  ],
  ['0.4.6', { share: 'gpus', chunkDefault: 'small-card' }, 'share by GPUs and memory (2025-04-22)'],
  [
    '0.4.7',
    { share: 'classes', chunkDefault: 'classes', speculativeReserve: 'classes' },
    'reserve by class of memory (6b12d6a8d)',
  ],
  ['0.5.0', { windowPool: true }, 'sliding windows have a pool (gpt-oss, Llama 4)'],
  ['0.5.3', { wideClasses: true, statePool: true }, 'classes widened (2025-09); Qwen3-Next'],
  [
    '0.5.4',
    { share: 'formula', chunkDefault: 'table', speculativeReserve: 'formula' },
    'reserve by formula (a17e70f5c)',
  ],
  [
    '0.5.6',
    { prefillGraphs: 'asked', smallCardGraphs: 24, largerStages: 'last', blackwellPages: true },
    'piecewise prefill graphs (58b12ccb4); last stages take the remainder (b704b0a92)',
  ],
  [
    '0.5.10',
    { prefillGraphs: 'default', speculativeReserve: 'formula-4', windowCell: true },
    'prefill graphs on by default, EAGLE +4 GiB (c64274c74); pools sized by one cell',
  ],
  [
    '0.5.14',
    { speculativeReserve: 'no', stateStrategy: 'extra_buffer', namesShare: true },
    'the draft is counted in the cell, its weights are loaded before sizing (75998d042)',
  ],
  ['0.5.15', { reserveByRole: true }, 'activations by role (fbe311086)'],
];

/** Versions whose numbers were checked against logs or the engine's own code, oldest first. */
export const SGLANG_VERSIONS: readonly string[] = [
  '0.1.17',
  '0.3.0',
  '0.4.3',
  '0.4.6',
  '0.4.9',
  '0.5.4',
  '0.5.10',
  '0.5.14',
  '0.5.18',
];

const cache = new Map<string, SglangRules>();

export function rulesOf(version: string): SglangRules {
  const known = cache.get(version);
  if (known) {
    return known;
  }
  const rules = rulesAt(FIRST, CHANGES, version);
  if (cache.size < 100) {
    cache.set(version, rules);
  }
  return rules;
}
