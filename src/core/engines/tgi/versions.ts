/** What a version of TGI changes in a plan. */
import { type Change, rulesAt } from '../version-rules';

export interface TgiRules {
  /** The engine's own reserve, and what it is a share of. */
  readonly reserve: { readonly of: 'free' | 'total'; readonly keeps: number };
  /** An environment variable replaces the reserve. */
  readonly wiggle: boolean;
  /** Attention kernels are chosen by card and model; before, blocks of 16 (256 with flash decoding). */
  readonly choosesKernels: boolean;
  /** What a starting request sets aside: its whole life, at most 1024 tokens where it gives no number, or always at most as many. */
  readonly chunk: 'life' | 'unless-given' | 'always';
  /** The longest request is what the pool holds where the launch gives none. */
  readonly infersLength: boolean;
  /** Flash models ignore max-batch-total-tokens. */
  readonly ignoresTotal: boolean;
  readonly logsBlocks: boolean;
  /** Prompts are split, so that one may be longer than a step. */
  readonly splitsPrompts: boolean;
}

const FIRST: TgiRules = {
  reserve: { of: 'free', keeps: 1 },
  wiggle: false,
  choosesKernels: false,
  chunk: 'life',
  infersLength: false,
  ignoresTotal: false,
  logsBlocks: false,
  splitsPrompts: false,
};

/** Read at tags v1.0.0 … v3.3.7: server/…/flash_causal_lm.py, import_utils.py; router/src/validation.rs; launcher/src/main.rs. */
const CHANGES: readonly Change<TgiRules>[] = [
  ['1.4', { reserve: { of: 'free', keeps: 0.95 } }, '95 % of what is free'],
  ['2.0', { ignoresTotal: true }, 'max-batch-total-tokens is ignored, with a warning'],
  ['2.3', { wiggle: true, choosesKernels: true }, 'TGI_WIGGLE_ROOM; ATTENTION'],
  [
    '2.4',
    { reserve: { of: 'free', keeps: 0.9 }, logsBlocks: true },
    '90 % of what is free; “KV-cache blocks” in the log',
  ],
  [
    '3.0',
    {
      reserve: { of: 'total', keeps: 0.95 },
      chunk: 'unless-given',
      infersLength: true,
      splitsPrompts: true,
    },
    'the reserve is a share of the card',
  ],
  ['3.1', { reserve: { of: 'total', keeps: 0.93 } }, '93 % of the card'],
  ['3.1.1', { chunk: 'always' }, 'requests are queued again after 1024 tokens'],
  ['3.3', { reserve: { of: 'total', keeps: 0.9 } }, '90 % of the card'],
];

/** Versions whose source was read, oldest first. */
export const TGI_VERSIONS: readonly string[] = ['1.0', '1.4', '2.0', '2.2', '2.3', '2.4', '3.0', '3.1', '3.2', '3.3'];

export const tgiRules = (version: string): TgiRules => rulesAt(FIRST, CHANGES, version);
