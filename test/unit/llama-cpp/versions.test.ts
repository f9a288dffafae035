import { expect, test } from 'vitest';
import { llamaVersion, serverRules } from '../../../src/core/engines/llama-cpp/versions';
import { cachesNextn, ggmlRules } from '../../../src/core/ggml/rules';

const asked = (text: string) => llamaVersion({ text, origin: { kind: 'file', text: 'compose.yaml' } });

// Builds are older than any release, but for those that were made after it.
test.each([
  ['b10434', 'streams', true, undefined],
  ['b11327', 'slots', false, undefined],
  ['0.5.0', 'slots', false, undefined],
  ['b12464', 'slots', false, /^llama\.cpp b12464 is newer than 0\.5\.0/],
  ['12464', 'slots', false, /^llama\.cpp b12464 is newer than 0\.5\.0/],
] as const)('%s: fits from %s', (text, fitStart, nextn, note) => {
  const version = asked(text);
  expect(serverRules(version.text).fitStart).toBe(fitStart);
  expect(cachesNextn(ggmlRules(version.text), 'glm4moe')).toBe(nextn);
  expect(version.note ?? '').toMatch(note ?? /^$/);
});
