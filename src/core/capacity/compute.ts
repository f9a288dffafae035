/** Contiguous slabs and the engine's own allocator on the same bytes. */
import type { Configuration, Hold, Layout, Pool, PoolPart, Workload } from '../engines/engine';
import type { OptionRole } from '../engines/option';
import { type Explanation, type Figure, figure, type Origin } from '../figure';
import { formatBytes, GiB, withCommas } from '../units';
import type { Capacity, LengthPoint, Limit, Waste } from './capacity';
import { countHeld, countRange, decidingPart, heldIn, partsOf, usableIn } from './room';

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
    limitedBy: limit && isLimited(limit.figure.value, input, paged) ? limit.by : memoryLimit(input),
    transferBytes: role === 'prefill' ? transferOf(layout, workload, maxLength) : undefined,
  };
}

/** Slots are as many as sequences: it is their number that limits. */
const isLimited = (most: number, { layout }: Sizes, paged: Capacity['paged']): boolean =>
  layout.allocator === 'slots' ? most <= paged.requests.value : most < paged.requests.value;

/** Sequences are limited by number, and by the tokens of one step: each running one asks for at least one. */
function engineLimitOf(input: CapacityInput): { readonly figure: Figure; readonly by: Limit } | undefined {
  const { batchTokens, tokensPerStep } = input.configuration;
  const derived = input.pool.maxSequences;
  const maxSequences = derived?.value ?? input.configuration.maxSequences;
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
        figure:
          derived ??
          figure(maxSequences, 'requests', () => ({
            symbols: 'max sequences',
            numbers: withCommas(maxSequences),
            origins: known('max-sequences'),
          })),
      };
}

/** Where memory decides, it may be states that take most of a request's blocks, or the pool that is theirs. */
function memoryLimit({ layout, pool, workload, maxLength }: Sizes): Limit {
  const blocks = layout.groupBlocks(used(workload, maxLength));
  if (pool.parts) {
    const { groups } = decidingPart(pool.parts, blocks);
    return groups.every((g) => layout.groups[g]?.kind === 'state') ? 'state-blocks' : 'memory';
  }
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
  const held = layout.groupBlocks(length);
  const parts = partsOf(layout, pool);
  const requests = countHeld(parts, held);
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
      () => explainCount(parts, held, `memory alone, requests of ${withCommas(length)} tokens`),
      { range: countRange(parts, (end) => countHeld(parts, held, end)) },
    ),
    blocksPerRequest: figure(hold.blocks, 'blocks', () =>
      told(
        'Σ groups: blocks of prompt + output',
        `${held.map(withCommas).join(' + ')} at ${withCommas(length)} tokens = ${withCommas(hold.blocks)}`,
        `block of ${layout.blockSize} tokens`,
      ),
    ),
    bytesPerRequest: figure(hold.reserved, 'bytes', () => explainReserved(layout, pool, hold, held), {
      scope: 'per GPU',
    }),
    tailTokens: figure(tail, 'tokens', () =>
      told(
        'blocks × block size − tokens',
        `${withCommas(tail)} slots of the last block stay empty`,
        'at most block size − 1',
      ),
    ),
    usedShare: shareFigure(hold.payload, hold.reserved),
    waste,
    requestsAtMaxLength: atMaxLengthOf({ layout, pool, maxLength, workload }),
    requestsPerGiB: perGiBOf(layout, pool, hold),
  };
}

function explainCount(parts: readonly PoolPart[], held: readonly number[], origin: string): Explanation {
  const counted = parts.filter((p) => heldIn(p, held) > 0);
  const requests = withCommas(countHeld(parts, held));
  const terms = counted.map((p) => `⌊${withCommas(usableIn(p))} ÷ ${withCommas(heldIn(p, held))}⌋`);
  return counted.length > 1
    ? told(
        'smallest over pools: ⌊usable blocks ÷ blocks per request⌋',
        `min(${counted.map((p, i) => `${p.name} ${terms[i]}`).join(', ')}) = ${requests}`,
        origin,
      )
    : told('⌊usable blocks ÷ blocks per request⌋', `${terms[0] ?? 0} = ${requests}`, origin);
}

