/** llama.cpp's server. */
import { budgetOf } from '../../ggml/budget';
import type { GgmlConfiguration } from '../../ggml/configuration';
import { deviceBytes, devicesOf, layoutOf } from '../../ggml/layout';
import { poolOf } from '../../ggml/pool';
import { verdictOf } from '../../ggml/verdict';
import type { Engine } from '../engine';
import { checksOf } from './checks';
import { configure } from './configure';
import { llamaModelName } from './names';
import { LLAMA_CPP_OPTIONS } from './options';
import { LLAMA_CPP_START } from './start';
import { LLAMA_CPP_VERSIONS } from './versions';

export const llamaCpp: Engine<GgmlConfiguration> = {
  id: 'llama-cpp',
  title: 'llama.cpp',
  options: LLAMA_CPP_OPTIONS,
  start: LLAMA_CPP_START,
  versions: LLAMA_CPP_VERSIONS,
  draftModel: () => undefined,
  modelName: llamaModelName,
  fixedPool: true,
  configure,
  layout: (_model, configuration) => layoutOf(configuration),
  statedKvBytes: (c) => Math.max(...devicesOf(c).map((device) => deviceBytes(c, device))),
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
