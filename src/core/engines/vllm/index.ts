/** vLLM, V0 and V1. */
import type { Engine } from '../engine';
import { budgetOf } from './budget';
import { checksOf } from './checks';
import { configure, type VllmConfiguration } from './configure';
import { VLLM_ENVIRONMENT } from './environment';
import { layoutOf } from './layout';
import { VLLM_OPTIONS } from './options';
import { poolOf } from './pool';
import { settingsOf } from './settings';
import { speculationOf } from './speculative';
import { VLLM_START } from './start';
import { verdictOf } from './verdict';
import { VLLM_VERSIONS } from './versions';

export const vllm: Engine<VllmConfiguration> = {
  id: 'vllm',
  title: 'vLLM',
  options: VLLM_OPTIONS,
  environment: VLLM_ENVIRONMENT,
  start: VLLM_START,
  versions: VLLM_VERSIONS,
  draftModel: (settings) => speculationOf(settingsOf(settings)).draftModel,
  configure,
  layout: layoutOf,
  statedKvBytes: (configuration) => configuration.kvCacheMemory,
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
