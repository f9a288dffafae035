/** One figure of every pinned plan as bars. */
import type { ChartConfiguration } from 'chart.js';
import { withCommas } from '../../src/core/units';
import type { ChartSpec } from '../ui/chart-panel';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import type { Palette } from '../ui/palette';
import { fillOf } from '../ui/patterns';

export interface BarsData {
  readonly summary: string;
  readonly figure: string;
  readonly unit: string;
  /** Null where it is not known. */
  readonly bars: readonly { readonly label: string; readonly value: number | null }[];
}

const BAR = 34;

export const barsChart: ChartSpec<BarsData> = {
  name: 'compared',
  title: 'One figure of all',
  drawing: chartView<'bar', BarsData>(({ bars }) => `${56 + bars.length * BAR}px`, configuration),
  head: ['Plan', 'Value'],
  rows: ({ bars }) => bars.map(({ label, value }) => [label, value === null ? 'not known' : round(value)]),
};

const round = (value: number): number => Math.round(value * 100) / 100;

/** A title may be longer than its chart is wide. */
const short = (text: string): string => (text.length > 36 ? `${text.slice(0, 35)}…` : text);

function configuration({ bars, unit, figure }: BarsData, p: Palette): ChartConfiguration<'bar'> {
  return {
    type: 'bar',
    data: {
      labels: bars.map(({ label }) => short(label)),
      datasets: [
        {
          label: figure,
          data: bars.map(({ value }) => value),
          backgroundColor: bars.map((_, i) => fillOf(i === 0 ? p.green : p.blue, 'solid', p)),
          borderColor: p.highContrast ? p.foreground : 'transparent',
          borderWidth: 1,
          barThickness: BAR - 14,
        },
      ],
    },
    options: {
      indexAxis: 'y',
      layout: { padding: { right: 12 } },
      scales: {
        x: {
          beginAtZero: true,
          title: { display: true, text: unit, ...textLook(p) },
          grid: { color: p.grid },
          ticks: { ...textLook(p), maxRotation: 0, callback: (value) => withCommas(Number(value)) },
        },
        y: { grid: { display: false }, ticks: { ...textLook(p), color: p.foreground, autoSkip: false } },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: {
            title: ([first]) => bars[first?.dataIndex ?? 0]?.label ?? '',
            label: ({ dataIndex }) => `${withCommas(round(bars[dataIndex]?.value ?? 0))} ${unit}`,
          },
        },
      },
    },
  };
}
