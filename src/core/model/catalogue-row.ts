/**
 * The compact form of the bundled catalogue, written by `scripts/make-catalogue.mjs`. Keys are short because there are
 * hundreds of rows; an absent key means none or unknown. `catalogue-model.ts` turns a row into a `Model`.
 */

/** `[KV heads, key dim, value dim]` */
export type HeadsRow = readonly [number, number, number];
/** `[type, factor or 0, original max positions or 0]` */
export type RopeRow = readonly [string, number, number];

export interface ModelRow {
  readonly id: string;
  /** Other ids of the same shape, by spaces; those of the id's own owner without it. */
  readonly a?: string;
  /** Basenames that no id has. */
  readonly b?: string;
  /** Architecture (class name). */
  readonly c: string;
  /** `[hidden, heads, KV heads, head dim, intermediate, vocabulary]`, 0 where it is unknown or there is none. */
  readonly d: readonly [number, number, number, number, number, number];
  /** Layers in order: see `expandPattern`. Full layers are latent where `la` is given. */
  readonly l: string;
  /** Window of sliding layers, in tokens. */
  readonly w?: number;
  /** Chunk of chunked layers, in tokens. */
  readonly k?: number;
  /** Heads of sliding layers and of full layers, where they differ from `d`. */
  readonly sk?: HeadsRow;
  readonly fk?: HeadsRow;
  /** `[kv_lora_rank, qk_rope_head_dim]` */
  readonly la?: readonly [number, number];
  /** Indexer: head dim, then the layers that have one (all when none is listed). */
  readonly ix?: readonly number[];
  /** Compressed history: `[rope dim, index dim]`, then tokens per entry and layers of that, by runs (0: the window alone). */
  readonly cr?: readonly number[];
  /** Last layers that share earlier keys and values. */
  readonly sh?: number;
  /** 1: a cross-attention beside each decoder layer. */
  readonly x?: 1;
  /** MTP layers of the checkpoint. */
  readonly n?: number;
  /** `[experts, per token, intermediate, shared intermediate]` */
  readonly e?: readonly [number, number, number, number];
  /** Dtype: h float16, f float32; bfloat16 when absent. */
  readonly t?: 'h' | 'f';
  /** Max positions as the config states them. */
  readonly p?: number;
  readonly r?: RopeRow;
  /** Parameters, and whether those of a vision or audio tower are missing from them. */
  readonly P?: number;
  readonly tx?: 1;
  /** Size of the weight files: GiB to two decimals, or bytes. */
  readonly W?: number;
  /** The checkpoint's own quantisation, and the parameters it covers when not all linear layers. */
  readonly z?: readonly [string, number?];
  /** Names for which `z` and `W` do not hold: their weights are 16 bit. */
  readonly u?: string;
  /** 1: the output head is the embedding. */
  readonly T?: 1;
  /** 1: has a vision or audio tower. */
  readonly m?: 1;
  /** `[regex, max positions, rope, vocabulary]` for ids that match; 0 or absent leaves the row's own. */
  readonly v?: readonly (readonly [string, number?, (RopeRow | 0)?, number?])[];
  /** What a state layer keeps: see `stateShape` in `catalogue-model.ts`. */
  readonly st?: readonly [string, ...number[]];
  /** States are kept in float32. */
  readonly sd?: 'f';
  /** Sources, as indices into the table. */
  readonly s: readonly number[];
}

export interface CatalogueFile {
  readonly sources: readonly string[];
  readonly models: readonly ModelRow[];
}
