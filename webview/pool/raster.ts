// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
/** Cells to pixels: one by one where they have room, an exact mixture where several share a pixel. No DOM. */
import { type Area, type Camera, type Grid, WHOLE } from './grid';
import { colorOf, FAINT, isHatched, type Look, levelOf, packed, slotOf, spriteOf } from './look';

export interface Cells {
  readonly meta: Int32Array;
  readonly owner: Int32Array;
  readonly logical: Int32Array;
}

export interface Raster extends Area {
  readonly pixels: Uint32Array;
}

/** Cells of a world without blocks touch; a slab's first cell has an edge. */
export function drawCells(to: Raster, cells: Cells, grid: Grid, camera: Camera, look: Look, joined: boolean): void {
  to.pixels.fill(packed(look.colors.background));
  if (camera.size < 1) {
    drawDensity(to, cells, grid, camera, look);
  } else if (camera.size < WHOLE) {
    drawFlatRows(to, cells, grid, camera, look);
  } else {
    drawSprites(to, cells, grid, camera, look, joined);
  }
}

/** The columns and rows that lie in the raster: first, and one past the last. */
function visible(to: Raster, { columns, rows }: Grid, { size, x, y }: Camera) {
  return {
    left: Math.max(0, Math.floor(-x / size)),
    right: Math.min(columns, Math.ceil((to.width - x) / size)),
    top: Math.max(0, Math.floor(-y / size)),
    bottom: Math.min(rows, Math.ceil((to.height - y) / size)),
  };
}

function drawSprites(to: Raster, cells: Cells, grid: Grid, camera: Camera, look: Look, joined: boolean): void {
  const { left, right, top, bottom } = visible(to, grid, camera);
  for (let row = top; row < bottom; row++) {
    const end = Math.min(grid.cells, row * grid.columns + right);
    for (let cell = row * grid.columns + left; cell < end; cell++) {
      drawCell(to, cells, cell, grid, camera, look, joined);
    }
  }
}

/** One cell; what lies outside is cut off. */
export function drawCell(
  to: Raster,
  cells: Cells,
  cell: number,
  grid: Grid,
  camera: Camera,
  look: Look,
  joined: boolean,
): void {
  const { size } = camera;
  const column = cell % grid.columns;
  const row = (cell - column) / grid.columns;
  if (size < WHOLE) {
    drawFlat(to, cells, cell, column, row, camera, look);
    return;
  }
  const { width, height, pixels } = to;
  const meta = cells.meta[cell]!;
  const edge = joined && cells.logical[cell] === 0;
  const sprite = spriteOf(look, slotOf(look, meta, cells.owner[cell]!), levelOf(look, meta), size, joined, edge);
  const left = camera.x + column * size;
  const top = camera.y + row * size;
  const bottom = Math.min(height, top + size);
  const right = Math.min(width, left + size);
  const from = Math.max(0, -left);
  for (let y = Math.max(0, top); y < bottom; y++) {
    const line = (y - top) * size;
    let at = y * width + left + from;
    for (let i = line + from; i < line + right - left; i++) {
      pixels[at++] = sprite[i]!;
    }
  }
}

/** The one colour of a cell too small for a pattern. What is set aside is hatched cell by cell. */
function flatColor(look: Look, meta: number, owner: number, odd: boolean): number {
  const level = odd && isHatched(meta) ? FAINT : levelOf(look, meta);
  return colorOf(look, slotOf(look, meta, owner), level);
}

