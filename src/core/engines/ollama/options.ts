/** Ollama's settings: environment variables of the server, and parameters of a Modelfile or a request. */
import type { OptionReading, OptionSpec } from '../option';
import { readInt } from '../option-read';
import { tableOf } from '../option-table';

const SOURCE = 'ollama/ollama envconfig/config.go, v0.33.0';

/** `strconv.ParseUint`; an empty variable is not set. */
function readUint(text: string): OptionReading {
  if (text.trim() === '') {
    return { value: null };
  }
  const read = readInt(text);
  return read && 'value' in read && Number(read.value) >= 0
    ? read
    : { error: `must be a whole number, not "${text}" (the default is taken instead)` };
}

/** `strconv.ParseBool`; any other text that is not empty counts as true. */
const readBool = (text: string): OptionReading =>
  text.trim() === '' ? { value: null } : { value: !/^(?:0|f|false)$/i.test(text.trim()) };

const TYPES = ['f16', 'q8_0', 'q4_0', 'f32', 'bf16', 'q4_1', 'iq4_nl', 'q5_0', 'q5_1'];

function readType(text: string): OptionReading {
  const type = text.trim().toLowerCase();
  if (type === '') {
    return { value: null };
  }
  return TYPES.includes(type)
    ? { value: type }
    : { error: `is handed on to llama-server, which stops: Unsupported cache type: ${type}` };
}

/** A variable's name is the option's. */
const variables = (rows: readonly (Omit<Parameters<typeof tableOf>[1][number], 'env'> & { name: string })[]) =>
  tableOf(
    SOURCE,
    rows.map((row) => ({ ...row, env: row.name })),
  );

const ACTING = variables([
  {
    name: 'OLLAMA_CONTEXT_LENGTH',
    type: 'int',
    read: readUint,
    unit: 'tokens',
    role: 'max-length',
    since: '0.5.13',
    defaults: [
      { value: 2048 },
      { since: '0.6.7', value: 4096 },
      { since: '0.15.5', text: '4096, 32768 from 23 GiB or 262144 from 47 GiB of all GPUs together' },
    ],
    summary: 'Tokens of context that one request gets, unless its Modelfile or the request says num_ctx.',
    effect: 'Keys and values for it are set aside for every parallel request when the model is loaded.',
  },
  {
    name: 'OLLAMA_NUM_PARALLEL',
    type: 'int',
    read: readUint,
    unit: 'requests',
    role: 'max-sequences',
    defaults: [
      { value: 1 },
      { since: '0.2', text: '4 if all fits, else 1' },
      { since: '0.6.7', text: '2 if all fits, else 1' },
      { since: '0.10', value: 1 },
    ],
    summary: 'Requests of one model that run at once.',
    effect: 'Multiplies the context that is set aside. Some families always run one.',
  },
  {
    name: 'OLLAMA_KV_CACHE_TYPE',
    type: 'enum',
    values: TYPES,
    read: readType,
    role: 'kv-dtype',
    since: '0.5.0',
    defaults: [{ value: 'f16' }],
    summary: 'Number format of keys and values of every model: f16, q8_0 or q4_0; from 0.30 any that llama.cpp takes.',
    effect: 'q8_0 takes 0.53 of f16’s bytes, q4_0 0.28; below 0.30 ignored without flash attention.',
  },
  {
    name: 'OLLAMA_FLASH_ATTENTION',
    type: 'flag',
    role: 'flash-attention',
    read: readBool,
    defaults: [{ text: 'off below 0.30 but for some models; then on where all GPUs support it' }],
    summary: 'Flash attention.',
    effect: 'Quantised keys and values need it.',
  },
  {
    name: 'OLLAMA_GPU_OVERHEAD',
    type: 'int',
    read: readUint,
    unit: 'bytes',
    defaults: [{ value: 0 }],
    summary: 'Bytes of each GPU that are left alone.',
    effect: 'Taken off each GPU, and off the sum that the default context goes by.',
  },
  {
    name: 'LLAMA_ARG_KV_UNIFIED',
    type: 'flag',
    read: readBool,
    since: '0.30',
    summary: 'Handed on to llama-server: requests share one pool of cells.',
    effect: 'A request may then use what others leave.',
  },
  {
    name: 'LLAMA_ARG_SWA_FULL',
    type: 'flag',
    read: readBool,
    since: '0.30',
    summary: 'Handed on to llama-server: sliding layers keep the whole context.',
    effect: 'Sliding layers get as many cells as full ones.',
  },
  {
    name: 'LLAMA_ARG_CACHE_RAM',
    type: 'int',
    unit: 'MiB',
    since: '0.30',
    defaults: [{ value: 8192 }],
    summary: 'Handed on to llama-server: host memory for prompts of finished requests.',
    effect: 'Whole sequences are saved there.',
  },
]);

