/** Where cells lie on the canvas: row by row in a grid of fixed width that can be zoomed and moved like a map. */

export interface Grid {
  readonly cells: number;
  readonly columns: number;
  readonly rows: number;
}

/** Device pixels of one cell's edge (less than 1: several cells to a pixel), and the pixel where the grid begins. */
export interface Camera {
  readonly size: number;
  readonly x: number;
  readonly y: number;
}

export interface Area {
  readonly width: number;
  readonly height: number;
}

/** So small a cell is never drawn: pixels would have to add up more cells than their sums can hold. */
const LEAST = 1 / 16;

/** From this size on cells have patterns and gaps, and whole pixels; below, some are a pixel wider than others. */
export const WHOLE = 4;

/** The largest cells with which all of them are in view, and a grid as wide as the area. */
export function fitGrid(cells: number, { width, height }: Area, most: number): { grid: Grid; camera: Camera } {
  const fits = (size: number): boolean => Math.ceil(cells / Math.max(1, Math.floor(width / size))) * size <= height;
  let size = Math.min(most, Math.sqrt((width * height) / Math.max(1, cells)));
  size = size >= WHOLE ? Math.floor(size) : size;
  while (size > LEAST && !fits(size)) {
    size = size > WHOLE ? size - 1 : size * 0.998;
  }
  const columns = Math.max(1, Math.min(cells, Math.floor(width / size)));
  return { grid: { cells, columns, rows: Math.ceil(cells / columns) }, camera: { size, x: 0, y: 0 } };
}

const SIZES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/** The next larger or smaller size of cells; never smaller than all in view. */
export function zoomedSize(size: number, fit: number, direction: 1 | -1): number {
  if (direction > 0) {
    return SIZES.find((each) => each > size) ?? size;
  }
  return Math.max(fit, [...SIZES].reverse().find((each) => each < size) ?? fit);
}

/** Zooms so that what lies at a pixel stays there. */
export function zoomAt(camera: Camera, size: number, px: number, py: number): Camera {
  const ratio = size / camera.size;
  return { size, x: px - (px - camera.x) * ratio, y: py - (py - camera.y) * ratio };
}

/** Keeps the grid in the area: no further than its edges, and at the start where it is smaller. Whole pixels. */
export function held(camera: Camera, { columns, rows }: Grid, { width, height }: Area): Camera {
  const bound = (at: number, length: number, room: number): number =>
    Math.round(Math.min(0, Math.max(at, Math.min(0, room - length))));
  return {
    size: camera.size,
    x: bound(camera.x, columns * camera.size, width),
    y: bound(camera.y, rows * camera.size, height),
  };
}

/** The cell under a pixel of the area, or −1; with several to a pixel, the first of them. */
export function cellAt({ cells, columns }: Grid, { size, x, y }: Camera, px: number, py: number): number {
  // Cell c begins at pixel ⌊c · size⌋.
  const at = (pixel: number): number => (size < 1 ? Math.ceil(pixel / size) : Math.ceil((pixel + 1) / size) - 1);
  const column = at(Math.floor(px) - x);
  const row = at(Math.floor(py) - y);
  const cell = row * columns + column;
  return column < 0 || column >= columns || row < 0 || cell >= cells ? -1 : cell;
}

/** Corner of a cell in pixels of the area. */
export const cornerOf = ({ columns }: Grid, { size, x, y }: Camera, cell: number): readonly [number, number] => [
  x + (cell % columns) * size,
  y + Math.floor(cell / columns) * size,
];

/** Columns and rows that share the pixel of a cell: its bucket of the density map. First and one past the last. */
export function bucketOf({ columns, rows, cells }: Grid, { size }: Camera, cell: number): number[] {
  if (size >= 1) {
    return [cell];
  }
  const span = (at: number, end: number): readonly [number, number] => {
    const pixel = Math.floor(at * size);
    let first = at;
    while (first > 0 && Math.floor((first - 1) * size) === pixel) {
      first--;
    }
    let last = at + 1;
    while (last < end && Math.floor(last * size) === pixel) {
      last++;
    }
    return [first, last];
  };
  const [left, right] = span(cell % columns, columns);
  const [top, bottom] = span(Math.floor(cell / columns), rows);
  const bucket: number[] = [];
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const each = row * columns + column;
      if (each < cells) {
        bucket.push(each);
      }
    }
  }
  return bucket;
}

/** Moves the camera so that a cell is in view. */
export function revealed(camera: Camera, grid: Grid, area: Area, cell: number): Camera {
  const [x, y] = cornerOf(grid, camera, cell);
  const shift = (at: number, room: number): number =>
    at < 0 ? -at : at + camera.size > room ? room - camera.size - at : 0;
  return held({ ...camera, x: camera.x + shift(x, area.width), y: camera.y + shift(y, area.height) }, grid, area);
}

/** Where a key moves the cursor, if it does: with several cells to a pixel, by whole pixels. */
export function movedCursor(
  { key, ctrlKey }: { readonly key: string; readonly ctrlKey: boolean },
  cursor: number,
  { cells, columns }: Grid,
  { size }: Camera,
): number | undefined {
  const step = Math.ceil(1 / Math.min(1, size));
  const row = step * columns;
  const start = cursor - (cursor % columns);
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: cursor - step,
    ArrowRight: cursor + step,
    ArrowUp: cursor - row >= 0 ? cursor - row : cursor,
    ArrowDown: cursor + row < cells ? cursor + row : cursor,
    Home: ctrlKey ? 0 : start,
    End: ctrlKey ? cells - 1 : start + columns - 1,
    PageUp: Math.max(cursor % columns, cursor - 10 * row),
    PageDown: cursor + 10 * row < cells ? cursor + 10 * row : cursor,
  };
  const to = moves[key];
  return to === undefined ? undefined : Math.max(0, Math.min(cells - 1, to));
}
