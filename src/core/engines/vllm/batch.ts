/** Default batch limits. Source: vLLM 0.28, engine/arg_utils.py :: get_batch_defaults. */
import { GiB } from '../../units';
import type { Hardware } from '../engine';
import type { VllmRules } from './versions';

export interface BatchDefaults {
  /** max_num_batched_tokens under `vllm serve`. */
  readonly tokens: number;
  /** max_num_seqs. */
  readonly sequences: number;
  readonly how: string;
}

export function batchDefaults(rules: VllmRules, hardware: Hardware | undefined): BatchDefaults {
  if (rules.core === 'V0') {
    return { tokens: 2048, sequences: 256, how: 'vLLM V0' };
  }
  if (!hardware) {
    return { tokens: 2048, sequences: 256, how: 'cards below 70 GiB (the GPU is not known)' };
  }
  const memory = hardware.memory.value / GiB;
  const a100 = rules.a100SmallBatch && /a100/i.test(hardware.name);
  if (memory >= 160 && rules.hugeCardBatch) {
    return { tokens: 16384, sequences: 1024, how: 'cards of 160 GiB and more' };
  }
  if (memory >= 70 && !a100) {
    return { tokens: 8192, sequences: 1024, how: 'cards of 70 GiB and more' };
  }
  return { tokens: 2048, sequences: 256, how: a100 ? 'A100' : 'cards below 70 GiB' };
}