/** Whole rows of such cells: one line of pixels each, and copies of it. */
function drawFlatRows(to: Raster, { meta, owner }: Cells, grid: Grid, camera: Camera, look: Look): void {
  const { width, height, pixels } = to;
  const { left, right, top, bottom } = visible(to, grid, camera);
  const { size, x, y } = camera;
  const edges = Int32Array.from({ length: right - left + 1 }, (_, i) =>
    Math.max(0, Math.min(width, x + Math.floor((left + i) * size))),
  );
  for (let row = top; row < bottom; row++) {
    const first = Math.max(0, y + Math.floor(row * size));
    const last = Math.min(height, y + Math.floor((row + 1) * size));
    const line = first * width;
    const start = row * grid.columns;
    const end = Math.min(right, grid.cells - start);
    for (let column = left, at = line + edges[0]!; column < end; column++) {
      const cell = start + column;
      const color = flatColor(look, meta[cell]!, owner[cell]!, ((column + row) & 1) === 1);
      for (const stop = line + edges[column - left + 1]!; at < stop; at++) {
        pixels[at] = color;
      }
    }
    const lineEnd = line + edges[Math.max(0, end - left)]!;
    for (let each = first + 1; each < last; each++) {
      pixels.copyWithin(each * width + edges[0]!, line + edges[0]!, lineEnd);
    }
  }
}

function drawFlat(
  to: Raster,
  { meta, owner }: Cells,
  cell: number,
  column: number,
  row: number,
  { size, x, y }: Camera,
  look: Look,
): void {
  const color = flatColor(look, meta[cell]!, owner[cell]!, ((column + row) & 1) === 1);
  const left = Math.max(0, x + Math.floor(column * size));
  const right = Math.min(to.width, x + Math.floor((column + 1) * size));
  const bottom = Math.min(to.height, y + Math.floor((row + 1) * size));
  for (let line = Math.max(0, y + Math.floor(row * size)); line < bottom; line++) {
    to.pixels.fill(color, line * to.width + left, line * to.width + Math.max(left, right));
  }
}

/** Several cells to a pixel: the mean of their colours, every cell counted once. */
function drawDensity(to: Raster, { meta, owner }: Cells, grid: Grid, camera: Camera, look: Look): void {
  const { columns, rows } = grid;
  const { width, height, pixels } = to;
  const left = Math.floor(camera.x);
  const pixelOf = Int32Array.from({ length: columns }, (_, column) => left + Math.floor(column * camera.size));
  // Red and blue in one sum, green in the other: a pixel has fewer than 256 cells.
  const redBlue = new Uint32Array(width);
  const green = new Uint32Array(width);
  const counts = new Uint32Array(width);
  let line = -1;
  const flush = (): void => {
    if (line >= 0 && line < height) {
      writeLine(pixels, line * width, redBlue, green, counts);
    }
    redBlue.fill(0);
    green.fill(0);
    counts.fill(0);
  };
  const { flat } = look;
  for (let row = 0, cell = 0; row < rows; row++) {
    const y = Math.floor(camera.y) + Math.floor(row * camera.size);
    if (y !== line) {
      flush();
      line = y;
    }
    const end = Math.min(grid.cells, cell + columns);
    if (y < 0 || y >= height) {
      cell = end;
      continue;
    }
    for (let column = 0; cell < end; cell++, column++) {
      const x = pixelOf[column]!;
      if (x >= 0 && x < width) {
        const color = flat[slotOf(look, meta[cell]!, owner[cell]!) * 17 + levelOf(look, meta[cell]!)]!;
        redBlue[x]! += color & 0xff00ff;
        green[x]! += (color >>> 8) & 0xff;
        counts[x]!++;
      }
    }
  }
  flush();
}

function writeLine(
  pixels: Uint32Array,
  at: number,
  redBlue: Uint32Array,
  green: Uint32Array,
  counts: Uint32Array,
): void {
  for (let x = 0; x < counts.length; x++) {
    const count = counts[x]!;
    if (count > 0) {
      const sums = redBlue[x]!;
      const red = ((sums & 0xffff) / count) | 0;
      const blue = ((sums >>> 16) / count) | 0;
      pixels[at + x] = (0xff000000 | (blue << 16) | (((green[x]! / count) | 0) << 8) | red) >>> 0;
    }
  }
}
