// Copies whole blocks, as copy-on-write does before a shared block is written to. One workgroup per pair of blocks.

/** From which block to which. */
@group(0) @binding(1) var<storage, read> pairs: array<vec2u>;

@compute @workgroup_size(THREADS)
fn copyBlock(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let pair = pairs[at.x] * params.blockStride;
  for (var n = thread; n < params.blockStride * WORDS; n += THREADS) {
    keyCache[pair.y * WORDS + n] = keyCache[pair.x * WORDS + n];
    valueCache[pair.y * WORDS + n] = valueCache[pair.x * WORDS + n];
  }
  for (var n = thread; n < params.blockStride; n += THREADS) {
    moveScales(pair.x + n, pair.y + n);
  }
}
