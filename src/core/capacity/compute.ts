/** Contiguous slabs and the engine's own allocator on the same bytes. */
import type { Configuration, Layout, Pool, Workload } from '../engines/engine';
import type { OptionRole } from '../engines/option';
import { type Explanation, type Figure, figure, type Origin } from '../figure';
import { formatBytes, GiB, withCommas } from '../units';
import type { Capacity, LengthPoint, Limit, Waste } from './capacity';

export interface Sizes {
  readonly layout: Layout;
  readonly pool: Pool;
  readonly maxLength: number;
  readonly workload: Workload;
}

export interface CapacityInput extends Sizes {
  readonly configuration: Configuration;
  readonly longestContext?: Figure;
  readonly role: 'serve' | 'prefill' | 'decode';
  /** Where the setting of a role stands, or that it is a default. */
  readonly originOf: (role: OptionRole) => Origin | undefined;
}

export function capacityOf(input: CapacityInput): Capacity {
  const { layout, maxLength, workload, longestContext, role } = input;
  const paged = pagedOf(input);
  const limit = engineLimitOf(input);
  const most = limit?.figure.value;
  const fits = Math.min(paged.requests.value, most ?? Number.POSITIVE_INFINITY);
  return {
    maxLength,
    longestContext,
    workload,
    contiguous: contiguousOf(input),
    paged,
    steadyState: steadyStateOf(input),
    engineLimit: limit?.figure,
    fits: figure(
      fits,
      'requests',
      () =>
        told(
          'min(paged requests, engine limit)',
          `min(${withCommas(paged.requests.value)}, ${most === undefined ? 'unknown' : withCommas(most)}) = ${withCommas(fits)}`,
          'of one replica',
        ),
      { range: capped(paged.requests, most) },
    ),
    limitedBy: limit && limit.figure.value < paged.requests.value ? limit.by : memoryLimit(layout, workload, maxLength),
    transferBytes: role === 'prefill' ? transferOf(layout, workload, maxLength) : undefined,
  };
}

/** Sequences are limited by number, and by the tokens of one step: each running one asks for at least one. */
function engineLimitOf(input: CapacityInput): { readonly figure: Figure; readonly by: Limit } | undefined {
  const { maxSequences, batchTokens, tokensPerStep } = input.configuration;
  if (maxSequences === undefined) {
    return undefined;
  }
  const perStep = Math.floor(batchTokens / tokensPerStep);
  const known = (role: OptionRole) => [input.originOf(role)].filter((o) => o !== undefined);
  return perStep < maxSequences
    ? {
        by: 'batch-tokens',
        figure: figure(perStep, 'requests', () => ({
          symbols: '⌊tokens of one step ÷ tokens of one request⌋',
          numbers: `⌊${withCommas(batchTokens)} ÷ ${tokensPerStep}⌋ = ${withCommas(perStep)}`,
          origins: known('batch-tokens'),
        })),
      }
    : {
        by: 'max-sequences',
        figure: figure(maxSequences, 'requests', () => ({
          symbols: 'max sequences',
          numbers: withCommas(maxSequences),
          origins: known('max-sequences'),
        })),
      };
}

/** Where memory decides, it may be states that take most of a request's blocks. */
function memoryLimit(layout: Layout, workload: Workload, maxLength: number): Limit {
  const blocks = layout.groupBlocks(used(workload, maxLength));
  const states = sum(blocks.filter((_, i) => layout.groups[i]?.kind === 'state'));
  return states > sum(blocks) - states ? 'state-blocks' : 'memory';
}

