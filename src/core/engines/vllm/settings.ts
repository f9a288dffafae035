/** vLLM's view of a launch's settings: which of them the plan hangs on. */
import type { Finding } from '../engine';
import { anyUnknown, valueFindings as findingsOf, type Settings } from '../settings';

export { type Settings, settingsOf } from '../settings';

/** Options whose value must be known before anything about the cache can be said. */
const DECISIVE = new Set([
  'tensor-parallel-size',
  'pipeline-parallel-size',
  'decode-context-parallel-size',
  'kv-cache-dtype',
  'block-size',
  'dtype',
]);

export const valueFindings = (settings: Settings, title: string): readonly Finding[] =>
  findingsOf(settings, title, DECISIVE);

export const blocksPlan = (settings: Settings): boolean => anyUnknown(settings, DECISIVE);
