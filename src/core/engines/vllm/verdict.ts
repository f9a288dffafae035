/** Does it start, and what the engine says if not. Source: vLLM 0.28, v1/core/kv_cache_utils.py :: check_enough_kv_cache_memory; 0.6.6, worker/worker.py. */
import { longestFitting } from '../../capacity/longest';
import { figure } from '../../figure';
import { type Estimate, exactly, GiB, isExact, pythonRound2, toFixedHalfEven, withCommas } from '../../units';
import type { Finding, Fix, Layout, Pool, Rank, StartVerdict } from '../engine';
import type { VllmConfiguration } from './configure';

/** Longest context worth searching: beyond any model, and far below where integers stop being exact. */
const SEARCH_LIMIT = 2 ** 31;

export function verdictOf(c: VllmConfiguration, layout: Layout, pool: Pool): StartVerdict {
  const blocks = checkedBlocks(c, layout, pool);
  const limit = c.autoLength ? (c.maxLength ?? SEARCH_LIMIT) : SEARCH_LIMIT;
  const checked = mapEstimate(blocks, (n) => longestFitting(layout, forFit(n, c), limit));
  // Where the check reckons with memory alone, the pool that an option gave may hold less.
  const longest =
    c.rules.overrideInFit || pool.memory === undefined
      ? checked
      : mapEstimate(checked, (n) => Math.min(n, longestFitting(layout, pool.blocks.value, limit)));
  const longestContext = figure(
    longest.value,
    'tokens',
    () => ({
      symbols: 'largest length whose blocks fit the pool',
      numbers: `${withCommas(layout.groupBlocks(longest.value).reduce((a, b) => a + b, 0))} of ${withCommas(forFit(blocks.value, c))} blocks at ${withCommas(longest.value)} tokens`,
      origins: [{ kind: 'derived', text: 'binary search on the layout' }],
      source: 'vLLM 0.28, v1/core/kv_cache_utils.py :: estimate_max_model_len',
    }),
    { range: isExact(longest) ? undefined : longest },
  );
  // V0 complains of no blocks, V1 of no memory.
  const memory = (pool.bytes.range ?? exactly(pool.bytes.value)).high;
  if (memory <= 0 || (c.rules.core === 'V0' && blocks.high <= 0)) {
    return { starts: false, findings: [noMemory(c, pool)], longestContext };
  }
  if (c.maxLength === undefined) {
    return { starts: 'unknown', findings: [], longestContext };
  }
  const need = c.autoLength ? 1 : c.maxLength;
  if (need <= checked.low) {
    const states = tooManySequences(c, blocks);
    return { starts: states ? startsWith(states) : true, findings: states ? [states] : [], longestContext };
  }
  const never = need > checked.high;
  return {
    starts: never ? false : 'unknown',
    findings: [tooLong(c, layout, pool, longest, never)],
    longestContext,
  };
}

const startsWith = (finding: Finding): StartVerdict['starts'] => (finding.severity === 'error' ? false : 'unknown');

/**
 * Every running sequence needs a state block, and graphs are captured for as many as may run.
 * Source: vllm-project/vllm#38270 and the refusals in vllm-project/recipes#831, #551.
 */
function tooManySequences(c: VllmConfiguration, blocks: Estimate): Finding | undefined {
  const sequences = c.maxSequences;
  const hasStates = c.layers.some((l) => l.kind === 'state');
  if (
    !hasStates ||
    !c.rules.refusesStatelessSequences ||
    c.eager ||
    sequences === undefined ||
    sequences <= blocks.low
  ) {
    return undefined;
  }
  const certain = sequences > blocks.high;
  const sure = blocks.low;
  const message = `max_num_seqs (${sequences}) exceeds available Mamba cache blocks (${tokens(blocks)}): each sequence needs one.`;
  return {
    code: 'sequences-above-state-blocks',
    severity: certain ? 'error' : 'warning',
    option: 'max-num-seqs',
    message: certain ? message : `vLLM may refuse to start, depending on memory that can only be estimated: ${message}`,
    fixes:
      sure > 0
        ? [
            {
              title: `Set max-num-seqs to ${withCommas(sure)}, as many as there are state blocks${isExact(blocks) ? '' : ' for sure'}`,
              option: 'max-num-seqs',
              value: String(sure),
            },
          ]
        : [],
  };
}

/** Blocks that the fit check reckons with: those of the pool, but for versions that ask one stage to hold all of them. */
function checkedBlocks(c: VllmConfiguration, layout: Layout, pool: Pool): Estimate {
  const byMemory = !c.rules.overrideInFit && pool.memory !== undefined;
  const own = layout.ranks[pool.decidingRank] as Rank;
  if (!byMemory && checkedBytesPerBlock(c, layout, pool) === own.bytesPerBlock) {
    return pool.blocks.range ?? exactly(pool.blocks.value);
  }
  const perBlock = checkedBytesPerBlock(c, layout, pool);
  return mapEstimate(checkedBytes(c, pool), (bytes) => Math.max(0, Math.floor(bytes / perBlock)));
}

