import { describe, expect, test } from 'vitest';
import { replayLogs } from '../truth/logs';
import { differences, vllmVectors } from '../truth/vectors';

describe('vectors made by vLLM’s own code, through the planner', () => {
  test('all are there', () => expect(vllmVectors()).toHaveLength(28));
  test.each(vllmVectors())('%s', (name, vector) => expect(differences(name, vector)).toEqual([]));
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
