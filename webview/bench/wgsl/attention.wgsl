// Decode attention, first pass. One workgroup takes one chunk of a sequence, one KV head, and a tile of the query heads
// that share it; LANES threads share a row, ROWS rows are read at once, DEPTH of them by each thread.

@group(0) @binding(1) var<storage, read> queries: array<vec4f>;
/** Per work item and head: the unnormalised output, then (largest score, sum of weights). */
@group(0) @binding(5) var<storage, read_write> parts: array<vec4f>;

var<workgroup> groupBest: array<f32, ROWS>;
var<workgroup> groupWeight: array<f32, ROWS>;
var<workgroup> posted: array<vec4f, POSTED>;

/** Where in a row a thread's quad lies, in quads. */
fn position(quad: u32, lane: u32) -> u32 {
  return ((quad / EACH) * LANES + lane) * EACH + quad % EACH;
}

@compute @workgroup_size(THREADS)
fn attend(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) thread: u32) {
  let item = work[at.x];
  let lane = thread % LANES;
  let mine = thread / LANES;
  let kvHead = at.y / params.tiles;
  let first = (at.y % params.tiles) * TILE;
  var query: array<vec4f, TILE * QUADS>;
  var sums: array<vec4f, TILE * QUADS>;
  var best: array<f32, TILE>;
  var weight: array<f32, TILE>;
  for (var h = 0u; h < TILE; h++) { // unroll
    let head = kvHead * params.group + min(first + h, params.group - 1);
    best[h] = LOWEST;
    for (var j = 0u; j < QUADS; j++) { // unroll
      query[h * QUADS + j] = params.scale * queries[(item.sequence * params.heads + head) * (DIM / 4) + position(j, lane)];
    }
  }
  let steps = (item.end - item.begin + ROWS * DEPTH - 1) / (ROWS * DEPTH);
  for (var step = 0u; step < steps; step++) {
    var inside: array<bool, DEPTH>;
    var scales: array<vec2f, DEPTH>;
    var keys: array<vec4u, DEPTH * LOADS>;
    var values: array<vec4u, DEPTH * LOADS>;
    for (var u = 0u; u < DEPTH; u++) { // unroll
      let token = item.begin + (step * DEPTH + u) * ROWS + mine;
      inside[u] = token < item.end;
      let place = row(item, min(token, item.end - 1)) + kvHead * params.headStride;
      scales[u] = scalesOf(place);
      for (var i = 0u; i < LOADS; i++) { // unroll
        keys[u * LOADS + i] = keyCache[place * (LANES * LOADS) + i * LANES + lane];
        values[u * LOADS + i] = valueCache[place * (LANES * LOADS) + i * LANES + lane];
      }
    }
    // Zeroed by hand: on SwiftShader a variable of a loop's body kept what it held the time before.
    var scores = array<f32, SCORES>();
    for (var u = 0u; u < DEPTH; u++) { // unroll
      for (var j = 0u; j < QUADS; j++) { // unroll
        let key = unpack(keys[u * LOADS + j / EACH], j % EACH);
        for (var h = 0u; h < TILE; h++) { // unroll
          scores[u * TILE + h] += dot(query[h * QUADS + j], key);
        }
      }
    }
    sumOverLanes(&scores, thread);
    for (var h = 0u; h < TILE; h++) { // unroll
      var top = best[h];
      for (var u = 0u; u < DEPTH; u++) { // unroll
        let score = scores[u * TILE + h] * scales[u].x;
        scores[u * TILE + h] = score;
        top = max(top, select(LOWEST, score, inside[u]));
      }
      let fade = exp2(best[h] - top);
      best[h] = top;
      weight[h] *= fade;
      for (var u = 0u; u < DEPTH; u++) { // unroll
        let share = select(0, exp2(scores[u * TILE + h] - top), inside[u]);
        weight[h] += share;
        scores[u * TILE + h] = share * scales[u].y;
      }
      for (var j = 0u; j < QUADS; j++) { // unroll
        sums[h * QUADS + j] *= fade;
      }
    }
    for (var u = 0u; u < DEPTH; u++) { // unroll
      for (var j = 0u; j < QUADS; j++) { // unroll
        let value = unpack(values[u * LOADS + j / EACH], j % EACH);
        for (var h = 0u; h < TILE; h++) { // unroll
          sums[h * QUADS + j] += scores[u * TILE + h] * value;
        }
      }
    }
  }
  // The rows read at once become one, a head at a time: the upper half posts, the lower half adds.
  for (var h = 0u; h < TILE; h++) { // unroll
    if (lane == 0) {
      groupBest[mine] = best[h];
      groupWeight[mine] = weight[h];
    }
    workgroupBarrier();
    var top = LOWEST;
    for (var g = 0u; g < ROWS; g++) {
      top = max(top, groupBest[g]);
    }
    var all = 0f;
    for (var g = 0u; g < ROWS; g++) {
      all += groupWeight[g] * exp2(groupBest[g] - top);
    }
    let fade = exp2(best[h] - top);
    for (var j = 0u; j < QUADS; j++) { // unroll
      sums[h * QUADS + j] *= fade;
    }
    for (var half = ROWS / 2; half > 0; half >>= 1) {
      if (mine >= half && mine < 2 * half) {
        for (var j = 0u; j < QUADS; j++) { // unroll
          posted[((mine - half) * QUADS + j) * LANES + lane] = sums[h * QUADS + j];
        }
      }
      workgroupBarrier();
      if (mine < half) {
        for (var j = 0u; j < QUADS; j++) { // unroll
          sums[h * QUADS + j] += posted[(mine * QUADS + j) * LANES + lane];
        }
      }
      workgroupBarrier();
    }
    if (mine == 0 && first + h < params.group) {
      let part = (at.x * params.heads + kvHead * params.group + first + h) * (DIM / 4 + 1);
      for (var j = 0u; j < QUADS; j++) { // unroll
        parts[part + position(j, lane)] = sums[h * QUADS + j];
      }
      if (lane == 0) {
        parts[part + DIM / 4] = vec4f(top, all, 0, 0);
      }
    }
    workgroupBarrier();
  }
}
