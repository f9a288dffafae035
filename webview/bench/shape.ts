/** What a decode step looks like to the attention kernel. */

export const DTYPES = ['f32', 'f16', 'int8'] as const;
export type Dtype = (typeof DTYPES)[number];

export const HEAD_DIMS = [64, 128, 256] as const;

export interface Shape {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly dtype: Dtype;
  /** Tokens that each sequence holds. */
  readonly lengths: readonly number[];
}

/** How the slots of a block follow each other: a head's tokens together, or a token's heads. */
export type Layout = 'HND' | 'NHD';

/** A block table, or for contiguous slabs where each begins. */
export interface Placement {
  readonly kind: 'contiguous' | 'paged';
  /** 1 where contiguous. */
  readonly blockSize: number;
  readonly layout: Layout;
  /** Physical blocks, sequence after sequence; empty where contiguous. */
  readonly table: Uint32Array;
  /** Of each sequence: its first token's number in the slab, or its first entry of the table. */
  readonly bases: readonly number[];
  /** Tokens there is room for, all blocks together. */
  readonly slots: number;
}

export const totalTokens = ({ lengths }: Shape): number => lengths.reduce((sum, length) => sum + length, 0);

/** Rows between two blocks, two tokens, two KV heads. */
export function stridesOf({ kind, blockSize, layout, slots }: Placement, kvHeads: number) {
  const together = kind === 'paged' ? blockSize : slots;
  return layout === 'HND'
    ? { block: kvHeads * together, token: 1, head: together }
    : { block: kvHeads * together, token: kvHeads, head: 1 };
}

/** The row of a token, as the kernels find it. */
export function rowOf(placement: Placement, kvHeads: number, sequence: number, token: number, kvHead: number): number {
  const { block, token: tokenStride, head } = stridesOf(placement, kvHeads);
  const base = placement.bases[sequence] ?? 0;
  if (placement.kind === 'contiguous') {
    return (base + token) * tokenStride + kvHead * head;
  }
  const { blockSize, table } = placement;
  const physical = table[base + Math.floor(token / blockSize)] ?? 0;
  return physical * block + (token % blockSize) * tokenStride + kvHead * head;
}
