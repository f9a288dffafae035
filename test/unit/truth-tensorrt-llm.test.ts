import { expect, test } from 'vitest';
import { replayTensorrtLlm } from '../truth/tensorrt-llm';

test('logs of TensorRT-LLM, through the planner', () => {
  const counted = replayTensorrtLlm().filter((r) => r.outcome !== 'not counted');
  expect(counted.map((r) => r.id)).toEqual(['trt-cortex-981', 'trt-tutorials-pr150', 'trt-idx-smollm2']);
  for (const { outcome, detail } of counted) {
    expect(outcome, detail).toMatch(/^(exact|within rounding)$/);
  }
});
