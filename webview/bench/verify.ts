/**
 * Correctness before speed: every kernel against float64, over shapes that hurt. Slots that no sequence owns are poisoned,
 * and a control whose table is wrong must be found out, or the check itself is worth nothing.
 */
import { bufferOf, type Gpu, readBuffer } from './device';
import { wordsOf } from './kernels';
import { attend, relativeError } from './reference';
import type { Dtype, Placement, Shape } from './shape';
import {
  appendStep,
  attentionStep,
  type Bench,
  type Caches,
  copyStep,
  GPU_TUNING,
  gatherStep,
  type Ingredients,
  naiveStep,
  readStep,
  run,
  type Step,
  uploadCaches,
} from './step';
import { type Content, contentOf, type Image, imagesOf, loadRow } from './storage';
import { contiguous, paged, sharing, swapped } from './tables';

/** Relative to the head's largest output: six times the worst seen, float32 arithmetic over a thousand tokens. */
export const TOLERANCE = 2e-5;
/** A wrong table must miss by this many times the tolerance. */
const CONTROL = 100;

export interface Check {
  readonly kernel: string;
  readonly shape: string;
  readonly dtype: Dtype;
  readonly headDim: number;
  /** Relative to the head's largest output; not finite when the output is not. */
  readonly error: number;
  readonly ok: boolean;
}

interface Case {
  readonly name: string;
  readonly heads: number;
  readonly kvHeads: number;
  readonly lengths: readonly number[];
  readonly sharpness?: number;
  readonly shared?: number;
}

const RAGGED: Case = { name: 'ragged', heads: 8, kvHeads: 2, lengths: [1, 15, 16, 17, 127, 128, 129, 300] };
const CASES: readonly Case[] = [
  RAGGED,
  { ...RAGGED, name: 'peaked', sharpness: 6 },
  { name: 'group of 7', heads: 14, kvHeads: 2, lengths: [5, 64, 33] },
  { name: 'one head each, one empty', heads: 4, kvHeads: 4, lengths: [40, 0, 77] },
  { name: 'one KV head for 12', heads: 12, kvHeads: 1, lengths: [200] },
  { name: 'shared prefix', heads: 8, kvHeads: 2, lengths: [150, 140, 97], shared: 80 },
];

interface Pair {
  readonly dtype: Dtype;
  readonly headDim: number;
  /** On software also in the form that a GPU gets, which takes seconds to compile there. */
  readonly asOnGpu?: boolean;
}

export interface Matrix {
  readonly pairs: readonly Pair[];
  readonly cases: readonly Case[];
  readonly blockSizes: readonly number[];
}

const BLOCKS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export const FULL: Matrix = {
  pairs: [64, 128, 256].flatMap((headDim) =>
    (['f32', 'f16', 'int8'] as const).map((dtype) => ({ dtype, headDim, asOnGpu: true })),
  ),
  cases: CASES,
  blockSizes: BLOCKS,
};

/** A taste of each dimension; some seconds on the software adapter. */
export const QUICK: Matrix = {
  pairs: [
    { dtype: 'f32', headDim: 64 },
    { dtype: 'f16', headDim: 128 },
    { dtype: 'int8', headDim: 128, asOnGpu: true },
  ],
  cases: CASES.filter(({ name }) => name !== 'peaked'),
  blockSizes: [1, 16, 256],
};

export interface Listener {
  check?(check: Check): void;
  /** Share of the checks that is done. */
  progress?(share: number): void;
  /** Throws to stop. */
  pause?(): Promise<void>;
}

export async function verify(bench: Bench, matrix: Matrix, listener: Listener = {}): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const all = matrix.pairs.length * matrix.cases.length;
  let done = 0;
  for (const pair of matrix.pairs) {
    for (const some of matrix.cases) {
      await listener.pause?.();
      for await (const check of checksOf(bench, { ...some, ...pair }, matrix.blockSizes)) {
        checks.push(check);
        listener.check?.(check);
      }
      listener.progress?.(++done / all);
    }
  }
  return checks;
}

type Given = Case & Pair;

