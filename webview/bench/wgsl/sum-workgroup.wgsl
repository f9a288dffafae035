var<workgroup> shared_scores: array<f32, THREADS * SCORES>;

/** Sums each score over the lanes that share a row, through workgroup memory. */
fn sumOverLanes(scores: ptr<function, array<f32, SCORES>>, thread: u32) {
  for (var n = 0u; n < SCORES; n++) { // unroll
    shared_scores[n * THREADS + thread] = (*scores)[n];
  }
  workgroupBarrier();
  let first = thread - thread % LANES;
  for (var n = 0u; n < SCORES; n++) { // unroll
    var sum = 0f;
    for (var lane = 0u; lane < LANES; lane++) {
      sum += shared_scores[n * THREADS + first + lane];
    }
    (*scores)[n] = sum;
  }
  workgroupBarrier();
}
