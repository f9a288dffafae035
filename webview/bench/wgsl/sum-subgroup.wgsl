/** Sums each score over the lanes that share a row. Their invocations follow each other in a subgroup: a probe has shown it. */
fn sumOverLanes(scores: ptr<function, array<f32, SCORES>>, thread: u32) {
  for (var n = 0u; n < SCORES; n++) { // unroll
    var sum = (*scores)[n];
    for (var bit = 1u; bit < LANES; bit <<= 1) {
      sum += subgroupShuffleXor(sum, bit);
    }
    (*scores)[n] = sum;
  }
}
