/** Lines of public vLLM start-up logs, replayed through the planner: what it plans must lie within the log's own rounding. */

import { findGpu } from '../../src/core/hardware/find-gpu';
import { findModel } from '../../src/core/model/catalogue';
import { GiB } from '../../src/core/units';
import type { Plan } from '../../src/planner';
import { planText } from '../../src/planner';
import { hybridIds } from './hybrids';
import { type LogResult, type Outcome, printedWithin } from './outcome';
import { readTruth } from './vectors';

interface LogCase {
  readonly id: string;
  readonly engine_version?: string;
  readonly engine_generation: 'V0' | 'V1' | string;
  readonly model?: string;
  readonly tp: number;
  readonly pp: number;
  readonly dcp?: number;
  readonly max_model_len?: number;
  readonly available_kv_gib?: number;
  readonly block_size?: number;
  readonly block_size_basis?: string;
  readonly gpu_blocks?: number;
  readonly cpu_blocks?: number;
  readonly implied_from_cpu_blocks?: { readonly swap_space_gib: number };
  readonly kv_tokens?: number;
  readonly max_concurrency?: { readonly x: number; readonly for_tokens: number };
  readonly kv_cache_dtype?: string;
  readonly features?: readonly string[];
  readonly gpu: { readonly name: string | null };
  readonly launch: { readonly form: string; readonly args: readonly (readonly [string, string])[] };
  readonly error?: {
    readonly max_seq_len?: number | null;
    readonly needed_gib?: number | null;
    readonly available_gib?: number | null;
    readonly estimated_max_model_len?: number | null;
    readonly kv_capacity_tokens?: number | null;
  };
  readonly expected_formula?: string;
  readonly agrees?: boolean;
  readonly disagreement_reason?: string;
  readonly approx_numbers: boolean;
}

/** Models that a log shows only by their shape or by a name of its own. */
const SHAPES: Readonly<Record<string, string>> = {
  'Qwen3-0.6B shape': 'Qwen/Qwen3-0.6B',
  'Qwen3-4B AWQ shape': 'Qwen/Qwen3-4B',
  'Qwen3-8B AWQ shape': 'Qwen/Qwen3-8B',
  'Qwen2.5-1.5B shape': 'Qwen/Qwen2.5-1.5B-Instruct',
  '36 layers x 8 KV heads x 128 (Qwen3-4B/8B shape)': 'Qwen/Qwen3-8B',
  'Qwen2.5-7B (4-bit)': 'Qwen/Qwen2.5-7B-Instruct-AWQ',
  'MiniMax-M2.7 AWQ': 'MiniMaxAI/MiniMax-M2.5',
  'MinerU VLM (Qwen2-0.5B decoder)': 'Qwen/Qwen2-0.5B-Instruct',
  'DeepSeek-R1-Distill-Llama-70B over TP8 (inferred from 40,960 B/token)': 'deepseek-ai/DeepSeek-R1-Distill-Llama-70B',
  'Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8': 'Qwen/Qwen3-Coder-30B-A3B-Instruct',
};

export function replayLogs(): readonly LogResult[] {
  return readTruth<readonly LogCase[]>('vllm-logs.json').map(replay);
}

function replay(log: LogCase): LogResult {
  const result = (outcome: Outcome, detail: string): LogResult => ({ id: log.id, outcome, detail });
  const why = log.disagreement_reason ?? '';
  if (log.agrees === false || why.startsWith('UNRESOLVED') || log.features?.includes('drafter-unresolved')) {
    return result('not counted', why || 'marked so');
  }
  if (hybridIds().has(log.id)) {
    return result('cannot tell', 'replayed with its shape: hybrid-logs.json');
  }
  const stated = log.available_kv_gib ?? log.error?.available_gib ?? undefined;
  if (stated === undefined && log.cpu_blocks === undefined && !log.error?.needed_gib) {
    return result('cannot tell', 'KV bytes not stated');
  }
  if (log.approx_numbers) {
    return result('cannot tell', 'numbers of the log are approximate');
  }
  try {
    if (stated !== undefined) {
      return compare(log, stated);
    }
    return log.error?.needed_gib ? compareNeed(log) : compareCpuBlocks(log);
  } catch (error) {
    return result('cannot tell', (error as Error).message);
  }
}

