import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CELL } from '../../../src/core/pool';
import {
  bucketOf,
  type Camera,
  cellAt,
  cornerOf,
  fitGrid,
  held,
  revealed,
  zoomAt,
  zoomedSize,
} from '../../../webview/pool/grid';
import { createLook, type LookColors, levelOf, packed, slotOf } from '../../../webview/pool/look';
import { drawCells } from '../../../webview/pool/raster';

const colors: LookColors = {
  background: [10, 10, 10],
  foreground: [250, 250, 250],
  light: false,
  highContrast: false,
  states: Object.keys(CELL).map((_, i) => [20 * i + 20, 200 - 15 * i, 90] as const),
};

const metaOf = (state: number, fill: number, owners = 1): number => state | (fill << 4) | (owners << 17);

const areas = fc.record({ width: fc.integer({ min: 120, max: 900 }), height: fc.integer({ min: 60, max: 500 }) });

describe('the grid', () => {
  it('holds every cell, in the area, as large as they can be', () => {
    fc.assert(
      fc.property(areas, fc.integer({ min: 1, max: 500_000 }), (area, cells) => {
        const { grid, camera } = fitGrid(cells, area, 40);
        expect(grid.columns * grid.rows).toBeGreaterThanOrEqual(cells);
        expect(grid.columns * (grid.rows - 1)).toBeLessThan(cells);
        expect(grid.columns * camera.size).toBeLessThanOrEqual(area.width + 1e-6);
        if (camera.size > 1 / 16) {
          expect(grid.rows * camera.size).toBeLessThanOrEqual(area.height + 1e-6);
          expect(grid.columns * grid.rows * camera.size ** 2).toBeGreaterThan(
            camera.size < 39 ? 0.3 * area.width * area.height : 0,
          );
        }
      }),
    );
  });

  it('finds the cell that is drawn under a pixel, at every size', () => {
    fc.assert(
      fc.property(areas, fc.integer({ min: 1, max: 60_000 }), fc.nat(), (area, cells, a) => {
        const { grid, camera } = fitGrid(cells, area, 40);
        const cell = a % cells;
        const [x, y] = cornerOf(grid, camera, cell).map(Math.floor) as [number, number];
        expect(bucketOf(grid, camera, cellAt(grid, camera, x, y))).toContain(cell);
        expect(cellAt(grid, camera, x, area.height + 10_000)).toBe(-1);
      }),
    );
  });

  it('zooms about a point, reveals a cell, and never leaves the grid', () => {
    const area = { width: 400, height: 200 };
    const { grid, camera } = fitGrid(20_000, area, 40);
    const size = zoomedSize(camera.size, camera.size, 1);
    expect(size).toBeGreaterThan(camera.size);
    expect(zoomedSize(size, camera.size, -1)).toBeLessThanOrEqual(size);
    const zoomed: Camera = held(zoomAt(camera, 16, 200, 100), grid, area);
    const last = revealed(zoomed, grid, area, 19_999);
    const [x, y] = cornerOf(grid, last, 19_999);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(y + 16).toBeLessThanOrEqual(area.height);
    expect(held({ ...zoomed, x: 5000, y: -1e6 }, grid, area)).toEqual({
      size: 16,
      x: 0,
      y: area.height - grid.rows * 16,
    });
  });
});

function picture(cells: number, state: (cell: number) => number) {
  const meta = Int32Array.from({ length: cells }, (_, cell) =>
    metaOf(state(cell), state(cell) === CELL.active ? 16 : 0),
  );
  const owner = new Int32Array(cells).map((_, cell) => ((meta[cell] ?? 0) === 0 ? -1 : cell % 7));
  return { meta, owner, logical: new Int32Array(cells) };
}

const raster = (width: number, height: number) => ({ width, height, pixels: new Uint32Array(width * height) });

const channels = (pixel = 0) => [pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255];

/** One cell alone, as its column of pixels 4 from the left. */
function oneCell(size: number, meta: number, look: ReturnType<typeof createLook>) {
  const to = raster(size, size);
  const cells = { meta: Int32Array.of(meta), owner: Int32Array.of(0), logical: Int32Array.of(0) };
  drawCells(to, cells, { cells: 1, columns: 1, rows: 1 }, { size, x: 0, y: 0 }, look, false);
  return to.pixels;
}

