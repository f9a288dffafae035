/** What is drawn over the cells: the block table as a mapping, what just happened, where pointer and keyboard are. */
import type { PoolEvent } from '../../src/core/pool';
import { type Area, type Camera, cornerOf, type Grid } from './grid';
import type { Label } from './labels';
import type { Rgb } from './look';

export interface OverlayColors {
  readonly foreground: string;
  readonly background: string;
  readonly quiet: string;
  readonly evicted: string;
  readonly copied: string;
  readonly focus: string;
  readonly font: string;
}

export interface OverlayScene {
  readonly grid: Grid;
  readonly camera: Camera;
  /** The cells' area; the strip of the block table lies above it. */
  readonly area: Area;
  readonly strip: number;
  /** Device pixels of a CSS pixel. */
  readonly ratio: number;
  readonly colors: OverlayColors;
}

/** More lines than this are a surface: of a longer table every so many-th entry is drawn. */
const MOST_LINES = 160;

/** One entry of the table for every so many that gets a line. */
export const lineStride = (entries: number): number => Math.max(1, Math.ceil(entries / MOST_LINES));

const inView = ({ area, camera: { size } }: OverlayScene, x: number, y: number): boolean =>
  x + size > 0 && y + size > 0 && x < area.width && y < area.height;

/** The height of an entry, in CSS pixels. */
const TABLE = 24;