function planAt(log: LogCase, kvBytes: number, more: readonly string[] = []): Plan {
  const named = SHAPES[log.model ?? ''] ?? log.model;
  const model = named !== undefined && findModel(named) ? named : undefined;
  const shape = model === undefined ? shapeOf(log) : undefined;
  const length = log.max_model_len ?? log.error?.max_seq_len ?? log.max_concurrency?.for_tokens;
  const args = [
    `--model=${model ?? 'example/shape'}`,
    `--tensor-parallel-size=${log.tp}`,
    `--pipeline-parallel-size=${log.pp}`,
    ...(log.dcp ? [`--decode-context-parallel-size=${log.dcp}`] : []),
    ...(length ? [`--max-model-len=${length}`] : []),
    ...(log.block_size ? [`--block-size=${log.block_size}`] : []),
    ...(log.kv_cache_dtype ? [`--kv-cache-dtype=${log.kv_cache_dtype}`] : []),
    ...batchOf(log),
    ...more,
  ];
  const version = /\d+\.\d+(\.\d+)?/.exec(log.engine_version ?? '')?.[0];
  const environment = [
    ['VLLM_USE_V1', log.engine_generation === 'V0' ? '0' : '1'],
    ['VLLM_ALLOW_LONG_MAX_MODEL_LEN', '1'],
    ...log.launch.args.filter(([name]) => name.startsWith('VLLM_')),
  ];
  const text = [
    'services:',
    '  engine:',
    '    image: vllm/vllm-openai',
    '    environment:',
    ...environment.map(([name, value]) => `      ${name}: '${value}'`),
    '    command:',
    ...args.map((a) => `      - '${a}'`),
    '',
  ].join('\n');
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    {
      flags: {
        ...(log.gpu.name && findGpu(log.gpu.name) ? { gpu: log.gpu.name } : {}),
        'kv-memory': String(Math.max(0, Math.floor(kvBytes))),
        ...(version ? { engine: `vllm@${version}` } : {}),
      },
      models: { config: (name) => (name === 'example/shape' && shape ? { json: shape, path: 'shape' } : undefined) },
    },
  ).plans;
  if (!plan?.kv?.pool) {
    throw new Error(plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found');
  }
  return plan;
}

