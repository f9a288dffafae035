/** The longest context of a plan against the engine's own check at that length. */
import { expect } from 'vitest';
import type { Plan } from '../../../src/planner';

const TOO_LONG = 'length-does-not-fit';

const refusesLength = (plan: Plan): boolean =>
  plan.findings.some((f) => f.code === TOO_LONG || f.code === 'no-kv-memory');

/** It fits, and one block more does not. */
export function expectLongest(plan: Plan, at: (length: number) => Plan | undefined): void {
  const longest = plan.capacity?.longestContext?.value ?? 0;
  const block = (plan.kv?.layout.blockSize ?? 16) * (plan.kv?.layout.tokensPerSlot ?? 1);
  if (longest > 0 && longest < 2 ** 31) {
    const fits = at(longest);
    expect(fits && refusesLength(fits), `${longest}`).toBe(false);
    const more = at(longest + block);
    expect(more && refusesLength(more), `${longest} + ${block}`).toBe(true);
  } else if (longest === 0) {
    const one = at(1);
    expect(one && refusesLength(one)).toBe(true);
  }
}
