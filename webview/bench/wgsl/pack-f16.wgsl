fn largest(first: u32) -> f32 {
  return 1;
}

fn keepScales(place: u32, scales: vec2f) {
}

fn pack(first: u32, scale: f32) -> vec4u {
  let low = fresh[first];
  let high = fresh[first + 1];
  return vec4u(pack2x16float(low.xy), pack2x16float(low.zw), pack2x16float(high.xy), pack2x16float(high.zw));
}
