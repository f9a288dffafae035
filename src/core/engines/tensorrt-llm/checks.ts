/** What else is worth knowing of a launch of TensorRT-LLM. */
import { formatBytes, withCommas } from '../../units';
import type { Checked, Finding } from '../engine';
import { TITLE, type TrtConfiguration } from './configure';
import { windowsIn } from './layout';

type Known = Checked<TrtConfiguration>;

const information = (
  code: string,
  message: string,
  option?: string,
  severity: Finding['severity'] = 'information',
): Finding => ({
  code,
  severity,
  message,
  option,
  fixes: [],
});

export function checksOf(checked: Known): readonly Finding[] {
  return [versionNote, reuse, caps, policy, attentionData, replicated, windows, shareOfFree].flatMap((check) =>
    check(checked),
  );
}

const versionNote = ({ configuration: { version } }: Known): readonly Finding[] =>
  version.note === undefined ? [] : [information('version', version.note)];

function reuse({ configuration: { reuse } }: Known): readonly Finding[] {
  return reuse.why === undefined
    ? []
    : [
        information(
          'reuse-off',
          `Blocks are not reused, whatever enable_block_reuse says: ${reuse.why}.`,
          'kv_cache_config.enable_block_reuse',
        ),
      ];
}

/** max_tokens and the memory share: the smaller of the two wins. */
function caps({ configuration: c, pool, layout, budget }: Known): readonly Finding[] {
  if (c.maxTokens === undefined || !pool) {
    return [];
  }
  const option = 'kv_cache_config.max_tokens';
  if (windowsIn(c).length > 1) {
    return [information('cap-ignored', 'max_tokens is ignored where layers have different attention windows.', option)];
  }
  const memory = pool.memory ?? budget?.ranks[pool.decidingRank];
  const perToken = layout.bytesPerToken.value + windowBytes(layout);
  const left = memory && perToken > 0 ? Math.floor(memory.value / perToken) : undefined;
  const share =
    left === undefined
      ? ''
      : ` The memory share leaves ${withCommas(left)} tokens${memory && memory.low < memory.high ? ', estimated' : ''};`;
  return [
    information(
      'smaller-wins',
      `${share} max_tokens says ${withCommas(c.maxTokens)}: the smaller of the two is the pool.`.trim(),
      option,
    ),
  ];
}

const windowBytes = (layout: Known['layout']): number =>
  layout.groups.every((g) => g.kind === 'sliding') ? layout.bytesPerBlock.value / layout.blockSize : 0;

function policy({ configuration: c }: Known): readonly Finding[] {
  const option = 'scheduler_config.capacity_scheduler_policy';
  switch (c.policy) {
    case 'MAX_UTILIZATION':
      return [
        information(
          'scheduler-policy',
          'MAX_UTILIZATION starts requests with the blocks of their next step alone: more run at once than the count says, until blocks run out and the most recently started is paused and computed again.',
          option,
        ),
      ];
    case 'STATIC_BATCH':
      return [information('scheduler-policy', 'STATIC_BATCH takes new requests only when the batch is empty.', option)];
    default:
      return [
        information(
          'scheduler-policy',
          'GUARANTEED_NO_EVICT sets the blocks of prompt and answer aside when a request starts: none is ever paused, and one that does not fit holds up those behind it.',
          option,
          'hint',
        ),
      ];
  }
}

function attentionData({ configuration: c, layout }: Known): readonly Finding[] {
  const n = c.placement.attentionData;
  return n > 1
    ? [
        information(
          'attention-dp',
          `Each of the ${n} GPUs attends for its own requests and keeps all heads of them: ${formatBytes(layout.bytesPerToken.value)} per token and GPU, and ${n} pools. max_batch_size counts for each.`,
          'enable_attention_dp',
        ),
      ]
    : [];
}

/** More GPUs than heads: each keeps a copy. */
function replicated({ configuration: c }: Known): readonly Finding[] {
  const { tensor, attentionData } = c.placement;
  if (tensor === 1 || attentionData > 1) {
    return [];
  }
  const heads = Math.min(...c.layers.filter((l) => l.kind !== 'state').map((l) => l.kvHeads));
  if (c.layers.some((l) => l.kind === 'latent')) {
    return [
      information(
        'latent-replicated',
        `Latent attention is kept whole on each of the ${tensor} GPUs; enable_attention_dp gives each one requests of its own instead.`,
        'tensor_parallel_size',
      ),
    ];
  }
  return tensor > heads
    ? [
        information(
          'heads-replicated',
          `${heads} KV heads over ${tensor} GPUs: each head is kept on ${Math.round(tensor / heads)} of them.`,
          'tensor_parallel_size',
        ),
      ]
    : [];
}

/** Equal shares give a small window as much memory as a large one. */
function windows({ configuration: c, layout, pool }: Known): readonly Finding[] {
  const parts = pool?.parts;
  const length = c.maxLength;
  if (!parts || length === undefined) {
    return [];
  }
  const held = layout.groupBlocks(length);
  const counts = parts.map((p, i) => Math.floor(p.blocks.value / (held[i] || 1)));
  const least = Math.min(...counts);
  const most = Math.max(...counts);
  const idle = parts.reduce(
    (sum, p, i) => sum + (p.blocks.value - least * (held[i] ?? 0)) * (layout.groups[i]?.bytesPerBlock ?? 0),
    0,
  );
  return most >= 2 * Math.max(1, least)
    ? [
        information(
          'windows-unbalanced',
          `At ${withCommas(length)} tokens the pools of ${TITLE} hold ${parts.map((p, i) => `${withCommas(counts[i] ?? 0)} requests (${p.name})`).join(' and ')}: ${formatBytes(idle)} per GPU are never used. TRTLLM_WINDOW_SIZE_SHARES divides them otherwise.`,
          'kv_cache_config.max_attention_window',
        ),
      ]
    : [];
}

/** Read by people who come from engines that take a share of the whole card. */
function shareOfFree({ configuration: c, budget }: Known): readonly Finding[] {
  return budget && c.share !== undefined
    ? [
        information(
          'share-of-free',
          `${c.share} is a share of what ${c.backend === 'pytorch' ? 'weights and the profile run' : 'the engine and its buffers'} leave free, not of the card: ${formatBytes(budget.kv.figure.value)} of ${formatBytes(budget.total.value)}.`,
          'kv_cache_free_gpu_memory_fraction',
          'hint',
        ),
      ]
    : [];
}
