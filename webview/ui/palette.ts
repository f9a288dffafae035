/** The theme's colours, read for what is drawn on a canvas, and told again when the theme changes. */

export interface Palette {
  readonly foreground: string;
  readonly faint: string;
  readonly grid: string;
  readonly background: string;
  readonly surface: string;
  readonly border: string;
  readonly font: string;
  readonly fontSize: number;
  readonly blue: string;
  readonly yellow: string;
  readonly purple: string;
  readonly green: string;
  readonly orange: string;
  readonly red: string;
  readonly highContrast: boolean;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string, fallback: string): string =>
    style.getPropertyValue(`--vscode-${name}`).trim() || fallback;
  // Forced colours do not reach into a canvas: it is drawn with those that the page's own text and ground were given.
  const forced = matchMedia('(forced-colors: active)').matches ? getComputedStyle(document.body) : undefined;
  const foreground = forced?.color ?? color('foreground', '#888888');
  const background = forced?.backgroundColor ?? color('editor-background', '#1e1e1e');
  const highContrast = /high-contrast/.test(document.body.className) || forced !== undefined;
  return {
    foreground,
    faint: forced ? foreground : color('descriptionForeground', foreground),
    grid: highContrast ? color('contrastBorder', foreground) : color('editorWidget-border', '#80808040'),
    background,
    surface: color('editorHoverWidget-background', background),
    border: color('contrastBorder', color('editorHoverWidget-border', 'transparent')),
    font: color('font-family', 'system-ui, sans-serif'),
    fontSize: Number.parseFloat(color('font-size', '13px')) || 13,
    blue: color('charts-blue', '#3794ff'),
    yellow: color('charts-yellow', '#cca700'),
    purple: color('charts-purple', '#b180d7'),
    green: color('charts-green', '#89d185'),
    orange: color('charts-orange', '#d18616'),
    red: color('charts-red', '#f14c4c'),
    highContrast,
  };
}

/** What a report is drawn in, whatever the theme: it is read elsewhere, on a page that is light or dark as its reader has it. */
export const REPORT = {
  light: {
    foreground: '#1f1f1f',
    faint: '#5c5c5c',
    grid: '#80808040',
    background: '#ffffff',
    surface: '#ffffff',
    border: 'transparent',
    font: 'system-ui, sans-serif',
    fontSize: 13,
    blue: '#1a85ff',
    yellow: '#bf8803',
    purple: '#8a4fb5',
    green: '#388a34',
    orange: '#d18616',
    red: '#e51400',
    highContrast: false,
  },
  dark: {
    foreground: '#e3e3e3',
    faint: '#b0b0b0',
    grid: '#80808060',
    background: '#121212',
    surface: '#121212',
    border: 'transparent',
    font: 'system-ui, sans-serif',
    fontSize: 13,
    blue: '#3794ff',
    yellow: '#cca700',
    purple: '#b180d7',
    green: '#89d185',
    orange: '#d18616',
    red: '#f14c4c',
    highContrast: false,
  },
} as const satisfies Record<string, Palette>;

/** VS Code swaps the variables in the root's style and the theme's kind in the body's class. */
export function onThemeChange(listener: () => void): void {
  let asked = false;
  const later = (): void => {
    if (!asked) {
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        listener();
      });
    }
  };
  const observer = new MutationObserver(later);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  matchMedia('(forced-colors: active)').addEventListener('change', later);
}

/** VS Code's own setting and the system's. */
export const prefersStill = (): boolean =>
  document.body.classList.contains('vscode-reduce-motion') || matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Black or white, whichever reads better on a colour. */
export function inkOn(color: string): string {
  const pen = document.createElement('canvas').getContext('2d');
  if (!pen) {
    return '#000000';
  }
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = pen.getImageData(0, 0, 1, 1).data;
  const linear = (channel: number): number => (channel / 255) ** 2.2;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.18 ? '#000000' : '#ffffff';
}
