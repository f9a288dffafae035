// Copies the rows of a chunk into a slab, for engines that gather the blocks and then run dense attention.

@group(0) @binding(1) var<storage, read_write> denseKeys: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> denseValues: array<vec4u>;

@compute @workgroup_size(THREADS)
fn gather(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let item = work[at.x];
  for (var n = thread; n < (item.end - item.begin) * WORDS; n += THREADS) {
    let token = item.begin + n / WORDS;
    let word = n % WORDS;
    let source = row(item, token) + at.y * params.headStride;
    let destination = (item.dense + token) * params.kvHeads + at.y;
    denseKeys[destination * WORDS + word] = keyCache[source * WORDS + word];
    denseValues[destination * WORDS + word] = valueCache[source * WORDS + word];
    if (word == 0) {
      moveScales(source, destination);
    }
  }
}
