/** What an engine wants of the library: what its options say, with its own defaults filled in. */
import type { EngineVersion, Finding, Placement, Setting } from '../engines/engine';
import type { FitRules } from './configuration';
import type { GgmlRules } from './rules';
import type { ContextSpec } from './sizes';

export interface Wanted {
  readonly engine: string;
  readonly version: EngineVersion;
  readonly settings: readonly Setting[];
  readonly findings: readonly Finding[];
  readonly rules: GgmlRules;
  /** All but the tokens. */
  readonly context: Omit<ContextSpec, 'tokens' | 'rules'>;
  /** Tokens over all sequences that the launch asks for. */
  readonly tokens?: number;
  /** What they are when it asks for none. */
  readonly freeTokens: number;
  /** `least` is the shortest context over all sequences that fitting may choose. */
  readonly fit?: FitRules & { readonly least: number };
  /** GPUs, each with its share of layers. */
  readonly shares: readonly number[];
  /** Layers on the GPUs, as asked for. */
  readonly offloaded?: number;
  readonly mainOnly: boolean;
  readonly kvOffload: boolean;
  /** Longest request, beside what a sequence has of the context. */
  readonly lengthCap?: number;
  /** Sequences take cells from one pool. */
  readonly pooled: boolean;
  /** Weights are where an option puts them, which is not followed. */
  readonly weightsMoved: boolean;
  readonly placement: Placement;
  readonly contextOption: string;
  readonly offloadOption: string;
  readonly typeOption: string;
  readonly flashOption: string;
  readonly hostCache?: number;
  readonly dtypeKey: string;
  readonly optionTokens: (perSequence: number) => number;
}
