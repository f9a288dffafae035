/** Layouts of engines that hand out one kind of block, or one for each window: what layers cost is the engine's, the sums are here. */
import { type Explanation, type Figure, figure, type Origin } from '../figure';
import type { LayerKind } from '../model/model';
import { ceilDiv, withCommas } from '../units';
import type { Finding, Group, Hold, Layout, Rank } from './engine';

/** What one layer keeps, in bytes. */
export interface LayerCost {
  readonly stage: number;
  /** Index of its group; absent for a state, which lies outside the pool. */
  readonly group?: number;
  /** A layer joined to the one before it is no layer of its own. */
  readonly joined: boolean;
  /** Keys and values of one token on one GPU, scales included. */
  readonly perToken: number;
  /** The same over one whole replica, each head once. */
  readonly wholePerToken: number;
  /** One block on one GPU, padding included. */
  readonly perBlock: number;
  /** One request's state on one GPU, and over the whole replica. */
  readonly state?: { readonly perGpu: number; readonly whole: number };
  /** `perToken` with numbers in: `2 × 8 × 128 × 2`; and `wholePerToken`. */
  readonly shown: string;
  readonly wholeShown: string;
}

export interface CostGroup {
  readonly kind: LayerKind;
  readonly dtype: string;
  /** Tokens per block. */
  readonly blockSize: number;
  /** Tokens that a request keeps at most. */
  readonly window?: number;
  /** Blocks that a request of this many tokens holds. */
  blocks(tokens: number): number;
}

export interface BlockLayoutInput {
  readonly allocator: Layout['allocator'];
  readonly dtype: Layout['dtype'];
  readonly blockSize: number;
  readonly stages: number;
  readonly groups: readonly CostGroup[];
  readonly costs: readonly LayerCost[];
  /** Tokens of a request whose keys and values are kept: engines never store the last one's. */
  readonly stored?: (tokens: number) => number;
  readonly findings: readonly Finding[];
  /** How a token's bytes come about, in symbols. */
  readonly symbols: string;
  readonly origins: readonly Origin[];
  readonly source: string;
}

export function blockLayout(input: BlockLayoutInput): Layout {
  const ranks = Array.from({ length: input.stages }, (_, stage) => rankOf(input, stage));
  const largest = Math.max(...ranks.map((r) => r.bytesPerBlock));
  const build = (rank: number): Layout => seenFrom(rank, input, ranks, build);
  return build(ranks.findIndex((r) => r.bytesPerBlock === largest));
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((all, item) => all + of(item), 0);

const inGroup = (costs: readonly LayerCost[], group: number) => costs.filter((c) => c.group === group);

const grows = (groups: readonly CostGroup[], c: LayerCost): boolean =>
  c.group !== undefined && groups[c.group]?.window === undefined;

const fixedOf = (groups: readonly CostGroup[], c: LayerCost): number =>
  c.state?.perGpu ?? (grows(groups, c) ? 0 : c.perToken * (groups[c.group as number]?.window as number));

function rankOf({ costs, groups }: BlockLayoutInput, stage: number): Rank {
  const own = costs.filter((c) => c.stage === stage);
  return {
    stage,
    layers: own.filter((c) => !c.joined).length,
    bytesPerToken: sum(own, (c) => (grows(groups, c) ? c.perToken : 0)),
    fixedBytes: sum(own, (c) => fixedOf(groups, c)),
    bytesPerBlock: sum(own, (c) => (c.group === undefined ? 0 : c.perBlock)),
  };
}

function seenFrom(
  decidingRank: number,
  input: BlockLayoutInput,
  ranks: readonly Rank[],
  ofRank: (rank: number) => Layout,
): Layout {
  const { costs, groups, allocator, dtype, blockSize, findings } = input;
  const rank = ranks[decidingRank] as Rank;
  const own = costs.filter((c) => c.stage === decidingRank);
  const kept = keptTokens(input);
  const whole = sum(costs, (c) => (grows(groups, c) ? c.wholePerToken : 0));
  const bytes = (value: number, explain: () => Explanation, scope: Figure['scope'] = 'per GPU') =>
    figure(value, 'bytes', explain, { scope });
  const told = (symbols: string, numbers: string, value: number): Explanation => ({
    symbols,
    numbers: `${numbers} = ${withCommas(value)}`,
    origins: input.origins,
    source: input.source,
  });
  const growing = own.filter((c) => grows(groups, c));
  return {
    allocator,
    dtype,
    blockSize,
    tokensPerSlot: 1,
    groups: groups.map((g, i) => groupOf(g, inGroup(own, i))),
    ranks,
    decidingRank,
    findings,
    bytesPerToken: bytes(rank.bytesPerToken, () =>
      told(input.symbols, runs(growing.map((c) => c.shown)), rank.bytesPerToken),
    ),
    bytesPerTokenTotal: bytes(
      whole,
      () => told(input.symbols, runs(costs.filter((c) => grows(groups, c)).map((c) => c.wholeShown)), whole),
      'whole deployment',
    ),
    fixedBytes: bytes(rank.fixedBytes, () =>
      told(
        'windows and states of one request',
        runs(own.filter((c) => !grows(groups, c)).map((c) => withCommas(fixedOf(groups, c)))),
        rank.fixedBytes,
      ),
    ),
    bytesPerBlock: bytes(rank.bytesPerBlock, () =>
      told(
        'Σ layers: bytes of one block',
        runs(own.filter((c) => c.group !== undefined).map((c) => withCommas(c.perBlock))),
        rank.bytesPerBlock,
      ),
    ),
    groupBlocks: (tokens) => groups.map((g) => g.blocks(tokens)),
    payload: (tokens) => sum(own, (c) => c.state?.perGpu ?? c.perToken * kept(c, tokens)),
    wholePayload: (tokens) => sum(costs, (c) => c.state?.whole ?? c.wholePerToken * kept(c, tokens)),
    hold: (tokens) => holdOf(tokens, input, own),
    ofRank,
  };
}

const groupOf = ({ kind, dtype, blockSize }: CostGroup, own: readonly LayerCost[]): Group => ({
  kind,
  layers: own.length,
  dtype,
  blockSize,
  bytesPerBlock: sum(own, (c) => c.perBlock),
});

function keptTokens({ groups, stored }: BlockLayoutInput): (c: LayerCost, tokens: number) => number {
  return ({ group }, tokens) => {
    const all = stored ? stored(tokens) : tokens;
    return Math.min(all, groups[group as number]?.window ?? all);
  };
}

/** What a request holds of the pool; states lie beside it. */
function holdOf(tokens: number, input: BlockLayoutInput, own: readonly LayerCost[]): Hold {
  const kept = keptTokens(input);
  const held = { blocks: 0, reserved: 0, payload: 0, tail: 0, padding: 0, reservation: 0 };
  input.groups.forEach((group, i) => {
    const blocks = group.blocks(tokens);
    held.blocks += blocks;
    for (const c of inGroup(own, i)) {
      const payload = c.perToken * kept(c, tokens);
      const slots = c.perToken * blocks * group.blockSize;
      held.reserved += c.perBlock * blocks;
      held.payload += payload;
      held.padding += c.perBlock * blocks - slots;
      held[grows(input.groups, c) ? 'tail' : 'reservation'] += slots - payload;
    }
  });
  return held;
}

/** `32 × (2 × 8 × 128 × 2)`: equal ones are told once. */
function runs(terms: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const term of terms) {
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return [...counts].map(([text, n]) => `${n} × (${text})`).join(' + ') || '0';
}

export const wholeBlocks =
  (blockSize: number) =>
  (tokens: number): number =>
    ceilDiv(tokens, blockSize);
