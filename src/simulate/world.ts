/** From a plan to the rules and the memory of its engine, as the pool's simulation takes them. */

import { compareVersions } from '../core/engines/option';
import type { CapacityPolicy, ContiguousOptions, GroupSpec, RadixPolicy, WorldOptions } from '../core/pool';
import { withCommas } from '../core/units';
import type { Plan } from '../planner';

export interface PlannedWorld {
  readonly options: WorldOptions;
  /** Blocks of the pool that requests can get, and the tokens of one; slots for engines that have them. */
  readonly blocks: number;
  readonly blockSize: number;
  /** What of the launch the simulation leaves out or simplifies. */
  readonly notes: readonly string[];
}

export type WorldOrReason = PlannedWorld | { readonly reason: string };

/** What every engine's world is made from. */
interface Sizes {
  readonly plan: Plan;
  readonly blocks: number;
  readonly usable: number;
  readonly blockSize: number;
  readonly maxLength: number;
  readonly most: number;
  readonly hostBlocks: number;
}

export function worldOf(plan: Plan): WorldOrReason {
  const { kv, capacity, engine } = plan;
  if (!plan.planned) {
    return { reason: 'It could not be planned.' };
  }
  if (!(engine.id in MAKERS)) {
    return { reason: `The scheduler of ${engine.title} is not simulated.` };
  }
  if (!kv?.pool || !capacity) {
    return { reason: 'How much memory is left for the KV cache is not known.' };
  }
  const sizes = sizesOf(plan);
  if (!sizes || sizes.usable < 1 || sizes.most < 1) {
    return { reason: 'The pool has no room for a request.' };
  }
  const made = MAKERS[engine.id as keyof typeof MAKERS](sizes);
  return 'reason' in made ? made : { ...made, notes: [...made.notes, ...commonNotes(plan)] };
}

function sizesOf(plan: Plan): Sizes | undefined {
  const { kv, capacity } = plan;
  if (!kv?.pool || !capacity) {
    return undefined;
  }
  const { layout, pool } = kv;
  const main = pool.parts?.find((part) => part.groups.some((group) => isWhole(layout.groups[group]?.kind)));
  const blocks = main?.blocks.value ?? pool.blocks.value;
  const blockSize = layout.blockSize * layout.tokensPerSlot;
  return {
    plan,
    blocks,
    usable: main ? blocks - (main.held ?? 0) : pool.usableBlocks,
    blockSize,
    maxLength: capacity.maxLength,
    most: Math.min(capacity.engineLimit?.value ?? Number.POSITIVE_INFINITY, 2 ** 20),
    hostBlocks: Math.floor((pool.hostTier?.tokens.value ?? 0) / blockSize),
  };
}

const isWhole = (kind: string | undefined): boolean => kind === 'full' || kind === 'latent';

/** The value of an option as written or defaulted, where it is of this type. */
function optionOf(plan: Plan, name: string): unknown {
  return plan.options.find((option) => option.name === name)?.value;
}
const numberOf = (plan: Plan, name: string): number | undefined => {
  const value = optionOf(plan, name);
  return typeof value === 'number' ? value : undefined;
};
const flagOf = (plan: Plan, name: string): boolean | undefined => {
  const value = optionOf(plan, name);
  return typeof value === 'boolean' ? value : undefined;
};

const MAKERS = {
  vllm: vllmWorld,
  sglang: sglangWorld,
  'tensorrt-llm': trtllmWorld,
  'llama-cpp': slotsWorld,
  ollama: slotsWorld,
} as const;

/** V1 keeps a null block that no request gets; V0 had none. */
const isV0 = ({ usable, blocks }: Sizes): boolean => usable === blocks;

function vllmWorld(sizes: Sizes): WorldOrReason {
  return isV0(sizes) ? vllmV0World(sizes) : vllmV1World(sizes);
}

function vllmV1World({ plan, blocks, usable, blockSize, maxLength, most }: Sizes): WorldOrReason {
  const groups = groupsOf(plan);
  if ('reason' in groups) {
    return groups;
  }
  const since = (version: string) => compareVersions(plan.engine.version.text, version) >= 0;
  const batchTokens = numberOf(plan, 'max-num-batched-tokens') ?? 8192;
  return {
    options: {
      engine: 'vllm-v1',
      blocks,
      groups: groups.specs,
      maxLength,
      maxSequences: most,
      batchTokens,
      inFlightTokens: inFlightOf(plan, groups.specs) ?? batchTokens,
      caching: flagOf(plan, 'enable-prefix-caching') ?? groups.specs.every(({ kind }) => kind !== 'state'),
      chunkedPrefill: flagOf(plan, 'enable-chunked-prefill') ?? true,
      reserveWholePrompt: flagOf(plan, 'scheduler-reserve-full-isl') ?? since('0.19'),
      longPrefill: numberOf(plan, 'long-prefill-token-threshold') ?? 0,
      policy: optionOf(plan, 'scheduling-policy') === 'priority' ? 'priority' : 'fcfs',
      watermark: numberOf(plan, 'watermark') ?? 0,
      preallocate: since('0.8.5') ? 0 : Math.ceil(64 / blockSize),
      explainMisses: true,
    },
    blocks: usable,
    blockSize,
    notes: groups.notes,
  };
}

