/** Requests that fit against their length: contiguous and in blocks, on log axes, with the workload and the longest length marked. */
import type { ChartConfiguration, ChartDataset } from 'chart.js';
import { withCommas } from '../../src/core/units';
import type { RequestsView } from '../../src/dashboard/protocol';
import { type ChartSpec, stroke } from '../ui/chart-panel';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import { lengthMarks, lengthText, powersOfTwo, roundText } from '../ui/lengths';
import type { Palette } from '../ui/palette';

export const requestsChart: ChartSpec<RequestsView> = {
  name: 'requests-by-length',
  title: 'Requests that fit, by their length',
  drawing: chartView<'line', RequestsView>('280px', configuration),
  legend: (requests) => [
    stroke('paged', 'paged: blocks as a request grows'),
    stroke('contiguous', contiguousWords(requests)),
    ...(requests.limit === undefined ? [] : [stroke('limit', `the engine runs at most ${withCommas(requests.limit)}`)]),
  ],
  head: ['Tokens per request', 'Paged', 'Contiguous'],
  rows: ({ points }) => points.map((p) => [p.length, p.paged, p.contiguous]),
};

/** A line that a log axis cannot draw is said. */
const contiguousWords = ({ points }: RequestsView): string =>
  points.some((p) => p.contiguous > 0)
    ? 'contiguous: the maximum length reserved for each'
    : 'contiguous: none fits, the maximum length is too long';

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
    plugins: [
      lengthMarks(
        requests.marks.map(({ length, label }) => ({ at: length, label })),
        p,
      ),
    ],
  };
}
