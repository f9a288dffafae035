/** Does it start, and what becomes of the session length. */
import { longestFitting } from '../../capacity/longest';
import { figure } from '../../figure';
import { type Estimate, exactly, isExact, withCommas } from '../../units';
import type { Finding, Layout, Pool, StartVerdict } from '../engine';
import type { LmdeployConfiguration } from './configure';

const SEARCH_LIMIT = 2 ** 31;

export function verdictOf(c: LmdeployConfiguration, layout: Layout, pool: Pool): StartVerdict {
  const blocks = pool.blocks.range ?? exactly(pool.blocks.value);
  const limit = c.autoLength ? (c.maxLength ?? SEARCH_LIMIT) : SEARCH_LIMIT;
  const fitting = (n: number) => longestFitting(layout, n, limit);
  const value = fitting(blocks.value);
  const longest: Estimate = isExact(blocks)
    ? exactly(value)
    : { low: fitting(blocks.low), value, high: fitting(blocks.high) };
  const longestContext = figure(
    value,
    'tokens',
    () => ({
      symbols: c.autoLength ? 'min(blocks × tokens per block, session-len)' : 'blocks × tokens per block',
      numbers: withCommas(value),
      origins: [{ kind: 'derived', text: 'longest request that the pool holds' }],
    }),
    { range: isExact(longest) ? undefined : longest },
  );
  const least = c.backend === 'pytorch' ? c.rules.leastBlocks : 0;
  if (blocks.high <= least) {
    return { starts: false, findings: [noMemory(c, blocks)], longestContext };
  }
  if (c.maxLength === undefined) {
    return { starts: 'unknown', findings: [], longestContext };
  }
  const findings =
    longest.low >= c.maxLength ? [] : [c.autoLength ? cut(c.maxLength, longest) : tooLong(c, c.maxLength, longest)];
  return { starts: blocks.low > least ? true : 'unknown', findings, longestContext };
}

function noMemory(c: LmdeployConfiguration, blocks: Estimate): Finding {
  const message =
    c.backend === 'pytorch'
      ? `No enough gpu memory for kvcache: ${withCommas(Math.max(0, blocks.high))} blocks at most, and more than ${c.rules.leastBlocks} are needed.`
      : 'The weights leave no memory for the KV cache: not one block fits.';
  return { code: 'no-kv-memory', severity: 'error', message, option: 'cache-max-entry-count', fixes: [] };
}

const shown = (e: Estimate): string =>
  isExact(e) ? withCommas(e.value) : `${withCommas(e.low)}–${withCommas(e.high)} (estimated)`;

/** Source: LMDeploy 0.14, src/turbomind/models/llama/LlamaBatch.cc. */
function cut(asked: number, longest: Estimate): Finding {
  const certain = asked > longest.high;
  return {
    code: 'length-cut',
    severity: 'warning',
    option: 'session-len',
    message: `${certain ? '' : 'Depending on memory that can only be estimated: '}\`session_len\` truncated to ${shown(longest)} due to limited KV cache memory, of ${withCommas(asked)} asked for.`,
    fixes: fixesTo(longest),
  };
}

/** The server starts; a longer request ends with an error. */
const tooLong = (c: LmdeployConfiguration, asked: number, longest: Estimate): Finding => ({
  code: 'length-above-pool',
  severity: 'warning',
  option: 'session-len',
  message: `The pool holds ${shown(longest)} tokens, less than one request of ${withCommas(asked)}: the server starts, and ${c.backend === 'turbomind' ? 'such a request ends with an error' : 'such a request is never finished'}.`,
  fixes: fixesTo(longest),
});

const fixesTo = (longest: Estimate): Finding['fixes'] =>
  longest.low > 0
    ? [
        {
          title: `Set session-len to ${withCommas(longest.low)}, the longest that fits${isExact(longest) ? '' : ' for sure'}`,
          option: 'session-len',
          value: String(longest.low),
        },
      ]
    : [];
