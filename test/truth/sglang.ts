/** SGLang's own numbers and lines of its public logs, through the planner. */
import { readFileSync } from 'node:fs';
import { findGpu } from '../../src/core/hardware/find-gpu';
import { findModel } from '../../src/core/model/catalogue';
import { GiB } from '../../src/core/units';
import { type Plan, planText } from '../../src/planner';
import { type LogResult, type Printed, printedWithin } from './outcome';
import { type Difference, readTruth } from './vectors';

interface SglVector {
  readonly inp: { readonly A?: number; readonly gpu_mib?: number; readonly tp?: number; readonly ctx?: number };
  readonly out: Readonly<Record<string, number>>;
}

export const sglangVectors = (): readonly (readonly [string, SglVector])[] =>
  Object.entries(readTruth<Record<string, SglVector>>('golden-vllm-sglang.json')).filter(([name]) =>
    name.startsWith('sgl/'),
  );

interface Asked {
  readonly command: readonly string[];
  readonly version?: string;
  readonly flags?: Readonly<Record<string, string>>;
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** As people start it: a container whose command is the server. */
function planOf({ command, version, flags = {}, configs = {} }: Asked): Plan {
  const words = ['python3', '-m', 'sglang.launch_server', ...command];
  const text = `services:\n  engine:\n    image: lmsysorg/sglang${version ? `:v${version}` : ''}\n    command:\n${words.map((w) => `      - '${w}'\n`).join('')}`;
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    {
      flags,
      models: {
        config: (name) => (name in configs ? { json: configs[name], path: `${name}/config.json` } : undefined),
      },
    },
  ).plans;
  if (!plan?.kv) {
    throw new Error(`not planned: ${plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found'}`);
  }
  return plan;
}

const MODELS: Readonly<Record<string, string>> = {
  l8: 'meta-llama/Llama-3.1-8B-Instruct',
  dsv3: 'deepseek-ai/DeepSeek-V3',
  'qwen3-next': 'Qwen/Qwen3-Next-80B-A3B-Instruct',
  'gpt-oss-120b': 'openai/gpt-oss-120b',
  scout: 'meta-llama/Llama-4-Scout-17B-16E-Instruct',
  'gemma3-27b': 'google/gemma-3-27b-it',
};

/** The full-attention layers of Qwen3-Next alone: the vector sizes their pool by itself. */
const FULL_ONLY = {
  architectures: ['LlamaForCausalLM'],
  num_hidden_layers: 12,
  num_attention_heads: 16,
  num_key_value_heads: 2,
  head_dim: 256,
  hidden_size: 2048,
  intermediate_size: 5120,
  vocab_size: 151936,
  max_position_embeddings: 262144,
  torch_dtype: 'bfloat16',
};

function launchOf(name: string, { inp }: SglVector): Asked {
  const option = (pattern: RegExp) => name.match(pattern)?.[1];
  if (name.startsWith('sgl/fraction/')) {
    return {
      command: [`--model-path=${MODELS.l8}`, `--tp=${inp.tp}`],
      flags: { gpu: option(/fraction\/([\w-]+)/) ?? '', gpus: String(inp.tp) },
    };
  }
  const model = Object.keys(MODELS).find((m) => name.includes(m)) ?? '';
  const fullOnly = name.includes('full only');
  const slots = option(/ratio(\d)/);
  const ratio = option(/\/r(0\.\d)/);
  const tp = option(/\/tp(\d+)/);
  const page = option(/page(\d+)/);
  return {
    command: [
      `--model-path=${fullOnly ? 'example/full-only' : MODELS[model]}`,
      ...(tp ? [`--tp=${tp}`] : []),
      ...(page ? [`--page-size=${page}`] : []),
      ...(name.includes('/fp8/') ? ['--kv-cache-dtype=fp8_e4m3'] : []),
      ...(ratio ? [`--swa-full-tokens-ratio=${ratio}`] : []),
      ...(name.includes('ssm bf16') ? ['--mamba-ssm-dtype=bfloat16'] : []),
      ...(slots === '1' ? ['--disable-radix-cache'] : []),
      ...(slots === '3' ? ['--mamba-radix-cache-strategy=no_buffer'] : []),
    ],
    flags: { 'kv-memory': String(inp.A) },
    configs: { 'example/full-only': FULL_ONLY },
  };
}

const setting = (plan: Plan, name: string) => plan.options.findLast((o) => o.name === name);

