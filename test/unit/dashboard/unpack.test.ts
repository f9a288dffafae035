import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/dashboard/unpack';

describe('text of a file', () => {
  it('is read as it is, or unpacked, as far as asked', async () => {
    const text = '{"timestamp":0}\n'.repeat(10_000);
    expect(await textOf(new TextEncoder().encode('a €'), 100)).toBe('a €');
    expect(await textOf(gzipSync(text), 2 ** 26)).toBe(text);
    expect(await textOf(gzipSync(text), 500)).toBe(text.slice(0, 500));
  });

  it.each<[string, Uint8Array]>([
    ['cut off', gzipSync('some text, some text, some more').subarray(0, 20)],
    ['damaged', Uint8Array.of(0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)],
  ])('that is %s says so', async (_, bytes) => {
    await expect(textOf(bytes, 100)).rejects.toThrow(/cannot be unpacked/);
  });
});
