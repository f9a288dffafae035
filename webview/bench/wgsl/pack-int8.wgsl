/** The largest magnitude of a row of fresh values. */
fn largest(first: u32) -> f32 {
  var most = vec4f();
  for (var quad = 0u; quad < DIM / 4; quad++) {
    most = max(most, abs(fresh[first + quad]));
  }
  return max(max(most.x, most.y), max(most.z, most.w));
}

fn keepScales(place: u32, scales: vec2f) {
  scaleCache[place] = scales;
}

fn pack(first: u32, scale: f32) -> vec4u {
  let share = select(0, 1 / scale, scale > 0);
  return vec4u(
    pack4x8snorm(fresh[first] * share),
    pack4x8snorm(fresh[first + 1] * share),
    pack4x8snorm(fresh[first + 2] * share),
    pack4x8snorm(fresh[first + 3] * share),
  );
}