/** Tokens of a batch: as written, else what `LLM(…)` takes on such a card (twice what the server does); windows reserve for them. */
function batchOf(log: LogCase): readonly string[] {
  const written = log.launch.args.find(([name]) => /^-*max[-_]num[-_]batched[-_]tokens?$/i.test(name))?.[1];
  if (written) {
    return [`--max-num-batched-tokens=${written}`];
  }
  const memory = (log.gpu.name ? findGpu(log.gpu.name) : undefined)?.memory.value;
  return /\bLLM\(/.test(log.launch.form) && memory !== undefined && log.engine_generation === 'V1'
    ? [`--max-num-batched-tokens=${memory >= 70 * GiB ? 16384 : 8192}`]
    : [];
}

/** `2*layers*max(1,kvHeads/tp)*headDim*2` names a shape whose model the log does not show. */
function shapeOf(log: LogCase): unknown {
  const found = /^2\*(\d+)\*(?:max\(1,(\d+)\/\d+\)|(\d+))\*(\d+)\*2/.exec(log.expected_formula ?? '');
  if (!found) {
    throw new Error(log.model === undefined ? 'model not shown' : `model not known: ${log.model}`);
  }
  const heads = Number(found[2] ?? found[3]);
  return {
    architectures: ['LlamaForCausalLM'],
    num_hidden_layers: Number(found[1]),
    num_key_value_heads: heads,
    num_attention_heads: heads * 8,
    head_dim: Number(found[4]),
    hidden_size: heads * 8 * Number(found[4]),
    intermediate_size: 4 * heads * 8 * Number(found[4]),
    vocab_size: 32000,
    max_position_embeddings: 131072,
    torch_dtype: 'bfloat16',
  };
}

/** The log prints GiB with this many decimals: the true value lies half a unit of the last one to either side. */
const halfUnit = (value: number): number => 0.5 / 10 ** (String(value).split('.')[1]?.length ?? 0);
const HALF = 0.005;

function compare(log: LogCase, stated: number): LogResult {
  const half = Math.min(HALF, halfUnit(stated));
  const low = planAt(log, (stated - half) * GiB);
  const high = planAt(log, (stated + half) * GiB);
  const pool = (plan: Plan) => plan.kv?.pool as NonNullable<NonNullable<Plan['kv']>['pool']>;
  const logged = (plan: Plan) => {
    const printed = pool(plan).logged;
    if (!printed) {
      throw new Error('max length not known');
    }
    return printed;
  };
  return printedWithin(log.id, low, high, [
    { what: 'blocks', logged: log.gpu_blocks, of: (p) => pool(p).blocks.value },
    { what: 'tokens', logged: log.kv_tokens, of: (p) => logged(p).tokens.value },
    {
      what: 'concurrency',
      logged: log.max_concurrency?.x,
      of: (p) => logged(p).maxConcurrency?.value ?? 0,
      slack: HALF,
    },
    { what: 'capacity', logged: log.error?.kv_capacity_tokens, of: (p) => logged(p).tokens.value },
    { what: 'needed GiB', logged: log.error?.needed_gib, of: neededGiB, slack: halfUnit(log.error?.needed_gib ?? 0) },
    {
      what: 'estimated length',
      logged: log.error?.estimated_max_model_len,
      of: (p) => p.capacity?.longestContext?.value ?? 0,
    },
  ]);
}

/** V0 carves its swap space into blocks of the same size: their count tells the bytes of one, without the KV bytes. */
function compareCpuBlocks(log: LogCase): LogResult {
  const swap = log.implied_from_cpu_blocks?.swap_space_gib ?? 4;
  const plan = planAt(log, 0, [
    `--swap-space=${swap}`,
    ...(log.gpu_blocks === undefined || log.gpu_blocks < 1 ? [] : [`--num-gpu-blocks-override=${log.gpu_blocks}`]),
  ]);
  const printed = (p: Plan) => Number(/# CPU blocks: (\d+)/.exec(p.kv?.pool?.logged?.lines.join('\n') ?? '')?.[1]);
  const { detail, ...rest } = printedWithin(log.id, plan, plan, [
    { what: 'CPU blocks', logged: log.cpu_blocks, of: printed },
    { what: 'capacity', logged: log.error?.kv_capacity_tokens, of: (p) => p.kv?.pool?.logged?.tokens.value ?? 0 },
    {
      what: 'concurrency',
      logged: log.max_concurrency?.x,
      of: (p) => p.kv?.pool?.logged?.maxConcurrency?.value ?? 0,
      slack: HALF,
    },
  ]);
  return { ...rest, detail: `${detail} (KV bytes not stated: ${swap} GiB of swap space tell the bytes of a block)` };
}

/** A refusal tells what one request needs even where its KV bytes are not shown. */
function compareNeed(log: LogCase): LogResult {
  const plan = planAt(log, 0);
  const needed = log.error?.needed_gib ?? 0;
  return printedWithin(log.id, plan, plan, [
    { what: 'needed GiB', logged: needed, of: reservedGiB, slack: halfUnit(needed) },
  ]);
}

const reservedGiB = (plan: Plan): number => (plan.kv?.atMaxLength?.reserved.value ?? 0) / GiB;

/** As the refusal prints it; of a launch that fits, the request's own. */
function neededGiB(plan: Plan): number {
  const refusal = plan.findings.find((f) => f.code === 'length-does-not-fit')?.message ?? '';
  const printed = /\((\d+(?:\.\d+)?) GiB KV cache is needed/.exec(refusal)?.[1];
  return printed === undefined ? reservedGiB(plan) : Number(printed);
}
