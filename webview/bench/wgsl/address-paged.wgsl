@group(0) @binding(6) var<storage, read> table: array<u32>;

/** The row of a token of KV head 0, through the block table. */
fn row(item: Work, token: u32) -> u32 {
  return table[item.base + (token >> params.shift)] * params.blockStride + (token & params.mask) * params.tokenStride;
}
