/** Draft layers that keep keys and values. Source: SGLang 0.5.18, srt/speculative/spec_info.py, pool_configurator.py. */
import type { KvLayer, Model } from '../../model/model';
import type { Finding } from '../engine';
import type { Settings } from './settings';

export interface Speculation {
  readonly algorithm?: string;
  readonly draftModel?: string;
  /** Tokens of one verification; 0 without speculation. */
  readonly draftTokens: number;
}

/** Where nothing is written, SGLang picks by model: 4 for most (three steps, one branch). */
const USUAL_DRAFT_TOKENS = 4;

export function speculationOf(settings: Settings): Speculation {
  const algorithm = settings.text('speculative-algorithm')?.toUpperCase();
  if (algorithm === undefined || algorithm === 'NONE') {
    return { draftTokens: 0 };
  }
  return {
    algorithm,
    draftModel: settings.text('speculative-draft-model-path'),
    draftTokens:
      settings.number('speculative-num-draft-tokens') ??
      settings.number('speculative-dflash-block-size') ??
      USUAL_DRAFT_TOKENS,
  };
}

export interface Draft {
  readonly layers: readonly KvLayer[];
  readonly findings: readonly Finding[];
}

const NOTHING: Draft = { layers: [], findings: [] };

/** A draft of the model's own MTP layers, or of a model beside it. */
export function draftOf({ algorithm, draftModel }: Speculation, model: Model, draft: Model | undefined): Draft {
  if (algorithm === undefined || algorithm === 'NGRAM') {
    return NOTHING;
  }
  if (draftModel === undefined) {
    return model.mtpLayers.length > 0
      ? { layers: model.mtpLayers.map(asDraft), findings: [] }
      : unknown(`${model.id} is not known to carry MTP layers, and the launch names no draft model`);
  }
  return draft
    ? { layers: draft.layers.filter((l) => l.kind !== 'shared' && l.kind !== 'none').map(asDraft), findings: [] }
    : unknown(`the draft model ${draftModel} is not known`);
}

const asDraft = (layer: KvLayer): KvLayer => ({ ...layer, draft: true });

const unknown = (why: string): Draft => ({
  layers: [],
  findings: [
    {
      code: 'draft-unknown',
      severity: 'warning',
      message: `The KV cache of the draft is not counted: ${why}. Tokens are at most what is shown.`,
      option: 'speculative-algorithm',
      fixes: [],
    },
  ],
});
