/** What else to know of an Ollama launch. */
import type { GgmlConfiguration } from '../../ggml/configuration';
import { deviceBytes } from '../../ggml/layout';
import { formatBytes, withCommas } from '../../units';
import type { Checked, Finding } from '../engine';

export function checksOf({ configuration: c }: Checked<GgmlConfiguration>): readonly Finding[] {
  return [...multiplied(c), ...rounded(c)];
}

/** Parallel requests multiply what is set aside: people expect them to share it. */
function multiplied(c: GgmlConfiguration): readonly Finding[] {
  if (c.sequences < 2) {
    return [];
  }
  const bytes = deviceBytes(c, undefined);
  return [
    {
      code: 'context-multiplied',
      severity: 'information',
      option: 'OLLAMA_NUM_PARALLEL',
      message: `${c.sequences} parallel requests of ${withCommas(c.maxLength ?? 0)} tokens set aside ${formatBytes(bytes)} of keys and values, ${c.sequences} times as much as one: the context is of each request, not of all.`,
      fixes: [],
    },
  ];
}

function rounded(c: GgmlConfiguration): readonly Finding[] {
  const { context } = c.sizes;
  return c.spec.tokens === context.tokens
    ? []
    : [
        {
          code: 'context-rounded',
          severity: 'hint',
          option: c.contextOption,
          message: `${withCommas(c.spec.tokens)} tokens are rounded up to ${withCommas(context.tokens)} cells; ollama ps still shows what was asked for.`,
          fixes: [],
        },
      ];
}
