/**
 * Models that keep a compressed history beside a window (DeepSeek V4): pages, and the tuples that groups are packed in.
 * Source: vLLM 0.28, models/deepseek_v4, v1/attention/backends/mla/sparse_swa.py, v1/core/kv_cache_utils.py
 * (_approximate_gcd); checked against the engine's own code and refusals in vllm-project/vllm#44376, #53961.
 */
import type { KvLayer } from '../../model/model';
import { ceilDiv } from '../../units';
import type { Grouping, LayerSpec, SpecGroup } from './groups';

export const isCompressed = (layers: readonly KvLayer[]): boolean => layers.some((l) => l.ratio !== undefined);

/** Pages are aligned to this many bytes. */
const ALIGNMENT = 576;
const aligned = (bytes: number): number => ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;

/** Tokens per block of the window's pages, whatever the block size of the entries. */
const WINDOW_BLOCK = 64;

/** What the compressor itself keeps while it fills an entry: fp32 copies of the vector, in blocks and a window of its own. */
const COMPRESSORS: ReadonlyMap<number, { readonly copies: number; readonly block: number; readonly window: number }> =
  new Map([
    [4, { copies: 4, block: 4, window: 8 }],
    [128, { copies: 2, block: 8, window: 128 }],
  ]);

/** Index keys: fp8 and one fp32 scale per 128 (132 bytes). Entries: fp8, the rope part in bf16, 8 bytes of scales (584 bytes). */
const entryBytes = (layer: KvLayer): number =>
  layer.kind === 'indexer'
    ? layer.headDim + (layer.headDim / 128) * 4
    : layer.headDim - (layer.ropeDim ?? 0) + 2 * (layer.ropeDim ?? 0) + 8;

/** The specs of one KV layer: its own, and that of its compressor. */
export function compressedSpecs(layer: KvLayer, block: number, dtype: string): readonly LayerSpec[] {
  const ratio = layer.ratio ?? 1;
  const blockSize = layer.kind === 'sliding' ? WINDOW_BLOCK : block;
  const own = {
    layer,
    dtype,
    tokenBytes: entryBytes(layer) / ratio,
    blockSize,
    page: aligned((blockSize / ratio) * entryBytes(layer)),
  };
  const compressor = layer.kind === 'sliding' ? undefined : COMPRESSORS.get(ratio);
  if (!compressor) {
    return [own];
  }
  const { copies, block: size, window } = compressor;
  const tokenBytes = copies * layer.headDim * 4;
  const state: KvLayer = { ...layer, kind: 'sliding', window, joined: true };
  return [own, { layer: state, dtype: 'float32', tokenBytes, blockSize: size, page: aligned(size * tokenBytes) }];
}

/**
 * Entries first, as one group of unequal pages; a group's tuples are the layers of its most frequent page. Windows are
 * bucketed by block and window and split so that their groups have about as many tuples as the first.
 */
export function packTuples(specs: readonly LayerSpec[]): Grouping {
  const numbers = specs.map((_, i) => i);
  const spec = (i: number) => specs[i] as LayerSpec;
  const entries = numbers.filter((i) => spec(i).layer.kind !== 'sliding');
  const buckets = bucketed(
    numbers.filter((i) => spec(i).layer.kind === 'sliding'),
    (i) => `${spec(i).blockSize}|${spec(i).layer.window}`,
  );
  const tuplesOf = (members: readonly number[]) =>
    Math.max(0, ...bucketed(members, (i) => String(spec(i).page)).map((b) => b.length));
  const size = commonSize(buckets.map(tuplesOf), tuplesOf(entries));
  const group = (members: readonly number[]): SpecGroup => {
    const first = spec(members[0] as number);
    return { members, first, blockSize: first.blockSize };
  };
  const pages = new Set(entries.map((i) => spec(i).page));
  return {
    specs,
    groups: [
      group(entries),
      ...buckets.flatMap((b) => split(b, ceilDiv(tuplesOf(b), size), (i) => String(spec(i).page)).map(group)),
    ],
    padding: [],
    paddedBytes: size * [...pages].reduce((a, b) => a + b, 0),
  };
}

function bucketed(members: readonly number[], key: (i: number) => string): readonly (readonly number[])[] {
  const buckets = new Map<string, number[]>();
  for (const i of members) {
    const bucket = buckets.get(key(i)) ?? [];
    bucket.push(i);
    buckets.set(key(i), bucket);
  }
  return [...buckets.values()];
}

/** The size, from `least` up, that pads the counts least; of equals the largest. */
function commonSize(counts: readonly number[], least: number): number {
  let best = least;
  let fewest = Number.POSITIVE_INFINITY;
  for (let size = least; size <= Math.max(least, ...counts); size++) {
    const padding = counts.reduce((total, n) => total + (ceilDiv(n, size) * size - n), 0);
    if (padding <= fewest) {
      best = size;
      fewest = padding;
    }
  }
  return best;
}

/** Each page's layers are dealt to the groups in turn. */
function split(members: readonly number[], count: number, key: (i: number) => string): readonly (readonly number[])[] {
  const pages = bucketed(members, key);
  return Array.from({ length: count }, (_, g) =>
    pages.flatMap((page) => page.filter((_member, at) => at % count === g)),
  );
}
