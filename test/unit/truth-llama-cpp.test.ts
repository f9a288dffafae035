import { describe, expect, test } from 'vitest';
import { goldenCases, goldenDifferences } from '../truth/llama-cpp';
import { replayLlamaLogs } from '../truth/llama-logs';

describe('what llama.cpp v0.5.0 reports of its caches, through the planner', () => {
  test('all are there', () => expect(goldenCases()).toHaveLength(36));
  test.each(goldenCases())('%s', (_, golden) => expect(goldenDifferences(golden)).toEqual([]));
});

describe('lines of public llama.cpp logs, through the planner', () => {
  const results = replayLlamaLogs();
  const counted = results.filter((r) => r.outcome !== 'not counted' && r.outcome !== 'cannot tell');
  test('all with known inputs are told', () => expect(counted).toHaveLength(64));
  test.each(counted.map((r) => [r.id, r] as const))('%s', (_, { outcome, detail }) =>
    expect(outcome, detail).toBe('exact'),
  );
});
