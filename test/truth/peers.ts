/**
 * Six models side by side, with bf16 KV: what their caches hold and what vLLM reserves, worked out by hand from the
 * models' configs and vLLM's formulas, and set against what other calculators say elsewhere.
 */
import { GiB } from '../../src/core/units';
import { type Plan, planText } from '../../src/planner';

export interface Peer {
  readonly model: string;
  readonly block: number;
  /** Bytes per token of one request of 32,768 tokens, on one GPU: payload, and reserve with one and two batches in flight. */
  readonly payload: number;
  readonly reserve: readonly [one: number, two: number];
  readonly marginal: readonly [tp1: number, tp8: number];
  /** Of 40 GiB per GPU. */
  readonly blocks: readonly [tp1: number, tp8: number];
  readonly concurrency: readonly [tp1: number, tp8: number];
  /** With two batches in flight (state layers: with aligned states). */
  readonly concurrencyTwo?: readonly [tp1: number, tp8: number];
}

export const PEERS: readonly Peer[] = [
  {
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    block: 16,
    payload: 131072,
    reserve: [131072, 131072],
    marginal: [131072, 16384],
    blocks: [20480, 163840],
    concurrency: [10, 80],
  },
  {
    model: 'meta-llama/Llama-3.1-70B-Instruct',
    block: 16,
    payload: 327680,
    reserve: [327680, 327680],
    marginal: [327680, 40960],
    blocks: [8192, 65536],
    concurrency: [4, 32],
  },
  {
    model: 'deepseek-ai/DeepSeek-V3',
    block: 64,
    payload: 70272,
    reserve: [70272, 70272],
    marginal: [70272, 70272],
    blocks: [9549, 9549],
    concurrency: [18.65, 18.65],
  },
  {
    model: 'google/gemma-3-27b-it',
    block: 16,
    payload: 95232,
    reserve: [220400, 343280],
    marginal: [81920, 10240],
    blocks: [32768, 262144],
    concurrency: [5.95, 47.58],
    concurrencyTwo: [3.82, 30.55],
  },
  {
    model: 'openai/gpt-oss-120b',
    block: 16,
    payload: 37008,
    reserve: [46242, 55458],
    marginal: [36864, 4608],
    blocks: [72817, 582542],
    concurrency: [28.34, 226.76],
    concurrencyTwo: [23.63, 189.08],
  },
  {
    model: 'Qwen/Qwen3-Next-80B-A3B-Instruct',
    block: 544,
    payload: 25782,
    reserve: [26112, 27336],
    marginal: [24576, 12288],
    blocks: [3212, 24272],
    concurrency: [50.19, 105.07],
    concurrencyTwo: [47.94, 103.73],
  },
];

const LENGTH = 32_768;

/** `two`: two batches in flight, and states kept at block edges. */
export function peerPlan(peer: Peer, tensor: 1 | 8, two: boolean): Plan {
  const args = [
    `--model=${peer.model}`,
    `--tensor-parallel-size=${tensor}`,
    `--max-model-len=${LENGTH}`,
    '--max-num-batched-tokens=8192',
    '--max-num-seqs=64',
    // A hybrid model's block grows to hold a state; it is not set.
    ...(peer.block > 64 ? [] : [`--block-size=${peer.block}`]),
    ...(two ? [] : ['--no-async-scheduling', '--no-enable-prefix-caching']),
  ];
  const text = `services:\n  engine:\n    image: vllm/vllm-openai\n    command:\n${args.map((a) => `      - '${a}'\n`).join('')}`;
  const [plan] = planText(
    { text, name: 'compose.yaml' },
    { flags: { 'kv-memory': String(40 * GiB), engine: 'vllm@0.28' } },
  ).plans;
  if (!plan?.kv?.pool?.logged) {
    throw new Error(plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found');
  }
  return plan;
}

export interface PeerFigures {
  readonly payload: number;
  readonly reserve: number;
  readonly marginal: number;
  readonly blocks: number;
  readonly concurrency: number;
}

export function peerFigures(plan: Plan): PeerFigures {
  const layout = plan.kv?.layout;
  const pool = plan.kv?.pool;
  if (!layout || !pool?.logged) {
    throw new Error('no pool');
  }
  const hold = layout.hold(LENGTH);
  return {
    payload: Math.round(hold.payload / LENGTH),
    reserve: Math.round(hold.reserved / LENGTH),
    marginal: layout.bytesPerToken.value,
    blocks: pool.blocks.value,
    concurrency: Number(pool.logged.maxConcurrency?.value.toFixed(2)),
  };
}
