/** Settings that vLLM refuses, ignores, or reads otherwise than they look. */
import { formatBytes, GiB, toFixedHalfEven, withCommas } from '../../units';
import type { Finding, Setting } from '../engine';
import { usesChunkedPrefill } from './batch';
import { type Context, finding, fix } from './check-context';

export const optionChecks = (x: Context): readonly Finding[] =>
  [batch, chunkedPrefill, contextParallel, suffixes, byteCapAndShare, hostMemory].flatMap((check) => check(x));

/** Source: vLLM 0.28, config/scheduler.py :: verify_max_model_len, and the same in 0.6.6. */
function batch({ settings }: Context): readonly Finding[] {
  const tokens = settings.number('max-num-batched-tokens');
  const sequences = settings.number('max-num-seqs');
  if (tokens === undefined || sequences === undefined || tokens >= sequences) {
    return [];
  }
  return [
    finding(
      'batch-below-sequences',
      'error',
      'max-num-batched-tokens',
      `max_num_batched_tokens (${tokens}) must be greater than or equal to max_num_seqs (${sequences}).`,
      [
        fix(
          `Set max-num-batched-tokens to ${withCommas(sequences)}, one token for each sequence`,
          'max-num-batched-tokens',
          sequences,
        ),
      ],
    ),
  ];
}

function chunkedPrefill({ settings, configuration: c }: Context): readonly Finding[] {
  const tokens = settings.number('max-num-batched-tokens');
  const length = c.autoLength ? undefined : c.maxLength;
  if (
    tokens === undefined ||
    length === undefined ||
    tokens >= length ||
    usesChunkedPrefill(settings, c.rules, length)
  ) {
    return [];
  }
  const chunk = settings.has('enable-chunked-prefill') || c.rules.core === 'V0';
  return [
    finding(
      'batch-below-length',
      'error',
      'max-num-batched-tokens',
      `max_num_batched_tokens (${tokens}) is smaller than max_model_len (${length}), and without chunked prefill one step must hold a whole prompt: vLLM refuses to start.`,
      [
        ...(chunk
          ? [fix('Switch chunked prefill on: long prompts take several steps', 'enable-chunked-prefill', true)]
          : []),
        fix(
          `Set max-num-batched-tokens to ${withCommas(length)}, a whole prompt of max length`,
          'max-num-batched-tokens',
          length,
        ),
      ],
    ),
  ];
}

/** Source: vLLM 0.28, config/parallel.py, config/vllm.py. */
function contextParallel({ settings, configuration: c, asked: { model } }: Context): readonly Finding[] {
  const { tensor, context, data } = c.placement;
  const found: Finding[] = [];
  const interleave = settings.number('cp-kv-cache-interleave-size') ?? 1;
  if (interleave > 1 && c.block.tokens % interleave !== 0) {
    found.push(
      finding(
        'interleave-does-not-divide',
        'error',
        'cp-kv-cache-interleave-size',
        `The block size (${c.block.tokens}) must be a multiple of cp-kv-cache-interleave-size (${interleave}).`,
        [fix('Set cp-kv-cache-interleave-size to 1, the default', 'cp-kv-cache-interleave-size', 1)],
      ),
    );
  }
  const queries = model.attentionHeads / model.kvHeads;
  if (
    context > 1 &&
    Number.isInteger(queries) &&
    queries % context !== 0 &&
    !c.layers.some((l) => l.kind === 'latent')
  ) {
    found.push(
      finding(
        'dcp-does-not-divide-queries',
        'error',
        'decode-context-parallel-size',
        `Decode context parallelism of ${context} must divide the ${queries} query heads that share one KV head.`,
        [fix('Set decode-context-parallel-size to 1', 'decode-context-parallel-size', 1)],
      ),
    );
  }
  const prefill = settings.number('prefill-context-parallel-size') ?? 1;
  if (prefill > 1) {
    const allowed = [1, prefill, tensor * prefill];
    const refused =
      data > 1
        ? 'does not go together with data parallelism'
        : allowed.includes(context)
          ? undefined
          : `needs a decode-context-parallel-size of ${[...new Set(allowed)].join(', ')}, not ${context}`;
    found.push(
      refused === undefined
        ? finding(
            'pcp-not-planned',
            'warning',
            'prefill-context-parallel-size',
            `Prefill context parallelism is not planned: what is shown holds for prefill-context-parallel-size 1. With ${prefill}, ${tensor * prefill} GPUs serve one replica and each keeps a share of the tokens.`,
          )
        : finding(
            'pcp-refused',
            'error',
            'prefill-context-parallel-size',
            `Prefill context parallelism of ${prefill} ${refused}.`,
            [fix('Set prefill-context-parallel-size to 1', 'prefill-context-parallel-size', 1)],
          ),
    );
  }
  return found;
}

const COUNTED = ['max-model-len', 'max-num-batched-tokens', 'kv-cache-memory-bytes'];

