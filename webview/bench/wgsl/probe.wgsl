// Whether the invocations of a workgroup lie in subgroups one after the other, so that a shuffle reaches the right ones.

@group(0) @binding(5) var<storage, read_write> seen: array<u32>;

@compute @workgroup_size(THREADS)
fn probe(
  @builtin(workgroup_id) at: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_size) size: u32,
) {
  let base = at.x * THREADS * 4;
  seen[base + thread] = subgroupShuffleXor(thread, 1u);
  seen[base + THREADS + thread] = subgroupShuffleXor(thread, 2u);
  seen[base + 2 * THREADS + thread] = subgroupShuffleXor(thread, 4u);
  seen[base + 3 * THREADS + thread] = size;
}
