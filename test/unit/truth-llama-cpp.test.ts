import { describe, expect, test } from 'vitest';
import { goldenCases, goldenDifferences } from '../truth/llama-cpp';

describe('what llama.cpp v0.5.0 reports of its caches, through the planner', () => {
  test('all are there', () => expect(goldenCases()).toHaveLength(36));
  test.each(goldenCases())('%s', (_, golden) => expect(goldenDifferences(golden)).toEqual([]));
});
