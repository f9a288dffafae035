// Reads exactly the bytes that attention reads, in the same order, and only sums them up: the roofline of this run.

@group(0) @binding(5) var<storage, read_write> parts: array<vec4u>;

@compute @workgroup_size(THREADS)
fn readOnly(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let item = work[at.x];
  let lane = thread % LANES;
  let mine = thread / LANES;
  var seen = vec4u();
  let steps = (item.end - item.begin + ROWS * DEPTH - 1) / (ROWS * DEPTH);
  for (var step = 0u; step < steps; step++) {
    for (var u = 0u; u < DEPTH; u++) { // unroll
      let token = item.begin + (step * DEPTH + u) * ROWS + mine;
      let inside = select(0u, 1u, token < item.end);
      let place = row(item, min(token, item.end - 1)) + at.y * params.headStride;
      let scales = bitcast<vec2u>(scalesOf(place));
      seen.x += inside * (scales.x + 3 * scales.y);
      for (var i = 0u; i < LOADS; i++) { // unroll
        let word = place * (LANES * LOADS) + i * LANES + lane;
        seen += inside * (keyCache[word] + 3 * valueCache[word]);
      }
    }
  }
  // When it is timed this is never true, and no compiler can know: the reads stay.
  if (params.tell == 1 || all(seen == vec4u(0x9e3779b9u, 0x7f4a7c15u, 0xf39cc060u, 0x5cedc834u))) {
    parts[(at.x * params.kvHeads + at.y) * THREADS + thread] = seen;
  }
}
