import { expect, test } from 'vitest';
import { replayOllamaLogs } from '../truth/llama-logs';

test.each(replayOllamaLogs().map((r) => [r.id, r] as const))('a public Ollama log: %s', (_, { outcome, detail }) =>
  expect(outcome, detail).toBe('within rounding'),
);
