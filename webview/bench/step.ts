/** One decode step on the device: buffers and dispatches of each way to do it. */
import {
  bufferOf,
  buildKernel,
  type Dispatch,
  dispatchOf,
  type Gpu,
  type Kernel,
  scratchBuffer,
  submit,
} from './device';
import { bytesPerRow, type KernelSpec, kernelSource, type Tuning, wordsOf } from './kernels';
import { type Placement, type Shape, stridesOf, totalTokens } from './shape';
import type { Image } from './storage';
import { contiguous } from './tables';
import { chunkFor, type WorkList, wholeSequences, workList } from './work';

export interface Caches {
  readonly keys: GPUBuffer;
  readonly values: GPUBuffer;
  readonly scales?: GPUBuffer;
}

/** What to run, and where its answer is: of each sequence and head, `headDim` numbers. */
export interface Step {
  readonly dispatches: readonly Dispatch[];
  readonly output: GPUBuffer;
}

/** Makes steps, each pipeline once, and frees every buffer at the end. */
export interface Bench {
  readonly gpu: Gpu;
  readonly tuning: Tuning;
  /** Buffers that live as long as the bench. */
  keep<B extends GPUBuffer>(buffer: B): B;
  kernel(spec: Omit<KernelSpec, 'tuning'>, tuning?: Partial<Tuning>): Promise<Kernel>;
  /** How many pipelines were built. */
  readonly built: () => number;
  /** Frees the buffers; pipelines stay. */
  clear(): void;
}

/** Fewer lanes to a row would need more workgroup memory than every adapter has. */
export const GPU_TUNING = { threads: 128, lanes: 8, tile: 4, depth: 2, nativeF16: false } as const;

/** On a CPU small shaders compile sooner and run no slower; a GPU wants loads in flight. */
export function tuningFor({ adapter, subgroup }: Gpu, purpose: 'check' | 'time'): Tuning {
  if (adapter.fallback) {
    const lanes = subgroup >= 4 ? Math.min(8, subgroup) : 8;
    const tile = purpose === 'time' ? 4 : 2;
    return { threads: 16, lanes, tile, depth: 1, subgroups: subgroup >= 4, nativeF16: false };
  }
  return { ...GPU_TUNING, subgroups: subgroup >= 8 };
}

export function openBench(gpu: Gpu, tuning: Tuning): Bench {
  const kernels = new Map<string, Promise<Kernel>>();
  let buffers: GPUBuffer[] = [];
  return {
    gpu,
    tuning,
    keep(buffer) {
      buffers.push(buffer);
      return buffer;
    },
    kernel(spec, change) {
      const source = kernelSource({ ...spec, tuning: { ...tuning, ...change } });
      const kernel = kernels.get(source.code) ?? buildKernel(gpu, source);
      kernels.set(source.code, kernel);
      return kernel;
    },
    built: () => kernels.size,
    clear() {
      for (const buffer of buffers) {
        buffer.destroy();
      }
      buffers = [];
    },
  };
}

export function uploadCaches(bench: Bench, { keys, values }: { readonly keys: Image; readonly values: Image }): Caches {
  const put = (content: Uint32Array | Float32Array): GPUBuffer =>
    bench.keep(bufferOf(bench.gpu, content as Uint32Array<ArrayBuffer>));
  const pairs = new Float32Array(keys.scales.length * 2);
  keys.scales.forEach((scale, row) => {
    pairs[2 * row] = scale;
    pairs[2 * row + 1] = values.scales[row] ?? 0;
  });
  return { keys: put(keys.words), values: put(values.words), ...(pairs.length > 0 && { scales: put(pairs) }) };
}

/** What a step is made of. */
export interface Ingredients {
  readonly shape: Shape;
  readonly placement: Placement;
  readonly caches: Caches;
  readonly queries: GPUBuffer;
  readonly tuning?: Partial<Tuning>;
  /** Tokens of a work item at most; chosen by the size of the step where absent. */
  readonly chunk?: number;
}

/** Workgroups that keep a large GPU busy; a CPU needs a few for each core. */
const ENOUGH = { gpu: 2048, cpu: 32 } as const;

