/** Random models, layouts and budgets, as launches a person could write. */
import fc from 'fast-check';
import type { Plan } from '../../../src/planner';
import { compose, type Given, planOf } from '../findings/support';

export interface Sample {
  readonly config: Record<string, unknown>;
  readonly args: readonly string[];
  readonly version: string;
  /** KV bytes per GPU. */
  readonly kv: number;
}

const MODEL = 'some/model';

const repeated = (pattern: readonly string[], layers: number): string[] =>
  Array.from({ length: layers }, (_, i) => pattern[i % pattern.length] as string);

const heads = fc
  .constantFrom([8, 8], [16, 4], [32, 8], [64, 8], [64, 16], [40, 8], [28, 4], [32, 32], [16, 2], [32, 1])
  .map(([q = 1, kv = 1]) => ({ num_attention_heads: q, num_key_value_heads: kv }));

const dense = fc
  .record({
    heads,
    head_dim: fc.constantFrom(64, 96, 128, 256),
    num_hidden_layers: fc.integer({ min: 1, max: 96 }),
  })
  .map(({ heads: own, ...rest }) => ({ ...own, ...rest, hidden_size: own.num_attention_heads * rest.head_dim }));

const windowed = fc
  .record({
    base: dense,
    window: fc.constantFrom(128, 1024, 1000, 4096),
    pattern: fc.array(fc.constantFrom('sliding_attention', 'full_attention'), { minLength: 1, maxLength: 6 }),
  })
  .map(({ base, window, pattern }) => ({
    ...base,
    sliding_window: window,
    layer_types: repeated(pattern, base.num_hidden_layers),
  }));

const latent = fc.record({ base: dense, rank: fc.constantFrom(256, 512) }).map(({ base, rank }) => ({
  ...base,
  kv_lora_rank: rank,
  qk_rope_head_dim: 64,
  qk_nope_head_dim: 128,
  v_head_dim: 128,
}));

const withStates = fc
  .record({ base: dense, every: fc.constantFrom(2, 3, 4), groups: fc.integer({ min: 1, max: 12 }) })
  .map(({ base, every, groups }) => ({
    ...base,
    model_type: 'qwen3_next',
    num_hidden_layers: every * groups,
    full_attention_interval: every,
    linear_num_key_heads: 16,
    linear_num_value_heads: 32,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
    linear_conv_kernel_dim: 4,
  }));

const config = fc.oneof({ weight: 2, arbitrary: dense }, { weight: 3, arbitrary: windowed }, latent, withStates).map(
  (own): Record<string, unknown> => ({
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    intermediate_size: 14336,
    vocab_size: 128256,
    max_position_embeddings: 1 << 20,
    torch_dtype: 'bfloat16',
    ...own,
  }),
);

const option = (name: string, values: readonly (string | number)[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined }).map((v) => (v === undefined ? [] : [`--${name}=${v}`]));

const args = fc
  .tuple(
    option('tensor-parallel-size', [2, 4, 8, 16]),
    option('pipeline-parallel-size', [2, 3, 4]),
    option('block-size', [16, 32, 64, 128]),
    option('kv-cache-dtype', ['fp8', 'fp8_e5m2']),
    option('max-num-batched-tokens', [512, 2048, 4096, 16384]),
    option('max-num-seqs', [4, 64, 256, 512]),
    fc.constantFrom([], ['--no-enable-prefix-caching'], ['--enforce-eager'], ['--no-async-scheduling']),
    option('decode-context-parallel-size', [2, 4]),
  )
  .map((parts) => parts.flat());

export const samples: fc.Arbitrary<Sample> = fc.record({
  config,
  args,
  version: fc.constantFrom('0.8.5', '0.11.0', '0.18.0', '0.21.0', '0.24.0', '0.28.0'),
  kv: fc.integer({ min: 2 ** 24, max: 2 ** 37 }),
});

export interface Asked {
  readonly length?: number;
  readonly kv?: number;
  readonly prompt?: number;
  readonly output?: number;
  readonly args?: readonly string[];
}

/** Undefined where the engine refuses the arrangement before it looks at memory. */
export function planned(sample: Sample, asked: Asked = {}): Plan | undefined {
  const length = asked.length ?? 8192;
  const given: Given = {
    version: sample.version,
    environment: { VLLM_ALLOW_LONG_MAX_MODEL_LEN: '1' },
    configs: { [MODEL]: sample.config },
    flags: {
      'kv-memory': String(asked.kv ?? sample.kv),
      prompt: String(asked.prompt ?? 600),
      output: String(asked.output ?? 250),
    },
  };
  const plan = planOf(
    compose([`--model=${MODEL}`, `--max-model-len=${length}`, ...sample.args, ...(asked.args ?? [])], given),
    given,
  );
  return plan.planned && plan.capacity && plan.kv?.pool ? plan : undefined;
}
