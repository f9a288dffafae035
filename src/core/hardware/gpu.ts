/** One GPU, as the driver shows it. */
import type { Estimate } from '../units';

export interface Gpu {
  readonly name: string;
  readonly vendor: string;
  /** Bytes that CUDA or HIP reports as total: what `gpu-memory-utilization` is a share of. A range where logs differ. */
  readonly memory: Estimate;
  readonly bandwidthGBs?: number;
  readonly architecture?: string;
  /** `9.0` for Hopper; decides default backends. */
  readonly computeCapability?: string;
  readonly unifiedMemory: boolean;
  readonly sources: readonly string[];
}
