/** Environment variables of vLLM that change the plan and have no option of their own. `name` is the variable. */
import type { OptionSpec } from '../option';
import { OFF, rowsOf, sourceOf } from './option-rows';

export const VLLM_ENVIRONMENT: readonly OptionSpec[] = rowsOf(sourceOf('envs.py'), [
  {
    name: 'VLLM_PP_LAYER_PARTITION',
    type: 'string',
    defaults: [{ text: 'layers divided evenly over the stages' }],
    summary: 'Layers of each pipeline stage, with commas between.',
    effect: 'Decides which stage has the fewest blocks.',
  },
  {
    name: 'VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS',
    type: 'flag',
    defaults: [{ value: false }, { since: '0.21', value: true }],
    since: '0.17',
    summary: 'Estimates the memory of CUDA graphs before the pool is sized.',
    effect: 'The estimate is taken from the pool.',
  },
  {
    name: 'VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE',
    type: 'flag',
    summary: 'Lets models with chunked attention use the hybrid KV cache manager.',
    effect: 'Chunked layers keep one chunk in place of all tokens.',
  },
  {
    name: 'VLLM_ALLOW_LONG_MAX_MODEL_LEN',
    type: 'flag',
    summary: 'Accepts a max-model-len beyond what the model’s config gives.',
    effect: 'Longer requests are then checked against the pool alone.',
  },
  {
    name: 'VLLM_CPU_KVCACHE_SPACE',
    type: 'float',
    unit: 'GiB',
    min: 0,
    defaults: [{ text: 'a share of the machine’s memory' }],
    summary: 'Size of the KV pool of the CPU backend.',
    effect: 'Is the pool, when vLLM runs on a CPU.',
  },
  {
    name: 'VLLM_USE_V2_MODEL_RUNNER',
    type: 'flag',
    defaults: [{ text: 'chosen by the model' }],
    summary: 'Runs the second model runner.',
    effect: 'Changes the batches in flight under pipeline parallelism and how graphs are counted.',
  },
  {
    name: 'VLLM_MLA_DISABLE',
    type: 'flag',
    defaults: OFF,
    summary: 'Runs models with latent attention as ordinary multi-head attention.',
    effect: 'Stores full keys and values: many times the bytes per token.',
  },
  {
    name: 'VLLM_USE_V1',
    type: 'flag',
    defaults: [{ value: false }, { since: '0.8', value: true }],
    until: '0.11',
    source: sourceOf('envs.py', '0.10.0'),
    summary: 'Chooses between the V1 and the V0 engine.',
    effect: 'The two differ in prefix caching, batch limits and the blocks they set aside.',
  },
]);
