fn moveScales(source: u32, destination: u32) {
}
