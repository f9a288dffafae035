/** What attention backends refuse: sizes of blocks, formats of the cache. */
import type { Finding } from '../engine';
import { compareVersions } from '../option';
import { capability, isLatent, kernelBlock, namedBackend } from './backend';
import { type Context, finding, fix } from './check-context';
import { flashAttentionTakesFp8, v1TakesFormat } from './kv-formats';

export const backendChecks = (x: Context): readonly Finding[] =>
  [blockSize, cacheFormat, olderEngine].flatMap((check) => check(x));

/**
 * What the command line takes up to 0.16; a Python program may pass any size. Source: vLLM 0.10.2, 0.11.1 and 0.16.0,
 * config/cache.py :: BlockSize (docs.vllm.ai/en/v0.16.0/api/vllm/config/cache); 256 stands in it since 0.11.
 */
const LISTED = [1, 8, 16, 32, 64, 128];
const listedIn = (version: string): readonly number[] =>
  compareVersions(version, '0.11') < 0 ? LISTED : [...LISTED, 256];

/** Kernels of every backend for NVIDIA cards take multiples of this. Source: v1/attention/backends/*, get_supported_kernel_block_sizes. */
const KERNEL = 16;

/**
 * Up to 0.16 a list; since 0.18 (vllm-project/vllm#35122) a backend that does not take the size is not chosen, and one that
 * is named is refused. FLEX_ATTENTION named no size before #41363 and failed on less than 16 (#41339), as FLASH_ATTN and
 * TRITON_ATTN always did ("Block size must be a multiple of 16.", #15508, #42510).
 */
function blockSize(x: Context): readonly Finding[] {
  const { settings, configuration: c, asked } = x;
  const size = settings.number('block-size');
  if (size === undefined || !x.written('block-size') || !c.layers.some((l) => l.kind !== 'state')) {
    return [];
  }
  const listed = listedIn(c.version.text);
  if (compareVersions(c.version.text, '0.17') < 0 && asked.usage === undefined && !listed.includes(size)) {
    return [
      badBlock(
        size,
        KERNEL,
        `block-size ${size} is not one of ${listed.join(', ')}: vLLM ${c.version.text} refuses to start.`,
        true,
      ),
    ];
  }
  const backend = namedBackend(settings, asked.environment);
  const base = c.rules.backendTakesBlock ? (kernelBlock(backend) ?? KERNEL) : KERNEL;
  if (c.rules.core === 'V0' || c.block.tokens % base === 0) {
    return [];
  }
  const named = base === KERNEL ? undefined : backend;
  const sure =
    c.rules.backendTakesBlock &&
    (named !== undefined || (capability(asked.hardware) !== undefined && !isLatent(asked.model)));
  const takers = named ?? 'the attention backends for NVIDIA GPUs';
  const end = sure ? `vLLM ${c.version.text} refuses to start.` : 'vLLM may refuse to start.';
  return [
    badBlock(
      size,
      base,
      `block-size ${size} is no multiple of ${base}, and ${takers} ${named === undefined ? 'take' : 'takes'} no other: ${end}`,
      sure,
    ),
  ];
}

function badBlock(size: number, base: number, message: string, sure: boolean): Finding {
  const nearest = LISTED.findLast((s) => s >= base && s <= size) ?? base;
  return {
    ...finding('block-size-not-taken', sure ? 'error' : 'warning', 'block-size', message, [
      fix(`Set block-size to ${nearest}`, 'block-size', nearest),
    ]),
    ...(!sure && { refuses: 'perhaps' as const }),
  };
}

/** Source: vLLM 0.28, v1/attention/backends/flash_attn.py :: FlashAttentionImpl; newer versions may read it on Blackwell. */
function cacheFormat(x: Context): readonly Finding[] {
  const { settings, configuration: c, asked } = x;
  const cc = capability(asked.hardware);
  const format = settings.text('kv-cache-dtype') ?? '';
  const named = ['FLASH_ATTN', 'FLASH_ATTN_VLLM_V1'].includes(namedBackend(settings, asked.environment) ?? '');
  const asksFlash = named && c.rules.core === 'V1' && !isLatent(asked.model);
  if (!asksFlash || !format.startsWith('fp8') || cc === undefined || flashAttentionTakesFp8(cc)) {
    return [];
  }
  const sure = cc < 10 || cc >= 12;
  return [
    {
      ...finding(
        'kv-format-not-taken',
        sure ? 'error' : 'warning',
        'kv-cache-dtype',
        `FLASH_ATTN reads an FP8 cache on Hopper alone (compute capability 9.0; this GPU has ${cc.toFixed(1)}): “FlashAttention does not support fp8 kv-cache on this device.”`,
        settings.has('attention-backend')
          ? [fix('Leave the backend to vLLM, which picks one that reads FP8', 'attention-backend', null)]
          : [fix('Set kv-cache-dtype to auto: twice the bytes per token', 'kv-cache-dtype', 'auto')],
      ),
      ...(!sure && { refuses: 'perhaps' as const }),
    },
  ];
}

/** From 0.8 to 0.10 V0 stands in for V1 where V1 does not take the KV format, unless V1 is asked for. */
function olderEngine({ settings, configuration: c, asked }: Context): readonly Finding[] {
  if (isLatent(asked.model) || v1TakesFormat(c.version.text, settings, asked.environment, asked.hardware)) {
    return [];
  }
  const format = settings.text('kv-cache-dtype');
  if (asked.environment.get('VLLM_USE_V1') === '1') {
    return [
      finding(
        'kv-format-not-taken',
        'error',
        'kv-cache-dtype',
        `VLLM_USE_V1=1 is not supported with --kv-cache-dtype ${format} on this GPU: vLLM ${c.version.text} takes it on Hopper alone, unless V0 may stand in.`,
        [fix('Set kv-cache-dtype to auto: twice the bytes per token', 'kv-cache-dtype', 'auto')],
      ),
    ];
  }
  return asked.environment.has('VLLM_USE_V1')
    ? []
    : [
        finding(
          'runs-on-v0',
          'information',
          'kv-cache-dtype',
          `vLLM ${c.version.text} runs its older engine, V0: V1 takes kv-cache-dtype ${format} on Hopper alone. It is planned with V0's rules.`,
        ),
      ];
}
