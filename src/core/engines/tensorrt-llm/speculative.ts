/** Draft models and MTP heads that run beside the model. Source: TensorRT-LLM, llmapi/llm_args.py. */
import type { KvLayer, Model } from '../../model/model';
import type { Placement, Setting } from '../engine';
import { type Settings, settingsOf } from '../settings';
import { numberLayers, stageOfLayer } from '../stages';

export interface Speculation {
  readonly tokens: number;
  readonly heads: number;
}

/** Source: llm_args.py :: MTPDecodingConfig, EagleDecodingConfig and their kin. */
export function speculationOf(settings: Settings): Speculation {
  const config = settings.object('speculative_config');
  const heads = config?.decoding_type === 'MTP' ? numberIn(config, 'num_nextn_predict_layers', 1) : 0;
  return { heads, tokens: config ? Math.max(heads, numberIn(config, 'max_draft_len', 0)) : 0 };
}

const numberIn = (object: Readonly<Record<string, unknown>>, key: string, otherwise: number): number => {
  const value = object[key];
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 64 ? value : otherwise;
};

export function draftModel(all: readonly Setting[]): string | undefined {
  const config = settingsOf(all).object('speculative_config');
  const named = config?.speculative_model_dir ?? config?.speculative_model;
  return typeof named === 'string' ? named : undefined;
}

export function placedLayers(
  model: Model,
  draft: Model | undefined,
  { pipeline }: Placement,
  { heads }: Speculation,
): { readonly layers: readonly KvLayer[]; readonly stageOf: readonly number[] } {
  const { layers, depth } = numberLayers(model);
  const stage = stageOfLayer(depth, pipeline);
  const guessing = [
    ...Array.from({ length: heads }, () => model.mtpLayers).flat(),
    ...(draft ? numberLayers(draft).layers.map(({ layer }): KvLayer => ({ ...layer, draft: true })) : []),
  ];
  return {
    layers: [...layers.map((l) => l.layer), ...guessing],
    stageOf: [...layers.map((l) => stage(l.at)), ...guessing.map(() => pipeline - 1)],
  };
}
