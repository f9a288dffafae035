/** Two prompts, pasted: how much of the second is found, where they part, and what to do about it. */
import {
  type BreakReason,
  comparePrompts,
  type PromptPair,
  type PromptReuse,
  type PromptSizes,
} from '../../src/core/pool';
import type { PoolPart } from '../../src/dashboard/protocol';
import { el, textTable } from '../dom';
import { textArea } from '../ui/toolkit';
import type { ViewContext } from '../view';
import type { Asker } from './ask';
import type { Rules } from './messages';
import { n, seconds, tokens } from './words';

type World = Extract<PoolPart, { kind: 'world' }>;

export interface Panel {
  readonly element: HTMLElement;
  draw(rules: Rules, pool: World): void;
  state(): unknown;
}

/** Pasting a long text changes a field once; typing changes it at every letter. */
const PAUSE = 200;
/** Longer texts are compared, and not kept over a reload. */
const KEPT = 20_000;

export function promptsPanel(asker: Asker, { keep, say }: ViewContext, kept: unknown): Panel {
  const texts = readTexts(kept);
  let now: { readonly rules: Rules; readonly pool: World } | undefined;
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
      answer.replaceChildren(el('p', { class: 'caption' }, 'Nothing is sent anywhere: the texts stay on this page.'));
      return;
    }
    const pair = comparePrompts(texts[0], texts[1]);
    try {
      const found = await asker.ask({ kind: 'prompts', rules: now.rules, sizes: sizesOf(pair) });
      if (found) {
        answer.replaceChildren(...answerElements(pair, found, now.pool));
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
    draw(rules, pool) {
      now = { rules, pool };
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

/** The middle of the estimate, its low end and its high end; one size where they are exact. */
function sizesOf({ exact, first, second, shared }: PromptPair): PromptSizes[] {
  const at = (end: 'value' | 'low' | 'high'): PromptSizes => ({
    first: Math.max(1, first[end]),
    second: Math.max(1, second[end]),
    shared: shared[end],
  });
  return exact ? [at('value')] : [at('value'), at('low'), at('high')];
}

function answerElements(pair: PromptPair, found: readonly PromptReuse[], pool: World): HTMLElement[] {
  const [middle, low = middle, high = middle] = found;
  if (!middle || !low || !high) {
    return [];
  }
  if (middle.refused) {
    return [el('p', { class: 'missing' }, `The engine refuses one of them: ${middle.refused}.`)];
  }
  const hit = { value: middle.hitTokens, low: low.hitTokens, high: high.hitTokens };
  const whole = Math.max(1, pair.second.value);
  const saved =
    middle.savedSeconds === undefined
      ? 'not known: the speed of the GPU is not'
      : `estimated ${seconds(low.savedSeconds ?? 0)}${low === high ? '' : ` to ${seconds(high.savedSeconds ?? 0)}`}`;
  const rows: [string, string][] = [
    ['Shared at the front', `${tokens(pair.shared)} of ${tokens(pair.second)} tokens`],
    [`Found by ${pool.engine}`, `${tokens(hit)} tokens${blocksWords(hit, pool.blockSize)}`],
    ['Time to first token saved', saved],
    ['They part', placeWords(pair)],
  ];
  return [
    el('p', { class: 'answer' }, headline(pair, hit.value, whole)),
    shareBar(hit.value / whole, pair.shared.value / whole),
    textTable('What the two prompts share', [], rows),
    el('p', { class: 'advice' }, adviceOf(pair, hit.value, pool)),
  ];
}

const headline = (pair: PromptPair, hit: number, whole: number): string =>
  hit === 0
    ? 'Nothing of the second prompt is found.'
    : `${pair.exact ? '' : 'About '}${n((100 * hit) / whole)} % of the second prompt is found.`;

const blocksWords = (hit: { readonly low: number; readonly high: number }, blockSize: number): string => {
  const [low, high] = [Math.floor(hit.low / blockSize), Math.floor(hit.high / blockSize)];
  return blockSize <= 1 ? '' : `: ${low === high ? n(low) : `${n(low)} to ${n(high)}`} blocks of ${n(blockSize)}`;
};

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

function adviceOf({ at, shared, second }: PromptPair, hit: number, pool: World): string {
  const early = shared.value < second.value / 2;
  if (hit === 0 && shared.value >= pool.blockSize * 2) {
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