const checkedBytes = (c: VllmConfiguration, pool: Pool): Estimate =>
  (c.rules.overrideInFit ? undefined : pool.memory) ?? pool.bytes.range ?? exactly(pool.bytes.value);

const checkedBytesPerBlock = (c: VllmConfiguration, layout: Layout, pool: Pool): number =>
  c.rules.fitIgnoresPipeline
    ? layout.ranks.reduce((total, rank) => total + rank.bytesPerBlock, 0)
    : fitBytes(layout.ranks[pool.decidingRank] as Rank);

const fitBytes = (rank: Rank): number => rank.fitBytesPerBlock ?? rank.bytesPerBlock;

const forFit = (blocks: number, c: VllmConfiguration): number => Math.max(0, blocks - (c.rules.nullBlockInFit ? 1 : 0));

function mapEstimate(e: Estimate, of: (n: number) => number): Estimate {
  const value = of(e.value);
  return isExact(e) ? exactly(value) : { low: of(e.low), value, high: of(e.high) };
}

/** A range prints as `4.1–4.9 GiB, estimated`; an exact size as the engine prints it. */
function gib(c: VllmConfiguration, bytes: Estimate): string {
  const print = (b: number) => (c.rules.roundsSizes ? pythonRound2(b / GiB) : toFixedHalfEven(b / GiB, 2));
  return isExact(bytes) ? `${print(bytes.value)} GiB` : `${print(bytes.low)}–${print(bytes.high)} GiB, estimated`;
}

const tokens = (e: Estimate): string => (isExact(e) ? String(e.value) : `${e.low}–${e.high} (estimated)`);

function noMemory(c: VllmConfiguration, pool: Pool): Finding {
  const advice = 'Try increasing `gpu_memory_utilization` when initializing the engine.';
  const available = pool.bytes.range ?? exactly(pool.bytes.value);
  return {
    code: 'no-kv-memory',
    severity: 'error',
    option: 'gpu-memory-utilization',
    message: `No available memory for the cache blocks. ${advice} (Available KV cache memory: ${gib(c, available)}.)`,
    fixes: [],
  };
}

function tooLong(c: VllmConfiguration, layout: Layout, pool: Pool, longest: Estimate, never: boolean): Finding {
  const length = c.maxLength as number;
  const safe = roundDown(longest.low, layout.blockSize);
  const fixes: readonly Fix[] =
    safe > 0
      ? [
          {
            title: `Set max-model-len to ${withCommas(safe)}, the longest that fits${isExact(longest) ? '' : ' for sure'}`,
            option: 'max-model-len',
            value: String(safe),
          },
        ]
      : [];
  const refusal = c.rules.core === 'V0' ? refusalV0(layout, pool, length) : refusalV1(c, layout, pool, length, longest);
  return {
    code: 'length-does-not-fit',
    severity: never ? 'error' : 'warning',
    option: 'max-model-len',
    message: never ? refusal : `vLLM may refuse to start, depending on memory that can only be estimated: ${refusal}`,
    fixes,
  };
}

/** A written length is a whole number of blocks where that loses nothing. */
const roundDown = (length: number, blockSize: number): number =>
  length >= blockSize ? Math.floor(length / blockSize) * blockSize : length;

function refusalV1(c: VllmConfiguration, layout: Layout, pool: Pool, length: number, longest: Estimate): string {
  const bytesPerBlock = checkedBytesPerBlock(c, layout, pool);
  const blocks = layout.groupBlocks(length).reduce((a, b) => a + b, 0);
  const needed = exactly(bytesPerBlock * blocks);
  const kv = checkedBytes(c, pool);
  const taken = c.rules.nullBlockInFit ? bytesPerBlock : 0;
  const available = { low: Math.max(0, kv.low - taken), value: kv.value - taken, high: kv.high - taken };
  const estimate = c.rules.estimatesLength
    ? ` Based on the available memory, the estimated maximum model length is ${tokens(longest)}.`
    : '';
  return (
    `To serve at least one request with the model's max seq len (${length}), (${gib(c, needed)} KV cache is needed, which is larger than ` +
    `the available KV cache memory (${gib(c, available)}).${estimate} ` +
    'Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.'
  );
}

function refusalV0(layout: Layout, pool: Pool, length: number): string {
  const blocks = pool.blocks.range ?? exactly(pool.blocks.value);
  return (
    `The model's max seq len (${length}) is larger than the maximum number of tokens that can be stored in KV cache ` +
    `(${tokens(mapEstimate(blocks, (n) => n * layout.blockSize))}). ` +
    'Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.'
  );
}
