/** The pools of one GPU, and what SGLang prints of them. Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py, memory_pool.py. */
import { figure, type Origin } from '../../figure';
import { type Estimate, exactly, GB, GiB, isExact, toFixedHalfEven, withCommas } from '../../units';
import type { HostTier, Layout, Logged, Pool, PoolPart } from '../engine';
import type { SglangConfiguration } from './configure';
import { SOURCE } from './layout';
import { cellOf, cellsOf, type RankCells, type Tally } from './rank';
import { runningOf, type Sizes, sizesOf } from './tokens';

type End = keyof Estimate;

/** The same at both ends of what memory leaves. */
interface Sized {
  at(end: End): Sizes;
  range(of: (s: Sizes) => number): Estimate | undefined;
}

/** Ranks agree on the fewest tokens. */
function sized(c: SglangConfiguration, layout: Layout, kv: readonly Estimate[]): Sized & { decidingRank: number } {
  const all = (end: End) => layout.ranks.map((_, i) => sizesOf((kv[i] as Estimate)[end], i, c));
  const fewest = (sizes: readonly Sizes[]) => sizes.reduce((a, b) => (b.tokens < a.tokens ? b : a));
  const value = all('value');
  const least = fewest(value);
  const ends = { low: fewest(all('low')), value: least, high: fewest(all('high')) };
  const estimated = !kv.every(isExact);
  return {
    decidingRank: value.indexOf(least),
    at: (end) => ends[end],
    range: (of) => {
      const e = { low: of(ends.low), value: of(ends.value), high: of(ends.high) };
      return estimated && e.low !== e.high ? e : undefined;
    },
  };
}

export function poolOf(c: SglangConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const sizes = sized(c, layout, kv);
  const { decidingRank } = sizes;
  const memory = kv[decidingRank] as Estimate;
  const r = cellsOf(c)[decidingRank] as RankCells;
  const page = c.page.tokens;
  const own = sizes.at('value');
  const pages = (s: Sizes) => Math.floor(s.tokens / page);
  const capped = c.maxTokens !== undefined && own.tokens <= c.maxTokens && own.tokens === capOf(c);
  const bytes = capped ? mapped(sizes, (s) => bytesOf(s, r, c), memory) : memory;
  const parts = partsOf(c, layout, sizes, r, origin);
  const running = runningOf(own, c);
  return {
    memory: capped ? memory : undefined,
    bytes: figure(
      bytes.value,
      'bytes',
      () =>
        capped
          ? {
              symbols: 'max-total-tokens × bytes per token',
              numbers: `${withCommas(own.tokens)} × ${withCommas(cellOf(r, c))} = ${withCommas(bytes.value)}`,
              origins: [{ kind: 'file', text: 'max-total-tokens' }],
            }
          : {
              symbols: 'KV bytes of one GPU',
              numbers: `${withCommas(bytes.value)} (${toFixedHalfEven(bytes.value / GiB, 2)} GiB)`,
              origins: [origin],
            },
      { scope: 'per GPU', range: isExact(bytes) ? undefined : bytes },
    ),
    blocks: figure(pages(own), 'blocks', () => explainTokens(own, memory.value, r, c, origin), {
      range: sizes.range(pages),
    }),
    usableBlocks: pages(own),
    ranks: layout.ranks.map((_, i) => ({
      kvBytes: (kv[i] as Estimate).value,
      blocks: Math.floor(sizesOf((kv[i] as Estimate).value, i, c).tokens / page),
    })),
    decidingRank,
    logged: loggedOf(c, sizes, r, memory.value, origin),
    hostTier: hostTierOf(c, own),
    ...(parts && { parts }),
    ...(running !== undefined && {
      maxSequences: figure(running, 'requests', () => explainRunning(own, c), {
        range: sizes.range((s) => runningOf(s, c) ?? 0),
      }),
    }),
  };
}

const capOf = (c: SglangConfiguration): number =>
  Math.floor((c.maxTokens ?? Number.MAX_SAFE_INTEGER) / c.page.tokens) * c.page.tokens;

function mapped(sizes: Sized, of: (s: Sizes) => number, memory: Estimate): Estimate {
  const [low, value, high] = (['low', 'value', 'high'] as const).map((end) => of(sizes.at(end))) as [
    number,
    number,
    number,
  ];
  return isExact(memory) ? exactly(value) : { low, value, high };
}

/** Bytes that the pools take. */
const bytesOf = (s: Sizes, r: RankCells, c: SglangConfiguration): number =>
  s.windows === undefined
    ? s.tokens * cellOf(r, c) + s.stateBytes
    : s.tokens * r.fullBytes + s.windows * r.windowBytes + s.stateBytes;

