/** Does it start, and what it says if not. Source: TGI 3.3, backends/v3/src/lib.rs; models/flash_causal_lm.py :: warmup. */
import { longestFitting } from '../../capacity/longest';
import { figure } from '../../figure';
import { type Estimate, exactly, isExact, withCommas } from '../../units';
import type { Finding, Layout, Pool, StartVerdict } from '../engine';
import type { TgiConfiguration } from './configure';

const SEARCH_LIMIT = 2 ** 31;

export function verdictOf(c: TgiConfiguration, layout: Layout, pool: Pool): StartVerdict {
  const blocks = pool.blocks.range ?? exactly(pool.blocks.value);
  const tokens = mapped(blocks, (n) => Math.max(0, n) * layout.blockSize);
  const limit = c.autoLength ? (c.maxLength ?? SEARCH_LIMIT) : SEARCH_LIMIT;
  // The router reckons with all blocks for the longest request it infers, and can give all but one.
  const longest = mapped(blocks, (n) =>
    c.autoLength
      ? Math.min(limit, Math.max(0, n) * layout.blockSize)
      : longestFitting(layout, Math.max(0, n - 1), limit),
  );
  const longestContext = figure(
    longest.value,
    'tokens',
    () => ({
      symbols: c.autoLength ? 'min(blocks × block size, the model’s own)' : '(blocks − 1) × block size',
      numbers: withCommas(longest.value),
      origins: [{ kind: 'derived', text: 'longest request that the pool holds' }],
      source: 'TGI 3.3, backends/v3/src/lib.rs',
    }),
    { range: isExact(longest) ? undefined : longest },
  );
  if (blocks.high <= 0) {
    return { starts: false, findings: [noMemory(c)], longestContext };
  }
  if (c.maxLength === undefined) {
    return { starts: 'unknown', findings: [], longestContext };
  }
  const need = c.autoLength ? 1 : c.maxLength;
  if (need <= tokens.low) {
    return { starts: true, findings: [], longestContext };
  }
  const never = need > tokens.high;
  return { starts: never ? false : 'unknown', findings: [tooLong(need, tokens, longest, never)], longestContext };
}

function mapped(e: Estimate, of: (n: number) => number): Estimate {
  return isExact(e) ? exactly(of(e.value)) : { low: of(e.low), value: of(e.value), high: of(e.high) };
}

export const prefillRefusal = (c: TgiConfiguration): string =>
  `Not enough memory to handle ${c.prefillTokens} prefill tokens. You need to decrease \`--max-batch-prefill-tokens\`.`;

const noMemory = (c: TgiConfiguration): Finding => ({
  code: 'no-kv-memory',
  severity: 'error',
  message: prefillRefusal(c),
  option: 'max-batch-prefill-tokens',
  fixes: [],
});

function tooLong(need: number, tokens: Estimate, longest: Estimate, never: boolean): Finding {
  const held = isExact(tokens)
    ? withCommas(tokens.value)
    : `${withCommas(tokens.low)}–${withCommas(tokens.high)}, estimated`;
  const refusal = `Not enough memory to handle \`max_total_tokens=${need}\`: the pool holds ${held} tokens.`;
  return {
    code: 'length-does-not-fit',
    severity: never ? 'error' : 'warning',
    option: 'max-total-tokens',
    message: never ? refusal : `TGI may refuse to start, depending on memory that can only be estimated: ${refusal}`,
    fixes:
      longest.low > 0
        ? [
            {
              title: `Set max-total-tokens to ${withCommas(longest.low)}, the longest that fits${isExact(longest) ? '' : ' for sure'}`,
              option: 'max-total-tokens',
              value: String(longest.low),
            },
          ]
        : [],
  };
}
