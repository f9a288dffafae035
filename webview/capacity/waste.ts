/** A pool full of requests: what of it holds keys and values, and where the rest goes, contiguous and paged. */
import type { ChartConfiguration } from 'chart.js';
import type { WasteKind, WasteView } from '../../src/dashboard/protocol';
import { el } from '../dom';
import type { ChartSpec } from '../ui/chart-panel';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import type { Palette } from '../ui/palette';
import { fillOf, swatch, type Texture } from '../ui/patterns';

const textures: { readonly [key in WasteKind]: Texture } = {
  payload: 'solid',
  tail: 'rising',
  padding: 'dots',
  reservation: 'falling',
  fragmentation: 'cross',
};

const colorOf = (kind: WasteKind, p: Palette): string =>
  ({ payload: p.green, tail: p.yellow, padding: p.purple, reservation: p.blue, fragmentation: p.faint })[kind];

export const wasteChart: ChartSpec<WasteView> = {
  name: 'waste-by-kind',
  title: 'A full pool: what is used, and what is wasted',
  drawing: chartView<'bar', WasteView>('150px', configuration),
  caption: ({ total, rows }) =>
    `${total} per GPU, full of requests at the workload: ${rows.map((r) => `${r.requests} ${r.label.toLowerCase()}`).join(', ')}.`,
  legend: ({ rows }, p) =>
    (rows[0]?.parts ?? []).map(({ kind, label, why }) =>
      el('li', { title: why }, swatch(colorOf(kind, p), textures[kind], p), label),
    ),
  head: ['Kind', 'Contiguous', 'Paged', 'What it is'],
  rows: ({ rows }) =>
    (rows[0]?.parts ?? []).map(({ label, why }, i) => [
      label,
      ...rows.map((r) => `${r.parts[i]?.size ?? ''} (${percent(r.parts[i]?.share ?? 0)})`),
      why,
    ]),
};

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

function configuration({ rows, summary }: WasteView, p: Palette): ChartConfiguration<'bar'> {
  const kinds = rows[0]?.parts ?? [];
  return {
    type: 'bar',
    data: {
      labels: rows.map((r) => r.label),
      datasets: kinds.map(({ kind, label }, i) => ({
        label,
        data: rows.map((r) => 100 * (r.parts[i]?.share ?? 0)),
        backgroundColor: fillOf(colorOf(kind, p), textures[kind], p),
        borderColor: p.highContrast ? p.foreground : p.background,
        borderWidth: 1,
        barThickness: 28,
      })),
    },
    options: {
      indexAxis: 'y',
      scales: {
        x: {
          stacked: true,
          max: 100,
          grid: { color: p.grid },
          ticks: { ...textLook(p), maxRotation: 0, callback: (value) => `${value} %` },
        },
        y: { stacked: true, grid: { display: false }, ticks: { ...textLook(p), color: p.foreground } },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: {
            title: ([first]) => first?.label ?? summary,
            label: ({ datasetIndex, dataIndex }) => {
              const part = rows[dataIndex]?.parts[datasetIndex];
              return part ? `${part.label}: ${part.size} (${percent(part.share)})` : '';
            },
          },
        },
      },
    },
  };
}
