/** The graphics device: found or told why not, watched for its loss, and never waited for without an end. */
import { type KernelSource, probeSource } from './kernels';

/** Why there is nothing to measure on, or no longer. */
export type Trouble =
  | 'no-webgpu'
  | 'no-adapter'
  | 'refused' // the adapter gives no device
  | 'limits'
  | 'validation'
  | 'out-of-memory'
  | 'lost'
  | 'slow'
  | 'stuck'
  | 'cancelled';

export class GpuError extends Error {
  constructor(
    readonly trouble: Trouble,
    message: string,
  ) {
    super(message);
    this.name = 'GpuError';
  }
}

export interface AdapterFacts {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  /** A program that plays a GPU on the CPU. */
  readonly fallback: boolean;
}

export interface Gpu {
  readonly device: GPUDevice;
  readonly adapter: AdapterFacts;
  readonly timestamps: boolean;
  readonly nativeF16: boolean;
  /** Threads that follow each other and may shuffle; 0 where that is not so. */
  readonly subgroup: number;
  /** Bytes of the largest buffer that a kernel can be given. */
  readonly largestBuffer: number;
  /** Fails once the device is gone, or when this takes longer than its deadline. */
  wait<T>(promise: Promise<T>, what: string): Promise<T>;
  /** Runs something and fails with what the device says about it. */
  checked<T>(what: string, work: () => T | Promise<T>): Promise<T>;
  close(): void;
}

/** No submit is meant to take a tenth of it; a program that compiles shaders on the CPU may. */
const DEADLINE = 10_000;
const FALLBACK_DEADLINE = 120_000;
/** What every adapter of the full standard has, and the kernels need. */
const LEAST = { buffers: 8, shared: 16_384, buffer: 2 ** 22 } as const;
/** More is never asked for. */
const MOST_BUFFER = 2 ** 30;

export async function openGpu(gpu: GPU | undefined, deadline?: number): Promise<Gpu> {
  if (!gpu) {
    throw new GpuError('no-webgpu', 'This window has no WebGPU.');
  }
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) {
    throw new GpuError(
      'no-adapter',
      'WebGPU is there, but no adapter: the GPU or its driver is not offered to this window.',
    );
  }
  const wanted = ['timestamp-query', 'shader-f16', 'subgroups'] as const;
  const features = wanted.filter((name) => adapter.features.has(name));
  const largestBuffer = Math.min(adapter.limits.maxStorageBufferBindingSize, adapter.limits.maxBufferSize, MOST_BUFFER);
  const { maxStorageBuffersPerShaderStage: buffers, maxComputeWorkgroupStorageSize: shared } = adapter.limits;
  if (buffers < LEAST.buffers || shared < LEAST.shared || largestBuffer < LEAST.buffer) {
    throw new GpuError(
      'limits',
      `The adapter has ${buffers} storage buffers, ${shared} bytes of workgroup memory and buffers of ${largestBuffer} bytes; the kernels need ${LEAST.buffers}, ${LEAST.shared} and ${LEAST.buffer}.`,
    );
  }
  let device: GPUDevice;
  try {
    device = await adapter.requestDevice({
      requiredFeatures: features,
      requiredLimits: { maxStorageBufferBindingSize: largestBuffer, maxBufferSize: largestBuffer },
    });
  } catch (error) {
    throw new GpuError('refused', `The adapter gives no device: ${messageOf(error)}`);
  }
  const { info } = adapter;
  const facts: AdapterFacts = {
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    fallback:
      info.isFallbackAdapter === true ||
      /swiftshader|llvmpipe|lavapipe|basic render/i.test(
        Object.values([info.architecture, info.device, info.description]).join(' '),
      ),
  };
  const guard = guardOf(device, deadline ?? (facts.fallback ? FALLBACK_DEADLINE : DEADLINE));
  const open: Gpu = {
    device,
    adapter: facts,
    timestamps: device.features.has('timestamp-query'),
    nativeF16: device.features.has('shader-f16'),
    subgroup: 0,
    largestBuffer,
    ...guard,
    close: () => device.destroy(),
  };
  return { ...open, subgroup: device.features.has('subgroups') ? await probeSubgroups(open) : 0 };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function guardOf(device: GPUDevice, deadline: number): Pick<Gpu, 'wait' | 'checked'> {
  let lost: GpuError | undefined;
  const loss = device.lost.then(({ reason, message }) => {
    lost = new GpuError('lost', `The GPU device was lost (${reason})${message ? `: ${message}` : ''}`);
    return lost;
  });
  const wait = async <T>(promise: Promise<T>, what: string): Promise<T> => {
    if (lost) {
      throw lost;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new GpuError('stuck', `The GPU did not answer within ${deadline / 1000} s (${what}).`)),
        deadline,
      );
    });
    try {
      return await Promise.race([promise, late, loss.then((error) => Promise.reject(error))]);
    } catch (error) {
      // A pending map is rejected a moment before the loss is told.
      throw error instanceof GpuError ? error : ((await soon(loss)) ?? error);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    wait,
    async checked(what, work) {
      for (const filter of ['out-of-memory', 'internal', 'validation'] as const) {
        device.pushErrorScope(filter);
      }
      let result: Awaited<ReturnType<typeof work>> | undefined;
      let thrown: unknown;
      try {
        result = await work();
      } catch (error) {
        thrown = error;
      }
      const scopes = [device.popErrorScope(), device.popErrorScope(), device.popErrorScope()];
      const found = (await wait(Promise.all(scopes), what)).find((error) => error !== null);
      if (thrown instanceof GpuError) {
        throw thrown;
      }
      if (found) {
        const trouble =
          typeof GPUOutOfMemoryError !== 'undefined' && found instanceof GPUOutOfMemoryError
            ? 'out-of-memory'
            : 'validation';
        throw new GpuError(trouble, `${what}: ${found.message}`);
      }
      if (thrown !== undefined) {
        throw new GpuError('validation', `${what}: ${messageOf(thrown)}`);
      }
      return result as Awaited<ReturnType<typeof work>>;
    },
  };
}

