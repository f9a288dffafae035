/** KV bytes → tokens → blocks, and what is printed of them. Source: resource_manager.py :: KVCacheManager; kvCacheManager.cpp. */
import { type Figure, figure, type Origin } from '../../figure';
import { ceilDiv, type Estimate, GiB, isExact, withCommas } from '../../units';
import { blockPool, loggedTokens } from '../block-pool';
import type { HostTier, Layout, Logged, Pool, PoolPart } from '../engine';
import { originOfSetting } from '../memory';
import type { TrtConfiguration } from './configure';
import { windowsIn } from './layout';

const SOURCE = 'TensorRT-LLM 1.3, _torch/pyexecutor/resource_manager.py :: KVCacheManager';

/** The C++ manager of engines always rounds up. */
const roundsUp = (c: TrtConfiguration): boolean => c.backend === 'tensorrt' || c.rules.blocksUp;

function blocksOfTokens(tokens: number, c: TrtConfiguration): number {
  return roundsUp(c) ? ceilDiv(tokens, c.block.tokens) : Math.floor(tokens / c.block.tokens);
}

/** Whole tokens first, then whole blocks of them. */
const blocksOfBytes = (bytes: number, perBlock: number, c: TrtConfiguration): number =>
  perBlock === 0 ? 0 : blocksOfTokens(Math.floor((Math.max(0, bytes) * c.block.tokens) / perBlock), c);

export function poolOf(c: TrtConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  return windowsIn(c).length > 1 ? poolsByWindow(c, layout, kv, origin) : onePool(c, layout, kv, origin);
}

function onePool(c: TrtConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const tokens = c.maxTokens === undefined ? undefined : blocksOfTokens(c.maxTokens, c);
  const perBlock = layout.bytesPerBlock.value;
  const bytes = c.maxBytes === undefined ? undefined : blocksOfBytes(c.maxBytes, perBlock, c);
  const capBy =
    bytes !== undefined && bytes < (tokens ?? Number.POSITIVE_INFINITY) ? 'max_gpu_total_bytes' : 'max_tokens';
  const cap = Math.min(tokens ?? Number.POSITIVE_INFINITY, bytes ?? Number.POSITIVE_INFINITY);
  const setting = c.settings.findLast((s) => s.name === `kv_cache_config.${capBy}`);
  return blockPool({
    layout,
    kv,
    origin,
    blocksOf: (b, rank) => blocksOfBytes(b, rank.bytesPerBlock, c),
    cap: Number.isFinite(cap)
      ? { blocks: cap, origin: originOfSetting(setting, capBy), symbols: `${capBy}, less than what memory leaves` }
      : undefined,
    reserved: 0,
    allocated: true,
    symbols: roundsUp(c)
      ? '⌈⌊KV bytes ÷ bytes per token⌋ ÷ tokens per block⌉'
      : '⌊⌊KV bytes ÷ bytes per token⌋ ÷ tokens per block⌋',
    source: SOURCE,
    logged: (blocks) => loggedOf(c, layout, blocks),
    hostTier: hostTierOf(c, layout),
  });
}

/** Source: TRTLLM_WINDOW_SIZE_SHARES; before, kvCacheManager.cpp :: calculateWindowSizeToShare. */
function sharesOf(c: TrtConfiguration, layout: Layout): readonly number[] {
  const windows = windowsIn(c);
  const given = c.windowShares?.length === windows.length ? c.windowShares : undefined;
  const weights =
    given ??
    windows.map((window, i) =>
      c.rules.windowShares === 'equal'
        ? 1
        : (layout.groups[i]?.bytesPerBlock ?? 0) * (window ?? c.maxLength ?? 1) * (layout.groups[i]?.layers ?? 0),
    );
  const all = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / all);
}

/** Every window has a pool of its own; a request needs blocks in each of them. */
function poolsByWindow(c: TrtConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const shares = sharesOf(c, layout);
  const blocksAt = (rank: number, group: number, at: keyof Estimate) => {
    const own = layout.ofRank(rank).groups[group]?.bytesPerBlock ?? 0;
    return own === 0
      ? Number.POSITIVE_INFINITY
      : blocksOfBytes((kv[rank] as Estimate)[at] * (shares[group] as number), own, c);
  };
  const fewest = (group: number, at: keyof Estimate) =>
    Math.min(...layout.ranks.map((_, rank) => blocksAt(rank, group, at)));
  const exact = kv.every(isExact);
  const parts = layout.groups.map((group, i): PoolPart => {
    const value = fewest(i, 'value');
    const range = exact ? undefined : { low: fewest(i, 'low'), value, high: fewest(i, 'high') };
    const name = group.kind === 'sliding' ? `window of ${withCommas(windowsIn(c)[i] ?? 0)}` : 'full attention';
    return {
      name,
      groups: [i],
      blocks: figure(
        value,
        'blocks',
        () => ({
          symbols: 'share of the pool ÷ bytes per block',
          numbers: `${((shares[i] as number) * 100).toFixed(1)} % at ${withCommas(group.bytesPerBlock)} a block: ${withCommas(value)}`,
          origins: [origin],
          source: SOURCE,
        }),
        { range },
      ),
    };
  });
  return joined(c, layout, parts, kv, origin);
}