describe('the raster', () => {
  it('mixes the cells of a pixel, each counted once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3000, max: 40_000 }), fc.integer({ min: 1, max: 50 }), (cells, seed) => {
        const { grid, camera } = fitGrid(cells, { width: 60, height: 40 }, 40);
        expect(camera.size).toBeLessThan(1);
        const to = raster(60, 40);
        const shown = picture(cells, (cell) => ((cell * seed) % 11 < 4 ? CELL.active : CELL.free));
        const look = createLook(colors, false, -1, 16);
        drawCells(to, shown, grid, camera, look, false);
        for (const cell of [0, Math.floor(cells / 3), cells - 1]) {
          const bucket = bucketOf(grid, camera, cell);
          const [x, y] = cornerOf(grid, camera, cell).map(Math.floor) as [number, number];
          const mean = [0, 1, 2].map((channel) => {
            const sum = bucket.reduce((total, each) => {
              const meta = shown.meta[each] ?? 0;
              const color = look.flat[slotOf(look, meta, -1) * 17 + levelOf(look, meta)];
              return total + (channels(color)[channel] ?? 0);
            }, 0);
            return Math.floor(sum / bucket.length);
          });
          expect(channels(to.pixels[y * 60 + x])).toEqual(mean);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('draws a cell as deep as it is full, from below', () => {
    const look = createLook(colors, false, -1, 16);
    const ink = packed(colors.states[CELL.active] ?? [0, 0, 0]);
    const depths = [0, 1, 4, 8, 12, 15, 16].map((fill) => {
      const pixels = oneCell(16, metaOf(CELL.active, fill), look);
      const column = Array.from({ length: 16 }, (_, y) => pixels[y * 16 + 4] === ink);
      expect(column.lastIndexOf(true)).toBe(fill === 0 ? -1 : 14); // the last row is the gap
      return column.filter(Boolean).length;
    });
    expect(depths).toEqual([...depths].sort((a, b) => a - b));
    expect([depths[0], depths.at(-1)]).toEqual([0, 15]);
    expect(depths[1]).toBeGreaterThan(0); // one token is seen
    expect(depths[5]).toBeLessThan(15); // one token missing, too
  });

  it('tells every state by its pattern, without its colour', () => {
    const grey: LookColors = {
      ...colors,
      states: colors.states.map(() => [200, 200, 200] as const),
      highContrast: true,
    };
    const look = createLook(grey, false, -1, 16);
    const drawn = Object.values(CELL).map((state) => oneCell(24, metaOf(state, 16), look).join());
    expect(new Set(drawn).size).toBe(drawn.length);
  });

  it('sets what is not selected back', () => {
    const look = createLook(colors, true, 3, 16);
    const meta = metaOf(CELL.active, 16);
    const [own, other] = [3, 4].map((owner) => look.flat[slotOf(look, meta, owner) * 17 + 16]);
    const plain = createLook(colors, true, -1, 16);
    expect(own).toBe(plain.flat[slotOf(plain, meta, 3) * 17 + 16]);
    expect(other).not.toBe(plain.flat[slotOf(plain, meta, 4) * 17 + 16]);
  });

  it.each([8, 2.6])('cuts off what lies outside, cells of %f pixels', (size) => {
    const shown = picture(400, (cell) => (cell % 3 === 0 ? CELL.active : CELL.reserved));
    const look = createLook(colors, true, -1, 16);
    const grid = { cells: 400, columns: 20, rows: 20 };
    const whole = raster(160, 160);
    drawCells(whole, shown, grid, { size, x: 0, y: 0 }, look, false);
    const part = raster(25, 20);
    drawCells(part, shown, grid, { size, x: -21, y: -13 }, look, false);
    for (let y = 0; y < 20; y++) {
      const from = (y + 13) * 160 + 21;
      expect([...part.pixels.subarray(y * 25, y * 25 + 25)]).toEqual([...whole.pixels.subarray(from, from + 25)]);
    }
  });
});
