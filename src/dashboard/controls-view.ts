/** What can be tried on a launch, in words. */

import { defaultOf, type OptionSpec } from '../core/engines/option';
import { valueText } from '../core/engines/option-text';
import { findGpu, gpuNames } from '../core/hardware/find-gpu';
import { formatBytes } from '../core/units';
import { clean } from '../report/document';
import type { WhatIf as Tried } from '../what-if';
import type { Knob, KnobKey } from '../what-if/knobs';
import { type Controls, type Field, KNOBS, type WhatIf } from './protocol';

const LABELS: Readonly<Record<KnobKey, string>> = {
  gpu: 'GPU',
  gpus: 'GPUs',
  tensor: 'Tensor parallel',
  pipeline: 'Pipeline parallel',
  'kv-dtype': 'KV dtype',
  'block-size': 'Block size',
  'memory-share': 'Memory share',
  'max-length': 'Max length',
  'max-sequences': 'Max sequences',
  'batch-tokens': 'Batch tokens',
  prompt: 'Prompt tokens',
  output: 'Output tokens',
};

/** What no engine reads: it is written into a comment. */
const COMMENTS: Readonly<Partial<Record<KnobKey, string>>> = {
  gpu: 'The GPU that it runs on.',
  gpus: 'GPUs that it may use.',
  prompt: 'Tokens of one request’s prompt.',
  output: 'Tokens of one request’s answer.',
};

export function controlsView(tried: Tried, whatIf: WhatIf): Controls {
  const knobs = KNOBS.flatMap((key) => tried.knobs.find((k) => k.key === key) ?? []);
  return {
    fields: knobs.map((knob) => fieldOf(knob, tried)),
    whatIf,
    changes: tried.changes.map(({ option, from, to }) => ({
      option: clean(option),
      from: clean(from) || 'not set',
      to: clean(to),
    })),
    writable: tried.edits.length > 0,
    notes: [...tried.unheld.map(({ why }) => clean(why)), ...fixedNotes(tried)],
  };
}

function fieldOf({ key, options, value, choices, bounds }: Knob, { changes, refused, plan }: Tried): Field {
  const version = plan.engine.version.text;
  const change = changes.find((c) => c.key === key);
  const wrong = refused.find((r) => r.key === key);
  const [first] = options;
  const shown = wrong?.text ?? change?.to ?? value;
  return {
    key,
    label: first?.ofAll ? `${LABELS[key]} (all slots)` : LABELS[key],
    option: options.map((o) => o.name).join(', '),
    value: clean(shown),
    written: clean(value),
    tried: change !== undefined,
    hint:
      [...options.map((o) => o.summary), bounds && `It must be ${bounds}.`].filter(Boolean).join(' ') ||
      (COMMENTS[key] ?? ''),
    ...(key === 'gpu' && { choices: gpuChoices(shown) }),
    ...(choices && { choices: choicesOf(choices, shown, first, version) }),
    ...(wrong && { error: clean(wrong.why) }),
  };
}

/** The known GPUs; before them the one that the launch names, when it is not among them. */
function gpuChoices(now: string): { value: string; text: string }[] {
  const known = gpuNames().map((name) => {
    const memory = findGpu(name)?.memory.value;
    return { value: name, text: memory === undefined ? name : `${name} · ${formatBytes(memory)}` };
  });
  return known.some(({ value }) => value === now) ? known : [{ value: now, text: now || 'not known' }, ...known];
}

/** Numbers with what they stand for; what nobody set as what that comes to. */
function choicesOf(
  values: readonly string[],
  now: string,
  spec: OptionSpec | undefined,
  version: string,
): { value: string; text: string }[] {
  const usual = spec && defaultOf(spec, version)?.text;
  const unset = usual === undefined ? 'default' : `default (${usual})`;
  const all = values.includes(now) ? values : [now, ...values];
  return all.map((value) => ({ value, text: value === '' ? unset : valueText(spec, value) }));
}

/** Memory that somebody states is not asked of the hardware. */
function fixedNotes({ plan, changes }: Tried): readonly string[] {
  const moves = changes.some(({ key }) => key !== 'prompt' && key !== 'output');
  const { given, hardware } = plan;
  if (given.kvMemory !== undefined) {
    return moves
      ? [`KV memory is given as ${formatBytes(given.kvMemory)} per GPU: it stays that, whatever is tried.`]
      : [];
  }
  const stated = hardware?.gpu && hardware.memory !== hardware.gpu.memory ? hardware.memory.value : undefined;
  return stated !== undefined && changes.some(({ key }) => key === 'gpu')
    ? [
        `The memory of one GPU is given as ${formatBytes(stated)} (gpu-memory): it stays that on every GPU that is tried.`,
      ]
    : [];
}
