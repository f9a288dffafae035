import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { textParts } from '../../../src/dashboard/unpack';

async function read(bytes: Uint8Array, most = 2 ** 26, stride = 2 ** 20) {
  const parts: { text: string; share: number }[] = [];
  for await (const part of textParts(bytes, most, stride)) {
    parts.push(part);
  }
  return { text: parts.map(({ text }) => text).join(''), shares: parts.map(({ share }) => share) };
}

describe('text of a file', () => {
  const text = '{"timestamp":0}\n'.repeat(10_000);

  it('is read as it is, or unpacked, as far as asked', async () => {
    expect((await read(new TextEncoder().encode('a €'))).text).toBe('a €');
    expect((await read(gzipSync(text))).text).toBe(text);
    expect((await read(gzipSync(text), 500)).text).toBe(text.slice(0, 500));
    expect((await read(new Uint8Array())).text).toBe('');
  });

  it('comes in parts, with how much of the file they are, and letters are not torn apart', async () => {
    const euros = '€'.repeat(100);
    const plain = await read(new TextEncoder().encode(euros), 2 ** 26, 32);
    expect(plain.text).toBe(euros);
    expect(plain.shares.length).toBe(10);
    expect(plain.shares).toEqual(plain.shares.toSorted((a, b) => a - b));
    expect(plain.shares.at(-1)).toBe(1);
    const packed = await read(gzipSync(text), 2 ** 26, 4096);
    expect(packed.text).toBe(text);
    expect(packed.shares.length).toBeGreaterThan(2);
    expect(packed.shares.at(-1)).toBe(1);
  });

  it.each<[string, Uint8Array]>([
    ['cut off', gzipSync('some text, some text, some more').subarray(0, 20)],
    ['damaged', Uint8Array.of(0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)],
  ])('that is %s says so', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(/cannot be unpacked/);
  });
});
