/** Requests that fit against their length: contiguous and in blocks, on log axes, with the workload and the longest length marked. */
import type { ChartConfiguration, ChartDataset, Plugin } from 'chart.js';
import { withCommas } from '../../src/core/units';
import type { RequestsView } from '../../src/dashboard/protocol';
import { el, textTable } from '../dom';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import type { Palette } from '../ui/palette';

export interface RequestsPanel {
  readonly element: HTMLElement;
  draw(requests: RequestsView): void;
  redraw(): void;
}

export function requestsPanel(): RequestsPanel {
  const chart = chartView<'line', RequestsView>('280px', configuration);
  const legend = el('ul', { class: 'legend' });
  const table = el('div', { class: 'scroll', role: 'region', 'aria-label': 'Requests by length', tabindex: 0 });
  const twin = el('details', {}, el('summary', {}, 'The same as a table'), table);
  return {
    element: el('div', {}, legend, chart.element, twin),
    draw(requests) {
      legend.replaceChildren(
        entry('paged', 'paged: blocks as a request grows'),
        entry('contiguous', contiguousWords(requests)),
        ...(requests.limit === undefined
          ? []
          : [entry('limit', `the engine runs at most ${withCommas(requests.limit)}`)]),
      );
      table.replaceChildren(
        textTable(
          requests.summary,
          ['Tokens per request', 'Paged', 'Contiguous'],
          requests.points.map((p) => [withCommas(p.length), withCommas(p.paged), withCommas(p.contiguous)]),
        ),
      );
      chart.draw(requests);
    },
    redraw: chart.redraw,
  };
}

/** A line that a log axis cannot draw is said. */
const contiguousWords = ({ points }: RequestsView): string =>
  points.some((p) => p.contiguous > 0)
    ? 'contiguous: the maximum length reserved for each'
    : 'contiguous: none fits, the maximum length is too long';

const entry = (kind: string, text: string): HTMLElement =>
  el('li', {}, el('span', { class: `stroke ${kind}`, 'aria-hidden': 'true' }), text);

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A log axis has no zero: where nothing fits, there is no line. */
const pointsOf = ({ points }: RequestsView, key: 'paged' | 'contiguous'): Point[] =>
  points.filter((p) => p[key] > 0).map((p) => ({ x: p.length, y: p[key] }));

function configuration(requests: RequestsView, p: Palette): ChartConfiguration<'line'> {
  const ends = [requests.points[0]?.length ?? 1, requests.points.at(-1)?.length ?? 1] as const;
  const line = (label: string, data: Point[], color: string, dash: number[]): ChartDataset<'line', Point[]> => ({
    label,
    data,
    borderColor: color,
    backgroundColor: color,
    borderDash: dash,
    borderWidth: 2.5,
    pointRadius: 0,
    pointHoverRadius: 4,
  });
  const { limit } = requests;
  const datasets = [
    line('Paged', pointsOf(requests, 'paged'), p.green, []),
    line('Contiguous', pointsOf(requests, 'contiguous'), p.yellow, [8, 4]),
    ...(limit === undefined
      ? []
      : [
          line(
            'Engine’s limit',
            ends.map((x) => ({ x, y: limit })),
            p.faint,
            [2, 3],
          ),
        ]),
  ];
  return {
    type: 'line',
    data: { datasets },
    options: {
      layout: { padding: { top: 18 + 14 * Math.max(0, requests.marks.length - 1), right: 12 } },
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          type: 'logarithmic',
          min: ends[0],
          max: ends[1],
          title: { display: true, text: 'tokens in each request', ...textLook(p) },
          grid: { color: p.grid },
          ticks: {
            ...textLook(p),
            maxRotation: 0,
            autoSkipPadding: 12,
            callback: (value) => lengthText(Number(value)),
          },
          afterBuildTicks: (axis) => {
            axis.ticks = powersOfTwo(ends[0], ends[1]).map((value) => ({ value }));
          },
        },
        y: {
          type: 'logarithmic',
          title: { display: true, text: 'requests at once', ...textLook(p) },
          grid: { color: p.grid },
          ticks: { ...textLook(p), callback: (value) => roundText(Number(value)) },
        },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          filter: ({ datasetIndex }) => datasetIndex < 2,
          callbacks: {
            title: ([first]) => (first ? `${withCommas(Number(first.parsed.x))} tokens` : ''),
            label: ({ dataset, parsed }) => `${dataset.label}: ${withCommas(Number(parsed.y))}`,
          },
        },
      },
    },
    plugins: [marks(requests, p)],
  };
}

/** A dashed line and its words at each marked length. */
function marks({ marks: all }: RequestsView, p: Palette): Plugin<'line'> {
  return {
    id: 'lengths',
    afterDatasetsDraw(chart) {
      const pen = chart.ctx;
      const { top, bottom, left, right } = chart.chartArea;
      pen.save();
      pen.font = `${Math.max(10, p.fontSize - 2)}px ${p.font}`;
      pen.fillStyle = p.foreground;
      pen.strokeStyle = p.foreground;
      pen.textBaseline = 'bottom';
      const xOf = (length: number): number => chart.scales.x?.getPixelForValue(length) ?? 0;
      const yOf = (i: number): number => top - 4 - 14 * (all.length - 1 - i);
      pen.setLineDash([4, 4]);
      all.forEach(({ length }, i) => {
        pen.beginPath();
        pen.moveTo(xOf(length), yOf(i) + 2);
        pen.lineTo(xOf(length), bottom);
        pen.stroke();
      });
      pen.setLineDash([]);
      for (const [i, { length, label }] of all.entries()) {
        const width = pen.measureText(label).width;
        const at = Math.max(left, Math.min(xOf(length) - width / 2, right - width));
        const y = yOf(i);
        // The line of another mark may run behind these words.
        pen.fillStyle = p.background;
        pen.fillRect(at - 3, y - 13, width + 6, 14);
        pen.fillStyle = p.foreground;
        pen.fillText(label, at, y);
      }
      pen.restore();
    },
  };
}

function powersOfTwo(low: number, high: number): number[] {
  const first = Math.ceil(Math.log2(low));
  return Array.from({ length: Math.max(0, Math.floor(Math.log2(high)) - first + 1) }, (_, i) => 2 ** (first + i));
}

/** `256`, `8K`, `1M`: powers of two, as context lengths are named. */
function lengthText(tokens: number): string {
  if (tokens >= 2 ** 20) {
    return `${tokens / 2 ** 20}M`;
  }
  return tokens >= 2 ** 10 ? `${tokens / 2 ** 10}K` : String(tokens);
}

/** Labels at 1, 2 and 5 of each power of ten: more would crowd. */
function roundText(value: number): string {
  const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((n) => Math.abs(leading - n) < 1e-9) ? withCommas(value) : '';
}
