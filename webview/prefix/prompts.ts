/** Two prompts, pasted: how much of the second is found, where they part, and what to do about it. */
import { type BreakReason, comparePrompts, type PairReuse, type PairRules, type PromptPair } from '../../src/core/pool';
import type { PoolPart } from '../../src/dashboard/protocol';
import { el, textTable } from '../dom';
import { textArea } from '../ui/toolkit';
import type { ViewContext } from '../view';
import type { Asker } from './ask';
import { n, seconds, tokens, wholePercent } from './words';

export interface Panel {
  readonly element: HTMLElement;
  draw(pool: PoolPart): void;
  state(): unknown;
}

/** Pasting a long text changes a field once; typing changes it at every letter. */
const PAUSE = 200;
/** Longer texts are compared, and not kept over a reload. */
const KEPT = 20_000;

export function promptsPanel(asker: Asker, { keep, say }: ViewContext, kept: unknown): Panel {
  const texts = readTexts(kept);
  let now: PoolPart | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const answer = el('div', { role: 'status' });

  const later = (at: 0 | 1) => (value: string) => {
    texts[at] = value;
    keep();
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), PAUSE);
  };
  const hint = 'Paste a prompt, or token ids: [9906, 11, …]';
  const fields = [textArea('First prompt', hint, later(0)), textArea('Second prompt', hint, later(1))] as const;
  const refresh = async (): Promise<void> => {
    if (!now || texts[0] === '' || texts[1] === '') {
      const own = el('p', { class: 'caption' }, 'Nothing is sent anywhere: the texts stay on this page.');
      answer.replaceChildren(own, ...(now?.kind === 'reason' ? [el('p', { class: 'note' }, now.reuse.why)] : []));
      return;
    }
    const pair = comparePrompts(texts[0], texts[1]);
    try {
      const reuse = await asker.ask({ kind: 'prompts', rules: rulesOf(now), pair });
      if (reuse) {
        answer.replaceChildren(...answerElements(pair, reuse, now));
      }
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };

  return {
    element: el(
      'section',
      {},
      el('h2', {}, 'Two prompts'),
      el('div', { class: 'pair' }, fields[0].element, fields[1].element),
      answer,
    ),
    draw(pool) {
      now = pool;
      fields.forEach((field, i) => {
        field.set(texts[i as 0 | 1], false);
      });
      void refresh();
    },
    state: () => texts.map((text) => (text.length <= KEPT ? text : '')),
  };
}

function readTexts(kept: unknown): [string, string] {
  const [first, second] = Array.isArray(kept) ? kept : [];
  return [typeof first === 'string' ? first : '', typeof second === 'string' ? second : ''];
}

const rulesOf = (pool: PoolPart): PairRules =>
  pool.kind === 'reason'
    ? pool.reuse.rules
    : { kind: 'world', world: pool.world, machine: pool.machine, blockSize: pool.blockSize };

function answerElements(pair: PromptPair, reuse: PairReuse, pool: PoolPart): HTMLElement[] {
  const { found, refused, saved } = reuse;
  if (refused !== undefined) {
    return [el('p', { class: 'missing' }, `The engine refuses one of them: ${refused}.`)];
  }
  const rules = rulesOf(pool);
  const blockSize = 'blockSize' in rules ? rules.blockSize : 1;
  const time =
    saved === undefined
      ? 'not known: the speed of the GPU is not'
      : `estimated ${seconds(saved.low)}${saved.low === saved.high ? '' : ` to ${seconds(saved.high)}`}`;
  const rows: [string, string][] = [
    [
      'Shared at the front',
      `${tokens(pair.shared)} of ${tokens(pair.second)} tokens${blocksWords(reuse.sharedBlocks, blockSize)}`,
    ],
    [
      `Found by ${pool.engine}`,
      found ? `${tokens(found)} tokens${blocksWords(found.blocks, blockSize)}` : 'not said: see below',
    ],
    ...(pool.kind === 'world' ? [['Time to first token saved', time] as [string, string]] : []),
    ['They part', placeWords(pair)],
  ];
  return [
    el('p', { class: 'answer' }, headline(pair, reuse)),
    shareBar(found?.share ?? 0, reuse.sharedShare),
    textTable('What the two prompts share', [], rows),
    ...(pool.kind === 'reason' ? [el('p', { class: 'note' }, pool.reuse.why)] : []),
    el('p', { class: 'advice' }, adviceOf(pair, reuse, blockSize)),
  ];
}

function headline({ exact }: PromptPair, { found, sharedShare }: PairReuse): string {
  const about = exact ? '' : 'About ';
  if (found) {
    return found.value === 0
      ? 'Nothing of the second prompt is found.'
      : `${about}${wholePercent(found.share)} of the second prompt is found.`;
  }
  return sharedShare === 0
    ? 'The two prompts share nothing at the front.'
    : `${about}${wholePercent(sharedShare)} of the second prompt is in the first.`;
}

const blocksWords = (blocks: PairReuse['sharedBlocks'], blockSize: number): string =>
  !blocks || blockSize <= 1
    ? ''
    : `: ${blocks.low === blocks.high ? n(blocks.low) : `${n(blocks.low)} to ${n(blocks.high)}`} ${blocks.high === 1 ? 'block' : 'blocks'} of ${n(blockSize)}`;

/** Found, alike but not found, and the rest. */
function shareBar(found: number, shared: number): HTMLElement {
  const part = (kind: string, share: number): HTMLElement => {
    const piece = el('span', { class: `piece ${kind}` });
    piece.style.flexGrow = String(Math.max(0, share));
    return piece;
  };
  return el(
    'div',
    { class: 'share-bar', 'aria-hidden': 'true' },
    part('found', found),
    part('alike', shared - found),
    part('own', 1 - Math.max(found, shared)),
  );
}

const KINDS: Readonly<Record<BreakReason, string>> = {
  never: 'nowhere: they are the same',
  'first-ends': 'where the first ends: the second goes on',
  'second-ends': 'where the second ends: it is the beginning of the first',
  'white-space': 'at a blank or a line break',
  'letter-case': 'at a capital letter',
  digits: 'at a number',
  text: 'at other words',
};

function placeWords({ at, exact }: PromptPair): string {
  const place = exact ? `, after ${n(at.shared)} token ids` : at.line ? `, line ${at.line}, column ${at.column}` : '';
  const words = at.first || at.second ? `: “${at.first}” against “${at.second}”` : '';
  return at.reason === 'never' ? KINDS.never : `${KINDS[at.reason]}${place}${words}`;
}

function adviceOf({ at, shared }: PromptPair, { found, sharedShare }: PairReuse, blockSize: number): string {
  const early = sharedShare < 0.5;
  if (found?.value === 0 && shared.value >= blockSize * 2) {
    return 'They begin alike, but this launch keeps nothing: its prefix cache is off, or its pool is too small for one prompt.';
  }
  switch (at.reason) {
    case 'never':
    case 'first-ends':
    case 'second-ends':
      return 'Nothing to mend: what comes later can only be computed.';
    case 'digits':
      return early
        ? 'A date, a time or a counter this early breaks the cache for everything behind it. Move it to the end, or round it.'
        : 'A number differs. What stands behind it is computed again, even where it is alike.';
    case 'white-space':
      return 'Blanks are tokens too. Build both prompts from the same template, to the character.';
    case 'letter-case':
      return 'A capital is another token. Write it alike in every prompt.';
    default:
      return early
        ? 'Put what every prompt has in common (instructions, tools, examples) first, and what changes last.'
        : 'What stands behind the first difference is computed again, even where it is alike.';
  }
}
