/** The kernels as text: what differs between two of them, and that no loop is left that should be written out. */
import { expect, test } from 'vitest';
import { type Address, bytesPerRow, type KernelSpec, kernelSource, type Task } from '../../../webview/bench/kernels';

const TUNING = { threads: 64, lanes: 8, tile: 4, depth: 2, subgroups: false, nativeF16: false } as const;
const specOf = (over: Partial<KernelSpec> = {}): KernelSpec => ({
  task: 'attention',
  address: 'contiguous',
  dtype: 'f16',
  headDim: 128,
  tuning: TUNING,
  ...over,
});

/** The code without the function that finds a row, and without the table it reads. */
const withoutAddress = (address: Address): string =>
  kernelSource(specOf({ address }))
    .code.replace(/@group\(0\) @binding\(6\)[^\n]*\n\n/, '')
    .replace(/\/\*\* The row of a token[^\n]*\nfn row\([^}]*\}\n/, '');

test('a paged kernel is the contiguous one but for the address of a row', () => {
  expect(withoutAddress('paged')).toBe(withoutAddress('contiguous'));
  expect(kernelSource(specOf()).code).not.toContain('table[');
});

test('block size and layout are data: no constant of the code names them', () => {
  expect(kernelSource(specOf({ address: 'paged' })).code).not.toMatch(/const \w*BLOCK/);
});

test.each(['attention', 'naive', 'read', 'gather', 'append', 'copy', 'merge'] as Task[])(
  '%s needs at most the eight storage buffers of any adapter',
  (task) => {
    for (const dtype of ['f32', 'f16', 'int8'] as const) {
      const { bindings, code } = kernelSource(specOf({ task, dtype, address: 'paged' }));
      expect(bindings.filter((kind) => kind?.includes('storage')).length).toBeLessThanOrEqual(8);
      expect(code).not.toContain('// unroll');
      expect(code).not.toContain('ACCESS');
    }
  },
);

test('workgroup memory stays within the 16 KiB of any adapter', () => {
  for (const headDim of [64, 128, 256]) {
    for (const tuning of [TUNING, { ...TUNING, threads: 128 }, { ...TUNING, threads: 16, lanes: 4 }]) {
      const { code } = kernelSource(specOf({ headDim, tuning }));
      const constants = Object.fromEntries(
        [...code.matchAll(/^const (\w+) = (\d+)u;/gm)].map((m) => [m[1], Number(m[2])]),
      );
      const { THREADS = 0, SCORES = 0, POSTED = 0, ROWS = 0 } = constants;
      expect(4 * THREADS * SCORES + 16 * POSTED + 8 * ROWS).toBeLessThanOrEqual(16_384);
    }
  }
});

test('f16 is native only where it is asked for', () => {
  expect(kernelSource(specOf()).code).not.toContain('enable f16');
  expect(kernelSource(specOf({ tuning: { ...TUNING, nativeF16: true } })).code).toMatch(/^enable f16;/);
});

test('bytes of a row: int8 has a scale beside it', () => {
  expect([bytesPerRow('f32', 64), bytesPerRow('f16', 128), bytesPerRow('int8', 128)]).toEqual([256, 256, 132]);
});
