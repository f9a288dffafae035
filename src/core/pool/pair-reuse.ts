/** What a second prompt finds of a first one, in figures that a face only has to show. */
import type { Machine } from './clock';
import { type PromptReuse, type PromptSizes, promptReuse } from './prefix-study';
import type { PromptPair, PromptTokens } from './prompts';
import type { WorldOptions } from './worlds';

/** By what rule. `blockSize`: tokens that the engine keeps or drops as one. */
export type PairRules =
  /** The engine's own scheduler, simulated. */
  | { readonly kind: 'world'; readonly world: WorldOptions; readonly machine?: Machine; readonly blockSize: number }
  /** Whole blocks that both begin with; of a prompt its last token is always computed. */
  | { readonly kind: 'blocks'; readonly blockSize: number }
  /** Prompts are not kept. */
  | { readonly kind: 'off'; readonly blockSize: number }
  /** Not known: only what they share is said, in tokens and blocks, or in tokens alone. */
  | { readonly kind: 'shared'; readonly blockSize: number }
  | { readonly kind: 'tokens' };

interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface PairReuse {
  /** The engine refuses one of them: why. */
  readonly refused?: string;
  /** Whole blocks that both begin with. */
  readonly sharedBlocks?: Interval;
  /** Of the second prompt, 0…1. */
  readonly sharedShare: number;
  /** What of the second prompt is found; absent where it is not known. */
  readonly found?: PromptTokens & { readonly blocks: Interval; readonly share: number };
  /** *Estimated* seconds that computing it would have taken. */
  readonly saved?: Interval;
}

export function pairReuse(pair: PromptPair, rules: PairRules): PairReuse {
  const whole = Math.max(1, pair.second.value);
  const blockSize = 'blockSize' in rules ? Math.max(1, rules.blockSize) : undefined;
  const blocks = ({ low, high }: Interval): Interval => ({
    low: Math.floor(low / (blockSize ?? 1)),
    high: Math.floor(high / (blockSize ?? 1)),
  });
  const shares = {
    sharedShare: Math.min(1, pair.shared.value / whole),
    ...(blockSize !== undefined && { sharedBlocks: blocks(pair.shared) }),
  };
  if (rules.kind === 'shared' || rules.kind === 'tokens') {
    return shares;
  }
  const [middle, low, high] = sizesOf(pair).map((sizes) => foundBy(sizes, rules)) as [
    PromptReuse,
    PromptReuse,
    PromptReuse,
  ];
  if (middle.refused) {
    return { ...shares, refused: middle.refused };
  }
  const found = { value: middle.hitTokens, low: low.hitTokens, high: high.hitTokens };
  return {
    ...shares,
    found: { ...found, blocks: blocks(found), share: Math.min(1, found.value / whole) },
    ...(low.savedSeconds !== undefined &&
      high.savedSeconds !== undefined && { saved: { low: low.savedSeconds, high: high.savedSeconds } }),
  };
}

function foundBy(sizes: PromptSizes, rules: Extract<PairRules, { kind: 'world' | 'blocks' | 'off' }>): PromptReuse {
  switch (rules.kind) {
    case 'world':
      return promptReuse(sizes, rules.world, rules.machine);
    case 'blocks': {
      const shared = Math.min(sizes.shared, sizes.second - 1);
      return { hitTokens: shared - (shared % Math.max(1, rules.blockSize)), savedSeconds: undefined };
    }
    case 'off':
      return { hitTokens: 0, savedSeconds: undefined };
  }
}

/** The middle of the estimate, its low end and its high end. */
const sizesOf = ({ first, second, shared }: PromptPair): PromptSizes[] =>
  (['value', 'low', 'high'] as const).map((at) => ({
    first: Math.max(1, first[at]),
    second: Math.max(1, second[at]),
    shared: shared[at],
  }));
