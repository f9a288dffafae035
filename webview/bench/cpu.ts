/** The reference as a measurement: what is left where there is no GPU. It says nothing of one. */
import { headOutput } from './reference';
import type { Placement, Shape } from './shape';
import { type Interval, median, pairedRatio } from './statistics';
import { contentOf, imagesOf } from './storage';
import { contiguous, paged } from './tables';

export interface CpuReference {
  /** Of one step, contiguous. */
  readonly milliseconds: number;
  readonly tokens: number;
  /** Time through a table with blocks scattered over contiguous. */
  readonly paged: readonly { readonly blockSize: number; readonly ratio: Interval }[];
  /** All placements gave the same output, to the bit. */
  readonly same: boolean;
}

const SHAPE: Shape = { heads: 4, kvHeads: 1, headDim: 64, dtype: 'f32', lengths: [300, 200, 100, 40] };
const BLOCK_SIZES = [1, 16, 128];
const ROUNDS = 9;

export function measureReference(now: () => number): CpuReference {
  const content = contentOf(SHAPE);
  const ways = [contiguous(SHAPE, 'HND'), ...BLOCK_SIZES.map((size) => paged(SHAPE, size, 'random', 'HND'))].map(
    (placement) => ({ placement, caches: imagesOf(SHAPE, content, placement), times: [] as number[] }),
  );
  const outputs = ways.map(({ placement, caches }) => stepOf(placement, caches, content.queries));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { placement, caches, times } of ways) {
      const start = now();
      stepOf(placement, caches, content.queries);
      times.push(now() - start);
    }
  }
  const base = ways[0]?.times ?? [];
  return {
    milliseconds: median(base),
    tokens: SHAPE.lengths.reduce((a, b) => a + b, 0),
    paged: BLOCK_SIZES.map((blockSize, i) => ({ blockSize, ratio: pairedRatio(ways[i + 1]?.times ?? [], base) })),
    same: outputs.every((output) => output.every((value, i) => value === outputs[0]?.[i])),
  };
}

function stepOf(placement: Placement, caches: ReturnType<typeof imagesOf>, queries: Float32Array): number[] {
  const { heads, headDim, lengths } = SHAPE;
  return lengths.flatMap((_, sequence) =>
    Array.from({ length: heads }, (_, head) => {
      const at = (sequence * heads + head) * headDim;
      return [...headOutput(SHAPE, placement, caches, queries.subarray(at, at + headDim), sequence, head)];
    }).flat(),
  );
}
