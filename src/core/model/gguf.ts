/**
 * The header of a GGUF file: its key/values and its tensor table. Source: ggml, include/gguf.h and src/gguf.cpp
 * (llama.cpp v0.5.0). Nothing of the weights themselves is read.
 */
import { tensorBytes } from './ggml-types';
import { ModelError } from './model';

export type GgufScalar = string | number | boolean;
/** A long array (a tokenizer's) keeps its length alone. */
export type GgufValue = GgufScalar | readonly GgufScalar[] | { readonly length: number };

export interface GgufTensor {
  readonly name: string;
  /** The first is the row. */
  readonly dims: readonly number[];
  /** Id in the table of ggml types. */
  readonly type: number;
  readonly bytes: number;
}

export interface GgufHeader {
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
}

/** The bytes at hand end before the header does: at least so many are needed. */
export interface Truncated {
  readonly needs: number;
}

/** Longest array that is kept value by value: one for each layer, and small lists. */
const KEPT = 4096;
/** Far beyond any real file; bounds the work on a malformed one. */
const MOST_ENTRIES = 1_000_000;
const LONGEST_STRING = 64 * 2 ** 20;
const LONGEST_ARRAY = 16 * 2 ** 20;

class OutOfBytes extends Error {
  constructor(readonly needs: number) {
    super('GGUF header is cut off');
  }
}

/** Reads the header from the first bytes of a file. Throws nothing but `ModelError`, for what is no GGUF or is malformed. */
export function readGguf(bytes: Uint8Array): GgufHeader | Truncated {
  try {
    return header(readerOf(bytes));
  } catch (error) {
    if (error instanceof OutOfBytes) {
      return { needs: error.needs };
    }
    throw error;
  }
}

interface Reader {
  u8(): number;
  u32(): number;
  /** A count or an offset: refused beyond 2^53. */
  u64(): number;
  i64(): number;
  bytesLeft(n: number): void;
  skip(n: number): void;
  string(): string;
  view(n: number): DataView;
  littleEndian: boolean;
}

function readerOf(bytes: Uint8Array): Reader {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (n: number): number => {
    if (at + n > bytes.length) {
      throw new OutOfBytes(at + n);
    }
    at += n;
    return at - n;
  };
  const reader: Reader = {
    littleEndian: true,
    u8: () => data.getUint8(take(1)),
    u32: () => data.getUint32(take(4), reader.littleEndian),
    u64: () => safe(data.getBigUint64(take(8), reader.littleEndian)),
    i64: () => Number(data.getBigInt64(take(8), reader.littleEndian)),
    bytesLeft: (n) => {
      if (at + n > bytes.length) {
        throw new OutOfBytes(at + n);
      }
    },
    skip: (n) => {
      take(n);
    },
    string: () => {
      const length = reader.u64();
      if (length > LONGEST_STRING) {
        throw malformed('a string of impossible length');
      }
      const from = take(length);
      return new TextDecoder().decode(bytes.subarray(from, from + length));
    },
    view: (n) => {
      const from = take(n);
      return new DataView(bytes.buffer, bytes.byteOffset + from, n);
    },
  };
  return reader;
}

const malformed = (what: string): ModelError => new ModelError(`the GGUF header is malformed: ${what}`);

function safe(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw malformed('a number beyond 2^53');
  }
  return Number(value);
}

const MAGIC = 0x46554747;

function header(r: Reader): GgufHeader {
  if (r.u32() !== MAGIC) {
    throw new ModelError('not a GGUF file: it does not begin with “GGUF”');
  }
  const version = versionOf(r);
  const tensors = count(r.u64(), 'tensors');
  const pairs = count(r.u64(), 'keys');
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < pairs; i++) {
    const key = r.string();
    if (metadata.has(key)) {
      throw malformed(`${key} stands twice`);
    }
    metadata.set(key, value(r, r.u32()));
  }
  return { version, metadata, tensors: Array.from({ length: tensors }, () => tensor(r)) };
}

/** A file of the other byte order shows its version in the upper half. */
function versionOf(r: Reader): number {
  const view = r.view(4);
  const little = view.getUint32(0, true);
  r.littleEndian = (little & 0xffff) !== 0;
  const version = view.getUint32(0, r.littleEndian);
  if (version !== 2 && version !== 3) {
    throw new ModelError(`GGUF version ${version} is not read: 2 and 3 are`);
  }
  return version;
}

function count(n: number, what: string): number {
  if (n > MOST_ENTRIES) {
    throw malformed(`${n} ${what}`);
  }
  return n;
}

const STRING = 8;
const ARRAY = 9;
/** Bytes of a value by its type's id; strings and arrays say their own. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 4],
  [5, 4],
  [6, 4],
  [7, 1],
  [10, 8],
  [11, 8],
  [12, 8],
]);

const scalar = (r: Reader, type: number): GgufScalar => {
  if (type === STRING) {
    return r.string();
  }
  const size = SIZES.get(type);
  if (size === undefined) {
    throw malformed(`a value of type ${type}`);
  }
  return number(r.view(size), type, r.littleEndian);
};

function number(view: DataView, type: number, little: boolean): number | boolean {
  switch (type) {
    case 0:
      return view.getUint8(0);
    case 1:
      return view.getInt8(0);
    case 2:
      return view.getUint16(0, little);
    case 3:
      return view.getInt16(0, little);
    case 4:
      return view.getUint32(0, little);
    case 5:
      return view.getInt32(0, little);
    case 6:
      return view.getFloat32(0, little);
    case 7:
      return view.getUint8(0) !== 0;
    case 10:
      return Number(view.getBigUint64(0, little));
    case 11:
      return Number(view.getBigInt64(0, little));
    default:
      return view.getFloat64(0, little);
  }
}

function value(r: Reader, type: number): GgufValue {
  if (type !== ARRAY) {
    return scalar(r, type);
  }
  const element = r.u32();
  const length = r.u64();
  if (element === ARRAY || length > LONGEST_ARRAY) {
    throw malformed(element === ARRAY ? 'an array of arrays' : `an array of ${length} values`);
  }
  if (length <= KEPT) {
    return Array.from({ length }, () => scalar(r, element));
  }
  skipArray(r, element, length);
  return { length };
}

function skipArray(r: Reader, element: number, length: number): void {
  const size = SIZES.get(element);
  if (size !== undefined) {
    r.skip(size * length);
    return;
  }
  if (element !== STRING) {
    throw malformed(`an array of type ${element}`);
  }
  for (let i = 0; i < length; i++) {
    r.skip(r.u64());
  }
}

function tensor(r: Reader): GgufTensor {
  const name = r.string();
  const dimensions = r.u32();
  if (dimensions > 4) {
    throw malformed(`tensor ${name} has ${dimensions} dimensions`);
  }
  const dims = Array.from({ length: dimensions }, () => r.u64());
  const type = r.u32();
  r.skip(8); // its place in the file
  const bytes = tensorBytes(type, dims);
  if (bytes === undefined) {
    throw new ModelError(`tensor ${name} is of type ${type}, whose size is not known`, name);
  }
  return { name, dims, type, bytes };
}
