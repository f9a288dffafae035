/**
 * KV layers → groups that share a block table. Source: vLLM 0.28, v1/core/kv_cache_utils.py :: get_kv_cache_groups
 * (decision order), unify page sizes, group size; checked against the engine's own code.
 */
import type { KvLayer } from '../../model/model';
import { ceilDiv } from '../../units';
import { EngineRefusal } from '../engine';
import type { VllmRules } from './versions';

/** What one layer asks of the allocator on one rank of tensor parallelism. */
export interface LayerSpec {
  readonly index: number;
  readonly layer: KvLayer;
  readonly dtype: string;
  /** Content bytes of one token on one GPU; of a state layer, of one state. */
  readonly tokenBytes: number;
  /** Tokens per block. */
  readonly blockSize: number;
  /** Bytes of one block, padding included. */
  readonly page: number;
}

export interface SpecGroup {
  readonly specs: readonly LayerSpec[];
  readonly blockSize: number;
  /** Bytes of one layer's page in this group; undefined when layers differ (their pages add up). */
  readonly page?: number;
}

export interface Grouping {
  readonly groups: readonly SpecGroup[];
  /** Layers added so that groups are equal, and the share of the cache they may waste, as the engine warns. */
  readonly padding: readonly { readonly layers: number; readonly percent: number }[];
}

/** Layers of the same type share a group whatever their page: full and latent together, windows by length. */
const typeOf = ({ layer }: LayerSpec): string => {
  switch (layer.kind) {
    case 'sliding':
    case 'chunked':
      return `${layer.kind}:${layer.window}`;
    case 'state':
      return 'state';
    default:
      return 'full';
  }
};

const specKey = (spec: LayerSpec): string => `${typeOf(spec)}|${spec.page}|${spec.blockSize}`;

export function groupLayers(specs: readonly LayerSpec[], rules: VllmRules): Grouping {
  const [first] = specs;
  if (!first) {
    return { groups: [], padding: [] };
  }
  const oneType = specs.every((s) => typeOf(s) === typeOf(first) && s.blockSize === first.blockSize);
  if (oneType) {
    const equal = specs.every((s) => s.page === first.page);
    return { groups: [{ specs, blockSize: first.blockSize, page: equal ? first.page : undefined }], padding: [] };
  }
  return groupUnequal(unifyPages(specs, rules.padPages), rules.groupRatio);
}

/** Smaller pages: a divisor of the largest multiplies its block; any other is padded (before 0.25: refused). */
function unifyPages(specs: readonly LayerSpec[], pad: boolean): readonly LayerSpec[] {
  const largest = Math.max(...specs.map((s) => s.page));
  return specs.map((spec): LayerSpec => {
    if (largest % spec.page === 0) {
      return { ...spec, blockSize: spec.blockSize * (largest / spec.page), page: largest };
    }
    if (!pad) {
      throw new EngineRefusal([
        {
          code: 'pages-cannot-be-unified',
          severity: 'error',
          message: `This version of vLLM cannot hold layers whose pages do not divide each other (${spec.page} and ${largest} bytes); padding came with 0.25.`,
          fixes: [],
        },
      ]);
    }
    return { ...spec, page: largest };
  });
}

function bucketsOf(specs: readonly LayerSpec[]): readonly (readonly LayerSpec[])[] {
  const buckets = new Map<string, LayerSpec[]>();
  for (const spec of specs) {
    const key = specKey(spec);
    const bucket = buckets.get(key);
    if (bucket) {
      bucket.push(spec);
    } else {
      buckets.set(key, [spec]);
    }
  }
  return [...buckets.values()];
}

function groupUnequal(specs: readonly LayerSpec[], ratio: number): Grouping {
  const buckets = bucketsOf(specs);
  const sizes = buckets.map((b) => b.length);
  const smallest = Math.min(...sizes);
  const largest = Math.max(...sizes);
  const size = largest < ratio * smallest ? largest : smallest;
  return {
    groups: buckets.flatMap((bucket) => deal(bucket, ceilDiv(bucket.length, size))),
    padding: buckets
      .map((bucket) => ({ layers: (size - (bucket.length % size)) % size, of: bucket.length }))
      .filter(({ layers }) => layers > 0)
      .map(({ layers, of }) => ({ layers, percent: (100 * layers) / of })),
  };
}

/** Group i takes layers i, i + count, i + 2 × count …, so that lengths differ by at most one. */
function deal(bucket: readonly LayerSpec[], count: number): readonly SpecGroup[] {
  const { blockSize, page } = bucket[0] as LayerSpec;
  return Array.from({ length: count }, (_, i) => ({
    specs: bucket.filter((_, at) => at % count === i),
    blockSize,
    page,
  }));
}
