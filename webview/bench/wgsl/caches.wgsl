@group(0) @binding(2) var<storage, ACCESS> keyCache: array<vec4u>;
@group(0) @binding(3) var<storage, ACCESS> valueCache: array<vec4u>;
