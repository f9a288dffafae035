/** The attention of the launch's model on one GPU, as the benchmark takes it. */
import * as v from 'valibot';
import { count } from './base';

const shape = v.object({
  kind: v.literal('shape'),
  model: v.string(),
  /** Of one GPU, after tensor parallelism. */
  queryHeads: count,
  kvHeads: count,
  headDim: count,
  /** As the engine names it. */
  kvDtype: v.string(),
  blockSize: count,
  /** Tokens of one request, and requests that fit at once. */
  prompt: count,
  output: count,
  requests: count,
  /** What of the model's attention the benchmark does not do: windows, latent vectors, states. */
  notes: v.array(v.string()),
  /** Name of the remote that the editor is connected to; empty where it runs on the reader's own machine. */
  remote: v.string(),
});

export const benchShape = v.variant('kind', [
  shape,
  v.object({ kind: v.literal('reason'), text: v.string(), remote: v.string() }),
]);

export type BenchShape = v.InferOutput<typeof benchShape>;