type Groups = { readonly specs: readonly GroupSpec[]; readonly notes: readonly string[] } | { readonly reason: string };

const KINDS: Readonly<Record<string, GroupSpec['kind'] | undefined>> = {
  full: 'full',
  latent: 'full',
  indexer: 'full',
  sliding: 'sliding',
  chunked: 'chunked',
  state: 'state',
};

function groupsOf(plan: Plan): Groups {
  const { kv, layers = [] } = plan;
  const specs: GroupSpec[] = [];
  const notes = new Set<string>();
  const held = kv?.layout.groupBlocks(plan.capacity?.maxLength ?? 1) ?? [];
  for (const [at, group] of (kv?.layout.groups ?? []).entries()) {
    const kind = stateKind(plan, held[at] ?? 1, KINDS[group.kind]);
    if (!kind) {
      return { reason: `Layers of the kind ${group.kind} are not simulated.` };
    }
    const windows = [...new Set(layers.filter((l) => l.kind === group.kind).map((l) => l.window ?? 0))];
    const window = Math.max(0, ...windows);
    if (windows.length > 1 && window > 0) {
      notes.add('Windows of several lengths are simulated as the longest.');
    }
    const blockSize =
      kind === 'state' || kind === 'snapshots' ? group.blockSize : group.blockSize * (kv?.layout.tokensPerSlot ?? 1);
    specs.push({ kind, blockSize, ...(window > 0 ? { window } : {}) });
  }
  return { specs, notes: [...notes] };
}

/** States are kept at block edges where a request holds more than the running one (mamba-cache-mode `align` or `all`). */
const stateKind = (plan: Plan, held: number, kind: GroupSpec['kind'] | undefined): GroupSpec['kind'] | undefined =>
  kind === 'state' && held > 1 && flagOf(plan, 'enable-prefix-caching') !== false ? 'snapshots' : kind;

/** Tokens in flight, as the layout charges them to a window: its blocks are ⌈(window − 1 + in flight) ÷ block⌉ + 1. */
function inFlightOf({ kv, capacity }: Plan, specs: readonly GroupSpec[]): number | undefined {
  const at = specs.findIndex(({ kind }) => kind === 'sliding');
  const { window = 0, blockSize = 1 } = specs[at] ?? {};
  const blocks = kv?.layout.groupBlocks(capacity?.maxLength ?? 1)[at];
  const tokens = blocks === undefined ? 0 : (blocks - 1) * blockSize - window + 1;
  return tokens > 0 ? tokens : undefined;
}

function vllmV0World({ plan, blocks, blockSize, maxLength, most, hostBlocks }: Sizes): PlannedWorld {
  const mode = optionOf(plan, 'preemption-mode');
  const batchTokens = numberOf(plan, 'max-num-batched-tokens') ?? maxLength;
  return {
    options: {
      engine: 'vllm-v0',
      blocks,
      blockSize,
      hostBlocks,
      maxLength,
      maxSequences: most,
      batchTokens: Math.max(batchTokens, maxLength),
      ...(mode === 'swap' || mode === 'recompute' ? { preemption: mode } : {}),
    },
    blocks,
    blockSize,
    notes: [
      'vLLM V0 is simulated without prefix caching and chunked prefill.',
      ...(batchTokens < maxLength ? ['A step takes a whole prompt, as large as it may be.'] : []),
    ],
  };
}

function sglangWorld({ plan, usable, blockSize, maxLength, most }: Sizes): PlannedWorld {
  const policy = optionOf(plan, 'radix-eviction-policy');
  const chunk = numberOf(plan, 'chunked-prefill-size') ?? 8192;
  return {
    options: {
      engine: 'sglang',
      tokens: usable * blockSize,
      pageSize: blockSize,
      radixCache: flagOf(plan, 'disable-radix-cache') !== true,
      ...(isRadixPolicy(policy) ? { eviction: policy } : {}),
      maxRunning: most,
      maxLength,
      chunk: Math.max(0, chunk),
      prefillTokens: numberOf(plan, 'max-prefill-tokens') ?? 16384,
      conservativeness: numberOf(plan, 'schedule-conservativeness') ?? 1,
    },
    blocks: usable,
    blockSize,
    notes: [],
  };
}

