/** Hugging Face Text Generation Inference, models with flash attention. */
import type { Engine } from '../engine';
import { budgetOf } from './budget';
import { checksOf } from './checks';
import { configure, type TgiConfiguration, TITLE } from './configure';
import { layoutOf } from './layout';
import { TGI_OPTIONS } from './options';
import { poolOf } from './pool';
import { TGI_START } from './start';
import { verdictOf } from './verdict';
import { TGI_VERSIONS } from './versions';

export const tgi: Engine<TgiConfiguration> = {
  id: 'tgi',
  title: TITLE,
  options: TGI_OPTIONS,
  start: TGI_START,
  versions: TGI_VERSIONS,
  draftModel: () => undefined,
  configure,
  layout: (_, configuration) => layoutOf(configuration),
  statedKvBytes: () => undefined,
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
