/** A-priori budgets (no KV bytes given) against logs that state KV bytes, model, GPU and utilisation. */
import { findGpu } from '../../src/core/hardware/find-gpu';
import { findModel } from '../../src/core/model/catalogue';
import { GiB } from '../../src/core/units';
import { planText } from '../../src/planner';
import { readTruth } from './vectors';

interface BudgetCase {
  readonly id: string;
  readonly engine_version?: string;
  readonly engine_generation: string;
  readonly model?: string;
  readonly total_gpu_memory_gib?: number;
  readonly tp: number;
  readonly pp: number;
  readonly max_model_len?: number;
  readonly gpu_memory_utilization?: number;
  readonly kv_cache_dtype?: string;
  readonly available_kv_gib?: number;
  readonly weights_gib?: number;
  readonly gpu: { readonly name: string | null };
  readonly launch: { readonly args: readonly (readonly [string, string])[] };
  readonly features?: readonly string[];
}

export interface BudgetResult {
  readonly id: string;
  readonly excluded?: string;
  readonly logged?: number;
  readonly low?: number;
  readonly value?: number;
  readonly high?: number;
  readonly card?: number;
  readonly detail?: string;
}

export const replayBudgets = (): readonly BudgetResult[] =>
  readTruth<readonly BudgetCase[]>('vllm-logs.json')
    .filter((log) => log.available_kv_gib !== undefined)
    .map(replay);

const OPTIONS = new Set([
  'max-num-batched-tokens',
  'max-num-batched-token',
  'max-num-seqs',
  'enforce-eager',
  'quantization',
  'dtype',
  'kv-cache-dtype',
  'speculative-config',
  'limit-mm-per-prompt',
  'enable-chunked-prefill',
]);

function replay(log: BudgetCase): BudgetResult {
  const { id } = log;
  if (log.model === undefined || !findModel(log.model)) {
    return { id, excluded: `model not known: ${log.model ?? 'not shown'}` };
  }
  if (log.gpu_memory_utilization === undefined) {
    return { id, excluded: 'utilisation not known' };
  }
  const gpu = log.gpu.name ?? undefined;
  if (log.total_gpu_memory_gib === undefined && (gpu === undefined || !findGpu(gpu))) {
    return { id, excluded: `GPU not known: ${gpu ?? 'not shown'}` };
  }
  const args = [
    `--model=${log.model}`,
    `--tensor-parallel-size=${log.tp}`,
    `--pipeline-parallel-size=${log.pp}`,
    `--gpu-memory-utilization=${log.gpu_memory_utilization}`,
    ...(log.max_model_len ? [`--max-model-len=${log.max_model_len}`] : []),
    ...log.launch.args
      .map(([name, value]) => [name.replace(/^-+/, '').replaceAll('_', '-'), value] as const)
      .filter(([name]) => OPTIONS.has(name))
      .map(([name, value]) => (value === '' || value.toLowerCase() === 'true' ? `--${name}` : `--${name}=${value}`)),
  ];
  const version = /\d+\.\d+(\.\d+)?/.exec(log.engine_version ?? '')?.[0];
  const text = [
    'services:',
    '  engine:',
    '    image: vllm/vllm-openai',
    `    environment: {VLLM_USE_V1: '${log.engine_generation === 'V0' ? 0 : 1}', VLLM_ALLOW_LONG_MAX_MODEL_LEN: '1'}`,
    '    command:',
    ...args.map((a) => `      - '${a}'`),
    '',
  ].join('\n');
  const flags = {
    ...(gpu && findGpu(gpu) ? { gpu } : {}),
    ...(log.total_gpu_memory_gib ? { 'gpu-memory': `${log.total_gpu_memory_gib}GiB` } : {}),
    ...(version ? { engine: `vllm@${version}` } : {}),
  };
  const [plan] = planText({ text, name: 'compose.yaml' }, { flags }).plans;
  const range = plan?.kv?.pool?.bytes.range;
  if (!plan?.budget || !range) {
    return { id, excluded: plan?.findings.map((f) => f.message).join('; ') ?? 'not read' };
  }
  const gib = (b: number) => b / GiB;
  const b = plan.budget;
  const term = (name: 'weights' | 'activations' | 'graphs' | 'other') =>
    `${name} ${gib(b[name].figure.value).toFixed(2)}`;
  return {
    id,
    logged: log.available_kv_gib,
    low: gib(range.low),
    value: gib(range.value),
    high: gib(range.high),
    card: gib(b.total.value),
    detail: `${log.model} tp${log.tp} ${log.engine_generation} ${version ?? ''}: ${(['weights', 'activations', 'graphs', 'other'] as const).map(term).join(', ')}; T ${plan.options.find((o) => o.name === 'max-num-batched-tokens')?.value}; logged weights ${log.weights_gib ?? '?'} act ${(log as { peak_activation_gib?: number }).peak_activation_gib ?? '?'} nt ${(log as { non_torch_gib?: number }).non_torch_gib ?? '?'} args ${JSON.stringify(log.launch.args).slice(0, 150)}`,
  };
}
