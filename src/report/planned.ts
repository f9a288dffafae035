/** One file's answer as the faces take it: its text (for places), and what the planner made of it. */
import type { Plan, PlanResult } from '../planner';

export interface PlannedFile {
  readonly name: string;
  readonly text: string;
  readonly result: Pick<PlanResult, 'plans' | 'problems'>;
}

/** Whether the workload is longer than a request may be: `refused` where somebody asked for it or its prompt alone is. */
export function aboveLength({ findings }: Plan): 'refused' | 'cut' | undefined {
  const finding = findings.find((f) => f.code === 'workload-above-length');
  return finding && (finding.severity === 'warning' ? 'refused' : 'cut');
}

/** Requests served at once by all replicas; undefined while the pool is unknown. */
export function servedAtOnce(plan: Plan): number | undefined {
  return plan.capacity && plan.capacity.fits.value * (plan.placement?.replicas ?? 1);
}
