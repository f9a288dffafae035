// What every kernel knows: the run's numbers, and one piece of work.

struct Params {
  /** Tokens of a block: 1 << shift; mask is one less. */
  shift: u32,
  mask: u32,
  /** Rows (one token of one KV head) from a block to the next, a token to the next, a head to the next. */
  blockStride: u32,
  tokenStride: u32,
  headStride: u32,
  heads: u32,
  kvHeads: u32,
  /** Query heads that share a KV head, and tiles of them. */
  group: u32,
  tiles: u32,
  /** Softmax scale × log2(e): exponents are of two. */
  scale: f32,
  /** 1: a reading kernel tells what it read, for its check. */
  tell: u32,
  unused1: u32,
}

/** Tokens begin … end - 1 of a sequence. */
struct Work {
  sequence: u32,
  begin: u32,
  end: u32,
  /** Where the sequence starts: a token's number in the slab, or an entry of the table. */
  base: u32,
  /** The token's number in a slab, whatever `base` is. */
  dense: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(4) var<storage, read> work: array<Work>;
