/** A launch's decode step, brought to a size that this adapter can hold, and every change said. */
import { bytesPerRow, wordsOf } from './kernels';
import { type Dtype, HEAD_DIMS, type Shape } from './shape';
import { randomOf } from './tables';
import { LONGEST_CHUNK } from './work';

/** What a launch, or a person, asks for: one GPU's share of one full-attention layer. */
export interface Asked {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** As the engine names it: `auto`, `bfloat16`, `fp8_e4m3`, `q8_0` … */
  readonly dtype: string;
  readonly blockSize: number;
  readonly prompt: number;
  readonly output: number;
}

export interface Room {
  /** Bytes of the largest buffer. */
  readonly largestBuffer: number;
  /** A CPU that plays a GPU: small, or nobody waits for it. */
  readonly fallback: boolean;
  /** Share of the usual size; less after the device was lost. */
  readonly work?: number;
}

export interface Fitted {
  readonly shape: Shape;
  readonly blockSize: number;
  /** What is not as it was asked for, in sentences. */
  readonly changes: readonly string[];
}

const MiB = 2 ** 20;
/** Keys and values of the step: beyond the last-level cache of any GPU (72 MB on the largest desktop one). */
const GPU_BYTES = 256 * MiB;
const CPU_BYTES = 4 * MiB;
const MOST_SEQUENCES = 256;
const MOST_TOKENS = 131_072;
const MOST_HEADS = 128;
const LARGEST_BLOCK = 256;

/** Below this a cache stays in the chip, and the times are the chip's, not the memory's. */
export const SMALL_BYTES = 128 * MiB;

export function fitShape(asked: Asked, { largestBuffer, fallback, work = 1 }: Room): Fitted {
  const changes: string[] = [];
  const dtype = dtypeOf(asked.dtype, changes);
  const headDim = headDimOf(asked.headDim, changes);
  const { heads, kvHeads } = headsOf(asked, fallback ? 16 : MOST_HEADS, changes);
  const blockSize = blockSizeOf(asked.blockSize, changes);

  const perToken = 2 * kvHeads * bytesPerRow(dtype, headDim);
  // Keys and values lie apart; an eighth more is room in the pool.
  const bytes = work * Math.min(fallback ? CPU_BYTES : GPU_BYTES, (2 * largestBuffer) / 1.25);
  const tokens = Math.max(64, Math.floor(bytes / perToken));
  const wanted = Math.max(1, Math.round(asked.prompt + asked.output / 2));
  const fewest = fallback ? 4 : 8;
  const mean = Math.max(16, Math.min(wanted, MOST_TOKENS, Math.floor(tokens / fewest)));
  if (mean < wanted) {
    changes.push(
      `Sequences hold ${mean} tokens on average instead of ${wanted}, so that ${fewest} fit in ${size(bytes)} of keys and values.`,
    );
  }
  const wish = Math.max(1, Math.min(MOST_SEQUENCES, Math.floor(tokens / mean)));
  const rowsOfToken = kvHeads * wordsOf(dtype, headDim) * 16;
  const sequences = sequencesThatFit(wish, mean, {
    // Short sequences leave most of a large block empty: no more than as much again.
    slots: Math.min(Math.floor(largestBuffer / rowsOfToken), Math.max(2 * tokens, fewest * 2 * LARGEST_BLOCK)),
    parts: Math.floor(largestBuffer / (heads * (headDim + 4) * 4)),
  });
  const shape: Shape = { heads, kvHeads, headDim, dtype, lengths: lengthsAround(mean, sequences, tokens) };
  return { shape, blockSize, changes };
}

/** Room beyond the tokens, as pools have. */
const ROOM = 1.125;

/** Slots of a pool that holds these sequences in blocks of any size. */
export function slotsFor(lengths: readonly number[]): number {
  const tokens = lengths.reduce((sum, length) => sum + Math.ceil(length / LARGEST_BLOCK) * LARGEST_BLOCK, 0);
  return Math.ceil((tokens * ROOM) / LARGEST_BLOCK + 1) * LARGEST_BLOCK;
}

/** How many, so that neither a cache nor the partial outputs of their chunks outgrow a buffer. */
function sequencesThatFit(
  wish: number,
  mean: number,
  most: { readonly slots: number; readonly parts: number },
): number {
  // All lengths together are so many means, and each may leave nearly a whole block empty.
  const slots = (count: number): number => slotsFor([count * (mean + LARGEST_BLOCK)]);
  const parts = (count: number): number => count * (mean / LONGEST_CHUNK + 1);
  let count = wish;
  while (count > 1 && (slots(count) > most.slots || parts(count) > most.parts)) {
    count--;
  }
  return count;
}

const size = (bytes: number): string => `${(bytes / MiB).toFixed(0)} MiB`;

/** Spread evenly from a quarter of the mean to seven quarters, the same each time, never more than `most` in all. */
function lengthsAround(mean: number, sequences: number, most: number): number[] {
  const random = randomOf(9);
  const drawn = Array.from({ length: sequences }, () => mean * (0.25 + 1.5 * random()));
  const sum = drawn.reduce((a, b) => a + b, 0);
  const scale = Math.min((mean * sequences) / sum, most / sum);
  return drawn.map((length) => Math.max(1, Math.floor(length * scale)));
}

/** Kernels move bytes: what counts of a dtype is how many. */
function dtypeOf(name: string, changes: string[]): Dtype {
  const lower = name.toLowerCase();
  if (/^(f32|float32|float)$/.test(lower)) {
    return 'f32';
  }
  if (/^(auto|f16|fp16|float16|half)$/.test(lower)) {
    return 'f16';
  }
  if (/^(bf16|bfloat16)$/.test(lower)) {
    changes.push('f16 stands for bfloat16: WebGPU has no bfloat16, and the bytes are the same.');
    return 'f16';
  }
  if (/8/.test(lower)) {
    if (lower !== 'int8') {
      changes.push(`int8 with a scale per token and head stands for ${name}: a byte per number as well.`);
    }
    return 'int8';
  }
  changes.push(`${name} has no kernel here; int8 stands for it, which reads more bytes than four bits would.`);
  return 'int8';
}

function headDimOf(asked: number, changes: string[]): number {
  const dim = HEAD_DIMS.find((known) => known >= asked) ?? 256;
  if (dim !== asked) {
    changes.push(`Heads have ${dim} numbers instead of ${asked}: kernels are made for ${HEAD_DIMS.join(', ')}.`);
  }
  return dim;
}

function headsOf({ heads, kvHeads }: Asked, most: number, changes: string[]): { heads: number; kvHeads: number } {
  const group = Math.max(1, Math.ceil(heads / Math.max(1, kvHeads)));
  const few = Math.max(1, Math.min(kvHeads, Math.floor(most / group)));
  if (few !== kvHeads || few * group !== heads) {
    changes.push(`${few * group} query heads over ${few} KV heads stand for ${heads} over ${kvHeads}.`);
  }
  return { heads: few * group, kvHeads: few };
}

function blockSizeOf(asked: number, changes: string[]): number {
  const power = 2 ** Math.round(Math.log2(Math.max(1, asked)));
  const blockSize = Math.min(LARGEST_BLOCK, power);
  if (blockSize !== asked) {
    changes.push(
      `Blocks hold ${blockSize} tokens instead of ${asked}: kernels take powers of two up to ${LARGEST_BLOCK}.`,
    );
  }
  return blockSize;
}
