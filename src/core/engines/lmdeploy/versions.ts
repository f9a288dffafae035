/** What a version of LMDeploy changes in a plan. */
import { type Change, rulesAt } from '../version-rules';

export interface LmdeployRules {
  /** What TurboMind's share is a share of. */
  readonly shareOf: 'total' | 'free';
  /** TurboMind reads a share of 1 and more as a number of blocks. */
  readonly countsBlocks: boolean;
  /** TurboMind cuts the session length to what the pool holds. */
  readonly cutsSession: boolean;
  /** TurboMind carves blocks out of slabs of whole pages. */
  readonly slabs: boolean;
  /** MLA keeps one vector; before, TurboMind kept both halves. */
  readonly latentOnce: boolean;
  /** 4 and 8 bits are quantised as they come, with a scale for every token; before, 4 stood for 8 bits with one calibrated scale for a layer (InternLM/lmdeploy#22). */
  readonly onlineQuantisation: boolean;
  /** PyTorch rounds each tensor of a block up to this many bytes. */
  readonly alignment: number;
  /** PyTorch sets aside: bytes per row of logits and vocabulary entry, and whether requests count. */
  readonly logits: { readonly bytes: number; readonly perRequest: boolean };
  /** Slots of states beyond max_batch_size (PyTorch); undefined before it had any. */
  readonly extraStates?: number;
  /** PyTorch needs more blocks than this. */
  readonly leastBlocks: number;
  readonly log: 'blocks' | 'budget';
}

const FIRST: LmdeployRules = {
  shareOf: 'total',
  countsBlocks: true,
  cutsSession: true,
  slabs: false,
  latentOnce: false,
  onlineQuantisation: false,
  alignment: 1,
  logits: { bytes: 7, perRequest: false },
  leastBlocks: 0,
  log: 'blocks',
};

/** Read at tags v0.2.0 … v0.16.0: src/turbomind, lmdeploy/pytorch/engine. */
const CHANGES: readonly Change<LmdeployRules>[] = [
  ['0.2.2', { shareOf: 'free' }, 'the share is of the memory that the weights leave free'],
  ['0.4', { onlineQuantisation: true }, 'quant-policy 4 and 8 with a scale and a zero point for every head and token'],
  ['0.5', { logits: { bytes: 2, perRequest: true } }, 'two rows of logits for every request, in 16 bit'],
  ['0.11', { alignment: 256, extraStates: 8 }, 'tensors of a block aligned; state caches'],
  ['0.12.3', { extraStates: 1 }, 'one slot of states beyond max_batch_size'],
  ['0.13', { leastBlocks: 2 }, 'PyTorch wants more than two blocks'],
  ['0.14', { latentOnce: true, extraStates: 2 }, 'TurboMind keeps the latent vector once'],
  [
    '0.15',
    { slabs: true, countsBlocks: false, cutsSession: false, log: 'budget' },
    'TurboMind’s object cache: one arena of pages; the session length stays',
  ],
];

/** Versions whose source was read, oldest first. */
export const LMDEPLOY_VERSIONS: readonly string[] = [
  '0.2.0',
  '0.2.2',
  '0.4',
  '0.6',
  '0.9',
  '0.11',
  '0.13',
  '0.14',
  '0.15',
  '0.16',
];

export const lmdeployRules = (version: string): LmdeployRules => rulesAt(FIRST, CHANGES, version);
