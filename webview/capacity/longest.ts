/** The longest request that still starts: in other number formats, and on other numbers of GPUs. */
import type { ChartConfiguration } from 'chart.js';
import { withCommas } from '../../src/core/units';
import type { LongestView } from '../../src/dashboard/protocol';
import type { ChartSpec } from '../ui/chart-panel';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import { lengthMarks, lengthText, powersOfTwo } from '../ui/lengths';
import type { Palette } from '../ui/palette';
import { fillOf } from '../ui/patterns';

type Bar = LongestView['bars'][number];

const BAR = 24;
const AROUND = 76;

const signs = { good: '✓', unsure: '≈', bad: '✕' } as const;

export const longestChart: ChartSpec<LongestView> = {
  name: 'longest-context',
  title: 'Longest context',
  drawing: chartView<'bar', LongestView>(
    ({ bars, marks }) => `${AROUND + marks.length * 14 + bars.length * BAR}px`,
    configuration,
  ),
  caption: () =>
    'Tokens of one request that still starts. Solid: starts as it is; striped: will not, may not, or needs more GPUs.',
  head: ['KV format', 'Tokens', 'Range', 'At the max length'],
  rows: ({ bars }) => bars.map((b) => [named(b), b.tokens, b.range, `${signs[b.tone]} ${b.note}`]),
};

const named = ({ label, current }: Bar): string => (current ? `${label} (as it is)` : label);

/** Of a chart, in CSS pixels. */
const NARROW = 420;

function configuration({ bars, marks }: LongestView, p: Palette): ChartConfiguration<'bar'> {
  const ends = [...bars.map((b) => b.tokens), ...marks.map((m) => m.tokens)].filter((n) => n > 0);
  const low = 2 ** Math.floor(Math.log2(Math.min(...ends)) - 1);
  const high = Math.max(...ends) * 1.15;
  return {
    type: 'bar',
    data: {
      labels: bars.map(named),
      datasets: [
        {
          data: bars.map((b) => Math.max(b.tokens, low)),
          backgroundColor: bars.map((b) =>
            fillOf(b.current ? p.green : p.blue, b.tone === 'good' ? 'solid' : 'rising', p),
          ),
          borderColor: p.highContrast ? p.foreground : 'transparent',
          borderWidth: 1,
          barThickness: BAR - 8,
        },
      ],
    },
    options: {
      indexAxis: 'y',
      layout: { padding: { top: 18 + 14 * Math.max(0, marks.length - 1), right: 12 } },
      scales: {
        x: {
          type: 'logarithmic',
          min: low,
          max: high,
          title: { display: true, text: 'tokens in one request', ...textLook(p) },
          grid: { color: p.grid },
          ticks: {
            ...textLook(p),
            maxRotation: 0,
            autoSkipPadding: 12,
            callback: (value) => lengthText(Number(value)),
          },
          afterBuildTicks: (axis) => {
            axis.ticks = powersOfTwo(low, high).map((value) => ({ value }));
          },
        },
        y: {
          grid: { display: false },
          ticks: {
            ...textLook(p),
            color: p.foreground,
            autoSkip: false,
            // In two lines where one would leave no room for the bars.
            callback(value) {
              const name = this.getLabelForValue(Number(value));
              return this.chart.width < NARROW ? name.split(' · ') : name;
            },
          },
        },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: {
            label: ({ dataIndex }) => {
              const bar = bars[dataIndex];
              return bar ? `${withCommas(bar.tokens)} tokens (${bar.range}); ${bar.note}` : '';
            },
          },
        },
      },
    },
    plugins: [
      lengthMarks<'bar'>(
        marks.map(({ tokens, label }) => ({ at: tokens, label })),
        p,
      ),
    ],
  };
}
