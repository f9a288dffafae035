/** The row of a token of KV head 0. */
fn row(item: Work, token: u32) -> u32 {
  return (item.base + token) * params.tokenStride;
}
