/** How a cell looks: a colour for its state or its request, a pattern for its state, and how full it is. */
import { CELL } from '../../src/core/pool';

/** Red, green, blue, 0…255. */
export type Rgb = readonly [number, number, number];

export interface LookColors {
  readonly background: Rgb;
  /** One for each state, in the order of `CELL`. */
  readonly states: readonly Rgb[];
  readonly light: boolean;
  /** Patterns are drawn strong, and every cell has an edge. */
  readonly highContrast: boolean;
  readonly foreground: Rgb;
}

/** Requests take these many hues in turn; hue 0 is the state's own colour. */
const HUES = 48;
const LEVELS = 16;
const STATES = Object.keys(CELL).length;
const SLOTS = STATES * (HUES + 1);

/** States whose fill says how many tokens are there; of the others the whole cell is drawn. */
const FILLED = (1 << CELL.active) | (1 << CELL.shared) | (1 << CELL.swapped);

export interface Look {
  readonly colors: LookColors;
  readonly byRequest: boolean;
  /** The request that stands out, or −1. */
  readonly selected: number;
  /** Sixteenths by number of tokens: see `levelOf`. */
  readonly levels: Uint8Array;
  /** One colour for every slot and level, packed as ImageData wants it; the second half is for what stands back. */
  readonly flat: Uint32Array;
  /** Cells of this many pixels, drawn once each: see `spriteOf`. */
  readonly sprites: Map<number, Uint32Array>;
}

export const mix = (a: Rgb, b: Rgb, share: number): Rgb => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];

/** Little endian, as every machine that runs VS Code is. */
export const packed = ([r, g, b]: Rgb): number =>
  ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;

/** Neighbouring requests lie far apart on the colour wheel. */
export function hueOf(request: number, light: boolean): Rgb {
  const at = request % HUES;
  const hue = (at * 137.508) % 360;
  const lightness = (light ? 0.42 : 0.6) + 0.07 * ((at % 3) - 1);
  return fromHsl(hue, light ? 0.62 : 0.58, lightness);
}

function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    return 255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

export function createLook(colors: LookColors, byRequest: boolean, selected: number, cellTokens: number): Look {
  const flat = new Uint32Array(2 * SLOTS * (LEVELS + 1));
  for (let slot = 0; slot < SLOTS; slot++) {
    const ink = inkOf(colors, slot);
    for (let level = 0; level <= LEVELS; level++) {
      const color = mix(paleOf(colors, ink), ink, (level / LEVELS) * weightOf(Math.floor(slot / (HUES + 1))));
      flat[slot * (LEVELS + 1) + level] = packed(color);
      flat[(SLOTS + slot) * (LEVELS + 1) + level] = packed(mix(color, colors.background, DIM));
    }
  }
  return { colors, byRequest, selected, levels: levelsOf(cellTokens), flat, sprites: new Map() };
}

/** Patterns of what is only set aside: every other cell of them where cells are too small for a pattern of their own. */
export const isHatched = (meta: number): boolean => (meta & 15) >= CELL.reserved;
/** What the other cells of such a pattern are drawn as. */
export const FAINT = 3;

/** How far what is not selected goes back. */
const DIM = 0.6;

/** What is only set aside is drawn weaker where there is no room for its pattern. */
const weightOf = (state: number): number =>
  state === CELL.reserved || state === CELL.wasted || state === CELL.unusable ? 0.55 : state === CELL.cached ? 0.75 : 1;

function inkOf(colors: LookColors, slot: number): Rgb {
  const hue = slot % (HUES + 1);
  const state = Math.floor(slot / (HUES + 1));
  return hue === 0 ? (colors.states[state] ?? colors.foreground) : hueOf(hue - 1, colors.light);
}

/** The part of a cell that is still empty. */
const paleOf = (colors: LookColors, ink: Rgb): Rgb => mix(colors.background, ink, 0.22);

/** Where a cell's colours begin: its slot, 0 … and beyond `SLOTS` where it stands back. */
export function slotOf(look: Look, meta: number, owner: number): number {
  const state = meta & 15;
  const isOne = owner >= 0 && state !== CELL.wasted && state !== CELL.shared;
  const hue = look.byRequest && isOne ? 1 + (owner % HUES) : 0;
  const back = look.selected >= 0 && owner !== look.selected ? SLOTS : 0;
  return back + state * (HUES + 1) + hue;
}

