/** How many requests fit: contiguous slabs against the engine's own allocator, on the same bytes. */
import type { Workload } from '../engines/engine';
import type { Figure } from '../figure';

export interface Shares {
  readonly requests: Figure;
  readonly bytesPerRequest: Figure;
  /** Payload ÷ reserved of one request at the workload, 0…1. */
  readonly usedShare: Figure;
}

/** Bytes of the whole pool per GPU when it is full of requests at the workload; the parts add up to `pool`. */
export interface Waste {
  readonly pool: number;
  readonly payload: number;
  /** Unfilled slots of last blocks. */
  readonly tail: number;
  /** Pages and groups made equal. */
  readonly padding: number;
  /** Set aside for tokens that never come. */
  readonly reservation: number;
  /** Left over: no further request fits into it. */
  readonly fragmentation: number;
}

export interface Capacity {
  readonly maxLength: number;
  readonly longestContext?: Figure;
  readonly workload: Workload;
  readonly contiguous: Shares & { readonly waste: Waste };
  readonly paged: Shares & {
    readonly blocksPerRequest: Figure;
    readonly tailTokens: Figure;
    readonly waste: Waste;
    /** Requests of max length: as many never preempt each other, whatever they grow to. */
    readonly requestsAtMaxLength: Figure;
    /** Requests at the workload that one GiB more on every GPU holds. */
    readonly requestsPerGiB: Figure;
  };
  readonly steadyState: Figure;
  /** Most requests the engine runs at once, whatever the memory: max sequences, and the tokens of one step. */
  readonly engineLimit?: Figure;
  readonly fits: Figure;
  readonly limitedBy: Limit;
  /** Payload of one prompt over one whole replica, which a prefill server hands to a decode server. */
  readonly transferBytes?: Figure;
}

/** `state-blocks`: memory decides, and a request at the workload holds more blocks for states than for tokens. */
export type Limit = 'memory' | 'max-sequences' | 'state-blocks' | 'batch-tokens';

/** Requests that fit at one length, memory alone. */
export interface LengthPoint {
  readonly length: number;
  readonly contiguous: number;
  readonly paged: number;
}
