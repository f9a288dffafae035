fn moveScales(source: u32, destination: u32) {
  scaleCache[destination] = scaleCache[source];
}
