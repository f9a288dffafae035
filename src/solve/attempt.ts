/** A launch with some options changed: the text edited, and planned again on the one road. */
import { ENGINES } from '../core/engines';
import { readLaunches } from '../launch';
import { editOption, type TextEdit } from '../launch/edit';
import { type Launch, optionOf, type ReadInput } from '../launch/launch';
import { type Plan, type PlanContext, planText } from '../planner';
import { type Edited, edit, editsOf, unedited } from './pieces';

/** Stands among changed options for the number of GPUs that the file offers. */
export const OFFERED = '#gpus';

/** Option → value as it is written. */
export type Changes = Readonly<Record<string, string>>;

export interface Attempt {
  readonly changes: Changes;
  readonly text: string;
  /** Of the file's text as it is. */
  readonly edits: readonly TextEdit[];
  readonly plan: Plan;
  /** Requests at once, all replicas together; 0 unless it starts and takes requests of the length. */
  readonly served: number;
  readonly gpus: number;
}

/** What a target asks of a plan. */
export interface Demand {
  readonly concurrency: number;
  /** Tokens of one request, prompt and output. */
  readonly length: number;
}

export interface Scratch {
  readonly input: ReadInput;
  readonly context: PlanContext;
  /** Which of the file's launches. */
  readonly at: number;
  readonly demand: Demand;
  /** Attempts so far, by their changes; undefined where the file cannot hold one. */
  readonly tried: Map<string, Attempt | undefined>;
}

export function attempt(scratch: Scratch, changes: Changes): Attempt | undefined {
  const key = JSON.stringify(Object.entries(changes).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (!scratch.tried.has(key)) {
    scratch.tried.set(key, made(scratch, changes));
  }
  return scratch.tried.get(key);
}

function made(scratch: Scratch, changes: Changes): Attempt | undefined {
  const { input, context, at, demand } = scratch;
  const edited = editedBy(input, at, changes);
  const plan = edited && planText({ ...input, text: edited.text }, { ...context, scratch: true }).plans[at];
  if (!edited || !plan) {
    return undefined;
  }
  const { capacity, placement } = plan;
  const replicas = placement?.replicas ?? 1;
  const accepts =
    plan.planned && plan.starts === true && !movesLayers(plan) && capacity && capacity.maxLength >= demand.length;
  return {
    changes,
    text: edited.text,
    edits: editsOf(edited, input.text.length),
    plan,
    served: accepts ? capacity.fits.value * replicas : 0,
    gpus: placement ? gpusOf(placement) : 1,
  };
}

/** It would start, and every token would pass through the CPU: no answer to how a GPU can serve more. */
const movesLayers = ({ findings }: Plan): boolean => findings.some(({ code }) => code === 'fit-moves-layers');

/** Attention that is data parallel divides the GPUs of a tensor group: its replicas need no others. */
export const gpusOf = ({ tensor, pipeline, replicas, attentionData }: NonNullable<Plan['placement']>): number =>
  (tensor * pipeline * replicas) / attentionData;

/** One option after the other, each at its place in the text so far. Undefined when the text cannot hold one. */
function editedBy(input: ReadInput, at: number, changes: Changes): Edited | undefined {
  let now = unedited(input.text);
  for (const [option, value] of Object.entries(changes)) {
    const launch = readLaunches({ ...input, text: now.text }, ENGINES).launches[at];
    const edits = launch ? editOf(launch, now.text, option, value) : [];
    if (edits.length === 0) {
      return undefined;
    }
    now = edit(now, edits);
  }
  return now;
}

const editOf = (launch: Launch, text: string, option: string, value: string): readonly TextEdit[] =>
  option === OFFERED ? offeredEdit(launch, text, value) : editOption(launch, text, option, value);

/** Nothing where the number of GPUs is not written as one. */
function offeredEdit(launch: Launch, text: string, value: string): readonly TextEdit[] {
  const range = launch.directives.findLast((d) => d.key === 'gpus')?.valueRange ?? launch.hardware.count?.range;
  return range && /^\d+$/.test(text.slice(range.start, range.end)) ? [{ range, text: value }] : [];
}

/** As written, or as the plan has it by default; undefined when neither says. */
export function writtenAs(plan: Plan, option: string): string | undefined {
  const written = optionOf(plan.launch, option);
  return written ? written.raw : plan.options.findLast((o) => o.name === option)?.raw;
}
