/** One GPU's memory as one stacked bar, with its table beside it: the legend, the numbers and the reasons. */
import type { BarElement, Chart, ChartConfiguration, Plugin } from 'chart.js';
import type { BudgetView, Segment } from '../../src/dashboard/protocol';
import type { ChartSpec } from '../ui/chart-panel';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import { inkOn, type Palette } from '../ui/palette';
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
  ({ weights: p.blue, activations: p.purple, graphs: p.yellow, other: p.faint, kv: p.green, outside: p.faint })[key];

/** Half of the bar's width on the canvas, in pixels. */
const HALF = 20;

export const budgetChart: ChartSpec<BudgetView> = {
  name: 'memory-of-one-gpu',
  title: 'Memory of one GPU',
  drawing: chartView<'bar', BudgetView>('112px', barConfiguration),
  caption: captionOf,
  head: ['Part', 'Size', 'Range'],
  rows: ({ segments }) => segments.map((s) => [s.label, s.size, s.range]),
  sign: (row, { segments }, p) => {
    const key = segments[row]?.key ?? 'other';
    return swatch(colorOf(key, p), textures[key], p);
  },
  note: (row, { segments }) => segments[row]?.why ?? '',
  table: 'open',
};

/** The bracket under the bar has no words of its own. */
function captionOf({ total, limit, segments }: BudgetView): string {
  const kv = segments.find((s) => s.key === 'kv');
  const bracket =
    kv && kv.low !== kv.high ? ' The bracket spans where the KV cache may begin: some parts are estimates.' : '';
  return `${total} in all; the engine may use ${limit}.${bracket}`;
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
      for (const [i, s] of segments.entries()) {
        drawName(pen, chart, i, s, p);
      }
      pen.fillStyle = p.foreground;
      drawLimit(pen, pixelOf(chart, limitShare * totalGiB), y, chart, `limit ${limit}`);
      const kv = segments.find((s) => s.key === 'kv');
      if (kv && kv.low !== kv.high) {
        const [left, right] = [limitShare - kv.high, limitShare - kv.low].map((s) => pixelOf(chart, s * totalGiB));
        drawBracket(pen, left ?? 0, right ?? 0, y + HALF + 6);
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

/** The name and size of a part, where both have room. */
function drawName(pen: CanvasRenderingContext2D, chart: Chart<'bar'>, i: number, s: Segment, p: Palette): void {
  if (textures[s.key] !== 'solid') {
    return; // words on a texture are hard to read
  }
  const bar = chart.getDatasetMeta(i).data[0] as BarElement | undefined;
  const { x, base, y } = bar?.getProps(['x', 'base', 'y'], true) ?? {};
  if (typeof x !== 'number' || typeof base !== 'number' || typeof y !== 'number') {
    return;
  }
  const text = [`${s.label} ${s.size}`, s.label].find((t) => pen.measureText(t).width + 12 < x - base);
  if (text) {
    pen.fillStyle = inkOn(colorOf(s.key, p));
    pen.textBaseline = 'middle';
    pen.fillText(text, base + 8, y + 1);
  }
}

function drawBracket(pen: CanvasRenderingContext2D, left: number, right: number, y: number): void {
  pen.lineWidth = 1.5;
  line(pen, [left, y], [right, y]);
  line(pen, [left, y - 4], [left, y + 4]);
  line(pen, [right, y - 4], [right, y + 4]);
}

function line(pen: CanvasRenderingContext2D, from: [number, number], to: [number, number]): void {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

const round = (value: number): number => Math.round(value * 10) / 10;
