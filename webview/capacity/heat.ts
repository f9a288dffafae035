/** Requests at once by length, format and group: a table whose cells are shaded, so that it reads without colour too. */
import { withCommas } from '../../src/core/units';
import type { HeatView } from '../../src/dashboard/protocol';
import { el, textTable } from '../dom';
import type { ChartSpec, Drawing } from '../ui/chart-panel';
import { pictureOf } from '../ui/export';
import { lengthText } from '../ui/lengths';
import { type Palette, readPalette } from '../ui/palette';

export const heatChart: ChartSpec<HeatView> = {
  name: 'concurrency',
  title: 'Requests that fit, by length, KV format and GPUs',
  drawing: heatTable(),
  caption: ({ summary }) => summary,
  head: ['KV format', 'Note', 'Length', 'Requests that memory holds', 'Most that the engine runs'],
  rows: ({ rows, lengths }) =>
    rows.flatMap((row) =>
      lengths.map((length, i) => [row.label, row.note, length, row.requests[i] ?? 0, row.limit ?? '']),
    ),
  table: 'none',
};

const signs = { good: '✓', unsure: '≈', bad: '✕' } as const;

/** Per cent of green in a cell: more, and the words on it could not be read in every theme. */
const DEEPEST = 30;

/** How dark a cell is, 0…1: each doubling counts alike. */
const depthOf = (requests: number, most: number): number => Math.log2(requests + 1) / Math.log2(most + 1);

function heatTable(): Drawing<HeatView> {
  const element = el('div', { class: 'scroll', role: 'region', 'aria-label': 'Requests at once', tabindex: 0 });
  let shown: HeatView | undefined;
  const draw = (heat: HeatView): void => {
    shown = heat;
    const table = textTable(
      heat.summary,
      ['KV format', ...heat.lengths.map(lengthText)],
      heat.rows.map((row) => [
        el(
          'span',
          { class: row.current ? 'heat-row current' : 'heat-row' },
          `${signs[row.tone]} ${row.label}${row.current ? ' (as it is)' : ''}`,
          el('span', { class: 'note' }, row.note),
        ),
        ...row.requests.map((n) => cellOf(n, heat.most, row.limit)),
      ]),
    );
    table.classList.add('heat');
    element.replaceChildren(table);
  };
  return {
    element,
    draw,
    redraw: () => shown && draw(shown),
    canvas: () => shown && sheetOf(shown, readPalette()),
    picture: (palette) => shown && pictureOf(sheetOf(shown, palette), palette.background),
  };
}

const numberText = (requests: number, limit = requests): string =>
  `${withCommas(requests)}${requests > limit ? ' ▴' : ''}`;

/** The shade is a custom property, so that the style sheet alone decides what it looks like in each theme. */
function cellOf(requests: number, most: number, limit: number | undefined): HTMLElement {
  const cell = el('span', { class: requests === 0 ? 'heat-cell none' : 'heat-cell' }, numberText(requests, limit));
  cell.style.setProperty('--depth', `${Math.round(DEEPEST * depthOf(requests, most))}%`);
  return cell;
}

const CELL = { width: 84, height: 30, head: 260 } as const;

/** The same as a picture, for saving. */
function sheetOf({ lengths, rows, most }: HeatView, p: Palette): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = CELL.head + CELL.width * lengths.length;
  canvas.height = CELL.height * (rows.length + 1);
  const pen = canvas.getContext('2d');
  if (!pen) {
    return canvas;
  }
  pen.font = `13px ${p.font}`;
  pen.textBaseline = 'middle';
  const words = (text: string, x: number, row: number, align: CanvasTextAlign): void => {
    pen.textAlign = align;
    pen.fillStyle = p.foreground;
    pen.fillText(text, x, CELL.height * (row + 0.5));
  };
  const middle = (column: number): number => CELL.head + CELL.width * (column + 0.5);
  lengths.forEach((length, i) => void words(lengthText(length), middle(i), 0, 'center'));
  rows.forEach((row, r) => {
    words(`${signs[row.tone]} ${row.label}${row.current ? ' (as it is)' : ''}`, 8, r + 1, 'left');
    row.requests.forEach((n, i) => {
      pen.globalAlpha = (DEEPEST / 100) * depthOf(n, most);
      pen.fillStyle = p.green;
      pen.fillRect(CELL.head + CELL.width * i + 1, CELL.height * (r + 1) + 1, CELL.width - 2, CELL.height - 2);
      pen.globalAlpha = 1;
      words(numberText(n, row.limit), middle(i), r + 1, 'center');
    });
  });
  return canvas;
}
