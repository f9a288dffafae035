/** What the benchmark's page and its worker say to each other. */
import type { BlockSizeRow, WorldOptions } from '../../src/core/pool';
import type { BenchResult } from '../../src/core/pool/kernel-result';
import type { CpuReference } from './cpu';
import type { AdapterFacts, Trouble } from './device';
import type { Asked } from './fit';

export interface Order {
  readonly kind: 'run';
  readonly asked: Asked;
  readonly remote: string;
  /** On software that plays a GPU times are taken only when they are asked for. */
  readonly timesAnyway: boolean;
  /** The launch's own pool, for what its block size does to memory; absent where it is not simulated. */
  readonly world?: WorldOptions;
}

export type ToWorker =
  /** Which adapter is there? */
  | { readonly kind: 'look' }
  | Order
  /** No GPU: the reference alone. */
  | { readonly kind: 'reference' }
  | { readonly kind: 'cancel' }
  /** Nobody can see it: wait, or go on. */
  | { readonly kind: 'rest'; readonly resting: boolean };

export type FromWorker =
  | { readonly kind: 'adapter'; readonly adapter: AdapterFacts; readonly largestBuffer: number }
  | { readonly kind: 'trouble'; readonly trouble: Trouble; readonly message: string; readonly during: 'look' | 'run' }
  | { readonly kind: 'progress'; readonly share: number; readonly what: string }
  | { readonly kind: 'done'; readonly result: BenchResult; readonly study?: readonly BlockSizeRow[] }
  | { readonly kind: 'reference'; readonly reference: CpuReference };