export async function attentionStep(bench: Bench, given: Ingredients): Promise<Step> {
  const { gpu } = bench;
  const { shape, placement, caches, queries } = given;
  const { heads, headDim, dtype, lengths } = shape;
  const spec = { address: placement.kind, dtype, headDim } as const;
  const tuning = { ...bench.tuning, ...given.tuning };
  const [attention, merge] = [
    await bench.kernel({ ...spec, task: 'attention' }, given.tuning),
    await bench.kernel({ ...spec, task: 'merge', address: 'contiguous', dtype: 'f32' }, { threads: 64 }),
  ];
  const tiles = Math.ceil(heads / shape.kvHeads / tuning.tile);
  const list = workList(shape, placement, given.chunk ?? chunkOf(gpu, shape, tiles));
  const inputs = inputsOf(bench, shape, placement, list, tiles);
  const parts = bench.keep(scratchBuffer(gpu, list.count * heads * (headDim + 4) * 4));
  const output = bench.keep(scratchBuffer(gpu, lengths.length * heads * headDim * 4));
  const spans = bench.keep(bufferOf(gpu, list.spans as Uint32Array<ArrayBuffer>));
  const { keys, values, scales } = caches;
  return {
    dispatches: [
      dispatchOf(
        gpu,
        attention,
        [inputs.params, queries, keys, values, inputs.work, parts, inputs.table, scales],
        list.count,
        shape.kvHeads * tiles,
      ),
      dispatchOf(gpu, merge, [inputs.params, parts, spans, output], lengths.length, heads),
    ],
    output,
  };
}

export async function naiveStep(bench: Bench, { shape, placement, caches, queries }: Ingredients): Promise<Step> {
  const { gpu } = bench;
  const { heads, headDim, dtype, lengths } = shape;
  const kernel = await bench.kernel({ task: 'naive', address: placement.kind, dtype, headDim }, { threads: 64 });
  const inputs = inputsOf(bench, shape, placement, wholeSequences(shape, placement), 1);
  const output = bench.keep(scratchBuffer(gpu, lengths.length * heads * headDim * 4));
  const buffers = [
    inputs.params,
    queries,
    caches.keys,
    caches.values,
    inputs.work,
    output,
    inputs.table,
    caches.scales,
  ];
  return { dispatches: [dispatchOf(gpu, kernel, buffers, lengths.length, heads)], output };
}

/** Every block copied into slabs, then dense attention over them. */
export async function gatherStep(bench: Bench, given: Ingredients): Promise<Step> {
  const { gpu } = bench;
  const { shape, placement, caches } = given;
  const { dtype, headDim, kvHeads } = shape;
  const kernel = await bench.kernel({ task: 'gather', address: placement.kind, dtype, headDim });
  const rows = totalTokens(shape) * kvHeads;
  const dense: Caches = {
    keys: bench.keep(scratchBuffer(gpu, rows * wordsOf(dtype, headDim) * 16)),
    values: bench.keep(scratchBuffer(gpu, rows * wordsOf(dtype, headDim) * 16)),
    ...(caches.scales && { scales: bench.keep(scratchBuffer(gpu, rows * 8)) }),
  };
  const list = workList(shape, placement, given.chunk ?? 256);
  const inputs = inputsOf(bench, shape, placement, list, 1);
  const buffers = [
    inputs.params,
    dense.keys,
    caches.keys,
    caches.values,
    inputs.work,
    dense.values,
    inputs.table,
    caches.scales,
    dense.scales,
  ];
  const after = await attentionStep(bench, { ...given, placement: contiguous(shape, 'NHD'), caches: dense });
  return {
    dispatches: [dispatchOf(gpu, kernel, buffers, list.count, kvHeads), ...after.dispatches],
    output: after.output,
  };
}

