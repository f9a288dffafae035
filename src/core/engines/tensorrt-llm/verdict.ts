/** Does it start, and what becomes of the length it was given. */
import { countHeld, partsOf } from '../../capacity/room';
import { figure } from '../../figure';
import { ceilDiv, type Estimate, exactly, isExact, withCommas } from '../../units';
import type { Finding, Layout, Pool, StartVerdict } from '../engine';
import type { TrtConfiguration } from './configure';

const SEARCH_LIMIT = 2 ** 31;

/** Longest request that has room in every pool. */
function longest(layout: Layout, pool: Pool, limit: number, end: keyof Estimate): number {
  const parts = partsOf(layout, pool);
  const fits = (tokens: number) => countHeld(parts, layout.groupBlocks(tokens), end) >= 1;
  let low = 0;
  let high = limit;
  while (low < high) {
    const middle = low + ceilDiv(high - low, 2);
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

export function verdictOf(c: TrtConfiguration, layout: Layout, pool: Pool): StartVerdict {
  const limit = c.autoLength ? (c.maxLength ?? SEARCH_LIMIT) : SEARCH_LIMIT;
  const at = (end: keyof Estimate) => longest(layout, pool, limit, end);
  const value = at('value');
  const length: Estimate = pool.blocks.range ? { low: at('low'), value, high: at('high') } : exactly(value);
  const longestContext = figure(
    value,
    'tokens',
    () => ({
      symbols: 'blocks × tokens per block, at most max_seq_len',
      numbers: withCommas(value),
      origins: [{ kind: 'derived', text: 'longest request with room in the pool' }],
      source: 'TensorRT-LLM 1.3, _torch/pyexecutor/resource_manager.py :: KVCacheManager',
    }),
    { range: isExact(length) ? undefined : length },
  );
  if (length.high <= 0) {
    return { starts: false, findings: [noMemory], longestContext };
  }
  const findings = c.maxLength === undefined ? [] : lengthFindings(c, c.maxLength, length);
  return {
    starts: findings.some((f) => f.code === 'length-does-not-fit') || length.low <= 0 ? 'unknown' : true,
    findings,
    longestContext,
  };
}

const noMemory: Finding = {
  code: 'no-kv-memory',
  severity: 'error',
  message: 'Weights and the profile run leave no memory for the KV cache: not one block fits.',
  option: 'kv_cache_free_gpu_memory_fraction',
  fixes: [],
};

/** The PyTorch backend cuts the length and says so in its log; an engine's length is built in. */
function lengthFindings(c: TrtConfiguration, asked: number, longest: Estimate): readonly Finding[] {
  if (asked <= longest.low) {
    return [];
  }
  const shown = isExact(longest)
    ? withCommas(longest.value)
    : `${withCommas(longest.low)}–${withCommas(longest.high)} (estimated)`;
  if (c.backend === 'tensorrt') {
    return [
      {
        code: 'length-does-not-fit',
        severity: 'warning',
        option: 'max_seq_len',
        message: `The pool holds ${shown} tokens, less than one request of ${withCommas(asked)}. Engines of some versions refuse to start then (“max tokens in paged KV cache must be larger than max input”), others refuse such requests.`,
        fixes: [],
      },
    ];
  }
  const certain = asked > longest.high;
  return [
    {
      code: 'length-cut',
      severity: 'warning',
      option: 'max_seq_len',
      message: `${certain ? 'The server starts' : 'Depending on memory that can only be estimated, the server may start'} with a shorter length than asked for: the log says “Adjusted max_seq_len to …”. Of ${withCommas(asked)} tokens the pool holds ${shown}.`,
      fixes:
        longest.low > 0
          ? [
              {
                title: `Set max_seq_len to ${withCommas(longest.low)}, the longest that fits${isExact(longest) ? '' : ' for sure'}`,
                option: 'max_seq_len',
                value: String(longest.low),
              },
            ]
          : [],
    },
  ];
}