async function* checksOf(bench: Bench, given: Given, blockSizes: readonly number[]): AsyncGenerator<Check> {
  const { name, dtype, headDim, sharpness, shared = 0 } = given;
  const shape: Shape = given;
  const content = contentOf(shape, { sharpness, shared });
  const expected = expectedOf(shape, content);
  const check = (kernel: string, error: number, ok = error <= TOLERANCE): Check => ({
    kernel,
    shape: name,
    dtype,
    headDim,
    error,
    ok,
  });
  const errorOf = async (make: Maker, placement: Placement, over: Partial<Ingredients> = {}): Promise<number> => {
    const output = await outputOf(bench, make, shape, content, placement, over);
    bench.clear();
    return expected.reduce(
      (worst, head, i) => Math.max(worst, relativeError(output.subarray(i * headDim, (i + 1) * headDim), head)),
      0,
    );
  };
  const table = (blockSize: number, order: 'sequential' | 'random' = 'random'): Placement =>
    paged(shape, blockSize, order, 'HND', { slots: 2 * shape.lengths.reduce((a, b) => a + b, 0) });

  for (const layout of ['HND', 'NHD'] as const) {
    yield check(`contiguous ${layout}`, await errorOf(attentionStep, contiguous(shape, layout)));
  }
  const sizes = name === RAGGED.name ? blockSizes : blockSizes.filter((size) => size === 16);
  for (const size of sizes) {
    yield check(`paged ${size}`, await errorOf(attentionStep, table(size)));
  }
  if (name === RAGGED.name) {
    const nhd = paged(shape, 16, 'random', 'NHD');
    yield check('paged 16 NHD', await errorOf(attentionStep, nhd));
    yield check('paged 16 sequential', await errorOf(attentionStep, table(16, 'sequential')));
    yield check('paged 16, chunks of 64', await errorOf(attentionStep, table(16), { chunk: 64 }));
    yield check('paged 16, tile of 1', await errorOf(attentionStep, table(16), { tuning: { tile: 1 } }));
    if (bench.tuning.subgroups) {
      yield check('paged 16, no subgroups', await errorOf(attentionStep, table(16), { tuning: { subgroups: false } }));
    }
    if (bench.gpu.nativeF16 && dtype === 'f16') {
      yield check('paged 16, native f16', await errorOf(attentionStep, table(16), { tuning: { nativeF16: true } }));
    }
    yield check('naive', await errorOf(naiveStep, contiguous(shape, 'HND')));
    yield check('naive, paged 16', await errorOf(naiveStep, table(16)));
    yield check('gather, paged 16', await errorOf(gatherStep, table(16)));
    for (const placement of [contiguous(shape, 'HND'), table(16)]) {
      const control = await errorOf(attentionStep, placement, { placement: swapped(placement, shape) });
      yield check(`control: ${placement.kind}, two places swapped`, control, control > CONTROL * TOLERANCE);
      yield check(`read only, ${placement.kind}`, await readWrong(bench, shape, content, placement));
      bench.clear();
    }
    if (given.asOnGpu && bench.gpu.adapter.fallback) {
      const tuning = { ...GPU_TUNING, subgroups: false };
      yield check('paged 16, as on a GPU', await errorOf(attentionStep, table(16), { tuning }));
    }
    yield check('append', await appendWrong(bench, shape, content, table(16)));
    bench.clear();
    yield check('copy a block', await copyWrong(bench, shape, content, table(16)));
    bench.clear();
  }
  if (shared > 0) {
    for (const size of [1, 16]) {
      yield check(`paged ${size}, prefix shared`, await errorOf(attentionStep, sharing(table(size), shape, shared)));
    }
  }
}

type Maker = (bench: Bench, given: Ingredients) => Promise<Step>;

async function outputOf(
  bench: Bench,
  make: Maker,
  shape: Shape,
  content: Content,
  placement: Placement,
  over: Partial<Ingredients>,
): Promise<Float32Array> {
  const caches = uploadCaches(bench, imagesOf(shape, content, placement));
  const queries = bench.keep(bufferOf(bench.gpu, content.queries as Float32Array<ArrayBuffer>));
  const step = await bench.gpu.checked('running a kernel', async () => {
    const made = await make(bench, { shape, placement, caches, queries, ...over });
    await run(bench.gpu, made.dispatches, 'running a kernel');
    return made;
  });
  return new Float32Array(await readBuffer(bench.gpu, step.output));
}

/** By the stored values of slabs: what a placement holds is the same. */
function expectedOf(shape: Shape, content: Content): readonly Float64Array[] {
  const { dtype, headDim, heads, kvHeads, lengths } = shape;
  const place = contiguous(shape, 'NHD');
  const { keys, values } = imagesOf(shape, content, place);
  const rows = ({ words, scales }: Image): Float64Array[] =>
    Array.from({ length: place.slots * kvHeads }, (_, row) => loadRow({ words, scales }, dtype, headDim, row));
  const [keyRows, valueRows] = [rows(keys), rows(values)];
  const nothing = new Float64Array(headDim);
  return lengths.flatMap((length, sequence) =>
    Array.from({ length: heads }, (_, head) => {
      const query = content.queries.subarray(
        (sequence * heads + head) * headDim,
        (sequence * heads + head + 1) * headDim,
      );
      const row = (token: number): number =>
        (content.firstRows[sequence] ?? 0) + token * kvHeads + Math.floor(head / (heads / kvHeads));
      return attend(
        query,
        length,
        (token) => keyRows[row(token)] ?? nothing,
        (token) => valueRows[row(token)] ?? nothing,
      );
    }),
  );
}

/**
 * How many of the four sums over everything read are wrong: a reading kernel that left something out, or read something
 * twice, would be a roofline too high or too low.
 */
