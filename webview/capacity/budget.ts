/** One GPU's memory as one stacked bar, with its table beside it: the legend, the numbers and the reasons. */
import type { Chart, ChartConfiguration, Plugin } from 'chart.js';
import type { BudgetView, Segment } from '../../src/dashboard/protocol';
import { el, textTable } from '../dom';
import { type ChartView, chartView, textLook, tooltipLook } from '../ui/charts';
import { type Palette, readPalette } from '../ui/palette';
import { fillOf, swatch, type Texture } from '../ui/patterns';

type Key = Segment['key'];

const textures: { readonly [key in Key]: Texture } = {
  weights: 'solid',
  activations: 'rising',
  graphs: 'dots',
  other: 'cross',
  kv: 'solid',
  outside: 'sparse',
};

const colorOf = (key: Key, p: Palette): string =>
  ({ weights: p.blue, activations: p.orange, graphs: p.yellow, other: p.purple, kv: p.green, outside: p.faint })[key];

/** Half of the bar's width on the canvas, in pixels. */
const HALF = 20;

export interface BudgetPanel {
  readonly element: HTMLElement;
  draw(budget: BudgetView): void;
  redraw(): void;
}

export function budgetPanel(): BudgetPanel {
  const chart: ChartView<BudgetView> = chartView<'bar', BudgetView>('104px', barConfiguration);
  const caption = el('p', { class: 'caption' });
  const table = el('div', { class: 'scroll' });
  let shown: BudgetView | undefined;

  const drawTable = (): void => {
    if (shown) {
      table.replaceChildren(budgetTable(shown, readPalette()));
    }
  };
  return {
    element: el('div', {}, caption, chart.element, table),
    draw(budget) {
      shown = budget;
      caption.textContent = `${budget.total} in all; the engine may use ${budget.limit}.`;
      chart.draw(budget);
      drawTable();
    },
    redraw() {
      chart.redraw();
      drawTable();
    },
  };
}

function budgetTable({ summary, segments }: BudgetView, palette: Palette): HTMLTableElement {
  return textTable(
    summary,
    ['Part', 'Size', 'Range', 'Why'],
    segments.map((s) => [
      el('span', { class: 'part' }, swatch(colorOf(s.key, palette), textures[s.key], palette), s.label),
      s.size,
      s.range,
      s.why,
    ]),
  );
}

function barConfiguration(budget: BudgetView, p: Palette): ChartConfiguration<'bar'> {
  const { segments, totalGiB } = budget;
  const end =
    Math.max(
      1,
      segments.reduce((sum, s) => sum + s.share, 0),
    ) * totalGiB;
  return {
    type: 'bar',
    data: {
      labels: ['One GPU'],
      datasets: segments.map((s) => ({
        label: s.label,
        data: [s.share * totalGiB],
        backgroundColor: fillOf(colorOf(s.key, p), textures[s.key], p),
        borderColor: p.highContrast ? p.foreground : p.background,
        borderWidth: 1,
        barThickness: 2 * HALF,
      })),
    },
    options: {
      indexAxis: 'y',
      layout: { padding: { top: 20, right: 8 } },
      scales: {
        x: {
          stacked: true,
          max: end,
          grid: { display: false },
          border: { color: p.grid },
          ticks: {
            ...textLook(p),
            maxRotation: 0,
            autoSkipPadding: 24,
            callback: (value) => `${round(Number(value))} GiB`,
          },
        },
        y: { stacked: true, display: false },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: {
            title: () => [],
            label: ({ datasetIndex }) => {
              const s = segments[datasetIndex];
              return s ? `${s.label}: ${s.size}${s.range && s.range !== 'exact' ? ` (${s.range})` : ''}` : '';
            },
          },
        },
      },
    },
    plugins: [marksOf(budget, p)],
  };
}

/** The limit, how far the estimates may move the start of the KV cache, and the sizes of parts with room for them. */
function marksOf({ limitShare, limit, segments, totalGiB }: BudgetView, p: Palette): Plugin<'bar'> {
  return {
    id: 'marks',
    afterDatasetsDraw(chart) {
      const pen = chart.ctx;
      const y = chart.getDatasetMeta(0).data[0]?.y ?? 0;
      pen.save();
      pen.font = `${Math.max(10, p.fontSize - 2)}px ${p.font}`;
      pen.fillStyle = p.foreground;
      pen.strokeStyle = p.foreground;
      drawLimit(pen, pixelOf(chart, limitShare * totalGiB), y, chart, `limit ${limit}`);
      const kv = segments.find((s) => s.key === 'kv');
      if (kv && kv.low !== kv.high) {
        const [left, right] = [limitShare - kv.high, limitShare - kv.low].map((s) => pixelOf(chart, s * totalGiB));
        drawBracket(pen, left ?? 0, right ?? 0, y);
      }
      pen.restore();
    },
  };
}

const pixelOf = (chart: Chart<'bar'>, gib: number): number => chart.scales.x?.getPixelForValue(gib) ?? 0;

function drawLimit(pen: CanvasRenderingContext2D, x: number, y: number, chart: Chart<'bar'>, text: string): void {
  pen.lineWidth = 2;
  line(pen, [x, y - HALF - 6], [x, y + HALF + 4]);
  const width = pen.measureText(text).width;
  pen.textBaseline = 'bottom';
  pen.fillText(
    text,
    Math.max(chart.chartArea.left, Math.min(x - width / 2, chart.chartArea.right - width)),
    y - HALF - 8,
  );
}

function drawBracket(pen: CanvasRenderingContext2D, left: number, right: number, y: number): void {
  pen.lineWidth = 1.5;
  line(pen, [left, y], [right, y]);
  line(pen, [left, y - 6], [left, y + 6]);
  line(pen, [right, y - 6], [right, y + 6]);
}

function line(pen: CanvasRenderingContext2D, from: [number, number], to: [number, number]): void {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

const round = (value: number): number => Math.round(value * 10) / 10;
