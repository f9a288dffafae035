/** What a block size costs at either end: room left empty, or a long table. */
import type { ChartConfiguration, ChartDataset } from 'chart.js';
import { withCommas } from '../../src/core/units';
import type { BlocksView } from '../../src/dashboard/protocol';
import { type ChartSpec, stroke } from '../ui/chart-panel';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import { roundText } from '../ui/lengths';
import type { Palette } from '../ui/palette';

export const blocksChart: ChartSpec<BlocksView> = {
  name: 'block-sizes',
  title: 'Block size: room left empty against length of the table',
  drawing: chartView<'line', BlocksView>('260px', configuration),
  legend: () => [
    stroke('tail', 'tail: share of a request that its last block leaves empty'),
    stroke('entries', 'entries of its block table'),
  ],
  head: [
    'Tokens in a block',
    'Tail, % of a request',
    'Empty slots',
    'Table entries',
    'Blocks in the pool',
    'Requests that fit',
  ],
  rows: ({ rows }) =>
    rows.map((r) => [
      r.current ? `${withCommas(r.size)} (as it is)` : withCommas(r.size),
      percentOf(r.tailShare),
      r.tailTokens,
      r.entries,
      r.blocks,
      r.requests,
    ]),
};

const percentOf = (share: number): number => Math.round(share * 10_000) / 100;

function configuration({ rows }: BlocksView, p: Palette): ChartConfiguration<'line'> {
  const line = (
    label: string,
    data: number[],
    color: string,
    axis: string,
    dash: number[],
  ): ChartDataset<'line', number[]> => ({
    label,
    data,
    yAxisID: axis,
    borderColor: color,
    backgroundColor: color,
    borderDash: dash,
    borderWidth: 2.5,
    pointStyle: axis === 'tail' ? 'circle' : 'rect',
    pointRadius: rows.map((r) => (r.current ? 6 : 3)),
    pointHoverRadius: 6,
  });
  return {
    type: 'line',
    data: {
      labels: rows.map((r) => (r.current ? `${r.size} (now)` : String(r.size))),
      datasets: [
        line(
          'Tail',
          rows.map((r) => percentOf(r.tailShare)),
          p.yellow,
          'tail',
          [],
        ),
        line(
          'Table entries',
          rows.map((r) => r.entries),
          p.blue,
          'entries',
          [8, 4],
        ),
      ],
    },
    options: {
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          title: { display: true, text: 'tokens in a block', ...textLook(p) },
          grid: { color: p.grid },
          ticks: { ...textLook(p), maxRotation: 0 },
        },
        tail: {
          position: 'left',
          min: 0,
          title: { display: true, text: 'tail, %', ...textLook(p) },
          grid: { color: p.grid },
          ticks: { ...textLook(p) },
        },
        entries: {
          type: 'logarithmic',
          position: 'right',
          min: 1,
          title: { display: true, text: 'table entries', ...textLook(p) },
          grid: { display: false },
          ticks: { ...textLook(p), callback: (value) => roundText(Number(value)) },
        },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: {
            title: ([first]) => `blocks of ${rows[first?.dataIndex ?? 0]?.size ?? ''}`,
            label: ({ dataset, parsed }) =>
              dataset.yAxisID === 'tail' ? `tail: ${parsed.y} %` : `${withCommas(Number(parsed.y))} table entries`,
          },
        },
      },
    },
  };
}
