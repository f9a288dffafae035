/** Draft and MTP layers that run beside the model and keep KV of their own. Source: vLLM 0.28, config/speculative.py, v1/spec_decode. */
import type { KvLayer, Model } from '../../model/model';
import type { Finding } from '../engine';
import type { Settings } from './settings';

export interface Speculation {
  readonly method?: string;
  readonly tokens: number;
  readonly draftModel?: string;
}

export function speculationOf(settings: Settings): Speculation {
  const config = settings.object('speculative-config') ?? {};
  const text = (key: string, option: string) => {
    const value = config[key];
    return typeof value === 'string' ? value : settings.text(option);
  };
  const tokens =
    config.num_speculative_tokens ?? settings.number('spec-tokens') ?? settings.number('num-speculative-tokens');
  const draftModel = text('model', 'spec-model') ?? settings.text('speculative-model');
  const method = text('method', 'spec-method');
  return {
    method: method ?? (draftModel === undefined ? undefined : methodOf(draftModel)),
    tokens: typeof tokens === 'number' ? tokens : 0,
    draftModel: draftModel === 'ngram' || draftModel === '[ngram]' ? undefined : draftModel,
  };
}

const methodOf = (draftModel: string): string => {
  const name = draftModel.toLowerCase();
  return /eagle-?3/.test(name)
    ? 'eagle3'
    : name.includes('eagle')
      ? 'eagle'
      : name.includes('ngram')
        ? 'ngram'
        : 'draft_model';
};

const keepsNoKv = (method: string): boolean => /^(ngram|ngram_gpu|suffix|medusa|mlp_speculator)$/.test(method);
const isMtp = (method: string | undefined): boolean => method !== undefined && /(^|_)mtp$/.test(method);

/** Draft methods that scheduling stays asynchronous with. */
export const allowsAsync = (method: string | undefined): boolean =>
  method === undefined || isMtp(method) || /^(eagle3?|ngram_gpu|draft_model|dspark)$/.test(method);

export function draftLayers(
  speculation: Speculation,
  model: Model,
  draft: Model | undefined,
): { readonly layers: readonly KvLayer[]; readonly findings: readonly Finding[] } {
  const { method, draftModel } = speculation;
  if (method === undefined || keepsNoKv(method)) {
    return { layers: [], findings: [] };
  }
  if (isMtp(method) && draftModel === undefined) {
    return model.mtpLayers.length > 0
      ? { layers: model.mtpLayers.map(asDraft), findings: [] }
      : unknownDraft(`${model.id} is not known to carry MTP layers`);
  }
  if (draft) {
    return { layers: draft.layers.filter((l) => l.kind !== 'shared').map(asDraft), findings: [] };
  }
  const why = draftModel === undefined ? 'the draft model is not named' : `the draft model ${draftModel} is not known`;
  return /^eagle3?$/.test(method) ? assumedEagle(model, why) : unknownDraft(why);
}

/** EAGLE heads are one decoder layer, with the heads of the model they draft for. Source: EAGLE and EAGLE-3, model definition. */
function assumedEagle(model: Model, why: string): ReturnType<typeof draftLayers> {
  const full = model.layers.find((l) => l.kind === 'full');
  if (!full) {
    return unknownDraft(why);
  }
  const message = `${capitalised(why)}: its KV cache is counted as one layer with the heads of ${model.id}, as EAGLE heads have; its weights (usually 0.5–1.5 GiB) are not.`;
  return {
    layers: [asDraft(full)],
    findings: [{ code: 'draft-assumed', severity: 'information', message, option: 'speculative-config', fixes: [] }],
  };
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const asDraft = (layer: KvLayer): KvLayer => ({ ...layer, draft: true });

const unknownDraft = (why: string) => ({
  layers: [],
  findings: [
    {
      code: 'draft-unknown',
      severity: 'warning' as const,
      message: `The KV cache of the draft is not counted: ${why}. Blocks are at most what is shown.`,
      option: 'speculative-config',
      fixes: [],
    },
  ],
});
