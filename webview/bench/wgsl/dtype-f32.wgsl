fn unpack(word: vec4u, part: u32) -> vec4f {
  return bitcast<vec4f>(word);
}

fn scalesOf(place: u32) -> vec2f {
  return vec2f(1);
}
