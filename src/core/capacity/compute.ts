/** Contiguous slabs and the engine's own allocator on the same bytes. */
import type { Configuration, Layout, Pool, Workload } from '../engines/engine';
import { type Explanation, type Figure, figure } from '../figure';
import { formatBytes, withCommas } from '../units';
import type { Capacity, LengthPoint, Waste } from './capacity';

export interface Sizes {
  readonly layout: Layout;
  readonly pool: Pool;
  readonly maxLength: number;
  readonly workload: Workload;
}

export interface CapacityInput extends Sizes {
  readonly configuration: Configuration;
  readonly longestContext?: Figure;
}

export function capacityOf(input: CapacityInput): Capacity {
  const { maxLength, workload, longestContext, configuration } = input;
  const paged = pagedOf(input);
  const limit = configuration.maxSequences;
  const engineLimit =
    limit === undefined
      ? undefined
      : figure(limit, 'requests', () => told('max sequences', withCommas(limit), 'the engine runs no more at once'));
  const fits = Math.min(paged.requests.value, limit ?? Number.POSITIVE_INFINITY);
  return {
    maxLength,
    longestContext,
    workload,
    contiguous: contiguousOf(input),
    paged,
    steadyState: steadyStateOf(input),
    engineLimit,
    fits: figure(
      fits,
      'requests',
      () =>
        told(
          'min(paged requests, engine limit)',
          `min(${withCommas(paged.requests.value)}, ${limit === undefined ? 'unknown' : withCommas(limit)}) = ${withCommas(fits)}`,
          'of one replica',
        ),
      { range: capped(paged.requests, limit) },
    ),
    limitedBy: limit !== undefined && limit < paged.requests.value ? 'max-sequences' : 'memory',
  };
}

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

/** One slab of max length per request, as engines reserved before paging. */
function contiguousOf({ layout, pool, maxLength, workload }: Sizes): Capacity['contiguous'] {
  const slab = layout.bytesPerToken.value * maxLength + layout.fixedBytes.value;
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
  };
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
  const slab = layout.bytesPerToken.value * maxLength + layout.fixedBytes.value;
  const contiguous = Math.floor(Math.max(0, pool.bytes.value) / slab);
  return [...lengths].map((length) => ({
    length,
    contiguous,
    paged: Math.floor(pool.usableBlocks / layout.hold(length).blocks),
  }));
}