/** The same bytes, read and thrown away; with `tell`, each thread's sum of them is the output. */
export async function readStep(bench: Bench, given: Omit<Ingredients, 'queries'>, tell = false): Promise<Step> {
  const { gpu } = bench;
  const { shape, placement, caches } = given;
  const { dtype, headDim, heads, kvHeads } = shape;
  const kernel = await bench.kernel({ task: 'read', address: placement.kind, dtype, headDim }, { depth: 4, tile: 1 });
  const tiles = Math.ceil(heads / kvHeads / bench.tuning.tile);
  const list = workList(shape, placement, given.chunk ?? chunkOf(gpu, shape, tiles));
  const inputs = inputsOf(bench, shape, placement, list, 1, tell);
  const output = bench.keep(scratchBuffer(gpu, list.count * kvHeads * bench.tuning.threads * 16));
  const { keys, values, scales } = caches;
  const buffers = [inputs.params, undefined, keys, values, inputs.work, output, inputs.table, scales];
  return { dispatches: [dispatchOf(gpu, kernel, buffers, list.count, kvHeads)], output };
}

/** Writes each sequence's last token, given as keys then values of every KV head. */
export async function appendStep(bench: Bench, given: Omit<Ingredients, 'queries'>, fresh: GPUBuffer): Promise<void> {
  const { shape, placement, caches } = given;
  const { dtype, headDim, kvHeads, lengths } = shape;
  const kernel = await bench.kernel({ task: 'append', address: placement.kind, dtype, headDim }, { threads: 64 });
  const inputs = inputsOf(bench, shape, placement, wholeSequences(shape, placement, 'last'), 1);
  const { keys, values, scales } = caches;
  const buffers = [inputs.params, fresh, keys, values, inputs.work, undefined, inputs.table, scales];
  await run(bench.gpu, [dispatchOf(bench.gpu, kernel, buffers, lengths.length, kvHeads)], 'appending a token');
}

/** Copies blocks: pairs of from and to. */
export async function copyStep(bench: Bench, given: Omit<Ingredients, 'queries'>, pairs: Uint32Array): Promise<void> {
  const { shape, placement, caches } = given;
  const { dtype, headDim } = shape;
  const kernel = await bench.kernel({ task: 'copy', address: 'contiguous', dtype, headDim }, { threads: 64 });
  const inputs = inputsOf(bench, shape, placement, wholeSequences(shape, placement), 1);
  const list = bench.keep(bufferOf(bench.gpu, pairs as Uint32Array<ArrayBuffer>));
  const { keys, values, scales } = caches;
  const buffers = [inputs.params, list, keys, values, inputs.work, undefined, undefined, scales];
  await run(bench.gpu, [dispatchOf(bench.gpu, kernel, buffers, pairs.length / 2)], 'copying a block');
}

export async function run(gpu: Gpu, dispatches: readonly Dispatch[], what: string): Promise<void> {
  submit(gpu, dispatches);
  await gpu.wait(gpu.device.queue.onSubmittedWorkDone(), what);
}

/** Bytes of keys and values that a step has to read, each once. */
export const uniqueBytes = (shape: Shape): number =>
  2 * totalTokens(shape) * shape.kvHeads * bytesPerRow(shape.dtype, shape.headDim);

const chunkOf = (gpu: Gpu, shape: Shape, tiles: number): number =>
  chunkFor(shape, tiles, gpu.adapter.fallback ? ENOUGH.cpu : ENOUGH.gpu);

function inputsOf(bench: Bench, shape: Shape, placement: Placement, list: WorkList, tiles: number, tell = false) {
  const { gpu } = bench;
  const { heads, kvHeads, headDim } = shape;
  const strides = stridesOf(placement, kvHeads);
  const words = new Uint32Array(12);
  const shift = Math.log2(placement.blockSize);
  words.set([shift, placement.blockSize - 1, strides.block, strides.token, strides.head]);
  words.set([heads, kvHeads, heads / kvHeads, tiles], 5);
  new Float32Array(words.buffer)[9] = Math.LOG2E / Math.sqrt(headDim);
  words[10] = tell ? 1 : 0;
  const put = (content: Uint32Array, kind?: 'uniform'): GPUBuffer =>
    bench.keep(bufferOf(gpu, content as Uint32Array<ArrayBuffer>, kind));
  return {
    params: put(words, 'uniform'),
    work: put(list.items),
    table: placement.kind === 'paged' ? put(placement.table) : undefined,
  };
}
