/** What can be tried, and what is. */
import * as v from 'valibot';
import type { KnobKey } from '../../what-if/knobs';

/** In the order of the fields. */
export const KNOBS = [
  'gpu',
  'gpus',
  'tensor',
  'pipeline',
  'kv-dtype',
  'block-size',
  'memory-share',
  'max-length',
  'max-sequences',
  'batch-tokens',
  'prompt',
  'output',
] as const satisfies readonly KnobKey[];

const knob = v.picklist(KNOBS);

/** As typed; what is absent or empty is left to the file. The host reads each as the engine would. */
export const whatIf = v.record(knob, v.pipe(v.string(), v.maxLength(100)));

const field = v.object({
  key: knob,
  label: v.string(),
  /** The engine's own name of it; empty for what no engine reads. */
  option: v.string(),
  /** What is planned with; where it cannot be, what was typed. */
  value: v.string(),
  /** As the file has it. */
  written: v.string(),
  tried: v.boolean(),
  /** What may be typed. */
  hint: v.string(),
  choices: v.optional(v.array(v.object({ value: v.string(), text: v.string() }))),
  /** Why it cannot be tried. */
  error: v.optional(v.string()),
});

export const controls = v.object({
  fields: v.array(field),
  /** What is tried now, as typed. */
  whatIf,
  /** What is tried against what the file says: one line for each change. */
  changes: v.array(v.object({ option: v.string(), from: v.string(), to: v.string() })),
  /** Changes that can be written into the file. */
  writable: v.boolean(),
  /** What cannot be written, and why; and what stays whatever is tried. */
  notes: v.array(v.string()),
});

export type WhatIf = v.InferOutput<typeof whatIf>;
export type Field = v.InferOutput<typeof field>;
export type Controls = v.InferOutput<typeof controls>;
