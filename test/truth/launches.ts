/**
 * The launch behind each vector, written from its name and inputs as a person would write it, so that the numbers go
 * through the public road: text → plan.
 */

export interface Vector {
  readonly inp: {
    readonly A?: number;
    readonly block_size?: number;
    readonly L?: number;
    readonly I?: number;
    readonly pp?: readonly number[];
  };
  readonly out: {
    readonly groups?: readonly number[];
    readonly warn?: readonly (readonly [number, number])[];
    readonly bytes_per_block?: readonly number[];
    readonly num_blocks?: number;
    readonly blocks_per_request?: readonly number[];
    readonly concurrency?: number;
    readonly tokens_new?: number;
    readonly tokens_old?: number;
    readonly usable_blocks?: number;
    readonly fits?: boolean;
    readonly bytes_per_token_rank?: number;
    readonly auto?: number;
  };
}

export interface VectorLaunch {
  readonly text: string;
  /** Version whose rules the vector was made with, and the older one whose token count it also states. */
  readonly version: string;
  readonly olderVersion: string;
  /** KV bytes per GPU. */
  readonly kvMemory: number;
  /** config.json of models that no catalogue has, by id. */
  readonly configs: Readonly<Record<string, unknown>>;
}

const MODELS: Readonly<Record<string, string>> = {
  l8: 'meta-llama/Llama-3.1-8B-Instruct',
  l70: 'meta-llama/Llama-3.1-70B-Instruct',
  dsv3: 'deepseek-ai/DeepSeek-V3',
  'gemma3-27b': 'google/gemma-3-27b-it',
  'gpt-oss-120b': 'openai/gpt-oss-120b',
  'gpt-oss-20b': 'openai/gpt-oss-20b',
  'qwen3-next': 'Qwen/Qwen3-Next-80B-A3B-Instruct',
  scout: 'meta-llama/Llama-4-Scout-17B-16E-Instruct',
};

const DTYPES: Readonly<Record<string, string>> = {
  fp8: 'fp8',
  nvfp4: 'nvfp4',
  int8_pth: 'int8_per_token_head',
  fp8_ds_mla: 'fp8_ds_mla',
};

/** One full-attention layer of gpt-oss's own shape, as a draft head has it. */
const DRAFT = {
  id: 'example/one-layer-draft',
  config: {
    architectures: ['LlamaForCausalLM'],
    hidden_size: 2880,
    intermediate_size: 2880,
    num_attention_heads: 64,
    num_hidden_layers: 1,
    num_key_value_heads: 8,
    head_dim: 64,
    vocab_size: 201088,
    max_position_embeddings: 131072,
    torch_dtype: 'bfloat16',
  },
};

export function launchOf(name: string, vector: Vector): VectorLaunch {
  const [, model = '', ...rest] = name.split('/');
  const words = [model, ...rest].join('/');
  const option = (pattern: RegExp) => words.match(pattern)?.[1];
  const args: string[] = [`--model=${MODELS[model.split('+')[0] as string]}`];
  const add = (flag: string, value: string | number | undefined) =>
    value !== undefined && args.push(`--${flag}=${value}`);

  add('tensor-parallel-size', option(/tp(\d+)/));
  add('pipeline-parallel-size', option(/\/pp(\d+)/));
  add('block-size', option(/bs(\d+)/));
  add(
    'kv-cache-dtype',
    rest.map((word) => DTYPES[word]).find((dtype) => dtype !== undefined),
  );
  add('max-model-len', lengthOf(words, vector));
  const inFlight = vector.inp.I ?? 16384;
  const oldRule = words.includes('rule=min');
  // Two batches are in flight under asynchronous scheduling; a reserve of 8192 is what a synchronous server of that batch keeps.
  const synchronous = inFlight === 8192;
  add('max-num-batched-tokens', oldRule || synchronous ? inFlight : inFlight / 2);
  if (synchronous) {
    args.push('--no-async-scheduling');
  }
  if (words.includes('/none')) {
    args.push('--no-enable-prefix-caching');
  }
  if (words.includes('mtp1')) {
    args.push(`--speculative-config={"method": "mtp", "num_speculative_tokens": 1}`);
  }
  if (words.includes('draft layer')) {
    args.push(`--speculative-config={"method": "eagle3", "model": "${DRAFT.id}", "num_speculative_tokens": 1}`);
  }
  return {
    text: compose(args),
    version: oldRule ? '0.11' : '0.28',
    olderVersion: oldRule ? '0.11' : '0.18',
    kvMemory: vector.inp.A ?? Number(words.match(/\/A(\d+)/)?.[1]) * 2 ** 30,
    configs: { [DRAFT.id]: DRAFT.config },
  };
}

/** Vectors without a length were made at the one their request's blocks tell. */
function lengthOf(words: string, vector: Vector): string | number {
  if (vector.out.auto !== undefined) {
    return 'auto';
  }
  const named = words.match(/\/L(\d+)/)?.[1];
  return named ?? vector.inp.L ?? (words.startsWith('dsv3') ? 163840 : 131072);
}

const compose = (args: readonly string[]): string =>
  `services:\n  engine:\n    image: vllm/vllm-openai\n    command:\n${args.map((a) => `      - '${a}'\n`).join('')}`;
