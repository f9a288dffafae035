/** The trade-off of the block size in one picture, and how near each way comes to only reading. */
import type { ChartConfiguration, ChartDataset, Plugin } from 'chart.js';
import type { BlockSizeRow } from '../../src/core/pool';
import type { BenchResult } from '../../src/core/pool/kernel-result';
import { chartView, textLook, tooltipLook } from '../ui/charts';
import type { Palette } from '../ui/palette';
import { pagedRows, percentText, ratioText, rowName, tailShare } from './words';

export interface Shown {
  readonly summary: string;
  readonly result: BenchResult;
  readonly study?: readonly BlockSizeRow[];
}

export const overheadChart = () => chartView<'line', Shown>('300px', overhead);
export const rooflineChart = () => chartView<'bar', Shown>('360px', roofline);

const inPercent = (share: number): number => 100 * share;

/** Of the memory that requests own: by the launch's own pool where it is simulated, else by the lengths measured. */
export function tailOf({ result, study }: Shown, blockSize: number): number {
  const { tokens, sequences } = result.shape;
  const row = study?.find((one) => one.blockSize === blockSize);
  return row?.tailWaste ?? tailShare(tokens / Math.max(1, sequences), blockSize);
}

export const blockSizesOf = ({ result }: Shown): number[] =>
  pagedRows(result, 'random')
    .map(({ blockSize }) => blockSize)
    .sort((a, b) => a - b);

function overhead(shown: Shown, p: Palette): ChartConfiguration<'line'> {
  const sizes = blockSizesOf(shown);
  const rows = (order: 'sequential' | 'random') =>
    sizes.map((size) => pagedRows(shown.result, order).find(({ blockSize }) => blockSize === size));
  const line = (
    label: string,
    data: (number | null)[],
    color: string,
    dash: number[],
  ): ChartDataset<'line', (number | null)[]> => ({
    label,
    data,
    borderColor: color,
    backgroundColor: color,
    borderDash: dash,
    borderWidth: 2.5,
    pointRadius: 3,
  });
  const over = (order: 'sequential' | 'random') =>
    rows(order).map((row) => (row ? inPercent(row.ratio.median - 1) : null));
  const ratios = [rows('random'), rows('sequential')];
  return {
    type: 'line',
    data: {
      labels: sizes.map(String),
      datasets: [
        line('Time, blocks scattered', over('random'), p.blue, []),
        line('Time, blocks in order', over('sequential'), p.green, [8, 4]),
        line(
          'Memory left empty in last blocks',
          sizes.map((size) => inPercent(tailOf(shown, size))),
          p.yellow,
          [2, 3],
        ),
      ],
    },
    options: {
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          title: { display: true, text: 'tokens in a block', ...textLook(p) },
          grid: { color: p.grid },
          ticks: textLook(p),
        },
        y: {
          title: { display: true, text: '% more than contiguous', ...textLook(p) },
          grid: { color: p.grid },
          ticks: { ...textLook(p), callback: (value) => `${value} %` },
        },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: {
            title: ([first]) => (first ? `blocks of ${first.label}` : ''),
            label: ({ dataset, datasetIndex, dataIndex, parsed }) => {
              const row = ratios[datasetIndex]?.[dataIndex];
              return `${dataset.label}: ${row ? `${ratioText(row.ratio)} ×` : percentText(Number(parsed.y) / 100)}`;
            },
          },
        },
      },
    },
    plugins: [noiseBand(shown.result, p), whiskers(ratios, p)],
  };
}

/** What contiguous against itself came out at: inside this band a difference is none. */
function noiseBand({ noise }: BenchResult, p: Palette): Plugin<'line'> {
  return {
    id: 'noise',
    beforeDatasetsDraw(chart) {
      const { y } = chart.scales;
      if (noise && y) {
        const { left, right, top, bottom } = chart.chartArea;
        const within = (ratio: number): number =>
          Math.max(top, Math.min(bottom, y.getPixelForValue(inPercent(ratio - 1))));
        const [high, low] = [within(noise.high), within(noise.low)];
        chart.ctx.save();
        chart.ctx.globalAlpha = 0.25;
        chart.ctx.fillStyle = p.faint;
        chart.ctx.fillRect(left, high, right - left, Math.max(1, low - high));
        chart.ctx.restore();
      }
    },
  };
}

type Rows = readonly (BenchResult['rows'][number] | undefined)[];

/** The 95 % interval at each point. */
function whiskers(lines: readonly Rows[], p: Palette): Plugin<'line'> {
  return {
    id: 'intervals',
    afterDatasetsDraw(chart) {
      const { x, y } = chart.scales;
      const pen = chart.ctx;
      if (!x || !y) {
        return;
      }
      const { left, right, top, bottom } = chart.chartArea;
      pen.save();
      pen.beginPath();
      pen.rect(left - 6, top, right - left + 12, bottom - top);
      pen.clip();
      pen.lineWidth = 1.5;
      lines.forEach((rows, line) => {
        pen.strokeStyle = line === 0 ? p.blue : p.green;
        rows.forEach((row, i) => {
          if (row) {
            const at = x.getPixelForValue(i) + (line === 0 ? -3 : 3);
            pen.beginPath();
            pen.moveTo(at, y.getPixelForValue(inPercent(row.ratio.low - 1)));
            pen.lineTo(at, y.getPixelForValue(inPercent(row.ratio.high - 1)));
            pen.stroke();
          }
        });
      });
      pen.restore();
    },
  };
}

function roofline({ result }: Shown, p: Palette): ChartConfiguration<'bar'> {
  const rows = result.rows.filter(({ kind }) => kind !== 'again');
  return {
    type: 'bar',
    data: {
      labels: rows.map(rowName),
      datasets: [
        {
          label: 'of the read-only kernel',
          data: rows.map((row) => inPercent(row.roofline)),
          backgroundColor: rows.map(({ kind }) => (kind === 'read' ? p.faint : kind === 'paged' ? p.blue : p.green)),
        },
      ],
    },
    options: {
      indexAxis: 'y',
      scales: {
        x: {
          min: 0,
          title: { display: true, text: '% of what only reading the same bytes reaches', ...textLook(p) },
          grid: { color: p.grid },
          ticks: { ...textLook(p), callback: (value) => `${value} %` },
        },
        y: { grid: { display: false }, ticks: { ...textLook(p), autoSkip: false } },
      },
      plugins: {
        tooltip: {
          ...tooltipLook(p),
          callbacks: { label: ({ dataIndex }) => barText(rows[dataIndex]) },
        },
      },
    },
  };
}

const barText = (row: BenchResult['rows'][number] | undefined): string =>
  row ? `${percentText(row.roofline)}, ${row.gigabytesPerSecond.toFixed(1)} GB/s of keys and values` : '';
