/** Whether the caches find room, and the longest context that would. */

import type { Finding, Fix, Layout, Pool, StartVerdict } from '../engines/engine';
import { figure } from '../figure';
import type { Estimate } from '../units';
import { exactly, formatBytes, isExact, MiB, toFixedHalfEven, withCommas } from '../units';
import type { GgmlConfiguration } from './configuration';
import { devicesOf } from './layout';
import { cacheLayerBytes, type Sizes } from './sizes';

/** Contexts are searched in steps of so many tokens of each sequence. */
const STEP = 256;
const SEARCH_LIMIT = 2 ** 22;

export function verdictOf(c: GgmlConfiguration, _layout: Layout, pool: Pool): StartVerdict {
  const memory = pool.memory;
  const device = devicesOf(c)[pool.decidingRank] as number;
  const longest = memory ? mapped(memory, (bytes) => longestFor(c, device, bytes)) : exactly(c.maxLength ?? 0);
  const longestContext = figure(
    longest.value,
    'tokens',
    () => ({
      symbols: memory ? 'longest context of a sequence whose caches fit what is left' : 'the context that is set aside',
      numbers: `${withCommas(longest.value)} tokens for each of ${c.sequences} sequences`,
      origins: [{ kind: 'derived', text: 'search over contexts, in steps of 256 tokens' }],
      source: 'llama.cpp v0.5.0, src/llama-context.cpp',
    }),
    { range: isExact(longest) ? undefined : longest },
  );
  if (!memory) {
    return { starts: 'unknown', findings: [], longestContext };
  }
  const need = pool.bytes.value;
  if (need <= memory.low) {
    return { starts: true, findings: [], longestContext };
  }
  const certain = need > memory.high;
  return { ...shortOf(c, need, memory, longest, certain), longestContext };
}

/** Bytes on one device of the caches of a context. */
export function bytesAt(c: Pick<GgmlConfiguration, 'split'>, sizes: Sizes, device: number): number {
  return sizes.caches.reduce(
    (total, cache) =>
      total + cache.layers.reduce((sum, l) => sum + (c.split.kvOn(l.at) === device ? cacheLayerBytes(cache, l) : 0), 0),
    0,
  );
}

/** Largest number of tokens over all sequences, a multiple of 256 of each, whose caches take no more than `bytes`. */
export function tokensFor(
  c: Pick<GgmlConfiguration, 'split' | 'sizesAt' | 'sequences' | 'pooled'>,
  device: number,
  bytes: number,
  limit: number,
): number {
  const step = STEP * (c.pooled ? 1 : c.sequences);
  let low = 0;
  let high = Math.floor(limit / step);
  while (low < high) {
    const middle = low + Math.ceil((high - low) / 2);
    if (bytesAt(c, c.sizesAt(middle * step), device) <= bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low * step;
}

function longestFor(c: GgmlConfiguration, device: number, bytes: number): number {
  const tokens = tokensFor(c, device, bytes, SEARCH_LIMIT * (c.pooled ? 1 : c.sequences));
  return tokens === 0 ? 0 : c.lengthAt(c.sizesAt(tokens));
}

function mapped(e: Estimate, of: (n: number) => number): Estimate {
  const value = of(e.value);
  return isExact(e) ? exactly(value) : { low: of(e.low), value, high: of(e.high) };
}

const left = (memory: Estimate): string =>
  isExact(memory)
    ? `${formatBytes(memory.value)} are`
    : `an estimated ${formatBytes(Math.max(0, memory.low))} to ${formatBytes(Math.max(0, memory.high))} are`;

/** With --fit, layers go to the host rather than that nothing starts. */
function shortOf(
  c: GgmlConfiguration,
  need: number,
  memory: Estimate,
  longest: Estimate,
  certain: boolean,
): Pick<StartVerdict, 'starts' | 'findings'> {
  const size = `The caches take ${formatBytes(need)} of a GPU, and ${left(memory)} left for them`;
  if (c.fit?.movesLayers) {
    const finding: Finding = {
      code: 'fit-moves-layers',
      severity: 'warning',
      option: c.contextOption,
      message: `${size}: ${c.engine} ${certain ? 'will' : 'may'} move layers${isMixture(c) ? ' or experts' : ''} to the host’s memory at the start, and be slow.`,
      fixes: fixesFor(c, longest),
    };
    return { starts: true, findings: [finding] };
  }
  const refusal = `ggml_backend_cuda_buffer_type_alloc_buffer: allocating ${toFixedHalfEven(need / MiB, 2)} MiB on device 0: cudaMalloc failed: out of memory`;
  return {
    starts: certain ? false : 'unknown',
    findings: [
      {
        code: 'caches-do-not-fit',
        severity: certain ? 'error' : 'warning',
        option: c.contextOption,
        message: certain ? `${refusal}. ${size}.` : `${c.engine} may not start: ${size}.`,
        fixes: fixesFor(c, longest),
      },
    ],
  };
}

const isMixture = (c: GgmlConfiguration): boolean => c.experts;

function fixesFor(c: GgmlConfiguration, longest: Estimate): readonly Fix[] {
  const safe = Math.floor(longest.low / STEP) * STEP;
  return safe > 0
    ? [
        {
          title: `Set ${c.contextOption} to ${withCommas(c.optionTokens(safe))}, the most that fits${isExact(longest) ? '' : ' for sure'}`,
          option: c.contextOption,
          value: String(c.optionTokens(safe)),
        },
      ]
    : [];
}
