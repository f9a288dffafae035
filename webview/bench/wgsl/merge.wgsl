// Decode attention, second pass: the chunks of a sequence become one output. One workgroup per sequence and head.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec4f>;
/** Of each sequence: its first work item, and how many it has. */
@group(0) @binding(2) var<storage, read> spans: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(THREADS)
fn merge(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let span = spans[at.x];
  var top = LOWEST;
  for (var n = 0u; n < span.y; n++) {
    top = max(top, parts[((span.x + n) * params.heads + at.y) * (DIM / 4 + 1) + DIM / 4].x);
  }
  for (var quad = thread; quad < DIM / 4; quad += THREADS) {
    var sum = vec4f();
    var all = 0f;
    for (var n = 0u; n < span.y; n++) {
      let part = ((span.x + n) * params.heads + at.y) * (DIM / 4 + 1);
      let fade = exp2(parts[part + DIM / 4].x - top);
      all += parts[part + DIM / 4].y * fade;
      sum += parts[part + quad] * fade;
    }
    // A sequence without tokens has no parts: zeros.
    output[(at.x * params.heads + at.y) * (DIM / 4) + quad] = select(vec4f(), sum / all, all > 0);
  }
}
