/**
 * A launch with some of it changed: planned anew as if the file said so, whether or not its form can, and with the edits
 * that would make the file say it.
 */
import { readLaunches } from './launch';
import type { TextEdit } from './launch/edit';
import { directiveStep, type EditStep, offeredStep, optionStep, rewritten } from './launch/edit-steps';
import { type Launch, optionOf, type ReadInput } from './launch/launch';
import { type Plan, type PlanContext, planText, type Tried } from './planner';
import { launchWith, type OptionChanges } from './planner/alternatives';
import {
  type Changes,
  type DirectiveKnob,
  type Knob,
  type KnobKey,
  knobsOf,
  type Read,
  readChange,
} from './what-if/knobs';

export interface Change {
  readonly key: KnobKey;
  /** The engine's own name of the option, or the key of the comment. */
  readonly option: string;
  /** Empty where nobody said. */
  readonly from: string;
  readonly to: string;
}

export interface WhatIf {
  /** As the file is. */
  readonly written: Plan;
  /** As tried; the same plan where nothing is. */
  readonly plan: Plan;
  /** What it takes to plan the text as tried. */
  readonly input: ReadInput;
  readonly context: PlanContext;
  readonly knobs: readonly Knob[];
  readonly changes: readonly Change[];
  /** What cannot be tried, and why. It is left out of the plan. */
  readonly refused: readonly { readonly key: KnobKey; readonly text: string; readonly why: string }[];
  /** What would write all that can be written. */
  readonly edits: readonly TextEdit[];
  /** What the file's form cannot hold; it is planned all the same. */
  readonly unheld: readonly { readonly key: KnobKey; readonly option: string; readonly why: string }[];
}

type Accepted = Exclude<Read, { error: string }> & { readonly key: KnobKey };

/** Undefined when the text has no such launch. */
export function whatIf(input: ReadInput, context: PlanContext, at: number, changes: Changes): WhatIf | undefined {
  const written = planText(input, context).plans[at];
  return written && tryOut(input, context, at, written, changes);
}

/** The same where the launch is planned already. */
export function tryOut(input: ReadInput, context: PlanContext, at: number, written: Plan, changes: Changes): WhatIf {
  const knobs = knobsOf(written);
  const accepted: Accepted[] = [];
  const refused: { key: KnobKey; text: string; why: string }[] = [];
  for (const [key, text] of Object.entries(changes) as [KnobKey, string][]) {
    if (text.trim() === '' || isAsWritten(written, knobs, key, text.trim())) {
      continue;
    }
    const read = readChange(written, key, text);
    if ('error' in read) {
      refused.push({ key, text, why: read.error });
    } else {
      accepted.push({ key, ...read });
    }
  }
  const asTried = inMemory(input, context, at, accepted);
  return {
    written,
    plan: accepted.length === 0 ? written : (planText(asTried.input, asTried.context).plans[at] ?? written),
    ...asTried,
    knobs,
    changes: accepted.flatMap((a) => changesOf(written, knobs, a)),
    refused,
    ...writtenBack(input, at, accepted),
  };
}

/** A text that means what is there already. What an option says by default is no change either, until it is written. */
function isAsWritten(plan: Plan, knobs: readonly Knob[], key: KnobKey, text: string): boolean {
  const knob = knobs.find((k) => k.key === key);
  if (!knob || knob.options.length === 0) {
    return knob?.value === text;
  }
  const read = readChange(plan, key, text);
  return (
    'values' in read &&
    read.values.every(({ spec, value }) => {
      const now = plan.options.findLast((o) => o.name === spec.name)?.value;
      return now === undefined ? knob.value === text : JSON.stringify(now) === JSON.stringify(value);
    })
  );
}

/**
 * How one launch is planned with these changes. A number of GPUs is changed in the text itself where it stands as one:
 * some forms give it to the command as a variable.
 */
