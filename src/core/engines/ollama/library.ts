/**
 * Names of Ollama's library → the models they are made from, by size. Source: ollama.com/library, the model pages as of
 * August 2026. A tag may go on with a variant and a quantisation: `8b-instruct-q8_0`; without one it is Q4_K_M.
 */

/** The first size is what the name alone and `latest` mean. */
const LIBRARY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  codellama: {
    '7b': 'codellama/CodeLlama-7b-Instruct-hf',
    '13b': 'codellama/CodeLlama-13b-Instruct-hf',
    '34b': 'codellama/CodeLlama-34b-Instruct-hf',
  },
  'command-r': { '35b': 'CohereForAI/c4ai-command-r-v01' },
  'deepseek-r1': {
    '8b': 'deepseek-ai/DeepSeek-R1-0528-Qwen3-8B',
    '1.5b': 'deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B',
    '7b': 'deepseek-ai/DeepSeek-R1-Distill-Qwen-7B',
    '14b': 'deepseek-ai/DeepSeek-R1-Distill-Qwen-14B',
    '32b': 'deepseek-ai/DeepSeek-R1-Distill-Qwen-32B',
    '70b': 'deepseek-ai/DeepSeek-R1-Distill-Llama-70B',
    '671b': 'deepseek-ai/DeepSeek-R1',
  },
  'deepseek-v3': { '671b': 'deepseek-ai/DeepSeek-V3' },
  'deepseek-v3.1': { '671b': 'deepseek-ai/DeepSeek-V3.1' },
  'deepseek-coder-v2': {
    '16b': 'deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct',
    '236b': 'deepseek-ai/DeepSeek-Coder-V2-Instruct',
  },
  devstral: { '24b': 'mistralai/Devstral-Small-2505' },
  gemma2: { '9b': 'google/gemma-2-9b-it', '2b': 'google/gemma-2-2b-it', '27b': 'google/gemma-2-27b-it' },
  gemma3: {
    '4b': 'google/gemma-3-4b-it',
    '1b': 'google/gemma-3-1b-it',
    '12b': 'google/gemma-3-12b-it',
    '27b': 'google/gemma-3-27b-it',
  },
  gemma3n: { e4b: 'google/gemma-3n-E4B-it', e2b: 'google/gemma-3n-E2B-it' },
  gemma4: { e4b: 'google/gemma-4-E4B-it', e2b: 'google/gemma-4-E2B-it', '31b': 'google/gemma-4-31B-it' },
  'gpt-oss': { '20b': 'openai/gpt-oss-20b', '120b': 'openai/gpt-oss-120b' },
  'granite3.3': { '8b': 'ibm-granite/granite-3.3-8b-instruct', '2b': 'ibm-granite/granite-3.3-2b-instruct' },
  llama2: {
    '7b': 'meta-llama/Llama-2-7b-chat-hf',
    '13b': 'meta-llama/Llama-2-13b-chat-hf',
    '70b': 'meta-llama/Llama-2-70b-chat-hf',
  },
  llama3: { '8b': 'meta-llama/Meta-Llama-3-8B-Instruct', '70b': 'meta-llama/Meta-Llama-3-70B-Instruct' },
  'llama3.1': {
    '8b': 'meta-llama/Llama-3.1-8B-Instruct',
    '70b': 'meta-llama/Llama-3.1-70B-Instruct',
    '405b': 'meta-llama/Llama-3.1-405B-Instruct',
  },
  'llama3.2': { '3b': 'meta-llama/Llama-3.2-3B-Instruct', '1b': 'meta-llama/Llama-3.2-1B-Instruct' },
  'llama3.3': { '70b': 'meta-llama/Llama-3.3-70B-Instruct' },
  llama4: {
    '16x17b': 'meta-llama/Llama-4-Scout-17B-16E-Instruct',
    scout: 'meta-llama/Llama-4-Scout-17B-16E-Instruct',
    '128x17b': 'meta-llama/Llama-4-Maverick-17B-128E-Instruct',
    maverick: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct',
  },
  mistral: { '7b': 'mistralai/Mistral-7B-Instruct-v0.3' },
  'mistral-nemo': { '12b': 'mistralai/Mistral-Nemo-Instruct-2407' },
  'mistral-small': { '24b': 'mistralai/Mistral-Small-24B-Instruct-2501' },
  'mistral-small3.2': { '24b': 'mistralai/Mistral-Small-3.2-24B-Instruct-2506' },
  'mistral-large': { '123b': 'mistralai/Mistral-Large-Instruct-2411' },
  mixtral: { '8x7b': 'mistralai/Mixtral-8x7B-Instruct-v0.1', '8x22b': 'mistralai/Mixtral-8x22B-Instruct-v0.1' },
  phi3: { '3.8b': 'microsoft/Phi-3-mini-128k-instruct', '14b': 'microsoft/Phi-3-medium-128k-instruct' },
  phi4: { '14b': 'microsoft/phi-4' },
  qwen2: {
    '7b': 'Qwen/Qwen2-7B-Instruct',
    '0.5b': 'Qwen/Qwen2-0.5B-Instruct',
    '1.5b': 'Qwen/Qwen2-1.5B-Instruct',
    '72b': 'Qwen/Qwen2-72B-Instruct',
  },
  'qwen2.5': {
    '7b': 'Qwen/Qwen2.5-7B-Instruct',
    '0.5b': 'Qwen/Qwen2.5-0.5B-Instruct',
    '1.5b': 'Qwen/Qwen2.5-1.5B-Instruct',
    '3b': 'Qwen/Qwen2.5-3B-Instruct',
    '14b': 'Qwen/Qwen2.5-14B-Instruct',
    '32b': 'Qwen/Qwen2.5-32B-Instruct',
    '72b': 'Qwen/Qwen2.5-72B-Instruct',
  },
  'qwen2.5-coder': {
    '7b': 'Qwen/Qwen2.5-Coder-7B-Instruct',
    '1.5b': 'Qwen/Qwen2.5-Coder-1.5B-Instruct',
    '3b': 'Qwen/Qwen2.5-Coder-3B-Instruct',
    '14b': 'Qwen/Qwen2.5-Coder-14B-Instruct',
    '32b': 'Qwen/Qwen2.5-Coder-32B-Instruct',
  },
  'qwen2.5vl': {
    '7b': 'Qwen/Qwen2.5-VL-7B-Instruct',
    '3b': 'Qwen/Qwen2.5-VL-3B-Instruct',
    '32b': 'Qwen/Qwen2.5-VL-32B-Instruct',
    '72b': 'Qwen/Qwen2.5-VL-72B-Instruct',
  },
  qwen3: {
    '8b': 'Qwen/Qwen3-8B',
    '0.6b': 'Qwen/Qwen3-0.6B',
    '1.7b': 'Qwen/Qwen3-1.7B',
    '4b': 'Qwen/Qwen3-4B',
    '14b': 'Qwen/Qwen3-14B',
    '30b': 'Qwen/Qwen3-30B-A3B',
    '32b': 'Qwen/Qwen3-32B',
    '235b': 'Qwen/Qwen3-235B-A22B',
  },
  'qwen3-coder': { '30b': 'Qwen/Qwen3-Coder-30B-A3B-Instruct', '480b': 'Qwen/Qwen3-Coder-480B-A35B-Instruct' },
  'qwen3-next': { '80b': 'Qwen/Qwen3-Next-80B-A3B-Instruct' },
  qwq: { '32b': 'Qwen/QwQ-32B' },
  smollm2: { '1.7b': 'HuggingFaceTB/SmolLM2-1.7B-Instruct' },
  tinyllama: { '1.1b': 'TinyLlama/TinyLlama-1.1B-Chat-v1.0' },
};

