/** The longest request. Source: SGLang 0.5.18, srt/configs/model_config.py, srt/utils/hf_transformers_utils.py :: get_context_length. */
import type { Model } from '../../model/model';
import { withCommas } from '../../units';
import type { Finding } from '../engine';
import { refusal } from './refusals';
import type { Settings } from './settings';

interface Derived {
  readonly tokens: number;
  readonly how: string;
}

/** Used when the config states no length at all. */
const LAST_RESORT = 2048;

/** A factor counts only where the config states no length before scaling. Undefined when the catalogue does not know. */
function derivedLength({ maxPositions, rope, source }: Model): Derived | undefined {
  if (maxPositions === undefined) {
    return source.kind === 'catalogue'
      ? undefined
      : { tokens: LAST_RESORT, how: 'the model states no length: SGLang falls back to 2048' };
  }
  const factor = rope?.originalMaxPositions === undefined && rope?.type !== 'llama3' ? (rope?.factor ?? 1) : 1;
  return factor === 1
    ? { tokens: maxPositions, how: 'max_position_embeddings' }
    : { tokens: Math.trunc(maxPositions * factor), how: `${maxPositions} × rope factor ${factor}` };
}

export interface ContextLength {
  /** Undefined when the written value cannot be known, or nothing says one. */
  readonly tokens?: number;
  readonly derived?: Derived;
}

export function contextLength(settings: Settings, model: Model): ContextLength {
  const derived = derivedLength(model);
  return settings.unknown.has('context-length')
    ? { derived }
    : { tokens: settings.number('context-length') ?? derived?.tokens, derived };
}

export function lengthFindings(
  settings: Settings,
  { tokens, derived }: ContextLength,
  environment: ReadonlyMap<string, string>,
): readonly Finding[] {
  if (tokens === undefined) {
    return settings.has('context-length') ? [] : [unknownLength];
  }
  if (!derived || tokens <= derived.tokens) {
    return [];
  }
  const allowed = /^(1|true|yes|y)$/i.test(environment.get('SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN') ?? '');
  const said = `User-specified context_length (${tokens}) is greater than the derived context_length (${derived.tokens}). This may lead to incorrect model outputs or CUDA errors.`;
  return allowed
    ? [{ code: 'length-above-model', severity: 'warning', option: 'context-length', message: said, fixes: [] }]
    : [
        refusal(
          'length-above-model',
          `${said} SGLang refuses it unless SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1 is set.`,
          'context-length',
          [
            {
              title: `Set context-length to ${withCommas(derived.tokens)}, the model’s own`,
              option: 'context-length',
              value: String(derived.tokens),
            },
          ],
        ),
      ];
}

const unknownLength: Finding = {
  code: 'length-unknown',
  severity: 'information',
  message:
    'The launch sets no context-length and the catalogue does not know the model’s own, so requests are not counted.',
  option: 'model-path',
  fixes: [],
};
