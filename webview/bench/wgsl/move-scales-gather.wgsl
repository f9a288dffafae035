@group(0) @binding(8) var<storage, read_write> denseScales: array<vec2f>;

fn moveScales(source: u32, destination: u32) {
  denseScales[destination] = scaleCache[source];
}
