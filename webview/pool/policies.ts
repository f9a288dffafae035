/** What of an engine's scheduling can be tried without touching the file: the choices its simulation has. */
import type { ContiguousOptions, WorldOptions } from '../../src/core/pool';

export interface Policy {
  /** The field of the engine's options. */
  readonly key: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly text: string; readonly set: unknown }[];
  /** The field's value where the options do not have it. */
  readonly usual: unknown;
}

const onOff = (key: string, label: string, usual = true): Policy => ({
  key,
  label,
  choices: [
    { value: 'on', text: 'on', set: true },
    { value: 'off', text: 'off', set: false },
  ],
  usual,
});

const pick = (key: string, label: string, usual: string, texts: Readonly<Record<string, string>>): Policy => ({
  key,
  label,
  choices: Object.entries(texts).map(([value, text]) => ({ value, text, set: value })),
  usual,
});

const POLICIES: Readonly<Record<WorldOptions['engine'], readonly Policy[]>> = {
  'vllm-v1': [
    pick('policy', 'Scheduling', 'fcfs', { fcfs: 'first come', priority: 'by priority' }),
    onOff('caching', 'Prefix cache'),
    onOff('chunkedPrefill', 'Chunked prefill'),
  ],
  'vllm-v0': [pick('preemption', 'Preemption', 'recompute', { recompute: 'recompute', swap: 'swap to the host' })],
  sglang: [
    pick('eviction', 'Eviction', 'lru', {
      lru: 'least recently used',
      lfu: 'least often used',
      slru: 'segmented LRU',
      priority: 'by priority',
    }),
    onOff('radixCache', 'Radix cache'),
  ],
  'tensorrt-llm': [
    pick('policy', 'Capacity policy', 'guaranteed-no-evict', {
      'guaranteed-no-evict': 'guaranteed no evict',
      'max-utilization': 'max utilization',
      'static-batch': 'static batch',
    }),
    onOff('reuse', 'Block reuse'),
  ],
  'llama.cpp': [onOff('cachePrompt', 'Prompt cache')],
  contiguous: [],
};

export const policiesOf = ({ engine }: WorldOptions): readonly Policy[] => POLICIES[engine];

/** Of the arena without paging. */
export const ARENA_POLICIES: readonly Policy[] = [
  pick('fit', 'Slabs', 'slots', { slots: 'equal slabs', 'first-fit': 'first fit', 'best-fit': 'best fit' }),
  pick('batching', 'Batching', 'continuous', { continuous: 'continuous', static: 'static' }),
];

/** The value of a policy as the options have it. */
export function chosenOf({ key, choices, usual }: Policy, options: object): string {
  const field = (options as Readonly<Record<string, unknown>>)[key] ?? usual;
  return choices.find(({ set }) => set === field)?.value ?? '';
}

/** The options with what was chosen; unknown choices change nothing. */
export function withPolicies<O extends WorldOptions | ContiguousOptions>(
  options: O,
  policies: readonly Policy[],
  chosen: Readonly<Record<string, string>>,
): O {
  const fields = policies.flatMap(({ key, choices }) => {
    const choice = choices.find(({ value }) => value === chosen[key]);
    return choice ? [[key, choice.set]] : [];
  });
  return { ...options, ...Object.fromEntries(fields) };
}
