import { describe, expect, it } from 'vitest';
import { poolScenarios, replayPool, replayScheduler, schedulerScenarios } from '../../truth/pool-traces';

describe('what vLLM’s own KV cache manager did', () => {
  it.each(poolScenarios().map((scenario) => [scenario.name, scenario] as const))('%s', (_, scenario) => {
    let steps = 0;
    for (const { note, expected, actual } of replayPool(scenario)) {
      expect(actual, note).toEqual(expected);
      steps++;
    }
    expect(steps).toBe(scenario.steps.length);
  });
});

describe('what vLLM’s own scheduler did', () => {
  it.each(schedulerScenarios().map((scenario) => [scenario.name, scenario] as const))('%s', (_, scenario) => {
    let steps = 0;
    for (const { expected, actual } of replayScheduler(scenario)) {
      expect(actual, `step ${expected.step}`).toEqual(expected);
      steps++;
    }
    expect(steps).toBe(scenario.steps.length);
  });
});
