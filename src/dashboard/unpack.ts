/** Text of a file's bytes, part by part. Traces are often kept compressed (gzip). */

export interface TextPart {
  readonly text: string;
  /** How much of the file has been read, 0…1. */
  readonly share: number;
}

/** Bytes of a file at once: a message with their text is a small one, also where they unpack to many more. */
const STRIDE = 2 ** 19;

/** What unpacks to more than `most` letters is cut off there. Rejects with words where it cannot be unpacked. */
export async function* textParts(bytes: Uint8Array, most: number, stride = STRIDE): AsyncGenerator<TextPart> {
  const decoder = new TextDecoder();
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    let at = stride;
    for (; at < bytes.length; at += stride) {
      yield { text: decoder.decode(bytes.subarray(at - stride, at), { stream: true }), share: at / bytes.length };
    }
    yield { text: decoder.decode(bytes.subarray(at - stride)), share: 1 };
    return;
  }
  let fed = 0;
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const part = Uint8Array.from(bytes.subarray(fed, fed + stride / 16));
      fed += part.length;
      return part.length > 0 ? controller.enqueue(part) : controller.close();
    },
  });
  const plain = packed.pipeThrough(new DecompressionStream('gzip')).getReader();
  let left = most;
  let text = '';
  try {
    for (let next = await plain.read(); !next.done && left > 0; next = await plain.read()) {
      const more = decoder.decode(next.value, { stream: true }).slice(0, left);
      left -= more.length;
      text += more;
      if (text.length >= stride) {
        yield { text, share: fed / bytes.length };
        text = '';
      }
    }
  } catch {
    throw new Error('The file begins as gzip does and cannot be unpacked: it is damaged or cut off.');
  } finally {
    await plain.cancel().catch(() => {}); // the rest is not wanted
  }
  yield { text, share: 1 };
}
