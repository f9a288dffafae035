/** SGLang's view of a launch's settings: which of them the plan hangs on. */
import type { Finding } from '../engine';
import { anyUnknown, valueFindings as findingsOf, type Settings } from '../settings';

export { type Settings, settingsOf } from '../settings';

/** Options whose value must be known before anything about the cache can be said. */
const DECISIVE = new Set([
  'tp-size',
  'pp-size',
  'dp-size',
  'dcp-size',
  'enable-dp-attention',
  'kv-cache-dtype',
  'page-size',
  'dtype',
]);

export const valueFindings = (settings: Settings): readonly Finding[] => findingsOf(settings, 'SGLang', DECISIVE);

export const blocksPlan = (settings: Settings): boolean => anyUnknown(settings, DECISIVE);
