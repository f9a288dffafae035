/** Every option of llama-server that is known here, each described once. Those that decide the cache come first. */
import type { OptionSpec } from '../option';
import { CONTEXT_OPTIONS } from './options-context';
import { MODEL_OPTIONS, PLAIN_OPTIONS } from './options-model';
import { OTHER_OPTIONS } from './options-other';

/** `-nkvo` and its kin: short forms of a flag's opposite are options of their own on the command line. */
const OPPOSITES: readonly OptionSpec[] = (
  [
    ['no-kv-offload', '-nkvo', 'kv-offload'],
    ['no-kv-unified', '-no-kvu', 'kv-unified'],
    ['no-cont-batching', '-nocb', 'cont-batching'],
  ] as const
).map(([name, short, of]) => ({
  name,
  short: [short],
  type: 'flag',
  defaults: [{ value: false }],
  summary: `Opposite of ${of}.`,
  effect: of === 'cont-batching' ? undefined : `As --${of} off.`,
  source: 'llama.cpp common/arg.cpp, v0.5.0',
}));

export const LLAMA_CPP_OPTIONS: readonly OptionSpec[] = [
  ...CONTEXT_OPTIONS,
  ...MODEL_OPTIONS,
  ...OPPOSITES,
  ...PLAIN_OPTIONS,
  ...OTHER_OPTIONS,
];
