/**
 * What a vLLM version changes in a plan. Each row of `CHANGES` holds from the release it names; a version is
 * planned with every row up to it. Dates and commits: vLLM's history, main as of 2026-08-22.
 */
import type { Origin } from '../../figure';
import type { EngineVersion } from '../engine';
import { compareVersions } from '../option';

export interface VllmRules {
  readonly core: 'V0' | 'V1';
  /** Default of `gpu-memory-utilization`. */
  readonly utilisation: number;
  /** MLA models keep one latent vector; before, keys and values of every head. */
  readonly latentCache: boolean;
  /** Layers of different kinds get block tables of their own; before, every layer counts as full. */
  readonly groups: boolean;
  /** Groups work with pipeline stages. */
  readonly groupsWithPipeline: boolean;
  /** `g = largest bucket if largest < ratio × smallest else smallest`; 0 = always the smallest. */
  readonly groupRatio: number;
  /** Pages that do not divide the largest are padded; before, that was an error. */
  readonly padPages: boolean;
  /** Sliding layers choose their own block size (the kernel's smallest). */
  readonly slidingOwnBlock: boolean;
  /** A window reserves for every batch in flight; before, for one. */
  readonly inFlightBatches: boolean;
  readonly asyncByDefault: boolean;
  /** States are kept at block edges when prefixes are cached; before, one in every block. */
  readonly alignsStates: boolean;
  /** Models with state layers cache prefixes unless told not to. */
  readonly cachesStatesByDefault: boolean;
  /** More sequences than state blocks is refused (unless eager). */
  readonly refusesStatelessSequences: boolean;
  /** Block 0 is taken out before the check that one request fits. */
  readonly nullBlockInFit: boolean;
  /** num-gpu-blocks-override is what the fit check reckons with; else the memory alone is checked. */
  readonly overrideInFit: boolean;
  /** The fit check holds the KV of all stages against one stage's memory (0.14 and 0.15). */
  readonly fitIgnoresPipeline: boolean;
  /** Packed tuples count as whole ones in the fit check (vllm-project/vllm#44376; no longer in #53961). */
  readonly fitPadsTuples: boolean;
  readonly tokensLogged: 'blocks' | 'smallest-group' | 'concurrency';
  readonly logStyle: 'gpu-blocks' | 'cuda-blocks' | 'two-lines' | 'one-line';
  /** The refusal names an estimated maximum length. */
  readonly estimatesLength: boolean;
  /** Sizes in the refusal print as `round(x, 2)`; before, as `%.2f`. */
  readonly roundsSizes: boolean;
  /** CUDA graphs are subtracted from the KV budget. */
  readonly graphsInBudget: boolean;
  /** Default of `max-num-batched-tokens` under V0's chunked prefill. */
  readonly chunkedTokensV0: number;
  /** Default of `max-num-seqs` on cards below 70 GiB. */
  readonly smallCardSequences: number;
  /** From which memory (GiB) and for which names the large default batch holds; A100 is left out since 0.9. */
  readonly a100SmallBatch: boolean;
  /** 16384 batched tokens from 160 GiB on. */
  readonly hugeCardBatch: boolean;
  /** MLA's default block size on Hopper and on Blackwell. */
  readonly latentBlock: { readonly hopper: number; readonly blackwell: number };
  /** A written block size that a backend does not take is refused; before, some replaced it. */
  readonly backendTakesBlock: boolean;
  /** The checkpoint's own KV metadata decides `auto`. */
  readonly checkpointKvDtype: boolean;
}