/** Published in another format than Q4_K_M. */
const OWN_FORMAT: Readonly<Record<string, string>> = { 'gpt-oss': 'mxfp4' };

const QUANTISATION = /(?:^|-)(q\d(?:_\d|_k(?:_[sml])?)|fp16|f16|bf16|mxfp4)$/i;

/**
 * What a library name means; a name that is not in the list stands for nothing known, since its size cannot be told
 * from the name. Undefined where it is no library name: `hf.co/owner/name:Q4_K_M`, `owner/name`, a path.
 */
export function ollamaModelName(text: string): string | undefined {
  const hub = /^(?:hf\.co|huggingface\.co)\/([\w.-]+\/[\w.-]+)(?::([\w.-]+))?$/.exec(text);
  if (hub) {
    return `${hub[1]}:${hub[2] === undefined || hub[2] === 'latest' ? 'Q4_K_M' : hub[2]}`;
  }
  const [, name = '', tag = 'latest'] =
    /^(?:registry\.ollama\.ai\/)?(?:library\/)?([a-z0-9._-]+)(?::([\w.-]+))?$/.exec(text) ?? [];
  if (name === '' || /\.gguf$/i.test(text)) {
    return undefined;
  }
  const sizes = LIBRARY[name];
  const [size = ''] = tag.split('-');
  const id =
    sizes && (tag === 'latest' ? Object.values(sizes)[0] : (sizes[size.toLowerCase()] ?? onlyFormat(sizes, tag)));
  if (!id) {
    // A colon stands in no catalogue name, so this finds none, unless the name alone is one that the catalogue has.
    return sizes || tag !== 'latest' ? `ollama library ${name}:${tag}` : undefined;
  }
  const written = QUANTISATION.exec(tag)?.[1]
    ?.toUpperCase()
    .replace(/^FP16$/, 'F16');
  const format = written ?? (/qat$/i.test(tag) ? 'Q4_0' : (OWN_FORMAT[name] ?? 'Q4_K_M'));
  return /^B?F16$/.test(format) ? id : `${id}-${format}`;
}

/** `mistral:instruct-q8_0`: the usual size in another format. */
const onlyFormat = (sizes: Readonly<Record<string, string>>, tag: string): string | undefined =>
  /^(?:instruct|it|chat|text)?-?(?:q\d|fp16|f16)/i.test(tag) || tag === 'instruct'
    ? Object.values(sizes)[0]
    : undefined;

export const libraryIds = (): readonly string[] => Object.values(LIBRARY).flatMap((sizes) => Object.values(sizes));