async function readWrong(bench: Bench, shape: Shape, content: Content, placement: Placement): Promise<number> {
  const { dtype, headDim, kvHeads } = shape;
  const slab = contiguous(shape, 'NHD');
  const { keys, values } = imagesOf(shape, content, slab);
  const sums = new Uint32Array(4);
  const add = (at: number, key = 0, value = 0): void => {
    sums[at] = (sums[at] ?? 0) + key + Math.imul(3, value);
  };
  keys.words.forEach((word, i) => {
    add(i % 4, word, values.words[i]);
  });
  // Every lane of a row reads its scales, ones where the dtype has none.
  const lanes = Math.min(bench.tuning.lanes, wordsOf(dtype, headDim));
  const bits = ({ scales }: Image): Uint32Array =>
    new Uint32Array((scales.length > 0 ? scales : new Float32Array(slab.slots * kvHeads).fill(1)).slice().buffer);
  const valueScales = bits(values);
  bits(keys).forEach((scale, row) => {
    add(0, Math.imul(lanes, scale), Math.imul(lanes, valueScales[row] ?? 0));
  });
  const caches = uploadCaches(bench, imagesOf(shape, content, placement));
  const found = await bench.gpu.checked('reading only', async () => {
    const { dispatches, output } = await readStep(bench, { shape, placement, caches }, true);
    await run(bench.gpu, dispatches, 'reading only');
    return new Uint32Array(await readBuffer(bench.gpu, output));
  });
  const told = new Uint32Array(4);
  found.forEach((sum, i) => {
    told[i % 4] = (told[i % 4] ?? 0) + sum;
  });
  return told.filter((sum, i) => sum !== sums[i]).length;
}

/** The last token of every sequence is poisoned, then appended by the kernel: the cache must be what storing makes it. */
async function appendWrong(bench: Bench, shape: Shape, content: Content, placement: Placement): Promise<number> {
  const { dtype, headDim, kvHeads, lengths } = shape;
  const without = { ...shape, lengths: lengths.map((length) => length - 1) };
  const before = imagesOf(without, content, placement);
  const after = imagesOf(shape, content, placement);
  const fresh = new Float32Array(lengths.length * kvHeads * headDim * 2);
  lengths.forEach((length, sequence) => {
    for (let head = 0; head < kvHeads; head++) {
      const from = ((content.firstRows[sequence] ?? 0) + (length - 1) * kvHeads + head) * headDim;
      const to = (sequence * kvHeads + head) * headDim * 2;
      fresh.set(content.keys.data.subarray(from, from + headDim), to);
      fresh.set(content.values.data.subarray(from, from + headDim), to + headDim);
    }
  });
  const caches = uploadCaches(bench, before);
  const source = bench.keep(bufferOf(bench.gpu, fresh));
  await bench.gpu.checked('appending', () => appendStep(bench, { shape, placement, caches }, source));
  return wrongIn(bench.gpu, caches, after, dtype);
}

/** Copies a full block of the last sequence over the next: bit by bit the same, and nothing else changed. */
async function copyWrong(bench: Bench, shape: Shape, content: Content, placement: Placement): Promise<number> {
  const { kvHeads } = shape;
  const { keys, values } = imagesOf(shape, content, placement);
  const caches = uploadCaches(bench, { keys, values });
  const [from = 0, to = 0] = placement.table.slice(-3);
  await bench.gpu.checked('copying', () => copyStep(bench, { shape, placement, caches }, Uint32Array.from([from, to])));
  const rows = placement.blockSize * kvHeads;
  for (const { words, scales } of [keys, values]) {
    const size = (rows * words.length) / (placement.slots * kvHeads);
    words.copyWithin(to * size, from * size, (from + 1) * size);
    scales.copyWithin(to * rows, from * rows, (from + 1) * rows);
  }
  return wrongIn(bench.gpu, caches, { keys, values }, 'bits');
}

/**
 * How many stored numbers are not what they should be. WGSL leaves it open which of two neighbours a conversion rounds
 * to, so float16 and int8 that a kernel rounded may differ by one step; what was copied may not.
 */
async function wrongIn(
  gpu: Gpu,
  caches: Caches,
  images: { readonly keys: Image; readonly values: Image },
  rounded: Dtype | 'bits',
): Promise<number> {
  const view = { f32: Uint32Array, bits: Uint32Array, f16: Uint16Array, int8: Int8Array }[rounded];
  const allowed = rounded === 'f16' || rounded === 'int8' ? 1 : 0;
  let wrong = 0;
  for (const cache of ['keys', 'values'] as const) {
    const found = new view(await readBuffer(gpu, caches[cache]));
    const wanted = new view(images[cache].words.buffer as ArrayBuffer);
    for (const [i, value] of wanted.entries()) {
      wrong += Math.abs(value - (found[i] ?? 0)) > allowed ? 1 : 0;
    }
  }
  if (caches.scales) {
    const found = new Float32Array(await readBuffer(gpu, caches.scales));
    images.keys.scales.forEach((scale, row) => {
      wrong += found[2 * row] === scale && found[2 * row + 1] === images.values.scales[row] ? 0 : 1;
    });
  }
  return wrong;
}
