/** What else to know of a llama-server launch: how slots share the context, and what cannot shift. */
import type { GgmlConfiguration } from '../../ggml/configuration';
import { growsWithTokens } from '../../ggml/sizes';
import { withCommas } from '../../units';
import type { Checked, Finding } from '../engine';
import { settingsOf } from '../settings';

export function checksOf({ configuration: c, asked }: Checked<GgmlConfiguration>): readonly Finding[] {
  return [dividedContext, roundedContext, paddedLength, noShift, draftContext].flatMap((check) =>
    check(c, settingsOf(asked.settings)),
  );
}

type Check = (c: GgmlConfiguration, settings: ReturnType<typeof settingsOf>) => readonly Finding[];

const finding = (code: string, severity: Finding['severity'], option: string, message: string): Finding => ({
  code,
  severity,
  option,
  message,
  fixes: [],
});

/** The commonest surprise: -c is shared out. */
const dividedContext: Check = (c, settings) => {
  const { context } = c.sizes;
  if (
    c.sequences < 2 ||
    c.pooled ||
    !settings.has('ctx-size') ||
    c.maxLength === undefined ||
    settings.has('no-kv-unified')
  ) {
    return [];
  }
  return [
    {
      ...finding(
        'context-divided',
        'information',
        'ctx-size',
        `The ${withCommas(c.spec.tokens)} tokens are divided over ${c.sequences} slots: a request gets ${withCommas(Math.min(c.maxLength, context.tokensPerSequence))}. With kv-unified a slot may use all of them.`,
      ),
      fixes: [
        {
          title: 'Add kv-unified, so that a slot may use all of them',
          option: 'kv-unified',
          value: 'true',
        },
      ],
    },
  ];
};

/** Cells come in multiples; llama.cpp says “rounding down” where it rounds up. */
const roundedContext: Check = (c) => {
  const { context } = c.sizes;
  return c.spec.tokens !== context.tokens && c.layers.some((l) => l.kind !== 'state')
    ? [
        finding(
          'context-rounded',
          'hint',
          'ctx-size',
          `${withCommas(c.spec.tokens)} tokens are rounded up to ${withCommas(context.tokens)} cells (${withCommas(context.tokensPerSequence)} of each ${c.pooled ? 'request at most' : 'slot'}), whatever the log’s warning says.`,
        ),
      ]
    : [];
};

/** A slot is never longer than the model was trained for: cells beyond are of no use. */
const paddedLength: Check = (c) => {
  const { context } = c.sizes;
  const beyond = context.tokensPerSequence - (c.maxLength ?? context.tokensPerSequence);
  return beyond >= 256 && !c.pooled
    ? [
        finding(
          'context-above-training',
          'warning',
          'ctx-size',
          `The slot context (${withCommas(context.tokensPerSequence)}) exceeds the training context of the model (${withCommas(c.maxLength ?? 0)}): requests are capped there, and the other cells are never used.`,
        ),
      ]
    : [];
};

const noShift: Check = (c, settings) => {
  const asked =
    settings.flag('context-shift') === true
      ? 'context-shift'
      : (settings.number('cache-reuse') ?? 0) > 0
        ? 'cache-reuse'
        : undefined;
  return asked && !canShift(c)
    ? [
        finding(
          'cannot-shift',
          'warning',
          asked,
          `${asked} is ignored: a context with ${c.sizes.caches.some((x) => x.kind === 'recurrent') ? 'states' : 'windows'} cannot shift.`,
        ),
      ]
    : [];
};

/** Source: llama.cpp v0.5.0, src/llama-kv-cache-iswa.cpp and src/llama-memory-hybrid.cpp :: get_can_shift. */
function canShift({ sizes }: GgmlConfiguration): boolean {
  const hybrid = sizes.caches.some((c) => c.kind === 'recurrent') && sizes.caches.length > 1;
  return !hybrid && sizes.caches.every((c) => c.kind !== 'sliding' || growsWithTokens(c, sizes.context));
}

const draftContext: Check = (_c, settings) =>
  settings.has('model-draft')
    ? [
        finding(
          'draft-not-counted',
          'information',
          'model-draft',
          'The draft model has a context and weights of its own, which these figures leave out.',
        ),
      ]
    : [];
