/** A number that explains itself: its unit, how it came about, and where its parts came from. */
import type { Estimate } from './units';

export type Unit = 'bytes' | 'tokens' | 'blocks' | 'requests' | 'share' | 'count';

/** Where a number came from. `line` counts from 1. */
export interface Origin {
  readonly kind:
    | 'file'
    | 'env'
    | 'directive'
    | 'flag'
    | 'setting'
    | 'default'
    | 'catalogue'
    | 'config'
    | 'driver'
    | 'estimate'
    | 'derived';
  /** For a reader: `line 12`, `default of vLLM 0.28`, `catalogue: repo@commit:path`. */
  readonly text: string;
  readonly line?: number;
}

export interface Figure {
  readonly value: number;
  readonly unit: Unit;
  /** Present when the value is estimated: the interval it lies in. */
  readonly range?: Estimate;
  /** Whose bytes these are; said beside every byte count. */
  readonly scope?: 'per GPU' | 'whole deployment';
  /** Made on demand: a plan holds dozens of figures and a face shows a few. */
  readonly explain: () => Explanation;
}

export interface Explanation {
  /** The formula in symbols: `2 × layers × KV heads × head dim × bytes`. */
  readonly symbols: string;
  /** The same with numbers in: `2 × 80 × 1 × 128 × 2 = 40,960`. */
  readonly numbers: string;
  readonly origins: readonly Origin[];
  /** Engine file and version, or a log: where the formula is from. */
  readonly source?: string;
}

export function figure(
  value: number,
  unit: Unit,
  explain: () => Explanation,
  extra: { scope?: Figure['scope']; range?: Estimate } = {},
): Figure {
  // One shape for every figure: a plan makes dozens.
  return { value, unit, range: extra.range, scope: extra.scope, explain };
}
