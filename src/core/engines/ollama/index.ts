/** Ollama, in its three ages: llama.cpp's code, an engine of its own beside it, llama-server. */
import { budgetOf } from '../../ggml/budget';
import type { GgmlConfiguration } from '../../ggml/configuration';
import { deviceBytes, devicesOf, layoutOf } from '../../ggml/layout';
import { poolOf } from '../../ggml/pool';
import { verdictOf } from '../../ggml/verdict';
import type { Engine } from '../engine';
import { checksOf } from './checks';
import { configure } from './configure';
import { ollamaModelName } from './library';
import { OLLAMA_OPTIONS } from './options';
import { OLLAMA_START } from './start';
import { OLLAMA_VERSIONS } from './versions';

export const ollama: Engine<GgmlConfiguration> = {
  id: 'ollama',
  title: 'Ollama',
  options: OLLAMA_OPTIONS,
  start: OLLAMA_START,
  versions: OLLAMA_VERSIONS,
  draftModel: () => undefined,
  modelName: ollamaModelName,
  fixedPool: true,
  configure,
  layout: (_model, configuration) => layoutOf(configuration),
  statedKvBytes: (c) => Math.max(...devicesOf(c).map((device) => deviceBytes(c, device))),
  budget: budgetOf,
  pool: poolOf,
  verdict: verdictOf,
  checks: checksOf,
};
