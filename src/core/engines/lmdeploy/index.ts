/** LMDeploy: TurboMind and its PyTorch engine. */
import type { Engine } from '../engine';
import { budgetOf } from './budget';
import { checksOf } from './checks';
import { configure, type LmdeployConfiguration, TITLE } from './configure';
import { layoutOf } from './layout';
import { LMDEPLOY_OPTIONS } from './options';
import { poolOf } from './pool';
import { LMDEPLOY_START } from './start';
import { verdictOf } from './verdict';
import { LMDEPLOY_VERSIONS } from './versions';

export const lmdeploy: Engine<LmdeployConfiguration> = {
  id: 'lmdeploy',
  title: TITLE,
  options: LMDEPLOY_OPTIONS,
  start: LMDEPLOY_START,
  versions: LMDEPLOY_VERSIONS,
  draftModel: () => undefined,
  configure,
  layout: (_, configuration) => layoutOf(configuration),
  statedKvBytes: (c) => c.blocks && c.blocks.count * layoutOf(c).bytesPerBlock.value,
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
