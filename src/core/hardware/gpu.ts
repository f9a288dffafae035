/** One GPU, as the driver shows it. */
import type { Estimate } from '../units';

export interface Gpu {
  readonly name: string;
  readonly vendor: string;
  /** Bytes that CUDA or HIP reports as total: what `gpu-memory-utilization` is a share of. A range where logs differ. */
  readonly memory: Estimate;
  /** Bytes that nvidia-smi or rocm-smi prints as total, the driver's own share included; the most where logs differ. */
  readonly reported?: number;
  readonly bandwidthGBs?: number;
  /** Dense 16-bit operations, in 10^12 a second, as the maker states them. */
  readonly teraflops?: number;
  readonly architecture?: string;
  /** `9.0` for Hopper; decides default backends. */
  readonly computeCapability?: string;
  readonly unifiedMemory: boolean;
  readonly sources: readonly string[];
}