function inMemory(
  input: ReadInput,
  context: PlanContext,
  at: number,
  accepted: readonly Accepted[],
): Pick<WhatIf, 'input' | 'context'> {
  const count = accepted.find(({ key }) => key === 'gpus');
  const counted = count && rewritten(input, at, [offeredStep(count.text)]);
  const rest = counted ? accepted.filter((one) => one !== count) : accepted;
  const tried: Tried = {
    at,
    change: (launch) =>
      rest.reduce((now, one) => (one.values.length > 0 ? launchWith(now, optionChanges(one)) : said(now, one)), launch),
  };
  return {
    input: counted ? { ...input, text: counted.text } : input,
    context: rest.length === 0 ? context : { ...context, tried },
  };
}

const optionChanges = ({ values, text }: Accepted): OptionChanges =>
  Object.fromEntries(values.map(({ spec }) => [spec.name, text]));

/** The launch as it would be read with this in a comment. */
function said(launch: Launch, { key, text }: Accepted): Launch {
  const entry = launch.directives.findLast((d) => d.key === key);
  const place = { range: launch.head, valueRange: launch.head, ...entry };
  const others = launch.directives.filter((d) => d !== entry);
  return { ...launch, directives: [...others, { ...place, key: key as DirectiveKnob, value: text }] };
}

function changesOf(plan: Plan, knobs: readonly Knob[], { key, values, text }: Accepted): readonly Change[] {
  const from = knobs.find((k) => k.key === key)?.value ?? '';
  if (values.length === 0) {
    return [{ key, option: key, from, to: text }];
  }
  return values.map(({ spec }) => ({
    key,
    option: spec.name,
    from: optionOf(plan.launch, spec.name)?.raw ?? from,
    to: text,
  }));
}

/** Each change that the text can hold, together as edits; and those that it cannot. */
function writtenBack(input: ReadInput, at: number, accepted: readonly Accepted[]): Pick<WhatIf, 'edits' | 'unheld'> {
  const all = editsFor(input, at, accepted);
  if (all) {
    return { edits: all, unheld: [] };
  }
  const held = accepted.filter((one) => editsFor(input, at, [one]));
  const unheld = accepted.flatMap((one) => {
    const option = one.values[0]?.spec.name ?? one.key;
    return held.includes(one)
      ? []
      : [{ key: one.key, option, why: `This file has no place for ${option} that is read.` }];
  });
  return { edits: editsFor(input, at, held) ?? [], unheld };
}

/** Undefined where the text cannot hold one of them, or would not be read as saying so. */
function editsFor(input: ReadInput, at: number, accepted: readonly Accepted[]): readonly TextEdit[] | undefined {
  const made = rewritten(input, at, accepted.flatMap(stepsOf));
  const launch = made && readLaunches({ ...input, text: made.text }).launches[at];
  return launch && accepted.every((one) => saysSo(launch, one)) ? made.edits : undefined;
}

function stepsOf({ key, values, text }: Accepted): readonly EditStep[] {
  if (values.length > 0) {
    return values.map(({ spec }) => optionStep(spec.name, text));
  }
  const comment = directiveStep(key as DirectiveKnob, text);
  const inPlace = offeredStep(text);
  const count: EditStep = (read, now) => {
    const edits = inPlace(read, now);
    return edits.length > 0 ? edits : comment(read, now);
  };
  return [key === 'gpus' ? count : comment];
}

/** Some files are read after the one in hand, and win over what is written in it. */
function saysSo(launch: Launch, { key, values, text: to }: Accepted): boolean {
  if (values.length > 0) {
    return values.every(
      ({ spec, value }) => JSON.stringify(optionOf(launch, spec.name)?.value) === JSON.stringify(value),
    );
  }
  const said = launch.directives.findLast((d) => d.key === key)?.value;
  return said === to || (key === 'gpus' && said === undefined && String(launch.hardware.count?.value) === to);
}
