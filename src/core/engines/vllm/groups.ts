/**
 * KV layers → groups that share a block table. Source: vLLM 0.28, v1/core/kv_cache_utils.py :: get_kv_cache_groups
 * (decision order), unify page sizes, group size; checked against the engine's own code.
 */
import type { KvLayer } from '../../model/model';
import { ceilDiv } from '../../units';
import { EngineRefusal } from '../engine';
import type { VllmRules } from './versions';

/** What a layer asks of the allocator on one rank of tensor parallelism; equal layers are one object. */
export interface LayerSpec {
  readonly layer: KvLayer;
  readonly dtype: string;
  /** Content bytes of one token on one GPU; of a state layer, of one state. */
  readonly tokenBytes: number;
  /** Tokens per block. */
  readonly blockSize: number;
  /** Bytes of one block, padding included. */
  readonly page: number;
}

/** Layers, by their number in layer order, that share a block table. */
export interface SpecGroup {
  readonly members: readonly number[];
  readonly first: LayerSpec;
  readonly blockSize: number;
}

export interface Grouping {
  /** By layer number, pages unified. */
  readonly specs: readonly LayerSpec[];
  readonly groups: readonly SpecGroup[];
  /** Layers added so that groups are equal, and the share of the cache they may waste, as the engine warns. */
  readonly padding: readonly { readonly layers: number; readonly percent: number }[];
  /** Bytes of a block if every tuple were whole, where groups are packed in tuples: what the fit check took before 0.28. */
  readonly paddedBytes?: number;
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
    return { specs, groups: [], padding: [] };
  }
  const type = typeOf(first);
  if (specs.every((s) => s === first || (typeOf(s) === type && s.blockSize === first.blockSize))) {
    return { specs, groups: [{ members: specs.map((_, i) => i), first, blockSize: first.blockSize }], padding: [] };
  }
  return groupUnequal(unifyPages(specs, rules.padPages), rules.groupRatio);
}

/** Smaller pages: a divisor of the largest multiplies its block; any other is padded (before 0.25: refused). */
function unifyPages(specs: readonly LayerSpec[], pad: boolean): readonly LayerSpec[] {
  const largest = Math.max(...specs.map((s) => s.page));
  const unified = new Map<LayerSpec, LayerSpec>();
  return specs.map((spec) => {
    const known = unified.get(spec) ?? unifiedPage(spec, largest, pad);
    unified.set(spec, known);
    return known;
  });
}

function unifiedPage(spec: LayerSpec, largest: number, pad: boolean): LayerSpec {
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
}

/** Layer numbers by equal spec, in order of first appearance. */
function bucketsOf(specs: readonly LayerSpec[]): readonly (readonly number[])[] {
  const keys = new Map<LayerSpec, string>();
  const buckets = new Map<string, number[]>();
  specs.forEach((spec, i) => {
    const key = keys.get(spec) ?? specKey(spec);
    keys.set(spec, key);
    const bucket = buckets.get(key);
    if (bucket) {
      bucket.push(i);
    } else {
      buckets.set(key, [i]);
    }
  });
  return [...buckets.values()];
}

function groupUnequal(specs: readonly LayerSpec[], ratio: number): Grouping {
  const buckets = bucketsOf(specs);
  const sizes = buckets.map((b) => b.length);
  const smallest = Math.min(...sizes);
  const largest = Math.max(...sizes);
  const size = largest < ratio * smallest ? largest : smallest;
  return {
    specs,
    groups: buckets.flatMap((bucket) =>
      deal(bucket, specs[bucket[0] as number] as LayerSpec, ceilDiv(bucket.length, size)),
    ),
    padding: buckets
      .map((bucket) => ({ layers: (size - (bucket.length % size)) % size, of: bucket.length }))
      .filter(({ layers }) => layers > 0)
      .map(({ layers, of }) => ({ layers, percent: (100 * layers) / of })),
  };
}

/** Group i takes layers i, i + count, i + 2 × count …, so that lengths differ by at most one. */
const deal = (bucket: readonly number[], first: LayerSpec, count: number): readonly SpecGroup[] =>
  Array.from({ length: count }, (_, i) => ({
    members: bucket.filter((_, at) => at % count === i),
    first,
    blockSize: first.blockSize,
  }));
