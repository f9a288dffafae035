/** Numbers in words, as the reports say them. */
import type { MissReason, PromptTokens, ResidencyRow } from '../../src/core/pool';
import { withCommas } from '../../src/core/units';

export const n = (value: number): string => withCommas(Math.round(value));

export const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

/** A share that is seen, not weighed. */
export const wholePercent = (share: number): string => `${Math.round(share * 100)} %`;

export const seconds = (value: number): string =>
  value >= 10 ? `${n(value)} s` : value >= 1 ? `${value.toFixed(2)} s` : `${Number((value * 1000).toFixed(1))} ms`;

/** `592`, or `148, estimated 118 to 197`. */
export const tokens = ({ value, low, high }: PromptTokens): string =>
  low === high ? n(value) : `about ${n(value)}, estimated ${n(low)} to ${n(high)}`;

export const REASONS: Readonly<Record<MissReason, string>> = {
  complete: 'All that could be found was',
  diverges: 'The text goes its own way',
  'first-block-differs': 'Nothing began like it',
  'shorter-than-a-block': 'Alike for less than a block',
  evicted: 'Evicted before',
  'adapter-or-salt': 'Another adapter or salt',
};

export const ADVICE: Readonly<Record<ResidencyRow['advice'], string>> = {
  'prefix cache': 'rely on the prefix cache',
  'keep resident': 'keep it resident',
  recompute: 'compute it again',
};