/** `32k` is 32,000 for vLLM and `32K` 32,768. Said where people mean the latter: powers of two, the model's own length, sizes. */
function suffixes(x: Context): readonly Finding[] {
  return COUNTED.flatMap((option) => {
    const setting = x.settings.find(option);
    const meant = setting && setting.origin !== 'default' ? binaryOf(setting) : undefined;
    if (setting === undefined || meant === undefined || !likely(option, meant, x)) {
      return [];
    }
    const bytes = option === 'kv-cache-memory-bytes';
    const read = Number(setting.value);
    const upper = meant.text;
    const words = (n: number) => (bytes ? `${withCommas(n)} bytes (${formatBytes(n)})` : `${withCommas(n)} tokens`);
    const own = meant.value === ownLength(x) && option === 'max-model-len' ? ', the model’s own length' : '';
    return [
      finding(
        'suffix-counts-in-thousands',
        option === 'max-model-len' ? 'information' : 'hint',
        option,
        `vLLM reads ${setting.raw.trim()} as ${words(read)}: lower-case suffixes count in thousands. ${upper} is ${words(meant.value)}${own}.`,
        [fix(`Write ${upper}: ${words(meant.value)}`, option, upper)],
      ),
    ];
  });
}

interface Binary {
  readonly count: number;
  readonly value: number;
  readonly text: string;
}

function binaryOf(setting: Setting): Binary | undefined {
  const [, digits, suffix] = /^\s*["']?(\d+)([kmgt])["']?\s*$/.exec(setting.raw) ?? [];
  if (digits === undefined || suffix === undefined) {
    return undefined;
  }
  const count = Number(digits);
  return { count, value: count * 1024 ** ('kmgt'.indexOf(suffix) + 1), text: `${digits}${suffix.toUpperCase()}` };
}

/** The model's own max length, as the plan would have it without the option. */
const ownLength = (x: Context): number | undefined => x.whatIf({ 'max-model-len': null })?.configuration.maxLength;

function likely(option: string, meant: Binary, x: Context): boolean {
  if (option === 'kv-cache-memory-bytes') {
    return true;
  }
  const power = Number.isInteger(Math.log2(meant.count));
  if (option !== 'max-model-len') {
    return power;
  }
  const own = ownLength(x);
  return (power && (own === undefined || meant.value <= own)) || meant.value === own;
}

/** Source: vLLM 0.28, v1/worker/gpu_worker.py: with the bytes given, utilisation is not looked at. */
function byteCapAndShare(x: Context): readonly Finding[] {
  const { configuration: c, asked, pool } = x;
  if (c.kvCacheMemory === undefined || !x.written('gpu-memory-utilization')) {
    return [];
  }
  const without = asked.given.kvMemory === undefined ? x.whatIf({ 'kv-cache-memory-bytes': null }) : undefined;
  const blocks = without?.pool?.blocks;
  return [
    finding(
      'share-has-no-effect',
      'information',
      'gpu-memory-utilization',
      `kv-cache-memory-bytes makes the pool ${formatBytes(c.kvCacheMemory)} on each GPU: gpu-memory-utilization ${c.utilisation ?? ''} no longer decides it.`,
      blocks && pool
        ? [
            fix(
              `Let gpu-memory-utilization decide: ${withCommas(pool.blocks.value)} → about ${withCommas(blocks.value)} blocks`,
              'kv-cache-memory-bytes',
              null,
            ),
          ]
        : [],
    ),
  ];
}

function hostMemory(x: Context): readonly Finding[] {
  const { configuration: c, settings, pool } = x;
  const found: Finding[] = [];
  if (c.rules.core === 'V1' && x.written('swap-space') && x.takes('swap-space')) {
    found.push(
      finding(
        'swap-space-ignored',
        'hint',
        'swap-space',
        'V1 does not swap: swap-space is ignored, and preempted requests are computed again.',
      ),
    );
  }
  const size = settings.number('kv-offloading-size') ?? 0;
  if (size > 0 && settings.text('kv-offloading-backend') === 'lmcache') {
    const native = x.whatIf({ 'kv-offloading-backend': 'native' })?.pool?.hostTier;
    const holds = native ? `: ${withCommas(native.tokens.value)} tokens in host memory` : '';
    found.push(
      finding(
        'offload-size-ignored',
        'information',
        'kv-offloading-size',
        'lmcache takes its size from its own settings (LMCACHE_MAX_LOCAL_CPU_SIZE, for each worker): kv-offloading-size is ignored.',
        [fix(`Set kv-offloading-backend to native${holds}`, 'kv-offloading-backend', 'native')],
      ),
    );
  }
  const gpus = c.placement.tensor * c.placement.pipeline;
  const tier = pool?.hostTier;
  if (c.offloadBytes > 0 && gpus > 1 && tier && size < gpus) {
    found.push(
      finding(
        'offload-size-is-total',
        'hint',
        'kv-offloading-size',
        `kv-offloading-size is the total of all ${gpus} GPUs: ${toFixedHalfEven(c.offloadBytes / GiB / gpus, 2)} GiB each, ${withCommas(tier.tokens.value)} tokens in all.`,
        [fix(`Set kv-offloading-size to ${size * gpus}: ${size} GiB for each GPU`, 'kv-offloading-size', size * gpus)],
      ),
    );
  }
  return found;
}
