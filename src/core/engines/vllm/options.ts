/** Every option of vLLM, each described once. Those that decide the KV cache come first. */
import type { OptionSpec } from '../option';
import { CACHE_OPTIONS } from './options-cache';
import { MODEL_OPTIONS } from './options-model';
import { LORA_OPTIONS, PARALLEL_OPTIONS, SPECULATIVE_OPTIONS } from './options-parallel';
import { SCHEDULER_OPTIONS } from './options-scheduler';
import { SERVING_OPTIONS } from './options-serving';

export { readHumanInt } from './option-rows';

export const VLLM_OPTIONS: readonly OptionSpec[] = [
  ...MODEL_OPTIONS,
  ...CACHE_OPTIONS,
  ...SCHEDULER_OPTIONS,
  ...PARALLEL_OPTIONS,
  ...SPECULATIVE_OPTIONS,
  ...LORA_OPTIONS,
  ...SERVING_OPTIONS,
];
