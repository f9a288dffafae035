/** Writes GGUF files: headers alone for planning, or whole files with small random tensors that llama.cpp can load. */

export type GgufField =
  | { readonly type: 'u32'; readonly value: number }
  | { readonly type: 'f32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'i32s'; readonly value: readonly number[] }
  | { readonly type: 'f32s'; readonly value: readonly number[] }
  | { readonly type: 'bools'; readonly value: readonly boolean[] }
  | { readonly type: 'strings'; readonly value: readonly string[] };

export const u32 = (value: number): GgufField => ({ type: 'u32', value });
export const f32 = (value: number): GgufField => ({ type: 'f32', value });
export const text = (value: string): GgufField => ({ type: 'string', value });
export const i32s = (value: readonly number[]): GgufField => ({ type: 'i32s', value });
export const bools = (value: readonly boolean[]): GgufField => ({ type: 'bools', value });
export const strings = (value: readonly string[]): GgufField => ({ type: 'strings', value });

export type Metadata = Readonly<Record<string, GgufField>>;

/** In float32. The first dimension is the row. */
export interface Tensor {
  readonly name: string;
  readonly dims: readonly number[];
}

const ALIGNMENT = 32;
const IDS = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 };

/** Values of the tensors; a header alone without. */
export function writeGguf(metadata: Metadata, tensors: readonly Tensor[] = [], data?: () => number): Uint8Array {
  const out = new Bytes();
  out.u32(0x46554747);
  out.u32(3);
  out.u64(tensors.length);
  out.u64(Object.keys(metadata).length);
  for (const [key, field] of Object.entries(metadata)) {
    out.string(key);
    writeField(out, field);
  }
  let offset = 0;
  for (const { name, dims } of tensors) {
    out.string(name);
    out.u32(dims.length);
    for (const n of dims) {
      out.u64(n);
    }
    out.u32(0); // f32
    out.u64(offset);
    offset += aligned(4 * elements(dims));
  }
  out.pad(ALIGNMENT);
  if (data) {
    for (const { dims } of tensors) {
      for (let i = 0; i < elements(dims); i++) {
        out.f32(data());
      }
      out.pad(ALIGNMENT);
    }
  }
  return out.bytes();
}

const elements = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const aligned = (n: number): number => Math.ceil(n / ALIGNMENT) * ALIGNMENT;

function writeField(out: Bytes, field: GgufField): void {
  const [id, write] = scalar(out, field);
  out.u32(id);
  write();
}

type Write = readonly [id: number, write: () => void];

function scalar(out: Bytes, field: GgufField): Write {
  switch (field.type) {
    case 'u32':
      return [IDS.u32, () => out.u32(field.value)];
    case 'f32':
      return [IDS.f32, () => out.f32(field.value)];
    case 'bool':
      return [IDS.bool, () => out.u8(field.value ? 1 : 0)];
    case 'string':
      return [IDS.string, () => out.string(field.value)];
    default:
      return [IDS.array, () => array(out, field)];
  }
}

type ArrayField = Extract<GgufField, { readonly value: readonly unknown[] }>;

function array(out: Bytes, field: ArrayField): void {
  switch (field.type) {
    case 'i32s':
      list(out, IDS.i32, field.value, (n) => out.u32(n));
      break;
    case 'f32s':
      list(out, IDS.f32, field.value, (n) => out.f32(n));
      break;
    case 'bools':
      list(out, IDS.bool, field.value, (b) => out.u8(b ? 1 : 0));
      break;
    case 'strings':
      list(out, IDS.string, field.value, (s) => out.string(s));
      break;
  }
}

function list<T>(out: Bytes, id: number, values: readonly T[], write: (value: T) => void): void {
  out.u32(id);
  out.u64(values.length);
  for (const value of values) {
    write(value);
  }
}

/** Grows as it is written to. */
class Bytes {
  private buffer = new Uint8Array(1 << 16);
  private view = new DataView(this.buffer.buffer);
  private length = 0;

  private take(n: number): number {
    if (this.length + n > this.buffer.length) {
      const larger = new Uint8Array(Math.max(2 * this.buffer.length, this.length + n));
      larger.set(this.buffer);
      this.buffer = larger;
      this.view = new DataView(larger.buffer);
    }
    this.length += n;
    return this.length - n;
  }

  u8(n: number): void {
    const at = this.take(1);
    this.view.setUint8(at, n);
  }
  u32(n: number): void {
    const at = this.take(4);
    this.view.setUint32(at, n, true);
  }
  u64(n: number): void {
    const at = this.take(8);
    this.view.setBigUint64(at, BigInt(n), true);
  }
  f32(n: number): void {
    const at = this.take(4);
    this.view.setFloat32(at, n, true);
  }
  string(s: string): void {
    const encoded = new TextEncoder().encode(s);
    this.u64(encoded.length);
    const at = this.take(encoded.length);
    this.buffer.set(encoded, at);
  }
  pad(to: number): void {
    this.take((to - (this.length % to)) % to);
  }
  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }
}