/** The pools together: bytes and blocks add up. */
function joined(
  c: TrtConfiguration,
  layout: Layout,
  parts: readonly PoolPart[],
  kv: readonly Estimate[],
  origin: Origin,
): Pool {
  const total = (of: (part: PoolPart, at: keyof Estimate, i: number) => number, unit: 'bytes' | 'blocks'): Figure => {
    const at = (end: keyof Estimate) => parts.reduce((all, part, i) => all + of(part, end, i), 0);
    const value = at('value');
    const range = parts.some((p) => p.blocks.range) ? { low: at('low'), value, high: at('high') } : undefined;
    const numbers = `${parts.map((p, i) => `${p.name} ${withCommas(of(p, 'value', i))}`).join(' + ')} = ${withCommas(value)}`;
    const explain = () => ({ symbols: `Σ windows: ${unit}`, numbers, origins: [origin], source: SOURCE });
    return figure(value, unit, explain, unit === 'bytes' ? { scope: 'per GPU', range } : { range });
  };
  const countOf = (p: PoolPart, at: keyof Estimate) => p.blocks.range?.[at] ?? p.blocks.value;
  const blocks = total((p, at) => countOf(p, at), 'blocks');
  return {
    parts,
    bytes: total((p, at, i) => countOf(p, at) * (layout.groups[i]?.bytesPerBlock ?? 0), 'bytes'),
    blocks,
    usableBlocks: blocks.value,
    ranks: layout.ranks.map((_, i) => ({ kvBytes: (kv[i] as Estimate).value, blocks: blocks.value })),
    decidingRank: layout.decidingRank,
    logged: windowLines(c, layout, parts),
    hostTier: hostTierOf(c, layout),
  };
}

function windowLines(c: TrtConfiguration, layout: Layout, parts: readonly PoolPart[]): Logged | undefined {
  const full = parts.find((_, i) => layout.groups[i]?.kind !== 'sliding') ?? parts.at(-1);
  if (!full || c.maxLength === undefined) {
    return undefined;
  }
  const most = c.maxLength + c.extraTokens;
  const lines = parts.map(
    (p, i) =>
      `Number of blocks in KV cache primary pool for windowSize ${windowsIn(c)[i] ?? most}: ${p.blocks.value}, onboard blocks to primary memory before reuse: true`,
  );
  const range = full.blocks.range;
  const value = full.blocks.value;
  return loggedTokens(
    range ?? { low: value, value, high: value },
    c.block.tokens,
    `TensorRT-LLM ${c.version.text}`,
    lines,
  );
}

function loggedOf(c: TrtConfiguration, layout: Layout, blocks: Estimate): Logged | undefined {
  if (c.maxLength === undefined) {
    return undefined;
  }
  const size = c.block.tokens;
  const bytes = blocks.value * layout.bytesPerBlock.value;
  const most = c.maxLength + c.extraTokens;
  const window = Math.min(windowsIn(c)[0] ?? most, most);
  const lines = [
    `Number of tokens per block: ${size}.`,
    `[MemUsageChange] Allocated ${(bytes / GiB).toFixed(2)} GiB for max tokens in paged KV cache (${blocks.value * size}).`,
    ...(c.rules.logsBlocks
      ? [
          `Max KV cache blocks per sequence: ${ceilDiv(window, size)} [window size=${window}], tokens per block=${size}, primary blocks=${blocks.value}, max sequence length=${most}`,
        ]
      : []),
  ];
  return loggedTokens(blocks, size, `TensorRT-LLM ${c.version.text}`, lines);
}

/** Pinned memory of every rank: blocks are the whole ones that it holds. */
function hostTierOf(c: TrtConfiguration, layout: Layout): HostTier | undefined {
  if (c.hostBytes === 0) {
    return undefined;
  }
  const perBlock = layout.bytesPerBlock.value;
  const blocks = Math.floor(c.hostBytes / perBlock);
  const tokens = blocks * c.block.tokens;
  const bytes = c.hostBytes * c.placement.tensor * c.placement.pipeline;
  const setting = c.settings.findLast((s) => s.name === 'kv_cache_config.host_cache_size');
  const origins = [originOfSetting(setting, 'host_cache_size')];
  return {
    bytes: figure(
      bytes,
      'bytes',
      () => ({
        symbols: 'host_cache_size × ranks',
        numbers: `${withCommas(c.hostBytes)} × ${c.placement.tensor * c.placement.pipeline} = ${withCommas(bytes)}`,
        origins,
      }),
      { scope: 'whole deployment' },
    ),
    tokens: figure(tokens, 'tokens', () => ({
      symbols: '⌊host bytes of a rank ÷ bytes per block⌋ × tokens per block',
      numbers: `⌊${withCommas(c.hostBytes)} ÷ ${withCommas(perBlock)}⌋ × ${c.block.tokens} = ${withCommas(tokens)}`,
      origins,
      source: SOURCE,
    })),
  };
}
