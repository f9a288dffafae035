/** What happened, in words: the latest first. */
import { withCommas } from '../../src/core/units';
import { el } from '../dom';
import type { LoadedWorld } from './panel';
import type { Passed } from './protocol';
import { cellName, eventLines } from './words';

export interface EventList {
  readonly element: HTMLElement;
  draw(log: readonly Passed[], worlds: readonly LoadedWorld[], playing: boolean): void;
}

const MOST = 80;
/** Milliseconds between two drawings while it plays: more could not be read. */
const PAUSE = 250;

export function eventList(): EventList {
  const list = el('ol', { class: 'pool-events', reversed: true });
  const nothing = el('p', { class: 'note' }, 'Nothing that is worth a line: every request went on.');
  let drawn: readonly Passed[] | undefined;
  let drawnAt = 0;
  return {
    element: el(
      'div',
      { class: 'pool-event-box', tabindex: 0, role: 'region', 'aria-label': 'What happened' },
      nothing,
      list,
    ),
    draw(log, worlds, playing) {
      const now = performance.now();
      if (log === drawn || (playing && now - drawnAt < PAUSE)) {
        return;
      }
      drawn = log;
      drawnAt = now;
      const lines = [...log].reverse().flatMap(({ index, world, events }) => {
        const { title = '', engine = 'vllm-v1' as const } = worlds[world] ?? {};
        const where = `step ${withCommas(index)}${worlds.length > 1 ? `, ${title}` : ''}: `;
        return eventLines(events, cellName(engine)).map(({ kind, text }) =>
          el('li', { 'data-kind': kind, value: index }, el('span', { class: 'note' }, where), text),
        );
      });
      list.replaceChildren(...lines.slice(0, MOST));
      nothing.hidden = lines.length > 0;
    },
  };
}