const FIRST: VllmRules = {
  core: 'V0',
  utilisation: 0.9,
  latentCache: false,
  groups: false,
  groupsWithPipeline: false,
  groupRatio: 0,
  padPages: false,
  slidingOwnBlock: false,
  inFlightBatches: false,
  asyncByDefault: false,
  alignsStates: false,
  cachesStatesByDefault: false,
  refusesStatelessSequences: false,
  nullBlockInFit: false,
  overrideInFit: true,
  fitIgnoresPipeline: false,
  fitPadsTuples: true,
  tokensLogged: 'blocks',
  logStyle: 'gpu-blocks',
  estimatesLength: false,
  roundsSizes: false,
  graphsInBudget: false,
  chunkedTokensV0: 512,
  smallCardSequences: 256,
  a100SmallBatch: false,
  hugeCardBatch: false,
  latentBlock: { hopper: 64, blackwell: 128 },
  backendTakesBlock: false,
  checkpointKvDtype: false,
};

const CHANGES: readonly (readonly [since: string, change: Partial<VllmRules>, what: string])[] = [
  ['0.6.5', { chunkedTokensV0: 2048 }, 'chunked prefill takes 2048 tokens (512 in vllm-project/vllm#10537)'],
  ['0.7.0', { logStyle: 'cuda-blocks' }, '"# cuda blocks" in the log'],
  ['0.7.1', { latentCache: true }, 'MLA keeps its latent vector'],
  [
    '0.8.0',
    { core: 'V1', overrideInFit: false, logStyle: 'two-lines', smallCardSequences: 1024 },
    'V1 is the default engine; 1024 sequences on a 24 GB card (a log of 0.8.2, vllm-project/vllm#15617)',
  ],
  ['0.8.5', { smallCardSequences: 256 }, 'as its source says; it came after 0.8.2'],
  ['0.9.0', { a100SmallBatch: true, estimatesLength: true }, 'A100 left out of the large default batch (2025-05-11)'],
  ['0.9.2', { groups: true, tokensLogged: 'smallest-group' }, 'hybrid memory allocator (f8a1a2d10)'],
  ['0.11.0', { groupsWithPipeline: true, checkpointKvDtype: true }, 'unequal full layers share a group (9607d5eb4)'],
  [
    '0.12.0',
    { groupRatio: 1.25, asyncByDefault: true, latentBlock: { hopper: 64, blackwell: 64 } },
    'group size: largest when below 1.25 × smallest (71df2a57e); asynchronous scheduling on (da786e339); FlashInfer is MLA’s default on Blackwell, with blocks of 64 (platforms/cuda.py :: check_and_update_config)',
  ],
  ['0.14.0', { fitIgnoresPipeline: true }, 'pipeline stages ignored in the fit check (vllm-project/vllm#34076)'],
  [
    '0.15.0',
    { roundsSizes: true, alignsStates: true },
    'sizes in messages are rounded; states kept at block edges (5206e5e28)',
  ],
  ['0.16.0', { fitIgnoresPipeline: false }, 'each stage is checked by itself again'],
  [
    '0.18.0',
    { groupRatio: 1.5, latentBlock: { hopper: 16, blackwell: 32 }, backendTakesBlock: true },
    'group size ratio 1.5 (891c60dcd); the backend names its blocks, and none is replaced (vllm-project/vllm#35122)',
  ],
  [
    '0.19.0',
    { refusesStatelessSequences: true },
    'one state block for each sequence is demanded (vllm-project/vllm#38270)',
  ],
  [
    '0.20.0',
    { cachesStatesByDefault: true },
    'a log of 0.19.0 shows one state per group without a flag, logs from 0.21 on two',
  ],
  [
    '0.21.0',
    { overrideInFit: true, utilisation: 0.92, graphsInBudget: true, tokensLogged: 'concurrency' },
    'CUDA graphs in the budget, default utilisation 0.92 (96a85c575); size = concurrency × length, block override checked (e68fa1b90)',
  ],
  [
    '0.25.0',
    { padPages: true, slidingOwnBlock: true, inFlightBatches: true },
    'sliding layers choose their block (67ff0ae30); pages padded (55da232db); batches in flight (cd0de48d0)',
  ],
  [
    '0.27.0',
    { logStyle: 'one-line', hugeCardBatch: true },
    'one log line (5f2ee2fa8); 16384 tokens from 160 GiB (4988df2eb)',
  ],
  ['0.28.0', { nullBlockInFit: true, fitPadsTuples: false }, 'null block subtracted in the fit check (76fb6d210)'],
];

