/** What is written in large cells. */
import { hueOf, type Look, levelOf, type Rgb } from './look';
import type { Drawing } from './panel';

export interface Label {
  readonly whose: string;
  readonly index: number;
  readonly ink: string;
}

/** From this many sixteenths on, text lies on what is filled. */
const ON_INK = 9;

/** Black or white, whichever reads better. */
const inkOn = ([red, green, blue]: Rgb): string =>
  red * 0.3 + green * 0.59 + blue * 0.11 > 120 ? '#000000' : '#ffffff';

/** Whose block a cell is and which of its blocks, in an ink that reads on it. `back`: what is not selected stands back. */
export function labelsOf(
  { picture, tables, selected, byRequest }: Drawing,
  look: Look,
  back: boolean,
): (cell: number) => Label | undefined {
  const { meta, owner, logical } = picture;
  const { colors } = look;
  const plain = `rgb(${colors.foreground.join(' ')})`;
  const own = new Map(tables.flatMap((table) => [...table].map((cell, i) => [cell, i] as const)));
  return (cell) => {
    const state = meta[cell] ?? 0;
    const request = owner[cell] ?? -1;
    if (request < 0) {
      return undefined;
    }
    const owners = state >>> 17;
    const ground =
      byRequest && owners <= 1 ? hueOf(request, colors.light) : (colors.states[state & 15] ?? colors.foreground);
    const onInk = (own.has(cell) || !back) && levelOf(look, state) >= ON_INK;
    return {
      whose: owners > 1 ? `×${owners}` : `r${own.has(cell) ? selected : request}`,
      index: own.get(cell) ?? logical[cell] ?? 0,
      ink: onInk ? inkOn(ground) : plain,
    };
  };
}
