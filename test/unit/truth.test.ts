import { describe, expect, test } from 'vitest';
import { replayHybrids } from '../truth/hybrids';
import { replayLogs } from '../truth/logs';
import { differences, vllmVectors } from '../truth/vectors';

describe('vectors made by vLLM’s own code, through the planner', () => {
  test('all are there', () => expect(vllmVectors()).toHaveLength(31));
  test.each(vllmVectors())('%s', (name, vector) => expect(differences(name, vector)).toEqual([]));
});

describe('logs of models with state layers, through the planner', () => {
  test.each(replayHybrids().map((r) => [r.id, r] as const))('%s', (_, { outcome, detail }) =>
    expect(outcome, detail).toMatch(/^(exact|within rounding)$/),
  );
});

describe('lines of public start-up logs, through the planner', () => {
  const results = replayLogs();
  test('enough of them can be told', () => {
    expect(
      results.filter((r) => r.outcome === 'within rounding' || r.outcome === 'exact').length,
    ).toBeGreaterThanOrEqual(18);
  });
  test('none is off', () => expect(results.filter((r) => r.outcome === 'off')).toEqual([]));
});
