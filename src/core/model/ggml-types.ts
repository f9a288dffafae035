/** Number formats of ggml: bytes of a block of elements. Source: ggml v0.5.0, src/ggml.c :: type_traits. */

export interface GgmlType {
  readonly name: string;
  /** Elements of one block. */
  readonly elements: number;
  /** Bytes of one block. */
  readonly bytes: number;
}

const row = (name: string, elements: number, bytes: number): GgmlType => ({ name, elements, bytes });

/** By the id that a file's tensor table holds. Ids that are missing were removed or are not known: their size is not guessed. */
const TYPES: ReadonlyMap<number, GgmlType> = new Map([
  [0, row('f32', 1, 4)],
  [1, row('f16', 1, 2)],
  [2, row('q4_0', 32, 18)],
  [3, row('q4_1', 32, 20)],
  [6, row('q5_0', 32, 22)],
  [7, row('q5_1', 32, 24)],
  [8, row('q8_0', 32, 34)],
  [9, row('q8_1', 32, 36)],
  [10, row('q2_K', 256, 84)],
  [11, row('q3_K', 256, 110)],
  [12, row('q4_K', 256, 144)],
  [13, row('q5_K', 256, 176)],
  [14, row('q6_K', 256, 210)],
  [15, row('q8_K', 256, 292)],
  [16, row('iq2_xxs', 256, 66)],
  [17, row('iq2_xs', 256, 74)],
  [18, row('iq3_xxs', 256, 98)],
  [19, row('iq1_s', 256, 50)],
  [20, row('iq4_nl', 32, 18)],
  [21, row('iq3_s', 256, 110)],
  [22, row('iq2_s', 256, 82)],
  [23, row('iq4_xs', 256, 136)],
  [24, row('i8', 1, 1)],
  [25, row('i16', 1, 2)],
  [26, row('i32', 1, 4)],
  [27, row('i64', 1, 8)],
  [28, row('f64', 1, 8)],
  [29, row('iq1_m', 256, 56)],
  [30, row('bf16', 1, 2)],
  [34, row('tq1_0', 256, 54)],
  [35, row('tq2_0', 256, 66)],
  [39, row('mxfp4', 32, 17)],
  [40, row('nvfp4', 64, 36)],
  [41, row('q1_0', 128, 18)],
  [42, row('q2_0', 64, 18)],
]);

const BY_NAME: ReadonlyMap<string, GgmlType> = new Map([...TYPES.values()].map((t) => [t.name, t]));

export const ggmlType = (name: string): GgmlType | undefined => BY_NAME.get(name);

/** Undefined for a type that is not known, or where rows are no whole number of blocks. */
export function tensorBytes(id: number, dims: readonly number[]): number | undefined {
  const type = TYPES.get(id);
  const elements = dims.reduce((a, b) => a * b, 1);
  if (!type || (dims[0] ?? 1) % type.elements !== 0 || !Number.isSafeInteger(elements)) {
    return undefined;
  }
  return (elements / type.elements) * type.bytes;
}

export const ggmlTypeName = (id: number): string | undefined => TYPES.get(id)?.name;
