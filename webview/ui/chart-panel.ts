/** A chart with everything that belongs to it: heading, legend, the same as a table, and saving. Each is described once. */
import { withCommas } from '../../src/core/units';
import type { Params } from '../../src/dashboard/protocol';
import { el, textTable } from '../dom';
import type { ViewContext } from '../view';
import { csvOf, exportButtons } from './export';
import { type Palette, REPORT, readPalette } from './palette';

/** What draws the data: a canvas of the chart library, or a table that is a picture by itself. */
export interface Drawing<D> {
  readonly element: HTMLElement;
  draw(data: D): void;
  /** The theme changed. */
  redraw(): void;
  /** For a picture file: as it is shown. */
  canvas(): HTMLCanvasElement | undefined;
  /** The same in other colours. Base64. */
  picture(palette: Palette): string | undefined;
}

export interface ChartSpec<D> {
  /** Of its file, when it is saved. */
  readonly name: string;
  readonly title: string;
  readonly drawing: Drawing<D>;
  caption?(data: D): string;
  legend?(data: D, palette: Palette): readonly Node[];
  readonly head: readonly string[];
  /** Numbers as numbers: a table groups their digits, a file does not. */
  rows(data: D): readonly (readonly (string | number)[])[];
  /** Stands before the words of a row. */
  sign?(row: number, data: D, palette: Palette): Node;
  /** Words under the first cell of a row. */
  note?(row: number, data: D): string;
  /** `open`: the table is the legend. `none`: the drawing is a table. */
  readonly table?: 'folded' | 'open' | 'none';
}

export interface ChartPanel<D> {
  readonly element: HTMLElement;
  /** Hidden where there is nothing to draw. */
  draw(data: D | undefined): void;
  redraw(): void;
  /** For a report; nothing while it is hidden. */
  picture(): Params<'saveReport'>['charts'][number] | undefined;
}

export function chartPanel<D extends { readonly summary: string }>(
  spec: ChartSpec<D>,
  { host, say }: Pick<ViewContext, 'host' | 'say'>,
): ChartPanel<D> {
  let shown: D | undefined;
  let drawn = '';
  const csv = (): string => (shown ? csvOf([spec.head, ...spec.rows(shown)]) : '');
  const exports = exportButtons(host, { name: spec.name, png: spec.drawing.canvas, csv }, say);
  const caption = el('p', { class: 'caption', hidden: true });
  const legend = el('ul', { class: 'legend' });
  const table = el('div', { class: 'scroll', role: 'region', 'aria-label': spec.title, tabindex: 0 });
  const twin = el('details', {}, el('summary', {}, 'The same as a table'), table);
  const element = el(
    'section',
    { class: 'chart-panel', hidden: true },
    el('div', { class: 'chart-head' }, el('h2', {}, spec.title), exports),
    caption,
    ...(spec.legend ? [legend] : []),
    spec.drawing.element,
    ...(spec.table === 'none' ? [] : [spec.table === 'open' ? table : twin]),
  );

  const dress = (data: D): void => {
    const palette = readPalette();
    legend.replaceChildren(...(spec.legend?.(data, palette) ?? []));
    const text = spec.caption?.(data) ?? '';
    caption.textContent = text;
    caption.hidden = text === '';
    table.replaceChildren(
      textTable(
        data.summary,
        spec.head,
        spec.rows(data).map((row, i) => cellsOf(spec, row, i, data, palette)),
      ),
    );
  };
  return {
    element,
    draw(data) {
      shown = data;
      element.hidden = data === undefined;
      const key = JSON.stringify(data);
      if (data && key !== drawn) {
        spec.drawing.draw(data);
        dress(data);
      }
      drawn = data ? key : '';
    },
    redraw() {
      if (shown) {
        spec.drawing.redraw();
        dress(shown);
      }
    },
    picture() {
      const [png, dark] = [REPORT.light, REPORT.dark].map((palette) => shown && spec.drawing.picture(palette));
      return shown && png && dark ? { title: spec.title, text: shown.summary, png, dark } : undefined;
    },
  };
}

function cellsOf<D>(
  spec: ChartSpec<D>,
  row: readonly (string | number)[],
  index: number,
  data: D,
  palette: Palette,
): (string | Node)[] {
  const [first = '', ...rest] = row.map((cell) => (typeof cell === 'number' ? withCommas(cell) : cell));
  const note = spec.note?.(index, data) ?? '';
  if (!spec.sign && note === '') {
    return [first, ...rest];
  }
  const words = el('span', {}, first, ...(note ? [el('span', { class: 'note' }, note)] : []));
  return [el('span', { class: 'part' }, ...(spec.sign ? [spec.sign(index, data, palette)] : []), words), ...rest];
}

/** A stroke as a line of the chart has it, with its words. */
export const stroke = (kind: string, text: string): HTMLElement =>
  el('li', {}, el('span', { class: `stroke ${kind}`, 'aria-hidden': 'true' }), text);