/** Filled sixteenths of what a cell's state says. */
export const levelOf = ({ levels }: Look, meta: number): number =>
  (FILLED >>> (meta & 15)) & 1 ? (levels[(meta >>> 4) & 8191] ?? LEVELS) : LEVELS;

/** By number of tokens. A cell with one token is never drawn empty, nor one that lacks a token full. */
function levelsOf(cellTokens: number): Uint8Array {
  return Uint8Array.from({ length: 8192 }, (_, fill) => {
    if (fill === 0 || fill >= cellTokens) {
      return fill === 0 ? 0 : LEVELS;
    }
    return Math.max(1, Math.min(LEVELS - 1, Math.round((fill * LEVELS) / cellTokens)));
  });
}

export const colorOf = (look: Look, slot: number, level: number): number => look.flat[slot * (LEVELS + 1) + level] ?? 0;

/** The pixels of one cell of `size`. `joined` cells touch, with an edge only where a slab begins (`edge`). */
export function spriteOf(
  look: Look,
  slot: number,
  level: number,
  size: number,
  joined: boolean,
  edge: boolean,
): Uint32Array {
  const key = (((slot * (LEVELS + 1) + level) * 256 + (size & 255)) * 2 + (joined ? 1 : 0)) * 2 + (edge ? 1 : 0);
  const known = look.sprites.get(key);
  if (known) {
    return known;
  }
  const made = drawSprite(look, slot, level, size, joined, edge);
  look.sprites.set(key, made);
  return made;
}

function drawSprite(
  look: Look,
  slot: number,
  level: number,
  size: number,
  joined: boolean,
  edge: boolean,
): Uint32Array {
  const { colors } = look;
  const stands = slot < SLOTS;
  const state = Math.floor((slot % SLOTS) / (HUES + 1));
  const ink = inkOf(colors, slot % SLOTS);
  const gap = joined ? 0 : gapOf(size);
  const inner = size - gap;
  const surface = inner - Math.round((level / LEVELS) * inner);
  const pixels = new Uint32Array(size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      let color = colors.background;
      if (x < inner && y < inner) {
        const share = inkShare(state, x, y, inner, size, y >= surface, colors.highContrast);
        color = mix(colors.background, ink, share);
        color = colors.highContrast && !joined && onEdge(x, y, inner) ? mix(color, colors.foreground, 0.6) : color;
      }
      color = edge && x === 0 ? colors.foreground : color;
      pixels[y * size + x] = packed(stands ? color : mix(color, colors.background, DIM));
    }
  }
  return pixels;
}

const gapOf = (size: number): number => (size >= 24 ? 2 : size >= 4 ? 1 : 0);

const onEdge = (x: number, y: number, inner: number): boolean =>
  x === 0 || y === 0 || x === inner - 1 || y === inner - 1;

/** A pattern's period: a divisor of the cell, so that it runs on in the next one. */
function periodOf(size: number): number {
  return [4, 5, 3, 6, 7, 2].find((each) => size % each === 0) ?? Math.max(2, Math.round(size / 2));
}

/** How much of the ink a pixel takes: the pattern that tells a state without its colour. */
function inkShare(
  state: number,
  x: number,
  y: number,
  inner: number,
  size: number,
  filled: boolean,
  strong: boolean,
): number {
  const period = periodOf(size);
  const rising = (x + y) % period === 0;
  const falling = (x - y + size * period) % period === 0;
  const quiet = strong ? 0 : 0.16;
  const edge = onEdge(x, y, inner);
  const middle = Math.abs(2 * x + 1 - inner) <= inner * 0.4 && Math.abs(2 * y + 1 - inner) <= inner * 0.4;
  switch (state) {
    case CELL.active:
      return filled ? 1 : 0.22;
    case CELL.shared:
      return filled ? (rising ? 0.5 : 1) : 0.22;
    case CELL.cached:
      return edge ? 0.95 : strong ? 0.2 : 0.38;
    case CELL.leaving:
      return edge || middle ? 1 : quiet;
    case CELL.swapped:
      return falling ? 1 : filled ? 0.55 : 0.22;
    case CELL.reserved:
      return rising ? 0.85 : quiet;
    case CELL.wasted:
      return rising || falling ? 0.85 : quiet;
    case CELL.unusable:
      return x % period === 1 && y % period === 1 ? 1 : quiet;
    default:
      return edge ? 1 : 0.55;
  }
}
