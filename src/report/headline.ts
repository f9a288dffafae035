/** The answer in one line, for faces with room for no more: does it start, and how many requests fit. */
import { withCommas } from '../core/units';
import type { Plan } from '../planner';
import { withInterval } from './amounts';
import { whyNot } from './answers';
import { isEstimated, wordsOf } from './numbers';

export interface Headline {
  readonly tone: 'good' | 'unsure' | 'bad' | 'unknown';
  /** `Starts · 1,536 requests fit`. */
  readonly text: string;
  /** One sentence more: contiguous against paged, or why it is not known. */
  readonly detail: string;
}

export function headline(plan: Plan): Headline {
  if (!plan.planned || plan.starts === false) {
    return { tone: 'bad', text: verdict(plan), detail: whyNot(plan) };
  }
  if (!plan.capacity) {
    return { tone: 'unknown', text: verdict(plan), detail: whyNot(plan) };
  }
  const fits = `${wordsOf({ ...plan.capacity.fits, range: undefined })} fit`;
  const about = isEstimated(plan.capacity.fits) ? 'about ' : '';
  return plan.starts === true
    ? { tone: 'good', text: `Starts · ${about}${fits}`, detail: comparison(plan) }
    : { tone: 'unsure', text: `May not start · ${about}${fits} if it does`, detail: comparison(plan) };
}

/** Whether the engine will start, in words. Without a pool nobody can know. */
export function verdict(plan: Plan): string {
  if (!plan.planned) {
    return 'Not planned';
  }
  if (plan.starts !== 'unknown') {
    return plan.starts ? 'Starts' : 'Will not start';
  }
  return plan.kv?.pool ? 'May not start' : plan.hardware ? 'Start not known' : 'GPU not known';
}

/** `At 600 prompt + 250 output tokens: 162 contiguous, 1,536 paged; limited by memory.` */
function comparison(plan: Plan): string {
  if (!plan.capacity) {
    return '';
  }
  const { contiguous, paged, limitedBy } = plan.capacity;
  const replicas = plan.placement?.replicas ?? 1;
  const each = replicas > 1 ? `, in each of ${withCommas(replicas)} replicas` : '';
  return `At ${workloadText(plan)}: ${withInterval(contiguous.requests)} contiguous, ${withInterval(paged.requests)} paged${each}; limited by ${limits[limitedBy]}.`;
}

export const workloadText = ({ workload }: Plan): string =>
  `${withCommas(workload.prompt)} prompt + ${withCommas(workload.output)} output tokens`;

const limits = {
  memory: 'memory',
  'max-sequences': 'the most sequences the engine runs',
  'state-blocks': 'the blocks for states',
  'batch-tokens': 'the tokens of one step',
} as const;

/** `8 × H100-80GB`: the GPUs that it uses. */
export function gpusOf({ hardware, placement }: Plan): string {
  if (!hardware) {
    return 'GPU not known';
  }
  // Data-parallel attention workers share the GPUs of their tensor group.
  const used = placement
    ? (placement.tensor * placement.pipeline * placement.replicas) / placement.attentionData
    : hardware.count;
  return used === undefined ? hardware.name : `${used} × ${hardware.name}`;
}
