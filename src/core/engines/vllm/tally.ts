/** Equal layers counted once: what the sums of a layout run over. */
import type { KvLayer } from '../../model/model';
import { bytesPerHeadToken } from './dtypes';
import type { LayerSpec, SpecGroup } from './groups';
import { headsPerRank } from './placement';

/** Equal layers of one group on one rank. */
export interface Tally {
  readonly spec: LayerSpec;
  readonly count: number;
}

export function tallyOf(
  group: SpecGroup,
  specs: readonly LayerSpec[],
  stage: number,
  stageOf: readonly number[],
): readonly Tally[] {
  const tallies: { spec: LayerSpec; count: number }[] = [];
  for (const member of group.members) {
    if (stageOf[member] === stage) {
      const spec = specs[member] as LayerSpec;
      const known = tallies.find((t) => t.spec === spec);
      if (known) {
        known.count++;
      } else {
        tallies.push({ spec, count: 1 });
      }
    }
  }
  return tallies;
}

export const grows = ({ layer }: LayerSpec): boolean =>
  layer.kind !== 'sliding' && layer.kind !== 'chunked' && layer.kind !== 'state';

/** Latent and indexer layers are one vector, kept whole on every GPU. */
export const tensorHeads = (layer: KvLayer, tensor: number): number =>
  isShared(layer) ? 1 : headsPerRank(layer.kvHeads, tensor);

/** Content bytes of one token in the whole model, a head that is kept on several GPUs counted once. */
export const wholeTokenBytes = (spec: LayerSpec): number =>
  isShared(spec.layer) ? spec.tokenBytes : spec.layer.kvHeads * (bytesPerHeadToken(spec.layer, spec.dtype) as number);

/** One vector for all heads, keys and values alike: nothing to divide. */
const isShared = (layer: KvLayer): boolean =>
  layer.kind === 'latent' || layer.kind === 'indexer' || layer.ratio !== undefined;
