/** Does it start, and what SGLang says if not. Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py, srt/managers/tp_worker.py. */
import { figure } from '../../figure';
import { type Estimate, exactly, isExact, withCommas } from '../../units';
import type { Finding, Fix, Layout, Pool, StartVerdict } from '../engine';
import type { SglangConfiguration } from './configure';
import { cellsOf } from './rank';
import { refusal } from './refusals';

const ends = ({ value, range }: Pool['blocks']): Estimate => range ?? exactly(value);

export function verdictOf(c: SglangConfiguration, layout: Layout, pool: Pool): StartVerdict {
  const tokens = scaled(ends(pool.blocks), c.page.tokens * c.placement.context);
  const longest = mapped(tokens, (n) => longestOf(n, c));
  const longestContext = figure(
    longest.value,
    'tokens',
    () => ({
      symbols: 'pool tokens − page size − 1',
      numbers: `${withCommas(tokens.value)} − ${c.page.tokens} − 1 = ${withCommas(longest.value)}`,
      origins: [
        {
          kind: 'derived',
          text: 'a request is admitted while its prompt, at most 4,096 tokens of output and a page are fewer than the free tokens',
        },
      ],
      source: 'SGLang 0.5.18, srt/managers/schedule_policy.py',
    }),
    { range: isExact(longest) ? undefined : longest },
  );
  if (tokens.high <= 0) {
    return { starts: false, findings: [], longestContext };
  }
  const refusals = [windowsTooSmall(c, pool), noSlots(c, pool), noneRunning(c)].filter((f) => f !== undefined);
  if (refusals.length > 0) {
    return {
      starts: refusals.some((f) => f.severity === 'error') ? false : 'unknown',
      findings: refusals,
      longestContext,
    };
  }
  return {
    starts: tokens.low > 0 ? true : 'unknown',
    findings: [
      ...(tokens.low > 0 ? [] : [straddles]),
      ...lengthAbovePool(c, layout, tokens, longest),
      ...hostTooSmall(c, pool),
      ...capAboveMemory(c, pool),
    ],
    longestContext,
  };
}

const scaled = (e: Estimate, by: number): Estimate => mapped(e, (n) => n * by);

const mapped = (e: Estimate, of: (n: number) => number): Estimate =>
  isExact(e) ? exactly(of(e.value)) : { low: of(e.low), value: of(e.value), high: of(e.high) };

/** A request that fits exactly is not admitted. */
const longestOf = (tokens: number, c: SglangConfiguration): number => Math.max(0, tokens - c.page.tokens - 1);

const straddles: Finding = {
  code: 'no-kv-memory',
  severity: 'warning',
  option: 'mem-fraction-static',
  message:
    'SGLang may refuse to start, depending on memory that can only be estimated: weights may leave no GPU memory for the KV cache under this mem-fraction-static.',
  fixes: [],
};

const partOf = (pool: Pool, name: string): Estimate | undefined => {
  const part = pool.parts?.find((p) => p.name === name);
  return part && ends(part.blocks);
};

function windowsTooSmall(c: SglangConfiguration, pool: Pool): Finding | undefined {
  const pages = partOf(pool, 'windows');
  const window = Math.max(...cellsOf(c).map((r) => r.window));
  const page = c.page.tokens;
  if (!pages || window + page < pages.low * page) {
    return undefined;
  }
  const certain = window + page >= pages.high * page;
  const said = `SWA pool (${withCommas(pages.value * page)} tokens) cannot hold even one request: a window of ${withCommas(window)} tokens and a page of ${page} must fit.`;
  return {
    ...refusal(
      'window-pool-too-small',
      certain ? said : `SGLang may refuse to start, depending on memory that can only be estimated: ${said}`,
      'swa-full-tokens-ratio',
      enoughWindows(c, pool, window),
    ),
    severity: certain ? 'error' : 'warning',
  };
}

