/** Memory of the card: what is asked of it, and what the budget does not count. */

import { formatBytes, GiB, isExact, withCommas } from '../../units';
import type { Finding } from '../engine';
import { compareVersions } from '../option';
import { type Context, ends, finding, fix, gain } from './check-context';
import { transformerLayers } from './configure';

export const memoryChecks = (x: Context): readonly Finding[] =>
  [share, statedBytes, blockOverride, encoder, draftWeights, graphs].flatMap((check) => check(x));

/** Taken by the driver and the CUDA context before the engine looks how much is free. */
const CONTEXT_BYTES = 0.5 * GiB;

/** Source: vLLM 0.28, v1/worker/utils.py :: request_memory. */
function share(x: Context): readonly Finding[] {
  const { configuration: c, asked, budget } = x;
  const memory = asked.hardware?.memory.value;
  const wanted = c.utilisation;
  if (!budget || memory === undefined || wanted === undefined) {
    return [];
  }
  const left = memory - Math.ceil(memory * wanted);
  if (left >= CONTEXT_BYTES) {
    return [];
  }
  const safe = Math.floor((1 - CONTEXT_BYTES / memory) * 100) / 100;
  return [
    finding(
      'share-leaves-nothing',
      'warning',
      'gpu-memory-utilization',
      `gpu-memory-utilization ${wanted} asks for all but ${formatBytes(left)} of the card, and the CUDA context takes about half a GiB before vLLM looks: it then refuses, since less is free than it wants.`,
      [
        fix(
          `Set gpu-memory-utilization to ${safe}: ${formatBytes(memory * (1 - safe))} stay free`,
          'gpu-memory-utilization',
          safe,
        ),
      ],
    ),
  ];
}

/** KV bytes that the launch states, against what the card has left beside the weights. */
function statedBytes(x: Context): readonly Finding[] {
  const { configuration: c, asked } = x;
  const stated = c.kvCacheMemory;
  if (stated === undefined || asked.given.kvMemory !== undefined || !asked.hardware) {
    return [];
  }
  const whole = x.whatIf({ 'kv-cache-memory-bytes': null, 'gpu-memory-utilization': 1 })?.budget?.kv.figure;
  const card = asked.hardware.memory;
  const most = whole && ends(whole);
  if (stated <= (most?.high ?? card.high)) {
    return [];
  }
  const usual = x.whatIf({ 'kv-cache-memory-bytes': null, 'gpu-memory-utilization': null })?.budget?.kv.figure;
  const safe = usual && Math.floor(ends(usual).low);
  const certain = stated > card.high;
  return [
    finding(
      'kv-bytes-above-card',
      certain ? 'error' : 'warning',
      'kv-cache-memory-bytes',
      certain
        ? `kv-cache-memory-bytes ${formatBytes(stated)} is more than the card has, ${formatBytes(card.high)}: there is no memory for the pool.`
        : `kv-cache-memory-bytes ${formatBytes(stated)} is not checked at start: beside weights and activations the whole card leaves at most ${formatBytes(most?.high ?? 0)}, so that it runs out of memory.`,
      safe !== undefined && safe > 0
        ? [
            fix(
              `Set kv-cache-memory-bytes to ${withCommas(safe)} (${formatBytes(safe)}), what the default share of the card leaves for sure`,
              'kv-cache-memory-bytes',
              safe,
            ),
          ]
        : [],
    ),
  ];
}

/** The number of blocks is meant for tests: memory is not asked. */
function blockOverride({ configuration: c, pool, layout }: Context): readonly Finding[] {
  const { memory } = pool ?? {};
  if (c.blocksOverride === undefined || !memory) {
    return [];
  }
  const perBlock = Math.max(...layout.ranks.map((r) => r.bytesPerBlock));
  const bytes = c.blocksOverride * perBlock;
  if (bytes <= memory.high) {
    return [];
  }
  const safe = Math.floor(memory.low / perBlock);
  return [
    finding(
      'blocks-above-memory',
      'warning',
      'num-gpu-blocks-override',
      `${withCommas(c.blocksOverride)} blocks take ${formatBytes(bytes)} on each GPU, and memory leaves ${isExact(memory) ? '' : 'at most '}${formatBytes(memory.high)}: allocating them runs out of memory.`,
      safe > 0
        ? [
            fix(
              `Set num-gpu-blocks-override to ${withCommas(safe)}, what memory holds${isExact(memory) ? '' : ' for sure'}`,
              'num-gpu-blocks-override',
              safe,
            ),
          ]
        : [],
    ),
  ];
}

/** First version whose option for it is known here. */
const LANGUAGE_ONLY = '0.21';

/** The profile of an image encoder takes memory even where only text is served. */
function encoder(x: Context): readonly Finding[] {
  const { configuration: c, asked, budget } = x;
  const option = 'language-model-only';
  if (!budget || !asked.model.multimodal || c.languageOnly || compareVersions(c.version.text, LANGUAGE_ONLY) < 0) {
    return [];
  }
  const textOnly = x.whatIf({ [option]: true });
  const effect = gain(x, textOnly, 1.05);
  return effect === undefined
    ? []
    : [
        finding(
          'encoder-takes-memory',
          'hint',
          'model',
          'The model reads images or sound, and its encoder is profiled at start: that memory is not the cache’s, even where only text is served.',
          [fix(`Serve text alone: ${effect}`, option, true)],
        ),
      ];
}

/** What drafts keep in memory beside their KV cache. */
function draftWeights({ configuration: c, asked, budget }: Context): readonly Finding[] {
  if (!budget) {
    return [];
  }
  if (c.draft && !c.draft.weights) {
    return [
      finding(
        'draft-weights-unknown',
        'warning',
        'speculative-config',
        `The weights of the draft model ${c.draft.id} are not known, so the budget is without them: the pool is smaller than shown. Say \`# kv-planner: weights=…\` for both together.`,
      ),
    ];
  }
  const heads = c.draft ? 0 : c.layers.filter((l) => l.draft && !l.joined).length;
  const { weights } = asked.model;
  if (heads === 0 || !weights || asked.given.weights !== undefined) {
    return [];
  }
  const bytes = (heads * weights.bytes) / transformerLayers(asked.model) / c.placement.tensor;
  return [
    finding(
      'mtp-weights-not-counted',
      'information',
      'speculative-config',
      `The KV cache of the MTP head is counted, its weights are not: they are about those of one layer, ${formatBytes(bytes)} on each GPU, by which the pool is smaller.`,
    ),
  ];
}

function graphs({ configuration: c, asked, budget }: Context): readonly Finding[] {
  const off = asked.environment.get('VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS') === '0';
  return budget && off && !c.eager && compareVersions(c.version.text, '0.21') >= 0
    ? [
        finding(
          'graphs-outside-budget',
          'information',
          undefined,
          'VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0 leaves CUDA graphs out of the budget: they are captured from what gpu-memory-utilization leaves free, and run out of memory where that is little.',
        ),
      ]
    : [];
}
