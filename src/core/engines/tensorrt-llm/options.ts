/** Every option of TensorRT-LLM that is known: flags of trtllm-serve and keys of its YAML. Those of the cache come first. */
import type { OptionSpec } from '../option';
import { CACHE_OPTIONS } from './options-cache';
import { SERVE_OPTIONS } from './options-serve';

export const TENSORRT_LLM_OPTIONS: readonly OptionSpec[] = [...CACHE_OPTIONS, ...SERVE_OPTIONS];
