// Decode attention as one would first write it: a workgroup per sequence and query head walks the whole sequence, a
// thread per token, keys and values read again for every query head. What splitting and sharing are measured against.

@group(0) @binding(1) var<storage, read> queries: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;

var<workgroup> scores: array<f32, THREADS>;
var<workgroup> valueScales: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn attend(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let item = work[at.x];
  let head = at.y;
  let offset = head / params.group * params.headStride;
  let query = (item.sequence * params.heads + head) * (DIM / 4);
  var sum = vec4f();
  var best = LOWEST;
  var weight = 0f;
  for (var begin = item.begin; begin < item.end; begin += THREADS) {
    let token = begin + thread;
    var score = LOWEST;
    if (token < item.end) {
      let place = row(item, token) + offset;
      score = 0;
      for (var quad = 0u; quad < DIM / 4; quad++) {
        score += dot(queries[query + quad], unpack(keyCache[place * WORDS + quad / EACH], quad % EACH));
      }
      let scales = scalesOf(place);
      score *= params.scale * scales.x;
      valueScales[thread] = scales.y;
    }
    scores[thread] = score;
    workgroupBarrier();
    let count = min(THREADS, item.end - begin);
    var top = best;
    for (var n = 0u; n < count; n++) {
      top = max(top, scores[n]);
    }
    let fade = exp2(best - top);
    best = top;
    weight *= fade;
    sum *= fade;
    for (var n = 0u; n < count; n++) {
      let share = exp2(scores[n] - top);
      weight += share;
      if (thread < DIM / 4) {
        let place = row(item, begin + n) + offset;
        sum += share * valueScales[n] * unpack(valueCache[place * WORDS + thread / EACH], thread % EACH);
      }
    }
    workgroupBarrier();
  }
  if (thread < DIM / 4) {
    output[query + thread] = select(vec4f(), sum / weight, weight > 0);
  }
}
