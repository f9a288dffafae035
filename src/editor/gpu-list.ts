/** The GPUs a person can pick from. */
import { findGpu, gpuNames } from '../core/hardware/find-gpu';
import { formatBytes } from '../core/units';

export interface GpuChoice {
  readonly name: string;
  /** As the driver reports it. */
  readonly memory: string;
}

export const gpuChoices = (): GpuChoice[] =>
  gpuNames().map((name) => {
    const gpu = findGpu(name);
    return { name, memory: gpu ? formatBytes(gpu.memory.value) : '' };
  });
