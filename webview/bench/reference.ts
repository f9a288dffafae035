/** Attention in float64 on the CPU: what every kernel is held against. */
import { type Dtype, type Placement, rowOf, type Shape } from './shape';
import { contentOf, type Image, imagesOf, loadRow, type Rows } from './storage';
import { contiguous } from './tables';

/** One head's output of one sequence, read as the kernels read it: the stored values, through the placement. */
export function headOutput(
  shape: Shape,
  placement: Placement,
  caches: { readonly keys: Image; readonly values: Image },
  query: Float32Array,
  sequence: number,
  head: number,
): Float64Array {
  const { kvHeads, headDim, dtype } = shape;
  const kvHead = Math.floor(head / (shape.heads / kvHeads));
  const row = (token: number): number => rowOf(placement, kvHeads, sequence, token, kvHead);
  return attend(
    query,
    shape.lengths[sequence] ?? 0,
    (token) => loadRow(caches.keys, dtype, headDim, row(token)),
    (token) => loadRow(caches.values, dtype, headDim, row(token)),
  );
}

/** softmax(q·k ÷ √d)·v, in two passes. */
export function attend(
  query: Float32Array,
  length: number,
  key: (token: number) => ArrayLike<number>,
  value: (token: number) => ArrayLike<number>,
): Float64Array {
  const dim = query.length;
  const scores = Float64Array.from({ length }, (_, token) => {
    const k = key(token);
    return query.reduce((sum, q, d) => sum + q * (k[d] ?? 0), 0) / Math.sqrt(dim);
  });
  const top = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const output = new Float64Array(dim);
  let all = 0;
  scores.forEach((score, token) => {
    const share = Math.exp(score - top);
    const v = value(token);
    all += share;
    for (let d = 0; d < dim; d++) {
      output[d] = (output[d] ?? 0) + share * (v[d] ?? 0);
    }
  });
  return all > 0 ? output.map((sum) => sum / all) : output;
}

/** Largest difference relative to the head's largest output; infinite where the kernel's is not finite. */
export function relativeError(actual: Float32Array | Float64Array, expected: Float64Array): number {
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let worst = 0;
  actual.forEach((value, i) => {
    const difference = Math.abs(value - (expected[i] ?? 0));
    worst = Number.isFinite(value) ? Math.max(worst, difference) : Number.POSITIVE_INFINITY;
  });
  return worst === 0 ? 0 : worst / largest;
}

/** What storing alone does to an output: float64 attention on stored values against the same on the values themselves. */
export function storageError(dtype: Dtype, headDim: number): number {
  const shape: Shape = { heads: 2, kvHeads: 1, headDim, dtype, lengths: [256] };
  const content = contentOf(shape);
  const placement = contiguous(shape, 'NHD');
  const caches = imagesOf(shape, content, placement);
  const row = ({ data }: Rows, token: number) => data.subarray(token * headDim, (token + 1) * headDim);
  return [0, 1].reduce((worst, head) => {
    const query = content.queries.subarray(head * headDim, (head + 1) * headDim);
    const exact = attend(
      query,
      256,
      (token) => row(content.keys, token),
      (token) => row(content.values, token),
    );
    const stored = headOutput(shape, placement, caches, query, 0, head);
    return Math.max(worst, relativeError(stored, exact));
  }, 0);
}
