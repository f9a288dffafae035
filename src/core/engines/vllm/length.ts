/** The longest request a model takes when the launch does not say. Source: vLLM 0.28, config/model.py :: _get_and_verify_max_len. */
import type { Model } from '../../model/model';
import { withCommas } from '../../units';
import type { Finding } from '../engine';
import { modelLength } from '../model-length';
import type { Settings } from './settings';

/** Used, with a warning, when the config states no length at all. */
const LAST_RESORT = 2048;

/** Undefined when the catalogue does not know what the model's config states. */
function derivedMaxLength(model: Model): { readonly tokens: number; readonly how: string } | undefined {
  if (model.maxPositions === undefined) {
    return model.source.kind === 'catalogue'
      ? undefined
      : { tokens: LAST_RESORT, how: 'the model states no length: vLLM falls back to 2048' };
  }
  return modelLength(model);
}

export interface MaxLength {
  /** Undefined when the written value cannot be known, or nothing says one. */
  readonly tokens?: number;
  /** The model's own. */
  readonly derived?: { readonly tokens: number; readonly how: string };
  /** The engine picks the longest that fits. */
  readonly auto: boolean;
}

export function maxLength(settings: Settings, model: Model): MaxLength {
  const derived = derivedMaxLength(model);
  if (settings.unknown.has('max-model-len')) {
    return { derived, auto: false };
  }
  const written = settings.find('max-model-len')?.value;
  return typeof written === 'number'
    ? { tokens: written, derived, auto: false }
    : { tokens: derived?.tokens, derived, auto: written === 'auto' };
}

export function lengthFindings(
  settings: Settings,
  { tokens, derived }: MaxLength,
  environment: ReadonlyMap<string, string>,
): readonly Finding[] {
  if (tokens === undefined) {
    return settings.has('max-model-len') ? [] : [unknownLength];
  }
  const allowed = /^(1|true)$/i.test(environment.get('VLLM_ALLOW_LONG_MAX_MODEL_LEN') ?? '');
  if (!derived || tokens <= derived.tokens || allowed) {
    return [];
  }
  return [
    {
      code: 'length-above-model',
      severity: 'error',
      option: 'max-model-len',
      message: `User-specified max_model_len (${tokens}) is greater than the derived max_model_len (${derived.tokens}). vLLM refuses it unless VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 is set.`,
      fixes: [
        {
          title: `Set max-model-len to ${withCommas(derived.tokens)}, the model’s own`,
          option: 'max-model-len',
          value: String(derived.tokens),
        },
      ],
    },
  ];
}

const unknownLength: Finding = {
  code: 'length-unknown',
  severity: 'information',
  message:
    'The launch sets no max-model-len and the catalogue does not know the model’s own, so requests are not counted.',
  option: 'model',
  fixes: [],
};
