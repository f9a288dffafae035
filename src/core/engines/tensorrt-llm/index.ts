/** TensorRT-LLM: the PyTorch backend, and engines. */
import type { Engine } from '../engine';
import { budgetOf } from './budget';
import { checksOf } from './checks';
import { configure, TITLE, type TrtConfiguration } from './configure';
import { layoutOf } from './layout';
import { TENSORRT_LLM_OPTIONS } from './options';
import { poolOf } from './pool';
import { draftModel } from './speculative';
import { TENSORRT_LLM_START } from './start';
import { verdictOf } from './verdict';
import { TRT_VERSIONS } from './versions';

export const tensorrtLlm: Engine<TrtConfiguration> = {
  id: 'tensorrt-llm',
  title: TITLE,
  options: TENSORRT_LLM_OPTIONS,
  start: TENSORRT_LLM_START,
  versions: TRT_VERSIONS,
  draftModel,
  configure,
  layout: layoutOf,
  statedKvBytes: () => undefined,
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