function partsOf(
  c: SglangConfiguration,
  layout: Layout,
  sizes: Sized,
  r: RankCells,
  origin: Origin,
): readonly PoolPart[] | undefined {
  const own = sizes.at('value');
  if (own.windows === undefined && own.slots === undefined) {
    return undefined;
  }
  const page = c.page.tokens;
  const part = (
    name: string,
    value: (s: Sizes) => number,
    told: string,
    kinds: (kind: string) => boolean,
  ): PoolPart => ({
    name,
    blocks: figure(
      value(own),
      'blocks',
      () => ({ symbols: told, numbers: withCommas(value(own)), origins: [origin], source: SOURCE }),
      {
        range: sizes.range(value),
      },
    ),
    groups: layout.groups.flatMap((g, i) => (kinds(g.kind) ? [i] : [])),
  });
  const isWindow = (kind: string) => kind === 'sliding' || kind === 'chunked';
  return [
    part(
      'full attention',
      (s) => Math.floor(s.tokens / page),
      'tokens ÷ page size',
      (k) => !isWindow(k) && k !== 'state',
    ),
    ...(own.windows === undefined
      ? []
      : [part('windows', (s) => Math.floor((s.windows ?? 0) / page), 'full tokens × ratio ÷ page size', isWindow)]),
    // Rings of compression are as many as requests run: they limit nothing.
    ...(own.slots === undefined || r.stateLayers === 0 || c.rings
      ? []
      : [
          part(
            'states',
            (s) => s.slots ?? 0,
            'slots for states',
            (k) => k === 'state',
          ),
        ]),
  ];
}

function explainTokens(own: Sizes, bytes: number, r: RankCells, c: SglangConfiguration, origin: Origin) {
  const page = c.page.tokens;
  const states = own.stateBytes > 0;
  const from = states
    ? `(${withCommas(bytes)} − ${withCommas(own.stateBytes)} for ${withCommas(own.slots ?? 0)} state slots)`
    : withCommas(bytes);
  const inPages = page > 1 ? `, ${withCommas(Math.floor(own.tokens / page))} pages of ${page}` : '';
  const windows = own.windows === undefined ? '' : `; ${withCommas(own.windows)} in windows`;
  const capped = own.tokens === capOf(c) ? `, at most ${withCommas(own.tokens)}` : '';
  return {
    symbols: `⌊KV bytes${states ? ' without states' : ''} ÷ bytes per token⌋${page > 1 ? ' in whole pages' : ''}`,
    numbers: `⌊${from} ÷ ${withCommas(cellOf(r, c))}⌋${capped} → ${withCommas(own.tokens)} tokens${inPages}${windows}`,
    origins: [origin],
    source: SOURCE,
  };
}

function explainRunning(own: Sizes, c: SglangConfiguration) {
  const length = c.maxLength ?? 1;
  const { low, high } = c.rules.running;
  const byStates = own.slots === undefined ? [] : [`⌊${withCommas(own.slots)} slots ÷ ${c.states.slotsPerRequest}⌋`];
  const first =
    c.running === undefined
      ? `⌊${withCommas(own.tokens)} ÷ ${withCommas(length)} × 512⌋ between ${withCommas(low)} and ${Number.isFinite(high) ? withCommas(high) : 'any number'}`
      : withCommas(c.running);
  const dp =
    c.placement.attentionData > 1 && c.running !== undefined
      ? `max-running-requests ÷ ${c.placement.attentionData}`
      : 'max-running-requests';
  return {
    symbols: `min(${c.running === undefined ? 'tokens ÷ context length × 512' : dp}, tokens ÷ 2${byStates.length > 0 ? ', state slots ÷ slots per request' : ''})`,
    numbers: `min(${[first, `${withCommas(own.tokens)} ÷ 2`, ...byStates].join(', ')}) = ${withCommas(runningOf(own, c) ?? 0)}`,
    origins: [{ kind: 'derived' as const, text: 'max_running_requests of one worker' }],
    source: 'SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py',
  };
}

/** `max_total_num_tokens`, and the lines of the start-up log; the tensors have a page more than the tokens. */
function loggedOf(c: SglangConfiguration, sizes: Sized, r: RankCells, bytes: number, origin: Origin): Logged {
  const own = sizes.at('value');
  return {
    tokens: figure(own.tokens, 'tokens', () => explainTokens(own, bytes, r, c, origin), {
      range: sizes.range((s) => s.tokens),
    }),
    lines: logLines(c, own, r),
  };
}

const gib = (bytes: number): string => toFixedHalfEven(bytes / GiB, 2);