/** A ratio whose windows hold two requests. */
function enoughWindows(c: SglangConfiguration, pool: Pool, window: number): readonly Fix[] {
  const tokens = ends(pool.blocks).low * c.page.tokens;
  const ratio = Math.ceil((2 * (window + 128 + 2 * c.page.tokens) * 1000) / Math.max(1, tokens)) / 1000;
  return ratio > (c.windowRatio ?? 1) && ratio <= 1
    ? [{ title: `Set swa-full-tokens-ratio to ${ratio}`, option: 'swa-full-tokens-ratio', value: String(ratio) }]
    : [];
}

function noSlots(c: SglangConfiguration, pool: Pool): Finding | undefined {
  const slots = partOf(pool, 'states');
  if (!slots || slots.low >= c.states.slotsPerRequest) {
    return undefined;
  }
  const certain = slots.high < c.states.slotsPerRequest;
  const said = `Hybrid (mamba/linear-attention) state cache is too small to serve any requests: ${withCommas(slots.value)} slots, and one request takes ${c.states.slotsPerRequest}.`;
  return {
    ...refusal(
      'too-few-state-slots',
      certain ? said : `SGLang may refuse to start, depending on memory that can only be estimated: ${said}`,
      'mamba-full-memory-ratio',
    ),
    severity: certain ? 'error' : 'warning',
  };
}

/** Workers of data-parallel attention share the limit out, rounded down. Source: srt/managers/tp_worker.py. */
function noneRunning({ running, placement }: SglangConfiguration): Finding | undefined {
  const workers = placement.attentionData;
  return running === 0
    ? refusal(
        'no-running-requests',
        `max_running_request is zero: max-running-requests is divided among ${workers} workers of data-parallel attention, rounded down.`,
        'max-running-requests',
        [{ title: `Set max-running-requests to ${workers}`, option: 'max-running-requests', value: String(workers) }],
      )
    : undefined;
}

/** It starts all the same: requests are cut off at the pool. */
function lengthAbovePool(
  c: SglangConfiguration,
  layout: Layout,
  tokens: Estimate,
  longest: Estimate,
): readonly Finding[] {
  const { maxLength } = c;
  if (maxLength === undefined || maxLength - 1 <= longest.high) {
    return [];
  }
  const safe = Math.floor(longest.low / layout.blockSize) * layout.blockSize;
  return [
    {
      code: 'length-above-pool',
      severity: 'warning',
      option: 'context-length',
      message: `SGLang starts with a context length of ${withCommas(maxLength)}, but the pool holds ${withCommas(tokens.high)} tokens: prompts beyond ${withCommas(Math.max(0, tokens.high - 6))} tokens are refused, and longer requests are cut off.`,
      fixes:
        safe > 0
          ? [
              {
                title: `Set context-length to ${withCommas(safe)}, the longest that one request can reach${isExact(longest) ? '' : ' for sure'}`,
                option: 'context-length',
                value: String(safe),
              },
            ]
          : [],
    },
  ];
}

function hostTooSmall(c: SglangConfiguration, pool: Pool): readonly Finding[] {
  const host = pool.hostTier?.tokens.value;
  const tokens = (pool.blocks.range?.low ?? pool.blocks.value) * c.page.tokens;
  if (host === undefined || host > tokens) {
    return [];
  }
  return [
    refusal(
      'host-tier-too-small',
      `The host memory should be larger than the device memory with the current protocol: ${withCommas(host)} tokens on the host, ${withCommas(tokens)} on the GPU.`,
      c.host?.gigabytes ? 'hicache-size' : 'hicache-ratio',
      [{ title: 'Set hicache-ratio to 2', option: 'hicache-ratio', value: '2' }],
    ),
  ];
}

function capAboveMemory(c: SglangConfiguration, pool: Pool): readonly Finding[] {
  const tokens = ends(pool.blocks).high * c.page.tokens;
  if (c.maxTokens === undefined || c.maxTokens < tokens + c.page.tokens) {
    return [];
  }
  return [
    {
      code: 'cap-above-memory',
      severity: 'warning',
      option: 'max-total-tokens',
      message: `max_total_tokens=${c.maxTokens} is larger than the profiled value ${tokens}. Use the profiled value instead.`,
      fixes: [],
    },
  ];
}
