/** The answer first: does it start, and how many requests fit. The same words in every face. */
import { withCommas } from '../core/units';
import type { Plan } from '../planner';
import { amount, counted } from './amounts';

export interface Headline {
  readonly tone: 'good' | 'unsure' | 'bad' | 'unknown';
  /** `Starts · 1,536 requests fit`. */
  readonly text: string;
  /** One sentence more: contiguous against paged, or why it is not known. */
  readonly detail: string;
}

export function headline(plan: Plan): Headline {
  if (!plan.planned) {
    return { tone: 'bad', text: 'Not planned', detail: firstMessage(plan) };
  }
  if (plan.starts === false) {
    return { tone: 'bad', text: 'Will not start', detail: firstMessage(plan) };
  }
  if (!plan.capacity) {
    return { tone: 'unknown', text: verdict(plan), detail: firstMessage(plan) };
  }
  const fits = counted(plan.capacity.fits.value, 'request');
  return plan.starts === true
    ? { tone: 'good', text: `Starts · ${fits} fit`, detail: comparison(plan) }
    : { tone: 'unsure', text: `May not start · ${fits} fit if it does`, detail: comparison(plan) };
}

/** Whether the engine will start, in words. Without a pool nobody can know. */
export function verdict(plan: Plan): string {
  if (plan.starts === true) {
    return 'Starts';
  }
  if (plan.starts === false) {
    return 'Will not start';
  }
  return plan.kv?.pool ? 'May not start' : plan.hardware ? 'Start not known' : 'GPU not known';
}

/** `At 600 + 250 tokens: 162 requests contiguous, 1,536 paged; limited by memory.` */
function comparison(plan: Plan): string {
  if (!plan.capacity) {
    return '';
  }
  const { contiguous, paged, limitedBy } = plan.capacity;
  const replicas =
    plan.placement && plan.placement.replicas > 1 ? ` in each of ${plan.placement.replicas} replicas` : '';
  return (
    `At ${workloadText(plan)}: ${amount(contiguous.requests)} requests contiguous, ${amount(paged.requests)} paged` +
    `${replicas}; limited by ${limits[limitedBy]}.`
  );
}

export const workloadText = (plan: Plan): string =>
  `${withCommas(plan.workload.prompt)} prompt + ${withCommas(plan.workload.output)} output tokens`;

const limits = {
  memory: 'memory',
  'max-sequences': 'the engine’s maximum of sequences',
  'state-blocks': 'state blocks',
  'batch-tokens': 'batch tokens',
} as const;

function firstMessage(plan: Plan): string {
  const order = ['error', 'warning', 'information', 'hint'];
  const [first] = [...plan.findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  return first?.message ?? '';
}
