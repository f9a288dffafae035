/** Default batch limits. Source: vLLM 0.28, engine/arg_utils.py :: get_batch_defaults, usage/usage_lib.py :: UsageContext. */
import { GiB } from '../../units';
import type { Hardware } from '../engine';
import type { Usage } from '../start-words';
import type { Settings } from './settings';
import type { VllmRules } from './versions';

export interface BatchDefaults {
  /** max_num_batched_tokens. */
  readonly tokens: number;
  /** max_num_seqs. */
  readonly sequences: number;
  readonly how: string;
}

/** V1 always unless told not to; V0 of its own accord beyond 32K tokens. Source: vLLM 0.6.6, engine/arg_utils.py. */
export const usesChunkedPrefill = (settings: Settings, rules: VllmRules, length: number | undefined): boolean =>
  settings.flag('enable-chunked-prefill') ?? (rules.core === 'V1' || (length ?? 0) > 32768);

export function batchDefaults(
  rules: VllmRules,
  hardware: Hardware | undefined,
  chunked = true,
  usage?: Usage,
): BatchDefaults {
  if (rules.core === 'V0') {
    return { tokens: chunked ? rules.chunkedTokensV0 : 2048, sequences: 256, how: 'vLLM V0' };
  }
  if (usage === 'embedded') {
    return { tokens: 2048, sequences: 128, how: 'an engine that a program drives itself' };
  }
  const server = serverDefaults(rules, hardware);
  // The `LLM` class: 16384 where a server takes 8192, 8192 where it takes 2048.
  return usage === 'offline'
    ? { ...server, tokens: server.tokens === 2048 ? 8192 : 16384, how: `the LLM class on ${server.how}` }
    : server;
}

/** Under `vllm serve`. */
function serverDefaults(rules: VllmRules, hardware: Hardware | undefined): BatchDefaults {
  if (!hardware) {
    return {
      tokens: 2048,
      sequences: rules.smallCardSequences,
      how: 'cards below 70 GiB (the GPU is not known)',
    };
  }
  const memory = hardware.memory.value / GiB;
  const a100 = rules.a100SmallBatch && /a100/i.test(hardware.name);
  if (memory >= 160 && rules.hugeCardBatch) {
    return { tokens: 16384, sequences: 1024, how: 'cards of 160 GiB and more' };
  }
  if (memory >= 70 && !a100) {
    return { tokens: 8192, sequences: 1024, how: 'cards of 70 GiB and more' };
  }
  return { tokens: 2048, sequences: rules.smallCardSequences, how: a100 ? 'A100' : 'cards below 70 GiB' };
}
