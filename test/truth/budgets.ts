/** A-priori budgets (no KV bytes given) against logs that state KV bytes, model, GPU and utilisation. */
import { findGpu } from '../../src/core/hardware/find-gpu';
import { findModel } from '../../src/core/model/catalogue';
import { type BudgetLaunch, type BudgetResult, compareBudget } from './budget-case';
import { readTruth } from './vectors';

interface BudgetLog {
  readonly id: string;
  readonly engine_version?: string;
  readonly engine_generation: string;
  readonly model?: string;
  readonly total_gpu_memory_gib?: number;
  readonly tp: number;
  readonly tp_basis: string;
  readonly pp: number;
  readonly max_model_len?: number;
  readonly gpu_memory_utilization?: number;
  readonly gpu_memory_utilization_basis: string;
  readonly available_kv_gib?: number;
  readonly weights_gib?: number;
  readonly peak_activation_gib?: number;
  readonly non_torch_gib?: number;
  readonly gpu: { readonly name: string | null };
  readonly launch: { readonly args: readonly (readonly [string, string])[] };
  readonly features?: readonly string[];
  readonly error?: { readonly available_gib?: number | null };
  readonly approx_numbers: boolean;
}

export const replayBudgets = (): readonly BudgetResult[] =>
  readTruth<readonly BudgetLog[]>('vllm-logs.json')
    .filter((log) => kvOf(log) !== undefined)
    .map((log) => {
      const excluded = whyExcluded(log);
      return excluded === undefined ? compareBudget(launchOf(log)) : { id: log.id, excluded };
    });

const kvOf = (log: BudgetLog): number | undefined => log.available_kv_gib ?? log.error?.available_gib ?? undefined;

/** Models named by their shape, with the quantisation that the log's weights show. */
const SHAPES: Readonly<Record<string, string>> = {
  'Qwen3-0.6B shape': 'Qwen/Qwen3-0.6B',
  'Qwen3-4B AWQ shape': 'Qwen/Qwen3-4B-AWQ',
  'Qwen3-8B AWQ shape': 'Qwen/Qwen3-8B-AWQ',
  'Qwen2.5-1.5B shape': 'Qwen/Qwen2.5-1.5B-Instruct',
  'Qwen2.5-7B (4-bit)': 'Qwen/Qwen2.5-7B-Instruct-AWQ',
  'MiniMax-M2.7 AWQ': 'MiniMaxAI/MiniMax-M2.5-AWQ',
  'DeepSeek-R1-Distill-Llama-70B over TP8 (inferred from 40,960 B/token)': 'deepseek-ai/DeepSeek-R1-Distill-Llama-70B',
};

/** Names that a log gives a card and the list does not know. */
const GPUS: Readonly<Record<string, string>> = {
  'RTX 4090 24GB': 'RTX 4090',
  'RTX 3090 24GB': 'RTX 3090',
  'DGX Spark GB10': 'GB10 (DGX Spark)',
};

const modelOf = ({ model = 'not shown' }: BudgetLog): string => SHAPES[model] ?? model;
const gpuOf = ({ gpu }: BudgetLog): string => GPUS[gpu.name ?? ''] ?? gpu.name ?? 'not shown';
const versionOf = (log: BudgetLog): string | undefined => /\d+\.\d+(\.\d+)?/.exec(log.engine_version ?? '')?.[0];

/** Features that change the budget in ways no option of the launch shows. */
const ALTERED: Readonly<Record<string, string>> = {
  fork: 'a fork of vLLM with buffers of its own',
  'heterogeneous-gpus': 'GPUs of different kinds',
  'drafter-unresolved': 'a drafter that the log does not name',
};

function whyExcluded(log: BudgetLog): string | undefined {
  if (log.approx_numbers) {
    return 'KV bytes are approximate (“about”)';
  }
  if (log.gpu_memory_utilization === undefined) {
    return 'utilisation not stated';
  }
  if (!findModel(modelOf(log))) {
    return `model not known: ${modelOf(log)}`;
  }
  const altered = log.features?.map((f) => ALTERED[f]).find((why) => why !== undefined);
  if (altered) {
    return altered;
  }
  if (log.gpu_memory_utilization_basis.startsWith('default') && versionOf(log) === undefined) {
    return 'utilisation not stated, nor the version whose default it would be';
  }
  if (log.total_gpu_memory_gib === undefined && !findGpu(gpuOf(log))) {
    return `GPU not known: ${gpuOf(log)}`;
  }
  return undefined;
}

/** Options that the budget depends on; the others would only be refused or ignored. */
const OPTIONS = new Set([
  'max-num-batched-tokens',
  'max-num-seqs',
  'enforce-eager',
  'quantization',
  'dtype',
  'kv-cache-dtype',
  'speculative-config',
  'limit-mm-per-prompt',
  'enable-chunked-prefill',
]);

function launchOf(log: BudgetLog): BudgetLaunch {
  const gpu = gpuOf(log);
  const version = versionOf(log);
  return {
    id: log.id,
    args: [
      `--model=${modelOf(log)}`,
      `--tensor-parallel-size=${log.tp}`,
      `--pipeline-parallel-size=${log.pp}`,
      `--gpu-memory-utilization=${log.gpu_memory_utilization}`,
      ...(log.max_model_len ? [`--max-model-len=${log.max_model_len}`] : []),
      ...log.launch.args
        .map(([name, value]) => [name.replace(/^-+/, '').replaceAll('_', '-'), value] as const)
        .filter(([name]) => OPTIONS.has(name))
        .map(([name, value]) => (value === '' || value.toLowerCase() === 'true' ? `--${name}` : `--${name}=${value}`)),
    ],
    environment: { VLLM_USE_V1: log.engine_generation === 'V0' ? '0' : '1' },
    flags: {
      ...(findGpu(gpu) ? { gpu } : {}),
      ...(log.total_gpu_memory_gib ? { 'gpu-memory': `${log.total_gpu_memory_gib}GiB` } : {}),
      ...(version ? { engine: `vllm@${version}` } : {}),
    },
    measured: {
      kv: kvOf(log),
      weights: log.weights_gib,
      activations: log.peak_activation_gib,
      other: log.non_torch_gib,
    },
  };
}