/** The loss, if it is told within a moment. */
const soon = (loss: Promise<GpuError>): Promise<GpuError | undefined> =>
  Promise.race([loss, new Promise<undefined>((resolve) => setTimeout(resolve, 500))]);

/** A kernel ready to run. */
export interface Kernel {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

export function buildKernel(gpu: Gpu, source: KernelSource): Promise<Kernel> {
  const { device } = gpu;
  return gpu.checked(source.entry, async () => {
    const module = device.createShaderModule({ code: source.code });
    const { messages } = await gpu.wait(module.getCompilationInfo(), 'compiling a kernel');
    const wrong = messages.find(({ type }) => type === 'error');
    if (wrong) {
      const line = source.code.split('\n')[wrong.lineNum - 1]?.trim() ?? '';
      throw new GpuError(
        'validation',
        `The kernel ${source.entry} does not compile: ${wrong.message} (line ${wrong.lineNum}: ${line})`,
      );
    }
    const layout = device.createBindGroupLayout({
      entries: source.bindings.flatMap((type, binding) =>
        type ? [{ binding, visibility: COMPUTE_STAGE, buffer: { type } }] : [],
      ),
    });
    const pipeline = await gpu.wait(
      device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: source.entry },
      }),
      'compiling a kernel',
    );
    return { pipeline, layout };
  });
}

/** One kernel with its buffers and the number of workgroups. */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly group: GPUBindGroup;
  readonly x: number;
  readonly y: number;
}

export function dispatchOf(
  gpu: Gpu,
  kernel: Kernel,
  buffers: readonly (GPUBuffer | undefined)[],
  x: number,
  y = 1,
): Dispatch {
  const entries = buffers.flatMap((buffer, binding) => (buffer ? [{ binding, resource: { buffer } }] : []));
  return { kernel, group: gpu.device.createBindGroup({ layout: kernel.layout, entries }), x, y };
}

export function encode(pass: GPUComputePassEncoder, dispatches: readonly Dispatch[]): void {
  for (const { kernel, group, x, y } of dispatches) {
    if (x > 0) {
      pass.setPipeline(kernel.pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y);
    }
  }
}

export function submit(gpu: Gpu, dispatches: readonly Dispatch[]): void {
  const encoder = gpu.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  encode(pass, dispatches);
  pass.end();
  gpu.device.queue.submit([encoder.finish()]);
}

/** The constants of the standard: not every host of it has the objects that name them. */
const COMPUTE_STAGE = 4;
const [MAP_READ, COPY_SRC, COPY_DST, UNIFORM, STORAGE, RESOLVE] = [1, 4, 8, 64, 128, 512];
const FOR_READING = 1;

type Bytes = Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

const made = (gpu: Gpu, size: number, usage: number): GPUBuffer =>
  gpu.device.createBuffer({ size: Math.max(16, Math.ceil(size / 4) * 4), usage });

export const scratchBuffer = (gpu: Gpu, size: number): GPUBuffer => made(gpu, size, STORAGE | COPY_SRC | COPY_DST);
export const resolveBuffer = (gpu: Gpu, size: number): GPUBuffer => made(gpu, size, RESOLVE | COPY_SRC);

export function bufferOf(gpu: Gpu, content: Bytes, kind: 'storage' | 'uniform' = 'storage'): GPUBuffer {
  const buffer = made(gpu, content.byteLength, (kind === 'storage' ? STORAGE | COPY_SRC : UNIFORM) | COPY_DST);
  gpu.device.queue.writeBuffer(buffer, 0, content);
  return buffer;
}

/** A copy of a buffer's bytes. */
export async function readBuffer(gpu: Gpu, buffer: GPUBuffer, bytes = buffer.size): Promise<ArrayBuffer> {
  const copy = made(gpu, bytes, MAP_READ | COPY_DST);
  const encoder = gpu.device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, bytes);
  gpu.device.queue.submit([encoder.finish()]);
  try {
    await gpu.wait(copy.mapAsync(FOR_READING), 'reading a result');
    return copy.getMappedRange().slice(0);
  } finally {
    copy.destroy();
  }
}

/** Runs the probe: the size of subgroups whose lanes are consecutive invocations, or 0. */
async function probeSubgroups(gpu: Gpu): Promise<number> {
  const threads = 64;
  const groups = 4;
  try {
    const kernel = await buildKernel(gpu, probeSource(threads));
    const seen = scratchBuffer(gpu, groups * threads * 16);
    const buffers = [undefined, undefined, undefined, undefined, undefined, seen];
    submit(gpu, [dispatchOf(gpu, kernel, buffers, groups)]);
    const values = new Uint32Array(await readBuffer(gpu, seen));
    seen.destroy();
    return soundSubgroup(values, threads);
  } catch (error) {
    if (error instanceof GpuError && error.trouble === 'validation') {
      return 0; // a feature that does not compile is not there
    }
    throw error;
  }
}

/** From what the probe wrote: each neighbour is the one that the sum over lanes asks for. */
function soundSubgroup(values: Uint32Array, threads: number): number {
  let size = 64;
  for (let base = 0; base < values.length; base += 4 * threads) {
    for (let thread = 0; thread < threads; thread++) {
      const at = (row: number): number => values[base + row * threads + thread] ?? -1;
      size = Math.min(size, at(3));
      for (const [row, bit] of [1, 2, 4].entries()) {
        if (bit < size && at(row) !== (thread ^ bit)) {
          return 0;
        }
      }
    }
  }
  return size;
}
