/** KV bytes → blocks, and what this version prints of them. Source: vLLM 0.28, v1/core/kv_cache_utils.py; 0.6.6, worker/worker.py. */
import { requestBlocks } from '../../capacity/longest';
import { figure, type Origin } from '../../figure';
import { type Estimate, exactly, GiB, isExact, pythonRound2, toFixedHalfEven, withCommas } from '../../units';
import type { HostTier, Layout, Logged, Pool, Rank } from '../engine';
import { settingOriginsOf } from '../setting-origin';
import type { VllmConfiguration } from './configure';

const SOURCE = 'vLLM 0.28, v1/core/kv_cache_utils.py';

const written = (c: VllmConfiguration, name: string) => settingOriginsOf(c.settings, [name], `vLLM ${c.version.text}`);

export function poolOf(c: VllmConfiguration, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool {
  const blocksAt = (rank: number, at: keyof Estimate) =>
    c.blocksOverride ??
    Math.max(0, Math.floor((kv[rank] as Estimate)[at] / (layout.ranks[rank] as Rank).bytesPerBlock));
  const smallest = (at: keyof Estimate) => Math.min(...layout.ranks.map((_, i) => blocksAt(i, at)));
  const blocks = smallest('value');
  const decidingRank = layout.ranks.findIndex((_, i) => blocksAt(i, 'value') === blocks);
  const memory = kv[decidingRank] as Estimate;
  const estimated = !isExact(memory) && c.blocksOverride === undefined;
  const range = (of: (n: number) => number) =>
    estimated ? { low: of(smallest('low')), value: of(blocks), high: of(smallest('high')) } : undefined;
  const { bytesPerBlock } = layout.ranks[decidingRank] as Rank;
  // The engine allocates as many blocks as it is told to, whatever memory leaves.
  const own = c.blocksOverride === undefined ? memory : exactly(blocks * bytesPerBlock);
  return {
    memory: c.blocksOverride === undefined ? undefined : memory,
    bytes: figure(
      own.value,
      'bytes',
      () =>
        c.blocksOverride === undefined
          ? {
              symbols: 'KV bytes of one GPU',
              numbers: `${withCommas(own.value)} (${pythonRound2(own.value / GiB)} GiB)`,
              origins: [origin],
            }
          : {
              symbols: 'num-gpu-blocks-override × bytes per block',
              numbers: `${withCommas(blocks)} × ${withCommas(bytesPerBlock)} = ${withCommas(own.value)}`,
              origins: written(c, 'num-gpu-blocks-override'),
            },
      { scope: 'per GPU', range: isExact(own) ? undefined : own },
    ),
    blocks: figure(
      blocks,
      'blocks',
      () => ({
        symbols:
          c.blocksOverride === undefined
            ? '⌊KV bytes ÷ bytes per block⌋, smallest over ranks'
            : 'num-gpu-blocks-override',
        numbers:
          c.blocksOverride === undefined
            ? `⌊${withCommas(own.value)} ÷ ${withCommas(bytesPerBlock)}⌋ = ${withCommas(blocks)}`
            : withCommas(blocks),
        origins: c.blocksOverride === undefined ? [origin] : written(c, 'num-gpu-blocks-override'),
        source: `${SOURCE} :: get_num_blocks`,
      }),
      { range: range((n) => n) },
    ),
    usableBlocks: usable(blocks, c),
    ranks: layout.ranks.map((_, i) => ({ kvBytes: (kv[i] as Estimate).value, blocks: blocksAt(i, 'value') })),
    decidingRank,
    logged: loggedOf(c, layout, blocks, memory.value, range),
    hostTier: hostTierOf(c, layout),
  };
}

/**
 * Source: vLLM 0.28, v1/kv_offload (a block of host memory holds the block of every GPU); 0.6.6, worker/worker.py
 * (swap space is per GPU).
 */
function hostTierOf(c: VllmConfiguration, layout: Layout): HostTier | undefined {
  const gpus = c.placement.tensor * c.placement.pipeline;
  const bytes = c.rules.core === 'V0' ? c.swapBytes * gpus : c.offloadBytes;
  if (bytes === 0) {
    return undefined;
  }
  const perBlock = layout.ranks.reduce((total, rank) => total + rank.bytesPerBlock, 0) * c.placement.tensor;
  const blocks = Math.floor(bytes / perBlock);
  const tokens =
    layout.groups.length === 1 || c.maxLength === undefined
      ? blocks * layout.blockSize * layout.tokensPerSlot
      : Math.trunc(concurrencyOf(blocks, c.maxLength, c, layout) * c.maxLength);
  const origins = [
    {
      kind: 'file' as const,
      text: c.rules.core === 'V0' ? 'swap-space, GiB per GPU' : 'kv-offloading-size, GiB over all GPUs of a replica',
    },
  ];
  return {
    bytes: figure(bytes, 'bytes', () => ({ symbols: 'host memory', numbers: withCommas(bytes), origins }), {
      scope: 'whole deployment',
    }),
    tokens: figure(tokens, 'tokens', () => ({
      symbols: '⌊host bytes ÷ bytes of one block on all GPUs⌋ × block size',
      numbers: `⌊${withCommas(bytes)} ÷ ${withCommas(perBlock)}⌋ = ${withCommas(blocks)} blocks, ${withCommas(tokens)} tokens`,
      origins,
      source: 'vLLM 0.28, v1/kv_offload',
    })),
  };
}

type Ranged = (of: (blocks: number) => number) => Estimate | undefined;

function loggedOf(
  c: VllmConfiguration,
  layout: Layout,
  blocks: number,
  kvBytes: number,
  range: Ranged,
): Logged | undefined {
  const length = c.maxLength;
  if (length === undefined) {
    return undefined;
  }
  const tokens = (n: number) => loggedTokens(n, length, c, layout);
  const concurrency = (n: number) => concurrencyOf(n, length, c, layout);
  return {
    tokens: figure(tokens(blocks), 'tokens', () => explainTokens(blocks, length, c, layout), { range: range(tokens) }),
    maxConcurrency: figure(concurrency(blocks), 'requests', () => explainConcurrency(blocks, length, c, layout), {
      range: range(concurrency),
    }),
    lines: logLines(c, layout, length, blocks, kvBytes),
  };
}

/** Block 0 is V1's null block: never handed out. */
const usable = (blocks: number, c: VllmConfiguration): number =>
  c.rules.core === 'V1' ? Math.max(0, blocks - 1) : blocks;

/** In IEEE doubles and in the engine's own order of operations: `int()` of it can lose one token. */
function concurrencyOf(blocks: number, length: number, c: VllmConfiguration, layout: Layout): number {
  return c.rules.groups ? blocks / requestBlocks(layout, length) : (blocks * layout.blockSize) / length;
}

function loggedTokens(blocks: number, length: number, c: VllmConfiguration, layout: Layout): number {
  switch (c.rules.tokensLogged) {
    case 'concurrency':
      return Math.trunc(concurrencyOf(blocks, length, c, layout) * length);
    case 'smallest-group':
      return Math.floor(blocks / layout.groups.length) * layout.blockSize * c.placement.context;
    case 'blocks':
      return blocks * layout.blockSize;
  }
}

function explainTokens(blocks: number, length: number, c: VllmConfiguration, layout: Layout) {
  const value = withCommas(loggedTokens(blocks, length, c, layout));
  const forms = {
    concurrency: [
      'int(concurrency × max length)',
      `int(${concurrencyOf(blocks, length, c, layout)} × ${length}) = ${value}`,
    ],
    'smallest-group': [
      '⌊blocks ÷ groups⌋ × smallest block size',
      `⌊${blocks} ÷ ${layout.groups.length}⌋ × ${layout.blockSize} = ${value}`,
    ],
    blocks: ['blocks × block size', `${blocks} × ${layout.blockSize} = ${value}`],
  } as const;
  const [symbols, numbers] = forms[c.rules.tokensLogged];
  return {
    symbols,
    numbers,
    origins: [{ kind: 'derived' as const, text: `as vLLM ${c.version.text} prints it` }],
    source: SOURCE,
  };
}

function explainConcurrency(blocks: number, length: number, c: VllmConfiguration, layout: Layout) {
  const value = concurrencyOf(blocks, length, c, layout);
  return {
    symbols: 'blocks ÷ blocks of one request of max length',
    numbers: `${withCommas(blocks)} ÷ ${withCommas(requestBlocks(layout, length))} = ${value}`,
    origins: written(c, 'max-model-len'),
    source: `${SOURCE} :: get_max_concurrency_for_kv_cache_config`,
  };
}

/** The lines as this version prints them. */
function logLines(
  c: VllmConfiguration,
  layout: Layout,
  length: number,
  blocks: number,
  kvBytes: number,
): readonly string[] {
  const tokens = loggedTokens(blocks, length, c, layout);
  const times = `${toFixedHalfEven(concurrencyOf(blocks, length, c, layout), 2)}x`;
  const cpuBlocks = Math.floor(c.swapBytes / layout.bytesPerBlock.value);
  switch (c.rules.logStyle) {
    case 'gpu-blocks':
      return [
        `# GPU blocks: ${blocks}, # CPU blocks: ${cpuBlocks}`,
        `Maximum concurrency for ${length} tokens per request: ${times}`,
      ];
    case 'cuda-blocks':
      return [
        `# cuda blocks: ${blocks}, # CPU blocks: ${cpuBlocks}`,
        `Maximum concurrency for ${length} tokens per request: ${times}`,
      ];
    case 'two-lines':
      return [
        `Available KV cache memory: ${toFixedHalfEven(kvBytes / GiB, 2)} GiB`,
        `GPU KV cache size: ${withCommas(tokens)} tokens`,
        `Maximum concurrency for ${withCommas(length)} tokens per request: ${times}`,
      ];
    case 'one-line':
      return [
        `Available KV cache memory: ${pythonRound2(kvBytes / GiB)} GiB`,
        `GPU KV cache size: ${withCommas(tokens)} tokens, Maximum concurrency for ${withCommas(length)} tokens per request: ${times}`,
      ];
  }
}
