/** The facts of an architecture that decide its KV cache and its weights. Engine-neutral. */

/**
 * `none` keeps nothing (a layer without attention holds its place, since pipeline stages are cut by layer);
 * `other` keeps something that no rule here covers: an engine refuses it.
 */
export type LayerKind =
  | 'full'
  | 'latent'
  | 'sliding'
  | 'chunked'
  | 'state'
  | 'indexer'
  | 'cross'
  | 'shared'
  | 'none'
  | 'other';

/** What a state layer keeps of a request, whatever its length. Sizes in elements of the whole model. */
export type StateShape =
  | { readonly type: 'mamba1'; readonly inner: number; readonly stateSize: number; readonly conv: number }
  | {
      readonly type: 'mamba2';
      readonly heads: number;
      readonly headDim: number;
      readonly stateSize: number;
      readonly groups: number;
      readonly conv: number;
    }
  | {
      readonly type: 'gated-delta-net';
      readonly keyHeads: number;
      readonly valueHeads: number;
      readonly keyDim: number;
      readonly valueDim: number;
      readonly conv: number;
    }
  | { readonly type: 'kda'; readonly heads: number; readonly headDim: number; readonly conv: number }
  | { readonly type: 'short-conv'; readonly dim: number; readonly conv: number }
  | { readonly type: 'linear'; readonly heads: number; readonly headDim: number };

/** What one layer keeps. Sizes are of the whole model, before any parallelism. */
export interface KvLayer {
  readonly kind: LayerKind;
  /** KV heads of the layer (1 for latent and indexer layers). */
  readonly kvHeads: number;
  /** Elements of one key; for a latent layer the whole vector, kv_lora_rank + qk_rope_head_dim. */
  readonly headDim: number;
  /** Elements of one value (0 for latent and indexer layers: one vector serves as both). */
  readonly valueDim: number;
  /** Tokens a sliding layer looks back on, or the chunk a chunked layer attends in. */
  readonly window?: number;
  /** Rope part of a latent vector: kept in 16 bit by packed formats. */
  readonly ropeDim?: number;
  /**
   * Tokens that one kept entry stands for, in models that compress their history (DeepSeek V4); 1 on the window beside
   * the compressed entries. Absent elsewhere.
   */
  readonly ratio?: number;
  /** What a state layer keeps; absent where the config does not say enough. */
  readonly state?: StateShape;
  /** A layer of a draft or MTP head. */
  readonly draft?: true;
  /**
   * Part of the same transformer layer as the entry before it: an indexer, the attention beside a Mamba mixer, a
   * decoder's cross-attention. The number of transformer layers is the number of entries without it.
   */
  readonly joined?: true;
}

export interface MixtureOfExperts {
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly intermediate: number;
  readonly sharedIntermediate: number;
}

/** Rope scaling, as far as it decides the derived maximum length. */
export interface RopeScaling {
  readonly type: string;
  readonly factor?: number;
  readonly originalMaxPositions?: number;
}

export type ModelDtype = 'float32' | 'float16' | 'bfloat16';

export interface WeightBytes {
  readonly bytes: number;
  readonly low: number;
  readonly high: number;
  /** How it is known: `safetensors sizes (kaito …)`, `8.03 B parameters × 2 bytes`. */
  readonly why: string;
}

export interface Model {
  readonly id: string;
  /** `catalogue` with its sources, or the config file that was read. */
  readonly source: { readonly kind: 'catalogue' | 'config'; readonly text: string };
  /** The id that the launch gave, when it was resolved to this one (a quantised fork, a local path). */
  readonly resolvedFrom?: string;
  readonly architecture: string;
  /** In layer order; draft layers are not in this list (the launch decides whether they run). */
  readonly layers: readonly KvLayer[];
  /** The KV layer of each MTP head the checkpoint carries. */
  readonly mtpLayers: readonly KvLayer[];
  readonly attentionHeads: number;
  readonly kvHeads: number;
  readonly hiddenSize: number;
  /** 0 where the source does not say, as is the vocabulary. */
  readonly intermediateSize: number;
  readonly vocabSize: number;
  readonly experts?: MixtureOfExperts;
  /** Dtype of the checkpoint (torch_dtype). */
  readonly dtype: ModelDtype;
  /** max_position_embeddings and its kin, as the config states them, before scaling. */
  readonly maxPositions?: number;
  readonly rope?: RopeScaling;
  /** Dtype that the config asks for in recurrent states (`mamba_ssm_dtype`). */
  readonly stateDtype?: ModelDtype;
  /** KV dtype that the checkpoint's own quantisation metadata asks for (`fp8_e4m3`, `nvfp4`). */
  readonly checkpointKvDtype?: string;
  readonly quantisation?: string;
  readonly parameters?: number;
  readonly weights?: WeightBytes;
  /** Has a vision or audio tower, whose profile takes memory. */
  readonly multimodal: boolean;
  /** Where the facts are those of a GGUF file. */
  readonly gguf?: GgufFacts;
}

/** Weight bytes of a GGUF file by place; zeros where the tensors are not at hand. */
export interface GgufFacts {
  /** Layers of the file, those of MTP heads included. */
  readonly blocks: number;
  readonly layerBytes: readonly number[];
  /** Embeddings that are looked up at the input. */
  readonly inputBytes: number;
}

/** Why a model could not be made: the field that was not understood, or why it is not known. */
export class ModelError extends Error {
  constructor(
    message: string,
    readonly field?: string,
  ) {
    super(message);
    this.name = 'ModelError';
  }
}
