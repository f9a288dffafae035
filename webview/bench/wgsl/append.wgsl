// Writes one token's keys and values through the table. One workgroup per sequence and KV head.

/** Per sequence and KV head: the token's keys, then its values. */
@group(0) @binding(1) var<storage, read> fresh: array<vec4f>;

@compute @workgroup_size(THREADS)
fn append(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let item = work[at.x];
  let place = row(item, item.begin) + at.y * params.headStride;
  let keys = (item.sequence * params.kvHeads + at.y) * (DIM / 2);
  let values = keys + DIM / 4;
  let scales = vec2f(largest(keys), largest(values));
  if (thread == 0) {
    keepScales(place, scales);
  }
  for (var word = thread; word < WORDS; word += THREADS) {
    keyCache[place * WORDS + word] = pack(keys + word * EACH, scales.x);
    valueCache[place * WORDS + word] = pack(values + word * EACH, scales.y);
  }
}
