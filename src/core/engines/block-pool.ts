/** KV bytes → blocks of one size, for engines whose ranks agree on the fewest. */
import { figure, type Origin } from '../figure';
import { type Estimate, exactly, formatBytes, isExact, withCommas } from '../units';
import type { HostTier, Layout, Logged, Pool, Rank } from './engine';

export interface BlockPoolInput {
  readonly layout: Layout;
  /** KV bytes of each rank, and where they came from. */
  readonly kv: readonly Estimate[];
  readonly origin: Origin;
  /** Blocks that one rank makes of its bytes. */
  blocksOf(bytes: number, rank: Rank): number;
  /** Blocks in place of those that memory gives. */
  readonly override?: { readonly blocks: number; readonly origin: Origin };
  /** Most blocks, whatever memory gives. */
  readonly cap?: { readonly blocks: number; readonly origin: Origin; readonly symbols: string };
  /** Blocks that no request gets. */
  readonly reserved: number;
  /** The pool's bytes are those of its blocks; else all that it was given. */
  readonly allocated: boolean;
  readonly symbols: string;
  readonly source: string;
  logged?(blocks: Estimate): Logged | undefined;
  readonly hostTier?: HostTier;
}

export function blockPool(input: BlockPoolInput): Pool {
  const { layout, kv, override, cap, reserved } = input;
  const counted = (rank: number, at: keyof Estimate) =>
    Math.max(0, input.blocksOf((kv[rank] as Estimate)[at], layout.ranks[rank] as Rank));
  const fewest = (at: keyof Estimate) => Math.min(...layout.ranks.map((_, i) => counted(i, at)));
  const capped = (n: number) => override?.blocks ?? Math.min(n, cap?.blocks ?? n);
  const free = fewest('value');
  const decidingRank = layout.ranks.findIndex((_, i) => counted(i, 'value') === free);
  const blocks = ((): Estimate => {
    const e = { low: capped(fewest('low')), value: capped(free), high: capped(fewest('high')) };
    return isExact(kv[decidingRank] as Estimate) ? exactly(e.value) : e;
  })();
  const memory = kv[decidingRank] as Estimate;
  const { bytesPerBlock } = layout.ranks[decidingRank] as Rank;
  const fromOption = override ?? (cap && cap.blocks <= free ? cap : undefined);
  const bytes =
    input.allocated || fromOption
      ? { low: blocks.low * bytesPerBlock, value: blocks.value * bytesPerBlock, high: blocks.high * bytesPerBlock }
      : memory;
  const origins = [fromOption?.origin ?? input.origin];
  return {
    memory: fromOption ? memory : undefined,
    bytes: figure(
      bytes.value,
      'bytes',
      () => ({
        symbols: input.allocated || fromOption ? 'blocks × bytes per block' : 'KV bytes of one GPU',
        numbers:
          input.allocated || fromOption
            ? `${withCommas(blocks.value)} × ${withCommas(bytesPerBlock)} = ${withCommas(bytes.value)}`
            : `${withCommas(bytes.value)} (${formatBytes(bytes.value)})`,
        origins,
      }),
      { scope: 'per GPU', range: isExact(bytes) ? undefined : bytes },
    ),
    blocks: figure(
      blocks.value,
      'blocks',
      () => ({
        symbols: override ? 'blocks as the launch states them' : fromOption ? (cap?.symbols ?? '') : input.symbols,
        numbers: fromOption
          ? withCommas(blocks.value)
          : `${withCommas(memory.value)} bytes at ${withCommas(bytesPerBlock)} a block: ${withCommas(blocks.value)}`,
        origins,
        source: input.source,
      }),
      { range: isExact(blocks) ? undefined : blocks },
    ),
    usableBlocks: Math.max(0, blocks.value - reserved),
    ranks: layout.ranks.map((_, i) => ({ kvBytes: (kv[i] as Estimate).value, blocks: counted(i, 'value') })),
    decidingRank,
    logged: input.logged?.(blocks),
    hostTier: input.hostTier,
  };
}

/** What is printed of tokens: blocks × block size. */
export function loggedTokens(blocks: Estimate, blockSize: number, engine: string, lines: readonly string[]): Logged {
  const value = blocks.value * blockSize;
  return {
    tokens: figure(
      value,
      'tokens',
      () => ({
        symbols: 'blocks × block size',
        numbers: `${withCommas(blocks.value)} × ${blockSize} = ${withCommas(value)}`,
        origins: [{ kind: 'derived', text: `as ${engine} prints it` }],
      }),
      { range: isExact(blocks) ? undefined : { low: blocks.low * blockSize, value, high: blocks.high * blockSize } },
    ),
    lines,
  };
}
