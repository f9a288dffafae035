/** Logs of models with gated delta nets: their shape is in the file, their KV bytes or their block count too. */
import { GiB } from '../../src/core/units';
import { type Plan, planText } from '../../src/planner';
import { type LogResult, printedWithin } from './outcome';
import { readTruth } from './vectors';

interface HybridCase {
  readonly id: string;
  readonly shape: {
    readonly v_heads: number;
    readonly k_heads: number;
    readonly k_dim: number;
    readonly v_dim: number;
    readonly conv_kernel: number;
    readonly full_layers: number;
    readonly linear_layers: number;
    readonly kv_heads: number;
    readonly head_dim: number;
  };
  readonly tp: number;
  readonly kv_bytes_per_element: number;
  readonly kv_scale_bytes_per_head: number;
  readonly mtp_layers: number;
  readonly spec_tokens: number;
  readonly state_blocks_per_group_m: number;
  readonly log_format: 'new' | 'old';
  readonly max_model_len: number;
  readonly available_kv_gib: number | null;
  readonly derived: { readonly block_size: number; readonly blocks_per_request: number; readonly block_bytes: number };
  readonly logged: { readonly kv_tokens: number; readonly max_concurrency: number | null };
  readonly block_counts_that_reproduce_log: readonly number[];
}

export const hybridIds = (): ReadonlySet<string> => new Set(cases().map(({ id }) => id));

const cases = () => readTruth<readonly HybridCase[]>('hybrid-logs.json');

export const replayHybrids = (): readonly LogResult[] => cases().map(replay);

function configOf({ shape, mtp_layers }: HybridCase): unknown {
  const layers = shape.full_layers + shape.linear_layers;
  return {
    architectures: ['Qwen3_5ForCausalLM'],
    num_hidden_layers: layers,
    full_attention_interval: layers / shape.full_layers,
    num_attention_heads: shape.kv_heads * 8,
    num_key_value_heads: shape.kv_heads,
    head_dim: shape.head_dim,
    hidden_size: 4096,
    intermediate_size: 12288,
    vocab_size: 248320,
    linear_num_value_heads: shape.v_heads,
    linear_num_key_heads: shape.k_heads,
    linear_key_head_dim: shape.k_dim,
    linear_value_head_dim: shape.v_dim,
    linear_conv_kernel_dim: shape.conv_kernel,
    mamba_ssm_dtype: 'float32',
    mtp_num_hidden_layers: mtp_layers,
    max_position_embeddings: 262144,
    torch_dtype: 'bfloat16',
  };
}

function planAt(log: HybridCase, kv: { readonly bytes: number } | { readonly blocks: number }): Plan {
  const dtype =
    log.kv_scale_bytes_per_head > 0 ? 'int8_per_token_head' : log.kv_bytes_per_element === 1 ? 'fp8' : 'auto';
  const args = [
    '--model=example/hybrid',
    `--tensor-parallel-size=${log.tp}`,
    `--max-model-len=${log.max_model_len}`,
    `--kv-cache-dtype=${dtype}`,
    '--max-num-seqs=16',
    log.state_blocks_per_group_m - log.spec_tokens > 1 ? '--enable-prefix-caching' : '--no-enable-prefix-caching',
    ...('blocks' in kv ? [`--num-gpu-blocks-override=${kv.blocks}`] : []),
    ...(log.spec_tokens > 0
      ? [`--speculative-config={"method": "mtp", "num_speculative_tokens": ${log.spec_tokens}}`]
      : []),
  ];
  const text = `services:\n  engine:\n    image: vllm/vllm-openai\n    command:\n${args.map((a) => `      - '${a}'\n`).join('')}`;
  const bytes = 'bytes' in kv ? kv.bytes : kv.blocks * log.derived.block_bytes;
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    {
      flags: { 'kv-memory': String(Math.floor(bytes)), engine: `vllm@${log.log_format === 'new' ? '0.26' : '0.19'}` },
      models: { config: (name) => (name === 'example/hybrid' ? { json: configOf(log), path: 'shape' } : undefined) },
    },
  ).plans;
  if (!plan?.kv?.pool?.logged) {
    throw new Error(plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found');
  }
  return plan;
}

function replay(log: HybridCase): LogResult {
  const half = 0.005;
  const stated = log.available_kv_gib;
  const count = log.block_counts_that_reproduce_log[0] as number;
  const ends =
    stated === null
      ? [{ blocks: count }, { blocks: count }]
      : [stated - half, stated + half].map((g) => ({ bytes: g * GiB }));
  const [low, high] = ends.map((kv) => planAt(log, kv)) as [Plan, Plan];
  const logged = (plan: Plan) =>
    plan.kv?.pool?.logged as NonNullable<NonNullable<NonNullable<Plan['kv']>['pool']>['logged']>;
  const result = printedWithin(log.id, low, high, [
    { what: 'tokens', logged: log.logged.kv_tokens, of: (p) => logged(p).tokens.value },
    {
      what: 'concurrency',
      logged: log.logged.max_concurrency,
      of: (p) => logged(p).maxConcurrency?.value ?? 0,
      slack: half,
    },
    { what: 'block size', logged: log.derived.block_size, of: (p) => p.kv?.layout.blockSize ?? 0 },
    {
      what: 'blocks per request',
      logged: log.derived.blocks_per_request,
      of: (p) => (p.kv?.layout.groupBlocks(log.max_model_len) ?? []).reduce((a, b) => a + b, 0),
    },
  ]);
  return stated === null
    ? { ...result, detail: `${result.detail} (KV bytes not stated: with the block count that the log implies)` }
    : result;
}
