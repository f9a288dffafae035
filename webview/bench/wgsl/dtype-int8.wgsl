/** In shares of the row's largest magnitude. */
fn unpack(word: vec4u, part: u32) -> vec4f {
  return unpack4x8snorm(word[part]);
}

fn scalesOf(place: u32) -> vec2f {
  return scaleCache[place];
}
