/** Every option of SGLang that is known, each described once. Those that decide the KV cache come first. */
import type { OptionSpec } from '../option';
import { MEMORY_OPTIONS } from './options-memory';
import { MODEL_OPTIONS } from './options-model';
import { PARALLEL_OPTIONS } from './options-parallel';
import { SERVING_OPTIONS } from './options-serving';

export const SGLANG_OPTIONS: readonly OptionSpec[] = [
  ...MODEL_OPTIONS,
  ...MEMORY_OPTIONS,
  ...PARALLEL_OPTIONS,
  ...SERVING_OPTIONS,
];
