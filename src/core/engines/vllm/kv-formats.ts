/** Which KV formats vLLM takes on which card. */
import type { Hardware } from '../engine';
import { compareVersions } from '../option';
import { capability, namedBackend } from './backend';
import type { Settings } from './settings';

/** FlashAttention 3 alone reads an FP8 cache, and only on Hopper. Source: v1/attention/backends/fa_utils.py :: flash_attn_supports_fp8, 0.8 to 0.28. */
export const flashAttentionTakesFp8 = (cc: number): boolean => Math.trunc(cc) === 9;

/**
 * Whether V1 takes the KV format where V0 would stand in: from 0.8 to 0.10, multi-head attention on a known NVIDIA card.
 * Source: vLLM 0.9, engine/arg_utils.py :: _is_v1_supported_oracle; 0.10.2, platforms/cuda.py :: is_kv_cache_dtype_supported.
 */
export function v1TakesFormat(
  version: string,
  settings: Settings,
  environment: ReadonlyMap<string, string>,
  hardware: Hardware | undefined,
): boolean {
  const from = (since: string) => compareVersions(version, since) >= 0;
  const cc = capability(hardware);
  const fp8 = (settings.text('kv-cache-dtype') ?? 'auto').startsWith('fp8');
  if (!fp8 || cc === undefined || !from('0.8') || from('0.11') || (from('0.10') && cc === 10)) {
    return true;
  }
  const backend = namedBackend(settings, environment);
  if (backend === undefined || backend === 'FLASH_ATTN_VLLM_V1') {
    return flashAttentionTakesFp8(cc);
  }
  return from('0.10.1') && (backend === 'FLASHINFER' || (backend === 'TRITON_ATTN_VLLM_V1' && cc >= 8.9));
}
