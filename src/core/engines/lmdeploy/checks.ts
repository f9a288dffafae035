/** What else is worth knowing of a launch of LMDeploy. */
import { addEstimates, between, type Estimate, formatBytes, withCommas } from '../../units';
import { windowsKeptWhole } from '../coverage';
import type { Checked, Finding } from '../engine';
import { forwardTerm } from '../memory';
import type { LmdeployConfiguration } from './configure';
import { slabOf } from './pool';

type Known = Checked<LmdeployConfiguration>;

const say = (code: string, severity: Finding['severity'], message: string, option?: string): Finding => ({
  code,
  severity,
  message,
  option,
  fixes: [],
});

export const checksOf = (checked: Known): readonly Finding[] =>
  [versionNote, restTooSmall, ofWholeCard, scales, windows, slabs, replicated, optimistic].flatMap((check) =>
    check(checked),
  );

const versionNote = ({ configuration: { version } }: Known): readonly Finding[] =>
  version.note === undefined ? [] : [say('version', 'information', version.note)];

/** TurboMind takes its share before a forward pass has run: what it leaves has to hold activations. */
function restTooSmall({ configuration: c, budget, asked }: Known): readonly Finding[] {
  if (!budget || c.backend === 'pytorch' || c.rules.shareOf === 'total' || asked.given.activations !== undefined) {
    return [];
  }
  const total = budget.total.range ?? { low: budget.total.value, value: budget.total.value, high: budget.total.value };
  const limit = budget.limit.range ?? { low: budget.limit.value, value: budget.limit.value, high: budget.limit.value };
  const rest = Math.max(0, total.value - limit.value);
  const tokens = Math.min(c.prefillTokens, c.maxLength ?? c.prefillTokens);
  const forward = forwardTerm(asked.model, tokens, c.placement.tensor, 'a step', '').estimate;
  const logits = ((c.maxSequences ?? 0) * asked.model.vocabSize * 4) / c.placement.tensor;
  const needs: Estimate = addEstimates(forward, between(0.5 * logits, logits, 2 * logits));
  return needs.value > rest
    ? [
        say(
          'rest-too-small',
          'warning',
          `TurboMind takes its pool before a step has run: the ${formatBytes(rest)} that cache-max-entry-count leaves free have to hold about ${formatBytes(needs.value)} (${formatBytes(needs.low)} to ${formatBytes(needs.high)}) of activations and logits, or it runs out of memory when it is busy.`,
          'cache-max-entry-count',
        ),
      ]
    : [];
}

/** Up to 0.2.1. */
function ofWholeCard({ configuration: c, budget }: Known): readonly Finding[] {
  if (!budget || c.backend === 'pytorch' || c.rules.shareOf !== 'total') {
    return [];
  }
  const over = budget.limit.value - budget.total.value;
  return [
    say(
      'share-of-total',
      over > 0 ? 'warning' : 'information',
      `cache-max-entry-count is a share of the card’s whole memory up to 0.2.1 (of what the weights leave, from 0.2.2 on)${over > 0 ? `: with the weights it is ${formatBytes(over)} more than there is` : ''}.`,
      'cache-max-entry-count',
    ),
  ];
}

function scales({ configuration: c, layout }: Known): readonly Finding[] {
  const { keyBits, keyParameters } = c.packing;
  const first = c.layers.find((l) => l.kind !== 'state');
  if (keyParameters === 0 || !first) {
    return [];
  }
  const plain = layout.bytesPerToken.value;
  const share = (keyBits / 16 + (2 * keyParameters) / (2 * first.headDim)) * 100;
  return [
    say(
      'scales',
      'hint',
      `A scale and a zero point stay with every head and token: ${withCommas(plain)} bytes per token are ${share.toFixed(1)} % of 16 bit, not ${(100 * keyBits) / 16} %.`,
      'quant-policy',
    ),
  ];
}

const windows = ({ configuration: c }: Known): readonly Finding[] => windowsKeptWhole(c.layers, 'model');

function slabs({ configuration: c, layout }: Known): readonly Finding[] {
  if (c.backend === 'pytorch' || !c.rules.slabs) {
    return [];
  }
  const slab = slabOf(layout.bytesPerBlock.value);
  const lost = 1 - (slab.blocks * layout.bytesPerBlock.value) / slab.bytes;
  return lost > 0.005
    ? [
        say(
          'slab-rounding',
          'hint',
          `Blocks come from slabs of ${formatBytes(slab.bytes)} that hold ${slab.blocks}: ${(100 * lost).toFixed(1)} % of the arena stays empty.`,
          'cache-block-seq-len',
        ),
      ]
    : [];
}

function replicated({ configuration: c }: Known): readonly Finding[] {
  const own = c.layers.filter((l) => l.kind !== 'state');
  const tensor = c.attentionTensor;
  const heads = Math.min(...own.map((l) => l.kvHeads));
  if (tensor === 1 || own.length === 0) {
    return [];
  }
  if (own.some((l) => l.kind === 'latent')) {
    return [
      say('latent-replicated', 'information', `Latent attention is kept whole on each of the ${tensor} GPUs.`, 'tp'),
    ];
  }
  return tensor > heads
    ? [
        say(
          'heads-replicated',
          'information',
          `${heads} KV heads over ${tensor} GPUs: each head is kept on ${Math.round(tensor / heads)} of them.`,
          'tp',
        ),
      ]
    : [];
}

const optimistic = (): readonly Finding[] => [
  say(
    'optimistic-admission',
    'hint',
    'A request starts when its prompt has blocks; when they run out the last one is put back and computed again.',
    'max-batch-size',
  ),
];
