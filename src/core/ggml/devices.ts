/** Which device a layer lives on. Source: llama.cpp v0.5.0, src/llama-model.cpp :: load_tensors. */

export const HOST = -1;

export interface SplitSpec {
  /** Transformer layers of the file, those of MTP heads included. */
  readonly layers: number;
  /** GPUs that take layers, each with its share (they need not add up to 1). */
  readonly shares: readonly number[];
  /** Layers that go to the GPUs, counted from the last; the output counts as one. */
  readonly offloaded: number;
  /** One GPU keeps all KV (`--split-mode row`). */
  readonly mainOnly: boolean;
  readonly kvOffload: boolean;
}

export interface Split extends SplitSpec {
  /** Index of the GPU that a layer's weights are on, or `HOST`. */
  weightsOn(layer: number): number;
  kvOn(layer: number): number;
}

export function splitOf(spec: SplitSpec): Split {
  const { layers, shares, offloaded } = spec;
  const total = shares.reduce((a, b) => a + b, 0);
  let sum = 0;
  const ends = shares.map((share) => {
    sum += share;
    return total > 0 ? sum / total : 1;
  });
  const first = Math.max(layers + 1 - offloaded, 0);
  const acting = Math.min(offloaded, layers + 1);
  const weightsOn = (layer: number): number => {
    if (layer < first || layer - first >= acting || shares.length === 0) {
      return HOST;
    }
    const at = ends.findIndex((end) => end > (layer - first) / acting);
    return at === -1 ? shares.length - 1 : at;
  };
  return {
    ...spec,
    weightsOn,
    kvOn: (layer) => (spec.kvOffload ? (spec.mainOnly && weightsOn(layer) !== HOST ? 0 : weightsOn(layer)) : HOST),
  };
}

/** Devices whose memory a plan is about: the GPUs that keep KV, or the host when none does. */
export function kvDevices(split: Split, layers: readonly number[]): readonly number[] {
  const used = new Set(layers.map((layer) => split.kvOn(layer)));
  const gpus = [...used].filter((d) => d !== HOST).sort((a, b) => a - b);
  return gpus.length > 0 ? gpus : [HOST];
}
