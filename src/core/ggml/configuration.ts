/** What an engine built on llama.cpp's library settles before it is laid out. */
import type { Configuration } from '../engines/engine';
import type { Split } from './devices';
import type { GgmlRules } from './rules';
import type { Cache, ContextSpec, Sizes } from './sizes';

export interface FitRules {
  /** Bytes left free on every GPU. */
  readonly margin: number;
  /** Layers (or experts) may go to the host. */
  readonly movesLayers: boolean;
}

export interface GgmlConfiguration extends Configuration {
  /** For messages: `llama.cpp`. */
  readonly engine: string;
  readonly rules: GgmlRules;
  readonly spec: ContextSpec;
  readonly sizes: Sizes;
  readonly split: Split;
  /** The same for another number of tokens over all sequences. */
  readonly sizesAt: (tokens: number) => Sizes;
  /** Longest request for a context of so many tokens. */
  readonly lengthAt: (sizes: Sizes) => number;
  /** Cells of this context hold requests in one pool; else each sequence has its own. */
  readonly pooled: boolean;
  readonly sequences: number;
  readonly fit?: FitRules;
  /** Option that a finding about the context points at, and the one about layers on the GPU. */
  readonly contextOption: string;
  readonly offloadOption: string;
  /** Host memory for whole saved sequences; 0 = none, undefined = no bound. */
  readonly hostCache?: number;
  readonly dtypeKey: string;
  /** A mixture of experts: experts go to the host before layers do. */
  readonly experts: boolean;
  /** Weights are where an option puts them, which is not followed. */
  readonly weightsMoved: boolean;
  /** What the command line's option gives: tokens over all sequences, or of one. */
  readonly optionTokens: (perSequence: number) => number;
}

export const cacheTitle = (c: Cache): string =>
  ({ kv: 'keys and values', sliding: 'windows', indexer: 'index keys', recurrent: 'states' })[c.kind];