function logLines(c: SglangConfiguration, s: Sizes, r: RankCells): readonly string[] {
  const running = runningOf(s, c);
  return [
    ...(s.slots === undefined || c.rings
      ? []
      : [
          `Mamba Cache is allocated. max_mamba_cache_size: ${s.slots}, conv_state size: ${gib((s.slots + 1) * r.convBytes)}GB, ssm_state size: ${gib((s.slots + 1) * r.recurrentBytes)}GB`,
        ]),
    ...(s.windows === undefined
      ? [allocated(c, s.tokens, r.full)]
      : c.rings
        ? [compressedPools(c, s, r)]
        : [
            `Use sliding window memory pool. full_layer_tokens=${s.tokens}, swa_layer_tokens=${s.windows}`,
            allocated(c, s.windows, r.windows),
            allocated(c, s.tokens, r.full),
          ]),
    ...(running === undefined
      ? []
      : [
          `max_total_num_tokens=${s.tokens}, chunked_prefill_size=${c.chunk > 0 ? c.chunk : -1}, max_prefill_tokens=${c.prefillTokens}, max_running_requests=${running}, context_len=${c.maxLength}`,
        ]),
  ];
}

/** DeepSeek V4 prints its pools before it knows how many requests run: rings of 128-to-1 compression are none yet. */
const compressedPools = (c: SglangConfiguration, { tokens, windows = 0 }: Sizes, r: RankCells): string =>
  `DSV4 pool sizes: full=${tokens}, swa=${windows}, c4=${Math.floor(tokens / 4)}, c128=${Math.floor(tokens / 128)}, c4_state=${Math.floor(windows / r.window) * (c.rings?.fine ?? 0)}, c128_state=0`;

const TORCH: Readonly<Record<string, string>> = {
  bfloat16: 'torch.bfloat16',
  float16: 'torch.float16',
  float32: 'torch.float32',
  fp8_e4m3: 'torch.float8_e4m3fn',
  fp8_e5m2: 'torch.float8_e5m2',
};

/** Keys and values of heads are printed apart; latent vectors are one. Index keys are not in these sizes. */
function allocated(c: SglangConfiguration, tokens: number, tallies: readonly Tally[]): string {
  const rows = tokens + c.page.tokens;
  const dtype = c.rules.logsDtype ? `dtype: ${TORCH[c.stored.value] ?? c.stored.value}, ` : '';
  const size = (of: (t: Tally) => number) => gib(rows * tallies.reduce((all, t) => all + t.count * of(t), 0));
  const heads = tallies.filter((t) => t.layer.kind !== 'latent' && t.layer.kind !== 'indexer');
  const keys = ({ layer, bytes }: Tally) => (bytes * layer.headDim) / (layer.headDim + layer.valueDim);
  return heads.length > 0
    ? `KV Cache is allocated. ${dtype}#tokens: ${tokens}, K size: ${size(keys)} GB, V size: ${size((t) => t.bytes - keys(t))} GB`
    : `KV Cache is allocated. ${dtype}#tokens: ${tokens}, KV size: ${size((t) => (t.layer.kind === 'indexer' ? 0 : t.bytes))} GB`;
}

/** HiCache: as many tokens on the host as the ratio says, or as its GB hold; in whole pages, and one more. */
function hostTierOf(c: SglangConfiguration, own: Sizes): HostTier | undefined {
  if (!c.host) {
    return undefined;
  }
  const cells = cellsOf(c);
  const page = c.page.tokens;
  const perToken = Math.max(...cells.map((r) => cellOf(r, c)));
  const { gigabytes, ratio } = c.host;
  const asked = gigabytes > 0 ? Math.floor((gigabytes * GB) / perToken) : Math.trunc(own.tokens * ratio);
  const tokens = (Math.floor(asked / page) + 1) * page;
  const gpus = c.placement.attentionTensor;
  const bytes = cells.reduce((all, r) => all + tokens * cellOf(r, c), 0) * gpus;
  const origins = [
    { kind: 'file' as const, text: gigabytes > 0 ? `hicache-size ${gigabytes}` : `hicache-ratio ${ratio}` },
  ];
  const source = 'SGLang 0.5.18, srt/mem_cache/memory_pool_host.py';
  return {
    bytes: figure(
      bytes,
      'bytes',
      () => ({
        symbols: 'host tokens × bytes per token × GPUs of one worker',
        numbers: `${withCommas(tokens)} × ${withCommas(perToken)} × ${gpus} = ${withCommas(bytes)}`,
        origins,
        source,
      }),
      { scope: 'whole deployment' },
    ),
    tokens: figure(tokens, 'tokens', () => ({
      symbols:
        gigabytes > 0
          ? '⌊hicache-size × 10^9 ÷ bytes per token⌋, in pages, and one page'
          : 'pool tokens × hicache-ratio, in pages, and one page',
      numbers: `${gigabytes > 0 ? `⌊${gigabytes} × 10^9 ÷ ${withCommas(perToken)}⌋` : `${withCommas(own.tokens)} × ${ratio}`} → ${withCommas(tokens)}`,
      origins,
      source,
    })),
  };
}
