import { describe, expect, test } from 'vitest';
import {
  replayCrosschecks,
  replaySglangBudgets,
  replaySglangLogs,
  sglangDifferences,
  sglangVectors,
} from '../truth/sglang';

describe('vectors made by SGLang’s own code, through the planner', () => {
  test('all are there', () => expect(sglangVectors()).toHaveLength(29));
  test.each(sglangVectors())('%s', (name, vector) => expect(sglangDifferences(name, vector)).toEqual([]));
});

describe('lines of public SGLang logs, through the planner', () => {
  const results = replaySglangLogs();
  test('enough of them can be told', () => {
    expect(
      results.filter((r) => r.outcome === 'within rounding' || r.outcome === 'exact').length,
    ).toBeGreaterThanOrEqual(21);
  });
  test.each(results.map((r) => [r.id, r] as const))('%s', (_, { outcome, detail }) =>
    expect(outcome, detail).not.toBe('off'),
  );
  test.each(replayCrosschecks().map((r) => [r.id, r] as const))('%s', (_, { outcome, detail }) =>
    expect(outcome, detail).toBe('within rounding'),
  );
  test('KV bytes a priori lie in the interval wherever the card is named', () => {
    const budgets = replaySglangBudgets();
    expect(budgets.filter((r) => r.outcome === 'off')).toEqual([]);
    expect(budgets.filter((r) => r.outcome === 'within rounding').length).toBeGreaterThanOrEqual(4);
  });
});
