import { expect, test } from 'vitest';
import { replayLmdeploy } from '../truth/lmdeploy';

test('logs of LMDeploy, through the planner', () => {
  const results = replayLmdeploy();
  const counted = results.filter((r) => r.outcome !== 'not counted' && r.outcome !== 'cannot tell');
  expect(counted.map((r) => r.id)).toEqual(['lmdeploy-3949', 'lmdeploy-3950']);
  for (const { outcome, detail } of counted) {
    expect(outcome, detail).toMatch(/^(exact|within rounding)$/);
  }
  // Measured from outside: within one per cent of what is planned.
  const measured = results.find((r) => r.id === 'lmdeploy-kvint8doc-bs8')?.detail;
  expect(measured).toContain('fp16 1030.7 MiB a session, planned 1024; int8 516.0, planned 512');
});
