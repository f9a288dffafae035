/**
 * The header of a safetensors file: 8 bytes of little-endian length, then JSON that gives each tensor's place.
 * Source: safetensors 0.6, README, "Format".
 */

const LENGTH = 8;
/** The library itself takes no header that is larger. */
const LARGEST = 100_000_000;

/** Bytes of the file that hold the header; undefined when this is none. */
export function headerEnd(first: Uint8Array): number | undefined {
  if (first.length < LENGTH) {
    return undefined;
  }
  const length = Number(new DataView(first.buffer, first.byteOffset).getBigUint64(0, true));
  return length > 1 && length <= LARGEST ? LENGTH + length : undefined;
}

/** Bytes of all its tensors; undefined when the header cannot be understood. `head` holds the whole header. */
export function tensorBytes(head: Uint8Array): number | undefined {
  const end = headerEnd(head);
  if (end === undefined || head.length < end) {
    return undefined;
  }
  try {
    const entries: unknown = JSON.parse(new TextDecoder().decode(head.subarray(LENGTH, end)));
    const ends = Object.entries(entries as object).flatMap(([name, entry]) =>
      name === '__metadata__' ? [] : [Number((entry as { data_offsets?: unknown[] }).data_offsets?.[1])],
    );
    const most = ends.reduce((a, b) => Math.max(a, b), 0);
    return ends.length > 0 && ends.every((e) => Number.isSafeInteger(e) && e >= 0) ? most : undefined;
  } catch {
    return undefined;
  }
}