/** Logical blocks in a row above, a line from each to the cell it lies in. */
export function drawTable(pen: CanvasRenderingContext2D, scene: OverlayScene, table: Int32Array, color: Rgb): void {
  const { area, strip, ratio, grid, camera, colors } = scene;
  const count = table.length;
  if (count === 0 || strip === 0) {
    return;
  }
  const step = Math.min(18 * ratio, area.width / count);
  const box = step >= 5 * ratio ? step - ratio : step;
  const top = 4 * ratio;
  const height = Math.min(strip - 12 * ratio, TABLE * ratio); // what is left is for the lines
  const ink = `rgb(${color.map(Math.round).join(' ')})`;
  pen.fillStyle = ink;
  if (step >= 2) {
    for (let i = 0; i < count; i++) {
      pen.fillRect(i * step, top, box, height);
    }
  } else {
    pen.fillRect(0, top, area.width, height);
  }
  labelBoxes(pen, scene, count, step, top + height / 2);
  pen.lineWidth = Math.max(1, 1.2 * ratio);
  const stride = lineStride(count);
  for (let i = 0; i < count; i += stride) {
    const cell = table[i] ?? -1;
    const [x, y] = cornerOf(grid, camera, cell);
    if (cell >= 0 && inView(scene, x, y)) {
      const from = (i + 0.5) * step;
      const to = [x + camera.size / 2, strip + y + Math.min(camera.size / 2, 6 * ratio)] as const;
      const bend = Math.max(10 * ratio, (to[1] - top - height) * 0.6);
      pen.strokeStyle = ink;
      pen.globalAlpha = count > 40 ? 0.45 : 0.8;
      pen.beginPath();
      pen.moveTo(from, top + height);
      pen.bezierCurveTo(from, top + height + bend, to[0], to[1] - bend, to[0], to[1]);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }
  outline(pen, scene, table, colors.foreground, Math.max(1, 1.5 * ratio));
}

function labelBoxes(pen: CanvasRenderingContext2D, scene: OverlayScene, count: number, step: number, y: number): void {
  const { ratio, colors } = scene;
  const size = 9 * ratio;
  if (step < 1.7 * size) {
    return;
  }
  pen.font = `600 ${size}px ${colors.font}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillStyle = colors.background;
  for (let i = 0; i < count; i++) {
    pen.fillText(String(i), (i + 0.5) * step - ratio / 2, y);
  }
}

/** A frame around each cell; a dot where cells are too small for one. */
export function outline(
  pen: CanvasRenderingContext2D,
  scene: OverlayScene,
  cells: ArrayLike<number>,
  color: string,
  width: number,
): void {
  const { grid, camera, strip, ratio } = scene;
  pen.strokeStyle = color;
  pen.fillStyle = color;
  pen.lineWidth = width;
  const stride = camera.size < 4 ? Math.max(1, Math.ceil(cells.length / 4000)) : 1;
  for (let i = 0; i < cells.length; i += stride) {
    const cell = cells[i] ?? -1;
    const [x, y] = cornerOf(grid, camera, cell);
    if (cell < 0 || !inView(scene, x, y)) {
      continue;
    }
    if (camera.size >= 4) {
      const inset = width / 2;
      pen.strokeRect(x + inset, strip + y + inset, camera.size - width, camera.size - width);
    } else {
      pen.fillRect(x - ratio / 2, strip + y - ratio / 2, camera.size + ratio, camera.size + ratio);
    }
  }
}

/** Evicted blocks are crossed out, copies are arrows. `strength` fades what is no longer new. */
export function drawEvents(
  pen: CanvasRenderingContext2D,
  scene: OverlayScene,
  events: readonly PoolEvent[],
  strength: number,
): void {
  const { colors, ratio } = scene;
  pen.globalAlpha = strength;
  for (const event of events) {
    if (event.kind === 'evicted') {
      outline(pen, scene, event.cells, colors.evicted, Math.max(2, 2 * ratio));
      crossOut(pen, scene, event.cells);
    } else if (event.kind === 'copied') {
      arrow(pen, scene, event.from, event.to);
    }
  }
  pen.globalAlpha = 1;
}

function crossOut(
  pen: CanvasRenderingContext2D,
  { grid, camera, strip }: OverlayScene,
  cells: readonly number[],
): void {
  if (camera.size < 8) {
    return;
  }
  pen.beginPath();
  for (const cell of cells) {
    const [x, y] = cornerOf(grid, camera, cell);
    const [near, far] = [camera.size * 0.25, camera.size * 0.75];
    pen.moveTo(x + near, strip + y + near);
    pen.lineTo(x + far, strip + y + far);
    pen.moveTo(x + far, strip + y + near);
    pen.lineTo(x + near, strip + y + far);
  }
  pen.stroke();
}

function arrow(pen: CanvasRenderingContext2D, scene: OverlayScene, from: number, to: number): void {
  const { grid, camera, strip, ratio, colors } = scene;
  const center = (cell: number): readonly [number, number] => {
    const [x, y] = cornerOf(grid, camera, cell);
    return [x + camera.size / 2, strip + y + camera.size / 2];
  };
  const [x0, y0] = center(from);
  const [x1, y1] = center(to);
  outline(pen, scene, [from, to], colors.copied, Math.max(2, 2 * ratio));
  const [mx, my] = [(x0 + x1) / 2, Math.min(y0, y1) - Math.max(14 * ratio, Math.abs(x1 - x0) * 0.25)];
  const angle = Math.atan2(y1 - my, x1 - mx);
  const head = 7 * ratio;
  pen.lineWidth = Math.max(2, 2 * ratio);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.quadraticCurveTo(mx, my, x1, y1);
  for (const turn of [-0.45, 0.45]) {
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - head * Math.cos(angle + turn), y1 - head * Math.sin(angle + turn));
  }
  pen.stroke();
}

/** In large cells: whose block it is, and which. */
export function drawLabels(
  pen: CanvasRenderingContext2D,
  scene: OverlayScene,
  labelOf: (cell: number) => Label | undefined,
): void {
  const { grid, camera, area, strip, ratio, colors } = scene;
  const { size } = camera;
  if (size < 20 * ratio) {
    return;
  }
  const two = size >= 40 * ratio;
  const font = Math.min(13 * ratio, size * (two ? 0.27 : 0.42));
  pen.font = `${font}px ${colors.font}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  const first = Math.max(0, Math.floor(-camera.y / size)) * grid.columns;
  const last = Math.min(grid.cells, Math.ceil((area.height - camera.y) / size) * grid.columns);
  for (let cell = first; cell < last; cell++) {
    const [x, y] = cornerOf(grid, camera, cell);
    const label = inView(scene, x, y) ? labelOf(cell) : undefined;
    if (label) {
      pen.fillStyle = label.ink;
      const [cx, cy] = [x + size / 2 - ratio / 2, strip + y + size / 2];
      if (two) {
        pen.fillText(label.whose, cx, cy - font * 0.6);
        pen.fillText(String(label.index), cx, cy + font * 0.6);
      } else {
        pen.fillText(String(label.index), cx, cy);
      }
    }
  }
}