const isRadixPolicy = (value: unknown): value is RadixPolicy =>
  ['lru', 'lfu', 'slru', 'priority'].includes(String(value));

/** The names the engine gives its policies, in any case and with either dash. */
const POLICIES: readonly CapacityPolicy[] = ['guaranteed-no-evict', 'max-utilization', 'static-batch'];

function trtllmWorld({ plan, usable, blockSize, maxLength, most, hostBlocks }: Sizes): PlannedWorld {
  const written = String(optionOf(plan, 'scheduler_config.capacity_scheduler_policy')).toLowerCase().replace(/_/g, '-');
  return {
    options: {
      engine: 'tensorrt-llm',
      blocks: usable,
      blockSize,
      hostBlocks,
      policy: POLICIES.find((policy) => policy === written) ?? 'guaranteed-no-evict',
      reuse: flagOf(plan, 'kv_cache_config.enable_block_reuse') ?? true,
      partialReuse: flagOf(plan, 'kv_cache_config.enable_partial_reuse') ?? true,
      maxBatch: most,
      batchTokens: numberOf(plan, 'max_num_tokens') ?? 8192,
      maxLength,
      chunkedPrefill: flagOf(plan, 'enable_chunked_prefill') ?? false,
    },
    blocks: usable,
    blockSize,
    notes: [],
  };
}

/** llama.cpp's slots, each with its cells, or all on one stream. */
function slotsWorld({ plan, usable, blockSize, most }: Sizes): PlannedWorld {
  const unified = plan.kv?.layout.allocator === 'cells';
  return {
    options: {
      engine: 'llama.cpp',
      slots: unified ? most : usable,
      cells: unified ? usable * blockSize : blockSize,
      unified,
      batchTokens: numberOf(plan, 'batch-size') ?? numberOf(plan, 'num_batch') ?? 2048,
      cachePrompt: flagOf(plan, 'cache-prompt') ?? true,
      similarity: numberOf(plan, 'slot-prompt-similarity') ?? 0.1,
    },
    blocks: usable,
    blockSize,
    notes: plan.engine.id === 'ollama' ? ["Ollama's runner is simulated by the rules of llama.cpp's slots."] : [],
  };
}

function commonNotes(plan: Plan): string[] {
  const { kv, layers = [], engine } = plan;
  const range = kv?.pool?.blocks.range;
  return [
    ...(kv?.pool?.parts ? ['Pools that the engine keeps for windows and states are not simulated.'] : []),
    ...(engine.id !== 'vllm' && !kv?.pool?.parts && kv?.layout.groups.some(({ kind }) => !isWhole(kind))
      ? ['Windows and states are not simulated: only what grows with every token.']
      : []),
    ...(layers.some((layer) => layer.draft) ? ['Tokens guessed ahead are not simulated: each step makes one.'] : []),
    ...(range && range.low < range.high
      ? [
          `The pool is an estimate (${withCommas(Math.floor(range.low))} to ${withCommas(Math.floor(range.high))} blocks); it is simulated at its usual size.`,
        ]
      : []),
  ];
}

/**
 * The same bytes without paging: slabs of the longest request. A token's room is what a request of that length takes, so
 * that as many slabs fit as in the report's contiguous world.
 */
export function contiguousOf(plan: Plan, world: WorldOptions): ContiguousOptions | undefined {
  const { kv, capacity } = plan;
  const slab = capacity?.contiguous.bytesPerRequest.value;
  if (!kv?.pool || !capacity || !slab) {
    return undefined;
  }
  const { maxLength } = capacity;
  const slots = world.engine === 'llama.cpp' ? world.slots : undefined;
  return {
    tokens: Math.floor((kv.pool.bytes.value / slab) * maxLength),
    maxLength,
    fit: 'slots',
    batching: 'continuous',
    maxSequences:
      slots ?? ('maxBatch' in world ? world.maxBatch : 'maxRunning' in world ? world.maxRunning : mostOf(world)),
    batchTokens: 'batchTokens' in world ? (world.batchTokens ?? maxLength) : maxLength,
  };
}

const mostOf = (world: WorldOptions): number => ('maxSequences' in world ? world.maxSequences : 2 ** 20);
