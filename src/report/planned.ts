/** One file's answer as the faces take it: its text (for places), and what the planner made of it. */
import type { Plan, PlanResult } from '../planner';

export interface PlannedFile {
  readonly name: string;
  readonly text: string;
  readonly result: Pick<PlanResult, 'plans' | 'problems'>;
}

/** Requests served at once by all replicas; undefined while the pool is unknown. */
export function servedAtOnce(plan: Plan): number | undefined {
  return plan.capacity && plan.capacity.fits.value * (plan.placement?.replicas ?? 1);
}