/** Versions whose numbers were checked against the engine's own code or logs, oldest first. */
export const VLLM_VERSIONS: readonly string[] = ['0.6.6', '0.8.5', '0.10', '0.11', '0.21', '0.24', '0.27', '0.28'];
const NEWEST = VLLM_VERSIONS.at(-1) as string;
/** V0's arithmetic is the same from here on; before, block managers differed. */
const OLDEST = '0.2';

const rulesCache = new Map<string, VllmRules>();

export function rulesOf(version: string): VllmRules {
  let rules = rulesCache.get(version);
  if (!rules) {
    const changes = CHANGES.filter(([since]) => compareVersions(version, since) >= 0).map(([, change]) => change);
    rules = Object.assign({}, FIRST, ...changes) as VllmRules;
    if (rulesCache.size < 100) {
      rulesCache.set(version, rules); // versions typed digit by digit must not grow it without end
    }
  }
  return rules;
}

/**
 * V0 can still be asked for (or V1 early) by `VLLM_USE_V1` from 0.7 to 0.10. `fallsBack`: V1 does not take the launch, and
 * nobody asked for it.
 */
export function rulesFor(version: string, environment: ReadonlyMap<string, string>, fallsBack = false): VllmRules {
  const rules = withGraphs(rulesOf(version), version, environment);
  const wanted = environment.get('VLLM_USE_V1') ?? (fallsBack ? '0' : undefined);
  const optional = compareVersions(version, '0.7.0') >= 0 && compareVersions(version, '0.11.0') < 0;
  if (wanted === '0' && optional && rules.core === 'V1') {
    return {
      ...rules,
      core: 'V0',
      overrideInFit: true,
      groups: false,
      tokensLogged: 'blocks',
      logStyle: 'cuda-blocks',
    };
  }
  if (wanted === '1' && optional && rules.core === 'V0') {
    return { ...rules, core: 'V1', overrideInFit: false, logStyle: 'two-lines' };
  }
  return rules;
}

/** The estimate of CUDA graphs came with 0.17, to be asked for; since 0.21 it is made unless switched off. */
function withGraphs(rules: VllmRules, version: string, environment: ReadonlyMap<string, string>): VllmRules {
  const asked = environment.get('VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS');
  const graphsInBudget = asked === '0' ? false : asked === '1' ? compareVersions(version, '0.17.0') >= 0 : undefined;
  return graphsInBudget === undefined || graphsInBudget === rules.graphsInBudget ? rules : { ...rules, graphsInBudget };
}

const NEWEST_VERSION: EngineVersion = {
  text: NEWEST,
  origin: { kind: 'default', text: `newest known version, ${NEWEST}` },
};

export function resolveVersion(asked: { readonly text: string; readonly origin: Origin } | undefined): EngineVersion {
  if (!asked) {
    return NEWEST_VERSION;
  }
  const text = asked.text.replace(/^v/i, '');
  if (!/^\d+(\.\d+)*/.test(text)) {
    return { ...NEWEST_VERSION, note: `“${asked.text}” names no version: planned with the rules of ${NEWEST}.` };
  }
  return { text, origin: asked.origin, note: versionNote(text) };
}

function versionNote(text: string): string | undefined {
  if (compareVersions(text, `${NEWEST}.99`) > 0) {
    return `vLLM ${text} is newer than the newest version known here: planned with the rules of ${NEWEST}.`;
  }
  if (compareVersions(text, OLDEST) < 0) {
    return `vLLM ${text} is older than the oldest version known here: planned with the rules of ${OLDEST}.`;
  }
  return undefined;
}