function transferOf(layout: Layout, { prompt }: Workload, maxLength: number): Figure {
  const tokens = Math.min(prompt, maxLength);
  const bytes = Math.ceil(layout.wholePayload(tokens));
  const { value: perToken } = layout.bytesPerTokenTotal;
  const fixed = bytes - Math.ceil(perToken * tokens);
  return figure(
    bytes,
    'bytes',
    () =>
      told(
        'bytes per token × prompt + windows and states',
        `${withCommas(perToken)} × ${withCommas(tokens)} + ${withCommas(fixed)} = ${withCommas(bytes)}`,
        'keys and values of one prompt, each head once',
      ),
    { scope: 'whole deployment' },
  );
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const told = (symbols: string, numbers: string, origin: string): Explanation => ({
  symbols,
  numbers,
  origins: [{ kind: 'derived', text: origin }],
});

function capped({ range }: Figure, limit: number | undefined): Figure['range'] {
  const cap = (n: number) => Math.min(n, limit ?? n);
  return range && { low: cap(range.low), value: cap(range.value), high: cap(range.high) };
}

/** The ends of an estimate by the same rule as its value. */
const ranged = ({ range }: Figure, of: (n: number) => number): Figure['range'] =>
  range && { low: of(Math.max(0, range.low)), value: of(Math.max(0, range.value)), high: of(Math.max(0, range.high)) };

/** Whole bytes: under context parallelism a token may cost a part of one. */
const slabOf = (layout: Layout, maxLength: number): number =>
  Math.ceil(layout.bytesPerToken.value * maxLength + layout.fixedBytes.value);

/** One slab of max length per request, as engines reserved before paging. */
function contiguousOf({ layout, pool, maxLength, workload }: Sizes): Capacity['contiguous'] {
  const slab = slabOf(layout, maxLength);
  const count = (bytes: number) => Math.floor(Math.max(0, bytes) / slab);
  const requests = count(pool.bytes.value);
  const payload = Math.min(slab, layout.payload(used(workload, maxLength)));
  const waste: Waste = {
    pool: pool.bytes.value,
    payload: requests * payload,
    tail: 0,
    padding: 0,
    reservation: requests * (slab - payload),
    fragmentation: pool.bytes.value - requests * slab,
  };
  return {
    requests: figure(
      requests,
      'requests',
      () =>
        told(
          '⌊KV bytes ÷ (bytes per token × max length + fixed)⌋',
          `⌊${withCommas(pool.bytes.value)} ÷ ${withCommas(slab)}⌋ = ${withCommas(requests)}`,
          'one slab of max length each',
        ),
      { range: ranged(pool.bytes, count) },
    ),
    bytesPerRequest: figure(
      slab,
      'bytes',
      () =>
        told(
          'bytes per token × max length + fixed',
          `${withCommas(layout.bytesPerToken.value)} × ${withCommas(maxLength)} + ${withCommas(layout.fixedBytes.value)} = ${withCommas(slab)}`,
          'reserved whatever the request uses',
        ),
      { scope: 'per GPU' },
    ),
    usedShare: shareFigure(payload, slab),
    waste,
  };
}

function pagedOf({ layout, pool, maxLength, workload }: Sizes): Capacity['paged'] {
  const length = used(workload, maxLength);
  const hold = layout.hold(length);
  const usableOf = (blocks: number) => Math.max(0, blocks - (pool.blocks.value - pool.usableBlocks));
  const count = (blocks: number) => Math.floor(usableOf(blocks) / hold.blocks);
  const requests = count(pool.blocks.value);
  const tail = tailTokens(layout, length);
  const waste: Waste = {
    pool: pool.bytes.value,
    payload: requests * hold.payload,
    tail: requests * hold.tail,
    padding: requests * hold.padding,
    reservation: requests * hold.reservation,
    fragmentation: pool.bytes.value - requests * hold.reserved,
  };
  return {
    requests: figure(
      requests,
      'requests',
      () =>
        told(
          '⌊usable blocks ÷ blocks per request⌋',
          `⌊${withCommas(pool.usableBlocks)} ÷ ${withCommas(hold.blocks)}⌋ = ${withCommas(requests)}`,
          `memory alone, requests of ${withCommas(length)} tokens`,
        ),
      { range: ranged(pool.blocks, count) },
    ),
    blocksPerRequest: figure(hold.blocks, 'blocks', () =>
      told(
        'Σ groups: blocks of prompt + output',
        `${layout.groupBlocks(length).map(withCommas).join(' + ')} at ${withCommas(length)} tokens = ${withCommas(hold.blocks)}`,
        `block of ${layout.blockSize} tokens`,
      ),
    ),
    bytesPerRequest: figure(
      hold.reserved,
      'bytes',
      () =>
        told(
          'blocks per request × bytes per block',
          `${withCommas(hold.blocks)} × ${withCommas(layout.bytesPerBlock.value)} = ${withCommas(hold.reserved)}`,
          'reserved in whole blocks',
        ),
      { scope: 'per GPU' },
    ),
    tailTokens: figure(tail, 'tokens', () =>
      told(
        'blocks × block size − tokens',
        `${withCommas(tail)} slots of the last block stay empty`,
        'at most block size − 1',
      ),
    ),
    usedShare: shareFigure(hold.payload, hold.reserved),
    waste,
    requestsAtMaxLength: atMaxLengthOf({ layout, pool, maxLength, workload }, usableOf),
    requestsPerGiB: perGiBOf(layout, hold.blocks),
  };
}

function atMaxLengthOf({ layout, pool, maxLength }: Sizes, usableOf: (blocks: number) => number): Figure {
  const { blocks } = layout.hold(maxLength);
  const count = (n: number) => Math.floor(usableOf(n) / blocks);
  const requests = count(pool.blocks.value);
  return figure(
    requests,
    'requests',
    () =>
      told(
        '⌊usable blocks ÷ blocks of a request of max length⌋',
        `⌊${withCommas(pool.usableBlocks)} ÷ ${withCommas(blocks)}⌋ = ${withCommas(requests)}`,
        `memory alone, requests of ${withCommas(maxLength)} tokens`,
      ),
    { range: ranged(pool.blocks, count) },
  );
}

function perGiBOf(layout: Layout, blocksPerRequest: number): Figure {
  const perBlock = layout.bytesPerBlock.value;
  return figure(Math.floor(GiB / perBlock) / blocksPerRequest, 'requests', () =>
    told(
      '⌊GiB ÷ bytes per block⌋ ÷ blocks per request',
      `⌊${withCommas(GiB)} ÷ ${withCommas(perBlock)}⌋ ÷ ${withCommas(blocksPerRequest)} = ${(Math.floor(GiB / perBlock) / blocksPerRequest).toFixed(2)}`,
      'one GiB more on every GPU',
    ),
  );
}

/** A workload longer than the engine accepts is cut off there. */
const used = ({ prompt, output }: Workload, maxLength: number): number => Math.min(prompt + output, maxLength);

const shareFigure = (payload: number, reserved: number): Figure =>
  figure(payload / reserved, 'share', () =>
    told(
      'payload ÷ reserved',
      `${formatBytes(payload)} ÷ ${formatBytes(reserved)} = ${((100 * payload) / reserved).toFixed(1)} %`,
      'one request at the workload',
    ),
  );

/** Empty slots of the last block in the group that grows; 0 where every group has a window. */
function tailTokens(layout: Layout, length: number): number {
  const at = layout.groups.findIndex((g) => g.kind !== 'sliding' && g.kind !== 'chunked' && g.kind !== 'state');
  const size = layout.groups[at]?.blockSize;
  if (size === undefined) {
    return 0;
  }
  const blocks = layout.groupBlocks(length)[at] as number;
  return Math.max(0, blocks * size * layout.tokensPerSlot - length);
}

/** Requests at uniformly random points of their life: ⌊blocks ÷ mean over t = 1…output of blocks(prompt + t)⌋. */
function steadyStateOf({ layout, pool, maxLength, workload }: Sizes): Figure {
  const mean = meanBlocks(layout, workload, maxLength);
  const count = (blocks: number) => Math.floor(blocks / mean);
  const requests = count(pool.blocks.value);
  return figure(
    requests,
    'requests',
    () =>
      told(
        '⌊blocks ÷ mean over t = 1…output of blocks(prompt + t)⌋',
        `⌊${withCommas(pool.blocks.value)} ÷ ${mean.toFixed(2)}⌋ = ${withCommas(requests)}`,
        'requests at random points of their life',
      ),
    { range: ranged(pool.blocks, count) },
  );
}

/** Exact: a request's block count is constant between the edges of its groups' blocks, so it is summed by runs. */
function meanBlocks(layout: Layout, { prompt, output }: Workload, maxLength: number): number {
  const first = Math.min(prompt + 1, maxLength);
  const last = Math.min(prompt + output, maxLength);
  const blocksAt = (tokens: number) => layout.groupBlocks(tokens).reduce((a, b) => a + b, 0);
  if (last <= first) {
    return blocksAt(last);
  }
  const sizes = layout.groups.map((g) => g.blockSize * layout.tokensPerSlot);
  let total = 0;
  for (let t = first; t <= last; ) {
    const edge = Math.min(...sizes.map((size) => Math.ceil(t / size) * size));
    const until = Math.min(edge, last);
    total += blocksAt(t) * (until - t + 1);
    t = until + 1;
  }
  return total / (last - first + 1);
}

/** Requests that fit at each length, memory alone: about `points` lengths, evenly spaced on a log axis. */
export function requestsByLength(input: Sizes, points = 48): readonly LengthPoint[] {
  const { layout, pool, maxLength } = input;
  const lowest = Math.min(256, maxLength);
  const lengths = new Set(
    Array.from({ length: points }, (_, i) => Math.round(lowest * (maxLength / lowest) ** (i / (points - 1)))),
  );
  const slab = slabOf(layout, maxLength);
  const contiguous = Math.floor(Math.max(0, pool.bytes.value) / slab);
  return [...lengths].map((length) => ({
    length,
    contiguous,
    paged: Math.floor(pool.usableBlocks / layout.hold(length).blocks),
  }));
}
