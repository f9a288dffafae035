/** The theme's colours as the pool is drawn with them. */
import type { Palette } from '../ui/palette';
import { type LookColors, mix, type Rgb } from './look';

/** Any CSS colour as numbers, drawn on the theme's background. */
function reader(): (color: string, under: Rgb) => Rgb {
  const canvas = document.createElement('canvas');
  canvas.width = 1;
  canvas.height = 1;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  return (color, under) => {
    if (!pen) {
      return under;
    }
    pen.fillStyle = `rgb(${under.join(' ')})`;
    pen.fillRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = pen.getImageData(0, 0, 1, 1).data;
    return [red, green, blue];
  };
}

export function lookColors(palette: Palette): LookColors {
  const read = reader();
  const background = read(palette.background, [0, 0, 0]);
  const foreground = read(palette.foreground, background);
  const of = (color: string): Rgb => read(color, background);
  const light = background[0] * 0.3 + background[1] * 0.6 + background[2] * 0.1 > 128;
  return {
    background,
    foreground,
    light,
    highContrast: palette.highContrast,
    states: [
      mix(background, foreground, palette.highContrast ? 0.3 : 0.13), // free
      of(palette.blue), // active
      of(palette.purple), // shared
      of(palette.green), // cached
      of(palette.orange), // leaving
      of(palette.red), // swapped
      of(palette.blue), // reserved
      of(palette.yellow), // wasted
      of(palette.red), // unusable
    ],
  };
}
