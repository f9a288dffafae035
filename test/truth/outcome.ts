/** How a logged number compares with what is planned at the two ends of the log's rounding. */
import type { Plan } from '../../src/planner';

export type Outcome = 'exact' | 'within rounding' | 'off' | 'not counted' | 'cannot tell';

export interface LogResult {
  readonly id: string;
  readonly outcome: Outcome;
  readonly detail: string;
}

export interface Printed {
  readonly what: string;
  readonly logged: number | null | undefined;
  readonly of: (plan: Plan) => number;
  /** Half a unit of the last decimal that the log prints of it. */
  readonly slack?: number;
}

/** `low` and `high` are the plans at the least and the most that the stated KV bytes may have been before rounding. */
export function printedWithin(id: string, low: Plan, high: Plan, printed: readonly Printed[]): LogResult {
  const checks = printed
    .filter((p) => p.logged !== null && p.logged !== undefined)
    .map(({ what, logged, of, slack = 0 }) => ({
      what,
      logged: logged as number,
      low: of(low) - slack,
      high: of(high) + slack,
    }));
  if (checks.length === 0) {
    return { id, outcome: 'cannot tell', detail: 'the log states KV bytes but nothing to compare' };
  }
  const detail = checks.map((c) => `${c.what} ${c.logged} in ${round(c.low)}…${round(c.high)}`).join(', ');
  if (!checks.every((c) => c.low <= c.logged && c.logged <= c.high)) {
    return { id, outcome: 'off', detail };
  }
  return { id, outcome: checks.every((c) => c.low === c.high) ? 'exact' : 'within rounding', detail };
}

const round = (x: number): string => String(Math.round(x * 1000) / 1000);
