/** A launch with some options changed: the text edited, and planned again on the one road. */
import type { TextEdit } from '../launch/edit';
import { offeredStep, optionStep, rewritten } from '../launch/edit-steps';
import { optionOf, type ReadInput } from '../launch/launch';
import { type Plan, type PlanContext, planText } from '../planner';

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
  /** Called before an attempt that is new; throws `Paused` when it is time to let others work. */
  readonly next?: () => void;
}

/** A search stops here, and is begun again later: what was tried is remembered, so it comes back at once. */
export class Paused extends Error {}

export function attempt(scratch: Scratch, changes: Changes): Attempt | undefined {
  const key = JSON.stringify(Object.entries(changes).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (!scratch.tried.has(key)) {
    scratch.next?.();
    scratch.tried.set(key, made(scratch, changes));
  }
  return scratch.tried.get(key);
}

function made(scratch: Scratch, changes: Changes): Attempt | undefined {
  const { input, context, at, demand } = scratch;
  const steps = Object.entries(changes).map(([option, value]) =>
    option === OFFERED ? offeredStep(value) : optionStep(option, value),
  );
  const edited = rewritten(input, at, steps);
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
    edits: edited.edits,
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

/** As written, or as the plan has it by default; undefined when neither says. */
export function writtenAs(plan: Plan, option: string): string | undefined {
  const written = optionOf(plan.launch, option);
  return written ? written.raw : plan.options.findLast((o) => o.name === option)?.raw;
}