/** Of a line such as `max_running_requests=2048`, or `swa_layer_tokens=21183`. */
function logged(plan: Plan, pattern: RegExp): number | undefined {
  const found = pattern.exec(plan.kv?.pool?.logged?.lines.join('\n') ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

function actualOf(plan: Plan): Readonly<Record<string, number | undefined>> {
  const { kv } = plan;
  const tokens = kv?.pool?.logged?.tokens.value;
  const share = setting(plan, 'mem-fraction-static');
  const [, card = '', left = ''] = /\(([\d,]+) − ([\d,]+)\)/.exec((share && 'how' in share && share.how) || '') ?? [];
  const number = (text: string) => (text === '' ? undefined : Number(text.replaceAll(',', '')));
  return {
    fraction: share?.value as number | undefined,
    reserved: number(left),
    gpu_mib: number(card),
    chunk: setting(plan, 'chunked-prefill-size')?.value as number | undefined,
    bs: setting(plan, 'cuda-graph-max-bs-decode')?.value as number | undefined,
    cell: kv && kv.layout.bytesPerBlock.value / kv.layout.blockSize,
    tokens,
    full: tokens,
    full_tokens: tokens,
    swa: logged(plan, /swa_layer_tokens=(\d+)/),
    slots: logged(plan, /max_mamba_cache_size: (\d+)/),
    per_req: kv?.layout.groups.find((g) => g.kind === 'state')?.bytesPerBlock,
    max_running: logged(plan, /max_running_requests=(\d+)/),
  };
}

export function sglangDifferences(name: string, vector: SglVector): readonly Difference[] {
  const actual = actualOf(planOf(launchOf(name, vector)));
  const { gpu_mib } = vector.inp;
  const expected = { ...vector.out, ...(gpu_mib && { gpu_mib }) };
  return Object.entries(expected)
    .map(([field, expected]) => ({ field, expected, actual: actual[field] }))
    .filter((d) => d.expected !== d.actual);
}

export const replaySglangVectors = (): readonly LogResult[] =>
  sglangVectors().map(([id, vector]) => {
    const wrong = sglangDifferences(id, vector);
    const detail = wrong.map((d) => `${d.field}: ${d.expected} expected, ${d.actual} planned`).join('; ');
    return { id, outcome: wrong.length === 0 ? 'exact' : 'off', detail };
  });

interface SglangLog {
  readonly id: string;
  readonly engine: string;
  readonly engine_version?: string;
  readonly date?: string;
  readonly model?: string;
  readonly launch_args?: string;
  readonly gpu?: string;
  readonly config_facts: { readonly max_total_tokens?: number; readonly mem_fraction_static?: number };
  readonly tp?: number;
  readonly dp?: number;
  readonly context_length?: number;
  readonly max_running?: number;
  readonly kv_dtype_k?: string;
  readonly block_or_page_size?: number;
  readonly mem_fraction?: number;
  readonly avail_before_gib?: number;
  readonly avail_after_weights_gib?: number;
  readonly tokens?: number;
  readonly k_size_gib?: number;
  readonly v_size_gib?: number;
  readonly kv_size_gib?: number;
  readonly arch?: { readonly layers?: number; readonly kv_heads?: number; readonly head_dim_k?: number };
  readonly bytes_per_token_expected?: number;
  readonly agreement: 'match' | 'consistent' | 'mismatch' | 'trap' | 'unknown';
  readonly notes?: string;
}

/** Names that logs use for what the catalogue knows by another. */
const NAMES: Readonly<Record<string, string>> = {
  'Qwen3-8B (bf16 baseline of an int2 KV experiment)': 'Qwen/Qwen3-8B',
  'Llama-3.1-8B': 'meta-llama/Llama-3.1-8B',
  'Qwen2.5-0.5B': 'Qwen/Qwen2.5-0.5B-Instruct',
  'Mixtral-8x7B': 'mistralai/Mixtral-8x7B-Instruct-v0.1',
  'Qwen3-30B-A3B (KTransformers)': 'Qwen/Qwen3-30B-A3B',
  'DeepSeek-V3 class': 'deepseek-ai/DeepSeek-V3',
  '/data/models/Qwen2.5/Qwen2.5-7B-Instruct': 'Qwen/Qwen2.5-7B-Instruct',
  '/home/model/Qwen/QwQ-32B': 'Qwen/QwQ-32B',
  '/data1/model_checkpoint/DeepSeek-R1-Distill-Qwen-14B': 'deepseek-ai/DeepSeek-R1-Distill-Qwen-14B',
};

/** The release of a day, for logs that do not say theirs. */
const RELEASES: readonly (readonly [until: string, version: string])[] = [
  ['2024-08', '0.2.6'],
  ['2025-04', '0.4.3'],
  ['2025-07', '0.4.8'],
];

const versionOf = (log: SglangLog): string =>
  log.engine_version ?? RELEASES.find(([until]) => log.date !== undefined && log.date < until)?.[1] ?? '0.5.4';

/** A shape for models that no catalogue has, as the log's own facts give it. */
function configOf({ arch }: SglangLog): unknown {
  const { layers = 0, kv_heads = 0, head_dim_k = 0 } = arch ?? {};
  return {
    architectures: ['LlamaForCausalLM'],
    num_hidden_layers: layers,
    num_key_value_heads: kv_heads,
    num_attention_heads: kv_heads,
    head_dim: head_dim_k,
    hidden_size: kv_heads * head_dim_k,
    intermediate_size: 4 * kv_heads * head_dim_k,
    vocab_size: 32000,
    max_position_embeddings: 131072,
    torch_dtype: 'bfloat16',
  };
}

function planAt(log: SglangLog, kvBytes: number | undefined): Plan {
  const named = NAMES[log.model ?? ''] ?? log.model ?? '';
  const model = findModel(named) ? named : 'example/shape';
  const args = log.launch_args ?? '';
  return planOf({
    command: [
      `--model-path=${model}`,
      `--tp-size=${log.tp ?? 1}`,
      `--dp-size=${log.dp ?? 1}`,
      ...(args.includes('--enable-dp-attention') ? ['--enable-dp-attention'] : []),
      ...(log.context_length ? [`--context-length=${log.context_length}`] : []),
      ...(log.block_or_page_size ? [`--page-size=${log.block_or_page_size}`] : []),
      ...(log.kv_dtype_k?.startsWith('fp8') ? [`--kv-cache-dtype=${log.kv_dtype_k}`] : []),
      ...(log.config_facts.max_total_tokens ? [`--max-total-tokens=${log.config_facts.max_total_tokens}`] : []),
    ],
    version: versionOf(log),
    flags: kvBytes === undefined ? {} : { 'kv-memory': String(Math.max(0, Math.floor(kvBytes))) },
    configs: { 'example/shape': configOf(log) },
  });
}

const HALF = 0.005;

/** KV bytes at both ends of the log's rounding: free after loading less what the share leaves of free before it. */
function kvEnds(log: SglangLog, share: number): readonly [number, number] | undefined {
  const { avail_before_gib: before, avail_after_weights_gib: after } = log;
  if (before === undefined || after === undefined) {
    return undefined;
  }
  const at = (sign: 1 | -1) => (after + sign * HALF - (before - sign * HALF) * (1 - share)) * GiB;
  return [at(-1), at(1)];
}

const sizeIn = (plan: Plan, what: 'K' | 'V' | 'KV'): number =>
  logged(plan, new RegExp(`${what === 'KV' ? ', KV' : ` ${what}`} size: ([\\d.]+) GB`)) ?? Number.NaN;

const wholeSize = (plan: Plan): number =>
  Number.isNaN(sizeIn(plan, 'KV')) ? sizeIn(plan, 'K') + sizeIn(plan, 'V') : sizeIn(plan, 'KV');

function replayLog(log: SglangLog): LogResult {
  if (log.agreement !== 'match' && log.agreement !== 'consistent') {
    return { id: log.id, outcome: 'not counted', detail: `${log.agreement}: ${log.notes ?? 'no notes'}` };
  }
  const first = planAt(log, undefined);
  const perToken = first.kv?.layout.bytesPerToken.value ?? 0;
  const byTokens = planAt(log, (log.tokens ?? 0) * perToken);
  // Sizes print with two decimals each; a sum of two may be off by one more.
  const sizes: readonly Printed[] = [
    { what: 'bytes per token', logged: log.bytes_per_token_expected, of: () => perToken },
    { what: 'tokens of their bytes', logged: log.tokens, of: tokensOf },
    { what: 'K GB', logged: log.k_size_gib, of: (p) => sizeIn(p, 'K'), slack: HALF },
    { what: 'V GB', logged: log.v_size_gib, of: (p) => sizeIn(p, 'V'), slack: HALF },
    { what: 'KV GB', logged: log.kv_size_gib, of: wholeSize, slack: 2 * HALF },
    {
      what: 'max running',
      logged: log.context_length ? log.max_running : undefined,
      of: (p) => logged(p, /max_running_requests=(\d+)/) ?? 0,
    },
    { what: 'share', logged: defaultShare(log), of: shareOf },
  ];
  const result = printedWithin(log.id, byTokens, byTokens, sizes);
  return withMemory(log, shareOf(first), result);
}

const tokensOf = (plan: Plan): number => plan.kv?.pool?.logged?.tokens.value ?? 0;
const shareOf = (plan: Plan): number => (setting(plan, 'mem-fraction-static')?.value as number | undefined) ?? 0;

/** The share that the log shows where the launch, as far as it is quoted whole, does not write one. */
const defaultShare = (log: SglangLog): number | undefined =>
  log.launch_args?.startsWith('python') && !/mem-fraction|continued/.test(log.launch_args)
    ? log.mem_fraction
    : undefined;

/**
 * What the share leaves of the memory that the log shows is an upper bound: ranks of a group agree on the least that any
 * has free and a log shows one of them, and what is taken between “load weight end” and the sizing is not shown.
 */
function withMemory(log: SglangLog, planned: number, result: LogResult): LogResult {
  const ends = kvEnds(log, log.mem_fraction ?? planned);
  if (!ends || log.tokens === undefined || log.config_facts.max_total_tokens) {
    return result;
  }
  const [low, high] = ends.map((bytes) => tokensOf(planAt(log, bytes))) as [number, number];
  const below = `${(100 * (1 - log.tokens / low)).toFixed(2)} % below`;
  const why = (log.tp ?? 1) > 1 ? `memory of one rank of ${log.tp}` : 'memory taken after that line';
  const shown = `${result.detail}, tokens ${log.tokens} by memory ${low}…${high}`;
  const near = log.tokens <= high && log.tokens >= 0.98 * low;
  return {
    ...result,
    detail: log.tokens < low ? `${shown} (${below}: ${why})` : shown,
    outcome: near ? (result.outcome === 'exact' ? 'within rounding' : result.outcome) : 'off',
  };
}

export const replaySglangLogs = (): readonly LogResult[] =>
  readTruth<{ readonly cases: readonly SglangLog[] }>('other-logs.json')
    .cases.filter((c) => c.engine === 'sglang')
    .map(replayLog);

/** KV bytes a priori, where the log names the card: inside the interval, and how far off. */
export const replaySglangBudgets = (): readonly LogResult[] =>
  readTruth<{ readonly cases: readonly SglangLog[] }>('other-logs.json')
    .cases.filter(
      (c) => c.engine === 'sglang' && c.mem_fraction !== undefined && kvEnds(c, c.mem_fraction) !== undefined,
    )
    .map((log): LogResult => {
      const gpu = log.gpu && findGpu(log.gpu)?.name;
      const command = [`--model-path=${log.model}`, `--tp=${log.tp ?? 1}`, `--mem-fraction-static=${log.mem_fraction}`];
      const budget = gpu && planOf({ command, version: versionOf(log), flags: { gpu } }).budget;
      if (!budget) {
        return { id: log.id, outcome: 'cannot tell', detail: `${log.gpu ?? 'card not named'}, ${log.model}` };
      }
      const { value, range = { low: value, high: value } } = budget.kv.figure;
      const [low = 0, high = 0] = kvEnds(log, log.mem_fraction ?? 0) ?? [];
      const inside = low >= range.low && high <= range.high;
      const gib = (bytes: number) => (bytes / GiB).toFixed(2);
      return {
        id: log.id,
        outcome: inside ? 'within rounding' : 'off',
        detail: `${gib((low + high) / 2)} GiB in ${gib(range.low)}…${gib(value)}…${gib(range.high)}`,
      };
    });

interface Crosscheck {
  readonly issue: string;
  readonly model: string;
  readonly tp: number;
  readonly measured_bytes_per_token_per_gpu: number;
  readonly expected: number;
}

/** Bytes per token that public logs show: KV memory ÷ tokens, both rounded. */
export const replayCrosschecks = (): readonly LogResult[] => {
  const { rows } = JSON.parse(readFileSync('test/truth/data/kv-crosschecks.json', 'utf8')) as {
    readonly rows: readonly Crosscheck[];
  };
  return rows.map(({ issue, model, tp, measured_bytes_per_token_per_gpu: measured, expected }): LogResult => {
    const plan = planOf({ command: [`--model-path=${NAMES[model] ?? model}`, `--tp=${tp}`] });
    const planned = plan.kv?.layout.bytesPerToken.value ?? 0;
    const near = Math.abs(measured / planned - 1) < 0.005;
    return {
      id: issue,
      outcome: planned === expected && near ? 'within rounding' : 'off',
      detail: `${measured} measured, ${planned} planned, ${expected} expected`,
    };
  });
};
