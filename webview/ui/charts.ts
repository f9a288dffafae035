/** Chart.js with only what is drawn here, dressed in the theme. */
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from 'chart.js';
import type { Drawing } from './chart-panel';
import { type Palette, prefersStill, readPalette } from './palette';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
);

type Kind = 'bar' | 'line';

/** A canvas that draws anew from a description, whenever its data or the theme changes. */
export function chartView<K extends Kind, D extends { readonly summary: string }>(
  height: string | ((data: D) => string),
  configure: (data: D, palette: Palette) => ChartConfiguration<K>,
): Drawing<D> {
  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img');
  const box = document.createElement('div');
  box.className = 'chart';
  box.append(canvas);
  let chart: Chart<K> | undefined;
  let shown: D | undefined;

  const redraw = (): void => {
    if (!shown) {
      return;
    }
    const palette = readPalette();
    box.style.height = typeof height === 'string' ? height : height(shown);
    const { type, data, options, plugins } = configure(shown, palette) as ChartConfiguration<K> & { type: K };
    canvas.setAttribute('aria-label', shown.summary);
    // Plugins and scale kinds are fixed when a chart is made, and making one costs a few milliseconds.
    chart?.destroy();
    chart = new Chart(canvas, {
      type,
      data,
      plugins,
      options: {
        ...options,
        responsive: true,
        maintainAspectRatio: false,
        animation: prefersStill() ? false : { duration: 0 },
      },
    } as ChartConfiguration<K>);
  };

  return {
    element: box,
    draw(data) {
      shown = data;
      redraw();
    },
    redraw,
    canvas: () => (shown ? canvas : undefined),
  };
}

/** Tooltips as the editor's own hovers look. */
export const tooltipLook = (p: Palette) => ({
  backgroundColor: p.surface,
  titleColor: p.foreground,
  bodyColor: p.foreground,
  borderColor: p.border,
  borderWidth: 1,
  cornerRadius: 3,
  padding: 8,
  titleFont: { family: p.font, size: p.fontSize, weight: 600 as const },
  bodyFont: { family: p.font, size: p.fontSize },
  boxPadding: 4,
});

export const textLook = (p: Palette) => ({
  color: p.faint,
  font: { family: p.font, size: Math.max(10, p.fontSize - 2) },
});
