/** Options by which an engine's settings are told from those of other tools. */
import type { OptionSpec } from '../../core/engines/option';

/** It decides the KV cache and its name is long enough to be no other tool's. */
export const isTellingSpec = (spec: OptionSpec): boolean =>
  spec.effect !== undefined && spec.name.split(/[-_.]/).length >= 3;
