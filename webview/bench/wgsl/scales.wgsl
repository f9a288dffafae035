/** Of each row: largest magnitude of its keys, and of its values. */
@group(0) @binding(7) var<storage, ACCESS> scaleCache: array<vec2f>;
