/** Axes of lengths in tokens: powers of two, their names, and marks across the chart. */
import type { Plugin } from 'chart.js';
import { withCommas } from '../../src/core/units';
import type { Palette } from './palette';

export interface LengthMark {
  readonly at: number;
  readonly label: string;
}

/** A dashed line and its words at each marked length of a chart whose x axis is of lengths. */
export function lengthMarks<K extends 'bar' | 'line'>(all: readonly LengthMark[], p: Palette): Plugin<K> {
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
      all.forEach(({ at: length }, i) => {
        pen.beginPath();
        pen.moveTo(xOf(length), yOf(i) + 2);
        pen.lineTo(xOf(length), bottom);
        pen.stroke();
      });
      pen.setLineDash([]);
      for (const [i, { at: length, label }] of all.entries()) {
        const width = pen.measureText(label).width;
        const x = Math.max(left, Math.min(xOf(length) - width / 2, right - width));
        const y = yOf(i);
        // The line of another mark may run behind these words.
        pen.fillStyle = p.background;
        pen.fillRect(x - 3, y - 13, width + 6, 14);
        pen.fillStyle = p.foreground;
        pen.fillText(label, x, y);
      }
      pen.restore();
    },
  };
}

export function powersOfTwo(low: number, high: number): number[] {
  const first = Math.ceil(Math.log2(low));
  return Array.from({ length: Math.max(0, Math.floor(Math.log2(high)) - first + 1) }, (_, i) => 2 ** (first + i));
}

/** `256`, `8K`, `1M`: powers of two, as context lengths are named. */
export function lengthText(tokens: number): string {
  if (tokens >= 2 ** 20) {
    return `${tokens / 2 ** 20}M`;
  }
  return tokens >= 2 ** 10 ? `${tokens / 2 ** 10}K` : String(tokens);
}

/** Labels at 1, 2 and 5 of each power of ten: more would crowd. */
export function roundText(value: number): string {
  const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((n) => Math.abs(leading - n) < 1e-9) ? withCommas(value) : '';
}
