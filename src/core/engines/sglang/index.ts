/** SGLang. */
import type { Engine } from '../engine';
import { budgetOf } from './budget';
import { checksOf } from './checks';
import { configure, type SglangConfiguration } from './configure';
import { SGLANG_ENVIRONMENT } from './environment';
import { layoutOf } from './layout';
import { SGLANG_OPTIONS } from './options';
import { poolOf } from './pool';
import { settingsOf } from './settings';
import { speculationOf } from './speculative';
import { SGLANG_START } from './start';
import { verdictOf } from './verdict';
import { SGLANG_VERSIONS } from './versions';

export const sglang: Engine<SglangConfiguration> = {
  id: 'sglang',
  title: 'SGLang',
  options: SGLANG_OPTIONS,
  environment: SGLANG_ENVIRONMENT,
  start: SGLANG_START,
  versions: SGLANG_VERSIONS,
  draftModel: (settings) => speculationOf(settingsOf(settings)).draftModel,
  configure,
  layout: layoutOf,
  // max-total-tokens caps what memory gives, so memory has to be known first.
  statedKvBytes: () => undefined,
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
