/** Chart.js with only what is drawn here, dressed in the theme. */
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  type ChartData,
  type ChartOptions,
  Legend,
  type LegendItem,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from 'chart.js';
import type { Drawing } from './chart-panel';
import { pictureOf } from './export';
import { type Palette, prefersStill, readPalette } from './palette';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
);
// On the page it is words that a screen reader reads; a picture has its own.
Chart.defaults.plugins.legend.display = false;

type Kind = 'bar' | 'line';

/** Width of a picture for a report, in pixels of a page. */
const SHEET = 800;
/** Height of its legend. */
const LEGEND = 32;

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

  const heightOf = (data: D): string => (typeof height === 'string' ? height : height(data));
  const drawOn = (on: HTMLCanvasElement, data: D, palette: Palette, own: Partial<ChartOptions>): Chart<K> => {
    const { options, ...rest } = configure(data, palette);
    const plugins = { ...options?.plugins, ...own.plugins };
    const all = { ...options, maintainAspectRatio: false, ...own, plugins };
    return new Chart(on, { ...rest, options: all } as ChartConfiguration<K>);
  };

  const redraw = (): void => {
    if (!shown) {
      return;
    }
    box.style.height = heightOf(shown);
    canvas.setAttribute('aria-label', shown.summary);
    // Plugins and scale kinds are fixed when a chart is made, and making one costs a few milliseconds.
    chart?.destroy();
    const animation = prefersStill() ? false : { duration: 0 };
    chart = drawOn(canvas, shown, readPalette(), { responsive: true, animation });
  };

  return {
    element: box,
    draw(data) {
      shown = data;
      redraw();
    },
    redraw,
    canvas: () => (shown ? canvas : undefined),
    picture(palette) {
      if (!shown) {
        return undefined;
      }
      const sheet = document.createElement('canvas');
      sheet.width = SHEET;
      sheet.height = Number.parseInt(heightOf(shown), 10) + LEGEND;
      const plugins = { legend: legendLook(palette) };
      const own = { responsive: false, animation: false, devicePixelRatio: 2, plugins } as const;
      const drawn = drawOn(sheet, shown, palette, own);
      const picture = pictureOf(sheet, palette.background);
      drawn.destroy();
      return picture;
    },
  };
}

/** What each fill is, and each line, where there are several. */
const legendLook = (p: Palette) => ({
  display: true,
  position: 'bottom' as const,
  labels: {
    ...textLook(p),
    boxWidth: 28,
    filter: (_: LegendItem, { datasets }: ChartData) => datasets.length > 1,
  },
});

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
