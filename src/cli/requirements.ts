/** What a pipeline demands of every launch. */
import type { Plan } from '../planner';
import { aboveLength, servedAtOnce } from '../report/planned';

export interface Requirements {
  readonly concurrency?: number;
  readonly start: boolean;
}

/** Why a launch does not meet them; empty when it does. What is not known is not met. */
export function unmet(plan: Plan, { concurrency, start }: Requirements): string[] {
  const reasons: string[] = [];
  if (start && plan.starts !== true) {
    reasons.push(plan.starts === false ? 'it will not start' : 'it is not known to start');
  }
  if (concurrency !== undefined) {
    const served = servedAtOnce(plan);
    if (aboveLength(plan) === 'refused') {
      reasons.push('its requests are longer than the engine takes');
    } else if (served === undefined) {
      reasons.push(`how many requests fit is not known, ${concurrency} are required`);
    } else if (served < concurrency) {
      reasons.push(`${served} requests fit at once, ${concurrency} are required`);
    } else if (plan.starts === false && !start) {
      reasons.push(`it will not start, ${concurrency} requests are required`);
    }
  }
  return reasons;
}
