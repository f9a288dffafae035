fn unpack(word: vec4u, part: u32) -> vec4f {
  return vec4f(vec2f(bitcast<vec2h>(word[2 * part])), vec2f(bitcast<vec2h>(word[2 * part + 1])));
}

fn scalesOf(place: u32) -> vec2f {
  return vec2f(1);
}
