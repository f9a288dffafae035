/** The request that is selected: how it fares, and its block table as a table. */
import { withCommas } from '../../src/core/units';
import { el } from '../dom';
import { button } from '../ui/toolkit';
import { blockTable, setText } from './counters';
import { lineStride } from './overlay';
import type { Loaded, Shown } from './protocol';
import { requestWords } from './words';

export interface RequestBox {
  readonly element: HTMLElement;
  /** Hidden where none is selected (−1). */
  draw(selected: number, loaded: Loaded | undefined, shown: Shown | undefined): void;
}

export function requestBox(onClear: () => void, onOpen: () => void): RequestBox {
  const about = el('p', { class: 'pool-about' });
  const tableBox = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Block table' });
  const twin = el('details', {}, el('summary', {}, 'Block table'), tableBox);
  const clear = button('Deselect', onClear, 'icon', 'Deselect the request (Escape)');
  const element = el('div', { class: 'pool-request', hidden: true }, about, clear, twin);
  twin.addEventListener('toggle', onOpen);
  return {
    element,
    draw(selected, loaded, shown) {
      element.hidden = selected < 0;
      if (selected < 0 || !shown || !loaded) {
        return;
      }
      const [tables = []] = shown.tables ?? [];
      const entries = tables[0]?.length ?? 0;
      const stride = lineStride(entries);
      const lines = stride > 1 ? ` · a line for every ${stride}th of ${withCommas(entries)} entries` : '';
      setText(about, shown.about ? requestWords(shown.about) + lines : `Request ${selected} …`);
      const [world] = loaded.worlds;
      const [picture] = shown.pictures;
      if (twin.open && world && picture) {
        tableBox.replaceChildren(blockTable(world, tables, picture));
      }
    },
  };
}
