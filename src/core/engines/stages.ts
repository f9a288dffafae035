/** Layers by number, and which pipeline stage each one is on. */
import type { KvLayer, Model } from '../model/model';

/** A KV layer and the transformer layer that it is part of, from 0. */
export interface NumberedLayer {
  readonly layer: KvLayer;
  readonly at: number;
}

export interface Numbered {
  /** Layers that keep something of their own. */
  readonly layers: readonly NumberedLayer[];
  /** Transformer layers, those that keep nothing included: where pipeline stages are cut. */
  readonly depth: number;
}

const numberings = new WeakMap<Model, Numbered>();

export function numberLayers(model: Model): Numbered {
  const known = numberings.get(model);
  if (known) {
    return known;
  }
  let at = -1;
  const layers: NumberedLayer[] = [];
  for (const layer of model.layers) {
    at += layer.joined ? 0 : 1;
    if (layer.kind !== 'shared' && layer.kind !== 'none') {
      layers.push({ layer, at });
    }
  }
  const numbered = { layers, depth: at + 1 };
  numberings.set(model, numbered);
  return numbered;
}

/** Stage of each layer number when the first stages take what does not divide evenly. */
export function stageOfLayer(depth: number, stages: number): (at: number) => number {
  const least = Math.floor(depth / stages);
  const extra = depth % stages;
  const edge = extra * (least + 1);
  return (at) => (at < edge ? Math.floor(at / (least + 1)) : extra + Math.floor((at - edge) / Math.max(1, least)));
}
