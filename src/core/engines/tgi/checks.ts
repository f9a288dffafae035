/** What else is worth knowing of a launch of TGI. */
import { formatBytes, withCommas } from '../../units';
import { windowsKeptWhole } from '../coverage';
import type { Checked, Finding } from '../engine';
import { settingsOf } from '../settings';
import { warmupBytes } from './budget';
import type { TgiConfiguration } from './configure';
import { prefillRefusal } from './verdict';

type Known = Checked<TgiConfiguration>;

const say = (code: string, severity: Finding['severity'], message: string, option?: string): Finding => ({
  code,
  severity,
  message,
  option,
  fixes: [],
});

export const checksOf = (checked: Known): readonly Finding[] =>
  [versionNote, warmup, ignoredTotal, fraction, reserve, uncompressed, windows, replicated, prefixes].flatMap((check) =>
    check(checked),
  );

const versionNote = ({ configuration: { version } }: Known): readonly Finding[] =>
  version.note === undefined ? [] : [say('version', 'information', version.note)];

/** The warm-up needs a cache of its own before the pool is sized. */
function warmup({ configuration: c, budget, layout }: Known): readonly Finding[] {
  if (!budget) {
    return [];
  }
  const needs = warmupBytes(c, layout);
  const used = (end: 'low' | 'high') =>
    [budget.weights, budget.activations, budget.other].reduce(
      (sum, t) => sum + (t.figure.range?.[end] ?? t.figure.value),
      0,
    );
  const most = (budget.total.range?.high ?? budget.total.value) - used('low');
  return needs > most ? [say('warm-up-does-not-fit', 'error', prefillRefusal(c), 'max-batch-prefill-tokens')] : [];
}

function ignoredTotal({ configuration: c }: Known): readonly Finding[] {
  const option = 'max-batch-total-tokens';
  return c.rules.ignoresTotal && settingsOf(c.settings).has(option)
    ? [
        say(
          'option-ignored',
          'warning',
          `${option} is ignored by models with flash attention: the pool’s own size counts.`,
          option,
        ),
      ]
    : [];
}

/** 0.8 keeps more than a fifth of the card. */
function fraction({ configuration: c, budget }: Known): readonly Finding[] {
  if (c.fraction === undefined || c.fraction === 1 || !budget || c.rules.reserve.of !== 'total') {
    return [];
  }
  const kept = 1 - c.fraction * c.keeps;
  return [
    say(
      'fraction-times-reserve',
      'information',
      `cuda-memory-fraction ${c.fraction} is multiplied by the engine’s own ${c.keeps}: ${(100 * kept).toFixed(0)} % of the card stays free, ${formatBytes(kept * budget.total.value)}.`,
      'cuda-memory-fraction',
    ),
  ];
}

/** What a starting request sets aside. */
function reserve({ configuration: c, workload, capacity }: Known): readonly Finding[] {
  const length = capacity?.maxLength ?? c.maxLength;
  switch (c.rules.chunk) {
    case 'life':
      return [
        say(
          'token-reserve',
          'hint',
          `A request sets the tokens of prompt and answer aside when it starts and is never paused; without max_new_tokens ${length === undefined ? 'as many as max-total-tokens' : `all of ${withCommas(length)}`}.`,
          'max-total-tokens',
        ),
      ];
    case 'unless-given':
      return [
        say(
          'token-reserve',
          'hint',
          'A request sets prompt and max_new_tokens aside when it starts, and without max_new_tokens at most 1,024 tokens beyond its prompt.',
          'max-total-tokens',
        ),
      ];
    case 'always':
      return [
        say(
          'token-reserve',
          workload.output > 1024 ? 'information' : 'hint',
          `A request sets its prompt and at most 1,024 tokens aside when it starts; a longer answer is queued again after as many.${workload.output > 1024 ? ` So ${withCommas(workload.prompt + 1024 - 1)} tokens admit a request of this workload, which holds ${withCommas(workload.prompt + workload.output - 1)} in the end.` : ''}`,
          'max-total-tokens',
        ),
      ];
  }
}

function uncompressed({ configuration: c, asked }: Known): readonly Finding[] {
  const latent = asked.model.layers.find((l) => l.kind === 'latent');
  const full = c.layers[0];
  if (!latent || !full) {
    return [];
  }
  const times = (full.kvHeads * (full.headDim + full.valueDim)) / latent.headDim;
  return [
    say(
      'latent-uncompressed',
      'warning',
      `Keys and values of all ${full.kvHeads} heads are kept, not the latent vector that the model was made for: ${times.toFixed(0)} times its bytes, over the whole model.`,
      'model-id',
    ),
  ];
}

const windows = ({ configuration: c }: Known): readonly Finding[] => windowsKeptWhole(c.layers, 'model-id');

function replicated({ configuration: c }: Known): readonly Finding[] {
  const { tensor } = c.placement;
  const heads = Math.min(...c.layers.map((l) => l.kvHeads));
  return tensor > heads
    ? [
        say(
          'heads-replicated',
          'information',
          `${heads} KV heads over ${tensor} GPUs: each head is kept on ${Math.round(tensor / heads)} of them.`,
          'num-shard',
        ),
      ]
    : [];
}

const prefixes = ({ configuration: c }: Known): readonly Finding[] =>
  c.noPrefixes === undefined || !c.rules.choosesKernels
    ? []
    : [say('reuse-off', 'information', `Prompts are not reused: ${c.noPrefixes}.`, 'PREFIX_CACHING')];
