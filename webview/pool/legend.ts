/** Samples of every state on the page, drawn by the function that draws the cells. */
import { CELL } from '../../src/core/pool';
import { el } from '../dom';
import { readPalette } from '../ui/palette';
import { lookColors } from './colors';
import { createLook, slotOf, spriteOf } from './look';
import { STATE_NAMES, STATE_NOTES, STATES, statesOf, type WorldKind } from './words';

const SIZE = 30;

export function legendItems(engines: readonly WorldKind[]): HTMLElement[] {
  const seen = new Set(engines.flatMap((engine) => statesOf(engine)));
  const look = createLook(lookColors(readPalette()), false, -1, 16);
  return STATES.filter((state) => seen.has(state)).map((state) => {
    const canvas = el('canvas', { class: 'swatch', 'aria-hidden': 'true' });
    canvas.width = SIZE;
    canvas.height = SIZE;
    const level = state === 'active' || state === 'shared' ? 11 : 16;
    const image = new ImageData(SIZE, SIZE);
    new Uint32Array(image.data.buffer).set(spriteOf(look, slotOf(look, CELL[state], -1), level, SIZE, false, false));
    canvas.getContext('2d')?.putImageData(image, 0, 0);
    return el('li', { title: STATE_NOTES[state] }, canvas, STATE_NAMES[state]);
  });
}
