/** Learn: eight short scenes, told with the figures of the reader's own launch. */
import * as v from 'valibot';
import { type SceneFigures, scenesOf } from '../../src/core/pool';
import type { PlanView } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { poolDeck } from '../pool/deck';
import { button } from '../ui/toolkit';
import type { DashboardView, ViewContext, ViewMaker } from '../view';

const kept = v.object({
  version: v.literal(1),
  scene: v.number(),
  deck: v.partial(v.object({ index: v.number(), speed: v.number(), selected: v.number(), byRequest: v.boolean() })),
});

/** Where the launch has no figures of its own. */
const USUAL: SceneFigures = { blockSize: 16, prompt: 600, output: 250, maxLength: 8192 };
/** Steps a second at which a scene is told. */
const PACE = 2;

export const learnTab: ViewMaker = { id: 'learn', title: 'Learn', make: learnView };

function learnView(context: ViewContext, state: unknown): DashboardView {
  const read = v.safeParse(kept, state);
  const before = read.success ? read.output : undefined;
  let figures = USUAL;
  let scenes = scenesOf(figures);
  let at = Math.max(0, Math.min(scenes.length - 1, Math.floor(before?.scene ?? 0)));
  let told = '';
  let first = true;

  const heading = el('h1', { class: 'scene-title', tabindex: -1 });
  const sentence = el('p', { class: 'scene-text' });
  const source = el('p', { class: 'note' });
  const dots = el('ol', { class: 'scene-dots' });
  const previous = button('Previous', () => go(at - 1));
  const next = button('Next', () => go(at + 1), 'primary');
  const again = button('Tell again', () => tell(true));
  const deck = poolDeck({
    name: 'scene',
    context,
    share: 1.6,
    initial: { speed: PACE, byRequest: true, ...before?.deck },
  });
  const element = el(
    'div',
    { class: 'learn' },
    el('nav', { 'aria-label': 'Scenes' }, dots),
    el('div', { class: 'scene-words', 'aria-live': 'polite' }, heading, sentence),
    el('div', { class: 'scene-buttons' }, previous, next, again),
    deck.element,
    source,
  );

  const marks = scenes.map(({ title }, i) => {
    const dot = el(
      'button',
      { type: 'button', class: 'scene-dot' },
      el('span', { 'aria-hidden': 'true' }, String(i + 1)),
      ' ',
      el('span', { class: 'scene-name' }, title),
    );
    dot.addEventListener('click', () => go(i));
    return dot;
  });
  dots.append(...marks.map((dot) => el('li', {}, dot)));

  function go(index: number): void {
    at = Math.max(0, Math.min(scenes.length - 1, index));
    tell(true);
    context.keep();
  }

  /** Shows the scene; from its start, or where a reload left it. */
  function tell(fromStart: boolean): void {
    const scene = scenes[at];
    if (!scene) {
      return;
    }
    heading.textContent = `${at + 1} of ${scenes.length}: ${scene.title}`;
    sentence.textContent = scene.sentence;
    previous.toggleAttribute('disabled', at === 0);
    next.toggleAttribute('disabled', at === scenes.length - 1);
    marks.forEach((dot, i) => {
      dot.toggleAttribute('aria-current', i === at);
      if (i === at) {
        dot.setAttribute('aria-current', 'step');
      }
    });
    const begin = fromStart
      ? { index: 0, selected: scene.focus, playTo: scene.step }
      : { index: before?.deck.index ?? scene.step, selected: before?.deck.selected ?? scene.focus };
    deck.load({ kind: 'scene', scene: at, figures }, begin);
  }

  return {
    element,
    draw({ pool }: PlanView) {
      const own = pool.kind === 'reason' ? pool.figures : pool.world.engine === 'llama.cpp' ? undefined : pool;
      const { blockSize, prompt, output, maxLength } = own ?? USUAL;
      figures = { blockSize: Math.max(1, blockSize), prompt, output, maxLength };
      scenes = scenesOf(figures);
      source.textContent = own
        ? 'The figures are your launch’s; the pictures use few and small blocks, so that each can be seen.'
        : 'This launch has no blocks of its own: the figures are of blocks of 16 tokens, prompts of 600 and outputs of 250.';
      const key = JSON.stringify(figures);
      if (key !== told) {
        told = key;
        tell(!(first && before !== undefined));
        first = false;
      }
    },
    redraw: deck.redraw,
    shown: deck.shown,
    state: () => ({ version: 1, scene: at, deck: deck.state() }),
  };
}
