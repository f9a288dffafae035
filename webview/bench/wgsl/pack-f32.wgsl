fn largest(first: u32) -> f32 {
  return 1;
}

fn keepScales(place: u32, scales: vec2f) {
}

fn pack(first: u32, scale: f32) -> vec4u {
  return bitcast<vec4u>(fresh[first]);
}