/** Where pools are kept apart, their blocks differ in size. */
function explainReserved(layout: Layout, pool: Pool, hold: Hold, held: readonly number[]): Explanation {
  return pool.parts
    ? told(
        'Σ groups: blocks × bytes per block',
        `${held.map((blocks, i) => `${withCommas(blocks)} × ${withCommas(layout.groups[i]?.bytesPerBlock ?? 0)}`).join(' + ')} = ${withCommas(hold.reserved)}`,
        'reserved in whole blocks',
      )
    : told(
        'blocks per request × bytes per block',
        `${withCommas(hold.blocks)} × ${withCommas(layout.bytesPerBlock.value)} = ${withCommas(hold.reserved)}`,
        'reserved in whole blocks',
      );
}

function atMaxLengthOf({ layout, pool, maxLength }: Sizes): Figure {
  const held = layout.groupBlocks(maxLength);
  const parts = partsOf(layout, pool);
  return figure(
    countHeld(parts, held),
    'requests',
    () => explainCount(parts, held, `memory alone, requests of ${withCommas(maxLength)} tokens`),
    { range: countRange(parts, (end) => countHeld(parts, held, end)) },
  );
}

/** Where pools are kept apart, a GiB more is shared out over them as a request needs it. */
function perGiBOf(layout: Layout, pool: Pool, hold: Hold): Figure {
  if (pool.parts) {
    return figure(GiB / hold.reserved, 'requests', () =>
      told(
        'GiB ÷ bytes per request',
        `${withCommas(GiB)} ÷ ${withCommas(hold.reserved)} = ${(GiB / hold.reserved).toFixed(2)}`,
        'one GiB more on every GPU',
      ),
    );
  }
  const perBlock = layout.bytesPerBlock.value;
  return figure(Math.floor(GiB / perBlock) / hold.blocks, 'requests', () =>
    told(
      '⌊GiB ÷ bytes per block⌋ ÷ blocks per request',
      `⌊${withCommas(GiB)} ÷ ${withCommas(perBlock)}⌋ ÷ ${withCommas(hold.blocks)} = ${(Math.floor(GiB / perBlock) / hold.blocks).toFixed(2)}`,
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
  const parts = partsOf(layout, pool).map((p) => ({ ...p, held: 0 }));
  const means = layout.groups.map((_, i) => meanBlocks(layout, i, workload, maxLength));
  const requests = countHeld(parts, means);
  const { blocks, groups } = decidingPart(parts, means);
  const mean = groups.reduce((sum, g) => sum + (means[g] ?? 0), 0);
  return figure(
    requests,
    'requests',
    () =>
      told(
        '⌊blocks ÷ mean over t = 1…output of blocks(prompt + t)⌋',
        `⌊${withCommas(blocks.value)} ÷ ${mean.toFixed(2)}⌋ = ${withCommas(requests)}`,
        'requests at random points of their life',
      ),
    { range: countRange(parts, (end) => countHeld(parts, means, end)) },
  );
}

/** Exact: a request's blocks in a group are constant between the edges of its blocks, so they are summed by runs. */
function meanBlocks(layout: Layout, group: number, { prompt, output }: Workload, maxLength: number): number {
  const first = Math.min(prompt + 1, maxLength);
  const last = Math.min(prompt + output, maxLength);
  const blocksAt = (tokens: number) => layout.groupBlocks(tokens)[group] as number;
  if (last <= first) {
    return blocksAt(last);
  }
  const size = (layout.groups[group]?.blockSize ?? 1) * layout.tokensPerSlot;
  let total = 0;
  for (let t = first; t <= last; ) {
    const until = Math.min(Math.ceil(t / size) * size, last);
    total += blocksAt(t) * (until - t + 1);
    t = until + 1;
  }
  return total / (last - first + 1);
}

/** Requests that fit at each length, memory alone: about `points` lengths, evenly spaced on a log axis. */
export function requestsByLength(input: Sizes, points = 48): readonly LengthPoint[] {
  const { maxLength } = input;
  const lowest = Math.min(256, maxLength);
  const lengths = new Set(
    Array.from({ length: points }, (_, i) => Math.round(lowest * (maxLength / lowest) ** (i / (points - 1)))),
  );
  return requestsAt(input, [...lengths]);
}

/** The same at these lengths. */
export function requestsAt({ layout, pool, maxLength }: Sizes, lengths: readonly number[]): readonly LengthPoint[] {
  const contiguous = Math.floor(Math.max(0, pool.bytes.value) / slabOf(layout, maxLength));
  const parts = partsOf(layout, pool);
  return lengths.map((length) => ({ length, contiguous, paged: countHeld(parts, layout.groupBlocks(length)) }));
}
