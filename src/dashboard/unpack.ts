/** Text of a file's bytes. Traces are often kept compressed (gzip). */

/** What unpacks to more than `most` letters is cut off there. Rejects with words where it cannot be unpacked. */
export async function textOf(bytes: Uint8Array, most: number): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    return new TextDecoder().decode(bytes);
  }
  const packed = new Blob([Uint8Array.from(bytes)]).stream();
  const plain = packed.pipeThrough(new DecompressionStream('gzip')).getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let next = await plain.read(); !next.done && text.length < most; next = await plain.read()) {
      text += decoder.decode(next.value, { stream: true });
    }
  } catch {
    throw new Error('The file begins as gzip does and cannot be unpacked: it is damaged or cut off.');
  }
  await plain.cancel().catch(() => {}); // the rest is not wanted
  return text.slice(0, most);
}