const MODEL = tableOf(SOURCE, [
  {
    name: 'model',
    type: 'string',
    role: 'model',
    summary: 'The model of `ollama run`, or of a request.',
    effect: 'Decides layers, heads and windows.',
  },
]);

/** Of a Modelfile (`PARAMETER num_ctx 8192`) or a request; they win over the variables. */
const PARAMETERS = tableOf('ollama/ollama api/types.go, v0.33.0', [
  {
    name: 'num_ctx',
    type: 'int',
    unit: 'tokens',
    role: 'max-length',
    min: 0,
    defaults: [{ text: 'OLLAMA_CONTEXT_LENGTH' }],
    summary: 'Tokens of context of one request.',
    effect: 'As OLLAMA_CONTEXT_LENGTH, for this model.',
  },
  {
    name: 'num_gpu',
    type: 'int',
    unit: 'layers',
    min: -1,
    defaults: [{ value: -1, text: '-1: as many as fit' }],
    summary: 'Layers on the GPU.',
    effect: 'A layer’s keys and values live where the layer lives.',
  },
  {
    name: 'num_batch',
    type: 'int',
    unit: 'tokens',
    min: 1,
    defaults: [{ value: 512 }, { since: '0.30', text: '512, 1024 from a context of 4,096 and 2048 from 32,768' }],
    summary: 'Tokens computed at once.',
    effect: 'Added to the window in the cells of sliding layers.',
  },
  { name: 'num_keep', type: 'int', summary: 'Tokens of the prompt that a context shift keeps.' },
  { name: 'num_predict', type: 'int', summary: 'Most tokens to generate.' },
]);

const PLAIN = variables([
  { name: 'OLLAMA_HOST', type: 'string', summary: 'Address to listen on.' },
  { name: 'OLLAMA_MODELS', type: 'string', summary: 'Folder of the models.' },
  { name: 'OLLAMA_KEEP_ALIVE', type: 'string', summary: 'Time that a model stays loaded without requests.' },
  { name: 'OLLAMA_MAX_LOADED_MODELS', type: 'int', read: readUint, summary: 'Models that are loaded at once.' },
  {
    name: 'OLLAMA_MAX_QUEUE',
    type: 'int',
    read: readUint,
    defaults: [{ value: 512 }],
    summary: 'Requests that wait; more are refused.',
  },
  {
    name: 'OLLAMA_SCHED_SPREAD',
    type: 'flag',
    read: readBool,
    summary: 'Spreads a model over all GPUs even where one would do.',
  },
  { name: 'OLLAMA_LOAD_TIMEOUT', type: 'string', summary: 'Time that loading may take.' },
  { name: 'OLLAMA_ORIGINS', type: 'string', summary: 'Origins that browsers may come from.' },
  { name: 'OLLAMA_DEBUG', type: 'string', summary: 'Prints more.' },
  { name: 'OLLAMA_NOPRUNE', type: 'flag', read: readBool, summary: 'Keeps parts of models that nothing uses.' },
  { name: 'OLLAMA_NOHISTORY', type: 'flag', read: readBool, summary: 'Keeps no history of the prompt.' },
  { name: 'OLLAMA_LLM_LIBRARY', type: 'string', summary: 'Library of the GPU to use.' },
  {
    name: 'OLLAMA_NEW_ENGINE',
    type: 'flag',
    read: readBool,
    until: '0.30',
    summary: 'Ollama’s own engine for every model that it knows.',
  },
  {
    name: 'OLLAMA_MULTIUSER_CACHE',
    type: 'flag',
    read: readBool,
    until: '0.30',
    summary: 'Chooses slots for many users’ prompts.',
  },
  { name: 'OLLAMA_INTEL_GPU', type: 'flag', read: readBool, summary: 'Uses Intel’s GPUs.' },
]);

export const OLLAMA_OPTIONS: readonly OptionSpec[] = [...MODEL, ...ACTING, ...PARAMETERS, ...PLAIN];
