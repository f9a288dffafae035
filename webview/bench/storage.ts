/** Keys and values as a cache of each dtype keeps them, and what they are when read back. */
import { wordsOf } from './kernels';
import type { Dtype, Placement, Shape } from './shape';
import { rowOf } from './shape';
import { randomOf } from './tables';

/** Rows of numbers before they are stored: a token of a KV head after another. */
export interface Rows {
  readonly dim: number;
  readonly data: Float32Array;
}

/** One cache, keys or values, in the bytes of its dtype. */
export interface Image {
  readonly words: Uint32Array;
  /** Of each row: largest magnitude; only int8. */
  readonly scales: Float32Array;
}

const buffer = new DataView(new ArrayBuffer(4));

/** The nearest float16, ties to even, as IEEE 754 says; too large is infinity. */
export function toHalf(value: number): number {
  buffer.setFloat32(0, value);
  const bits = buffer.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = Math.abs(buffer.getFloat32(0));
  if (magnitude >= 65520) {
    return sign | 0x7c00;
  }
  if (magnitude < 2 ** -14) {
    return sign | roundEven(magnitude * 2 ** 24);
  }
  const exponent = ((bits >>> 23) & 0xff) - 127;
  return sign | (((exponent + 15) << 10) + roundEven((magnitude / 2 ** exponent - 1) * 1024));
}

function roundEven(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}

export function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** Every slot holds this until a row is put there: a kernel that reads one is found out. */
const POISON: Record<Dtype, number> = { f32: 0x7149f2ca, f16: 0x7bff7bff, int8: 0x7f7f7f7f }; // 1e30, 65504, 127
const POISON_SCALE = 1e30;

export function emptyImage(dtype: Dtype, dim: number, rows: number): Image {
  const words = new Uint32Array(rows * wordsOf(dtype, dim) * 4).fill(POISON[dtype]);
  const scales = new Float32Array(dtype === 'int8' ? rows : 0).fill(POISON_SCALE);
  return { words, scales };
}

/** Stores one row; int8 in steps of its largest magnitude ÷ 127. */
export function storeRow(image: Image, dtype: Dtype, row: number, values: Float32Array): void {
  const { words, scales } = image;
  if (dtype === 'f32') {
    new Float32Array(words.buffer).set(values, row * values.length);
  } else if (dtype === 'f16') {
    new Uint16Array(words.buffer).set(values.map(toHalf), row * values.length);
  } else {
    const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    scales[row] = most;
    const steps = values.map((value) => (most > 0 ? Math.floor(0.5 + (127 * value) / most) : 0));
    new Int8Array(words.buffer).set(steps, row * values.length);
  }
}

/** What a kernel sees of a row, exactly. */
export function loadRow({ words, scales }: Image, dtype: Dtype, dim: number, row: number): Float64Array {
  if (dtype === 'f32') {
    return Float64Array.from(new Float32Array(words.buffer, row * dim * 4, dim));
  }
  if (dtype === 'f16') {
    return Float64Array.from(new Uint16Array(words.buffer, row * dim * 2, dim), fromHalf);
  }
  const scale = scales[row] ?? 0;
  return Float64Array.from(new Int8Array(words.buffer, row * dim, dim), (step) => (Math.max(-127, step) / 127) * scale);
}

export interface Content {
  /** A sequence and query head after another. */
  readonly queries: Float32Array;
  /** Of a token: `sequence`'s first row + token × kvHeads + kvHead. */
  readonly keys: Rows;
  readonly values: Rows;
  readonly firstRows: readonly number[];
}

/**
 * A step's queries, keys and values by chance: normal, keys `sharpness` times as large, so that a few tokens take most
 * of the weight. The first `shared` tokens are alike in every sequence.
 */
export function contentOf(
  { heads, kvHeads, headDim, lengths }: Shape,
  { seed = 7, sharpness = 1, shared = 0 }: { seed?: number; sharpness?: number; shared?: number } = {},
): Content {
  const random = randomOf(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let tokens = 0;
  const firstRows = lengths.map((length) => {
    tokens += length;
    return (tokens - length) * kvHeads;
  });
  const draw = (count: number, size: number): Float32Array =>
    Float32Array.from({ length: count }, () => size * normal());
  const keys = { dim: headDim, data: draw(tokens * kvHeads * headDim, sharpness) };
  const values = { dim: headDim, data: draw(tokens * kvHeads * headDim, 1) };
  for (const { data } of [keys, values]) {
    lengths.forEach((length, sequence) => {
      const size = Math.min(shared, length, lengths[0] ?? 0) * kvHeads * headDim;
      data.copyWithin((firstRows[sequence] ?? 0) * headDim, 0, size);
    });
  }
  return { queries: draw(lengths.length * heads * headDim, 1), keys, values, firstRows };
}

/** The caches of a placement: its rows stored, all other slots poisoned. */
export function imagesOf(shape: Shape, content: Content, placement: Placement): { keys: Image; values: Image } {
  const { dtype, headDim, kvHeads, lengths } = shape;
  const rows = placement.slots * kvHeads;
  const images = { keys: emptyImage(dtype, headDim, rows), values: emptyImage(dtype, headDim, rows) };
  lengths.forEach((length, sequence) => {
    for (let token = 0; token < length; token++) {
      for (let head = 0; head < kvHeads; head++) {
        const from = (content.firstRows[sequence] ?? 0) + token * kvHeads + head;
        const to = rowOf(placement, kvHeads, sequence, token, head);
        storeRow(images.keys, dtype, to, content.keys.data.subarray(from * headDim, (from + 1) * headDim));
        storeRow(images.values, dtype, to, content.values.data.subarray(from * headDim, (from + 1) * headDim));
      }
    }
  });
  return images;
}
