/** A benchmark result as a laptop's GPU would give it. */
import type { BenchResult } from '../../../src/core/pool/kernel-result';

type Row = BenchResult['rows'][number];

export const aRow = (blockSize: number, ratio: number): Row => ({
  kind: 'paged',
  order: 'random',
  blockSize,
  ratio: { median: ratio, low: ratio - 0.02, high: ratio + 0.02 },
  milliseconds: 2 * ratio,
  gigabytesPerSecond: 134 / ratio,
  roofline: 0.8 / ratio,
  real: ratio > 1.05,
});

export const plainRow = (kind: Row['kind'], ratio: number): Row => {
  const { order: _, blockSize: __, ...row } = aRow(1, ratio);
  return { ...row, kind, real: kind === 'naive' || kind === 'read' };
};

export const aResult = (over: Partial<BenchResult> = {}): BenchResult => ({
  schema: 'kv-planner/bench@1',
  date: '2026-06-01T10:00:00.000Z',
  where: { runner: 'dashboard', system: 'Linux' },
  adapter: { vendor: 'nvidia', architecture: 'ada', device: '', description: 'RTX 4000 Ada', fallback: false },
  clock: { kind: 'timestamps', quantumNanoseconds: 65536 },
  shape: {
    heads: 32,
    kvHeads: 8,
    headDim: 128,
    dtype: 'f16',
    sequences: 96,
    tokens: 65_536,
    bytes: 268_435_456,
    blockSize: 16,
    changes: [],
  },
  checks: { count: 90, wrong: 0, worst: 1.1e-6, tolerance: 2e-5, storage: 2.5e-4 },
  rounds: 31,
  drift: 1.01,
  noise: { median: 1, low: 0.98, high: 1.02 },
  rows: [
    plainRow('contiguous', 1),
    plainRow('again', 1),
    aRow(1, 1.4),
    aRow(16, 1.1),
    aRow(64, 1.02),
    plainRow('read', 0.8),
    plainRow('naive', 6),
  ],
  notes: [],
  ...over,
});
