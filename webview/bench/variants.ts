/** What is measured side by side: the same step, its tokens placed in different ways. */
import { bufferOf, readBuffer, scratchBuffer } from './device';
import { slotsFor } from './fit';
import { wordsOf } from './kernels';
import { poolPlacement } from './pool-table';
import { attend, relativeError } from './reference';
import { type Placement, rowOf, type Shape } from './shape';
import { attentionStep, type Bench, type Caches, gatherStep, naiveStep, readStep, run, type Step } from './step';
import { contentOf, emptyImage, type Image, loadRow, storeRow } from './storage';
import { contiguous, paged, randomOf } from './tables';

export type Kind = 'contiguous' | 'again' | 'paged' | 'naive' | 'gather' | 'read';
export type Order = 'sequential' | 'random' | 'pool';

export interface Variant {
  readonly kind: Kind;
  /** How the blocks follow each other; absent where contiguous. */
  readonly order?: Order;
  readonly blockSize?: number;
  readonly step: Step;
  readonly placement: Placement;
}

export interface Wanted {
  readonly blockSizes: readonly number[];
  /** The launch's own, whose table the simulated pool leaves too. */
  readonly blockSize: number;
}

/** Rows of the pattern that fills the caches, a prime: no stride of a table falls into step with it. */
const PATTERN = 4099;

export interface Setup {
  readonly variants: readonly Variant[];
  /** Largest error of each variant on some heads, relative to the head's largest output. */
  check(): Promise<readonly { readonly variant: Variant; readonly error: number }[]>;
}

/**
 * One pair of caches serves every variant: what differs is which row is whose. Its values repeat after 4099 rows, which
 * no kernel can tell and no table meets, so that a large cache costs the CPU little.
 */
export async function setUp(bench: Bench, shape: Shape, { blockSizes, blockSize }: Wanted): Promise<Setup> {
  const { gpu } = bench;
  const { dtype, headDim, kvHeads } = shape;
  const slots = slotsFor(shape.lengths);
  const pattern = patternOf(shape);
  const caches: Caches = {
    keys: filled(bench, pattern.keys, slots * kvHeads, wordsOf(dtype, headDim) * 16),
    values: filled(bench, pattern.values, slots * kvHeads, wordsOf(dtype, headDim) * 16),
    ...(dtype === 'int8' && { scales: filledScales(bench, pattern, slots * kvHeads) }),
  };
  const queryData = contentOf({ ...shape, lengths: shape.lengths.map(() => 0) }).queries;
  const queries = bench.keep(bufferOf(gpu, queryData as Float32Array<ArrayBuffer>));
  const given = (placement: Placement) => ({ shape, placement, caches, queries });

  const slab = contiguous(shape, 'HND', slots);
  const attention = async (kind: Kind, placement: Placement, order?: Order): Promise<Variant> => ({
    kind,
    placement,
    ...(order && { order, blockSize: placement.blockSize }),
    step: await attentionStep(bench, given(placement)),
  });
  const table = (size: number, order: 'sequential' | 'random') => paged(shape, size, order, 'HND', { slots });
  const variants = [await attention('contiguous', slab), await attention('again', slab)];
  for (const size of blockSizes) {
    variants.push(await attention('paged', table(size, 'sequential'), 'sequential'));
    variants.push(await attention('paged', table(size, 'random'), 'random'));
  }
  variants.push(await attention('paged', poolPlacement(shape, blockSize, 'HND', slots), 'pool'));
  variants.push({ kind: 'read', placement: slab, step: await readStep(bench, given(slab)) });
  for (const order of ['sequential', 'random'] as const) {
    const placement = table(blockSize, order);
    variants.push({ kind: 'read', order, blockSize, placement, step: await readStep(bench, given(placement)) });
  }
  const random = table(blockSize, 'random');
  variants.push({
    kind: 'gather',
    order: 'random',
    blockSize,
    placement: random,
    step: await gatherStep(bench, given(random)),
  });
  variants.push({ kind: 'naive', placement: slab, step: await naiveStep(bench, given(slab)) });
  return { variants, check: () => checked(bench, shape, variants, pattern, queryData) };
}

interface Pattern {
  readonly keys: Image;
  readonly values: Image;
}

function patternOf({ dtype, headDim }: Shape): Pattern {
  const rows = contentOf({ heads: 1, kvHeads: 1, headDim, dtype, lengths: [PATTERN] });
  const store = (data: Float32Array): Image => {
    const image = emptyImage(dtype, headDim, PATTERN);
    for (let row = 0; row < PATTERN; row++) {
      storeRow(image, dtype, row, data.subarray(row * headDim, (row + 1) * headDim));
    }
    return image;
  };
  return { keys: store(rows.keys.data), values: store(rows.values.data) };
}

function filled(bench: Bench, { words }: Image, rows: number, rowBytes: number): GPUBuffer {
  const buffer = bench.keep(scratchBuffer(bench.gpu, rows * rowBytes));
  for (let row = 0; row < rows; row += PATTERN) {
    const count = Math.min(PATTERN, rows - row);
    bench.gpu.device.queue.writeBuffer(buffer, row * rowBytes, words.buffer, 0, count * rowBytes);
  }
  return buffer;
}

function filledScales(bench: Bench, { keys, values }: Pattern, rows: number): GPUBuffer {
  const pairs = new Float32Array(rows * 2);
  for (let row = 0; row < rows; row++) {
    pairs[2 * row] = keys.scales[row % PATTERN] ?? 0;
    pairs[2 * row + 1] = values.scales[row % PATTERN] ?? 0;
  }
  return bench.keep(bufferOf(bench.gpu, pairs));
}

/** Heads that are looked at, of each variant. */
const SAMPLES = 3;

async function checked(
  bench: Bench,
  shape: Shape,
  variants: readonly Variant[],
  pattern: Pattern,
  queries: Float32Array,
): ReturnType<Setup['check']> {
  const { dtype, headDim, heads, kvHeads } = shape;
  const random = randomOf(3);
  const picks = Array.from({ length: SAMPLES }, () => ({
    sequence: Math.floor(random() * shape.lengths.length),
    head: Math.floor(random() * heads),
  }));
  const results: { variant: Variant; error: number }[] = [];
  for (const variant of variants.filter(({ kind }) => kind !== 'read')) {
    await run(bench.gpu, variant.step.dispatches, 'the first run of a kernel');
    const output = new Float32Array(await readBuffer(bench.gpu, variant.step.output));
    let error = 0;
    for (const { sequence, head } of picks) {
      const at = (sequence * heads + head) * headDim;
      const row = (token: number): number =>
        rowOf(variant.placement, kvHeads, sequence, token, Math.floor(head / (heads / kvHeads))) % PATTERN;
      const expected = attend(
        queries.subarray(at, at + headDim),
        shape.lengths[sequence] ?? 0,
        (token) => loadRow(pattern.keys, dtype, headDim, row(token)),
        (token) => loadRow(pattern.values, dtype, headDim, row(token)),
      );
      error = Math.max(error, relativeError(output.subarray(at, at + headDim), expected));
    }
    results.push({ variant, error });
  }
  return results;
}
