/** One world on the page: its cells, what lies over them, and everything a pointer or the keyboard does with them. */
import type { PoolEvent } from '../../src/core/pool';
import { withCommas } from '../../src/core/units';
import { el } from '../dom';
import { readPalette } from '../ui/palette';
import { button } from '../ui/toolkit';
import { lookColors } from './colors';
import {
  type Area,
  type Camera,
  cellAt,
  cornerOf,
  fitGrid,
  type Grid,
  held,
  movedCursor,
  revealed,
  zoomAt,
  zoomedSize,
} from './grid';
import { labelsOf } from './labels';
import { createLook, hueOf, type Look, type LookColors } from './look';
import { drawEvents, drawLabels, drawTable, type OverlayColors, type OverlayScene, outline } from './overlay';
import type { Loaded, Picture } from './protocol';
import { drawCell, drawCells, type Raster } from './raster';
import { cellName } from './words';

export type LoadedWorld = Loaded['worlds'][number];

export interface Drawing {
  readonly picture: Picture;
  /** The selected request's tables here, group by group. */
  readonly tables: readonly Int32Array[];
  readonly selected: number;
  readonly byRequest: boolean;
  /** The events of steps that were just passed, newest last, and how strong each is drawn. */
  readonly marks: readonly { readonly events: readonly PoolEvent[]; readonly strength: number }[];
}

export interface PanelActions {
  /** Pointer or keyboard is on a cell; −1: on none. */
  onPoint(cell: number): void;
  onPick(cell: number): void;
}

export interface PoolPanel {
  readonly element: HTMLElement;
  readonly world: LoadedWorld;
  draw(drawing: Drawing): void;
  /** The theme or the room changed. */
  redraw(): void;
  /** The cells that share the pixel of the pointed cell. */
  pointed(): { readonly cell: number; readonly grid: Grid; readonly camera: Camera } | undefined;
  describe(text: string): void;
  picture(): HTMLCanvasElement;
  dispose(): void;
}

/** Cells of a small pool are not blown up beyond this, in CSS pixels. */
const LARGEST = 34;
const STRIP = 36;

/** How a panel is laid out among others: `share` of the usual largest cell, and room for so many cells. */
export interface PanelPlace {
  readonly share: number;
  readonly cells: number;
  /** Stands under its title. */
  readonly answer?: HTMLElement;
}

export function poolPanel(world: LoadedWorld, place: PanelPlace, actions: PanelActions): PoolPanel {
  const joined = world.engine === 'contiguous' || world.engine === 'llama.cpp';
  const base = el('canvas', { 'aria-hidden': 'true' });
  const over = el('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'map of memory',
    'aria-keyshortcuts': 'ArrowLeft ArrowRight ArrowUp ArrowDown Home End Enter + - 0',
  });
  const stack = el('div', { class: 'pool-stack' }, base, over);
  const zoomOut = button('−', () => zoom(-1), 'icon', `Smaller cells: ${world.title}`);
  const zoomIn = button('+', () => zoom(1), 'icon', `Larger cells: ${world.title}`);
  const all = button('All', () => showAll(), 'icon', `All cells in view: ${world.title}`);
  const name = cellName(world.engine);
  const size = `${withCommas(world.cells)} ${name}s of ${world.cellTokens === 1 ? '1 token' : `${withCommas(world.cellTokens)} tokens`}`;
  const scale = el('span', { class: 'note pool-scale' });
  const element = el(
    'div',
    { class: 'pool-panel' },
    el(
      'div',
      { class: 'pool-head' },
      el('h2', {}, world.title),
      el('span', { class: 'note' }, size),
      scale,
      el('span', { class: 'pool-zoom' }, zoomOut, zoomIn, all),
    ),
    ...(place.answer ? [place.answer] : []),
    stack,
  );

  let drawing: Drawing | undefined;
  let image: ImageData | undefined;
  let raster: Raster | undefined;
  let grid: Grid = { cells: world.cells, columns: 1, rows: world.cells };
  let fit: Camera = { size: 1, x: 0, y: 0 };
  let camera = fit;
  let colors: LookColors | undefined;
  let overColors: OverlayColors | undefined;
  let bright: Look | undefined;
  let dimmed: Look | undefined;
  let cursor = -1;
  let hovered = -1;
  let ratio = 1;

  // Where there are no tables too, so that memory that is compared lies side by side.
  const strip = (): number => Math.round(STRIP * place.share * ratio);
  const area = (): Area => ({ width: raster?.width ?? 1, height: raster?.height ?? 1 });

  function measure(): void {
    const wide = stack.clientWidth;
    if (wide === 0) {
      return;
    }
    ratio = Math.min(3, window.devicePixelRatio || 1);
    const width = Math.round(wide * ratio);
    const most = Math.round(Math.max(150, Math.min(wide * 0.62, innerHeight * 0.55, 900)) * ratio);
    const fitted = fitGrid(place.cells, { width, height: most }, Math.round(LARGEST * place.share * ratio));
    const height = Math.max(Math.ceil(fitted.grid.rows * fitted.camera.size), Math.round(24 * ratio));
    const columns = grid.columns;
    grid = { ...fitted.grid, cells: world.cells, rows: Math.ceil(world.cells / fitted.grid.columns) };
    const wasAll = camera.size === fit.size || columns !== grid.columns;
    fit = fitted.camera;
    image = new ImageData(width, height);
    raster = { width, height, pixels: new Uint32Array(image.data.buffer) };
    for (const [canvas, tall] of [
      [base, height],
      [over, height + strip()],
    ] as const) {
      canvas.width = width;
      canvas.height = tall;
      canvas.style.height = `${tall / ratio}px`;
    }
    base.style.marginTop = `${strip() / ratio}px`;
    camera = wasAll ? fit : held(camera, grid, area());
  }

  function dress(): void {
    const palette = readPalette();
    colors = lookColors(palette);
    const css = (state: number): string => `rgb(${(colors?.states[state] ?? [128, 128, 128]).join(' ')})`;
    overColors = {
      foreground: palette.foreground,
      background: palette.background,
      quiet: palette.faint,
      evicted: css(4),
      copied: css(2),
      focus:
        getComputedStyle(document.documentElement).getPropertyValue('--vscode-focusBorder').trim() ||
        palette.foreground,
      font: palette.font,
    };
    bright = undefined;
    dimmed = undefined;
  }

  /** The two looks of a drawing: of what stands out, and of everything where a request is selected. */
  function looks({ byRequest, selected, tables }: Drawing, of: LookColors): readonly [Look, Look] {
    if (bright?.byRequest !== byRequest) {
      bright = createLook(of, byRequest, -1, world.cellTokens);
      dimmed = undefined;
    }
    const first = bright ?? createLook(of, byRequest, -1, world.cellTokens);
    // A request that has nothing here leaves the rest as it is.
    if (selected < 0 || !tables.some(({ length }) => length > 0)) {
      return [first, first];
    }
    if (dimmed?.selected !== selected) {
      dimmed = createLook(of, byRequest, selected, world.cellTokens);
    }
    return [first, dimmed ?? first];
  }

  function paint(): void {
    if (!drawing || !raster || !image || !colors) {
      return;
    }
    const { picture, tables } = drawing;
    const [first, ground] = looks(drawing, colors);
    drawCells(raster, picture, grid, camera, ground, joined);
    if (ground !== first && camera.size >= 1) {
      for (const cell of tables.flatMap((table) => [...table])) {
        drawCell(raster, picture, cell, grid, camera, first, joined);
      }
    }
    base.getContext('2d')?.putImageData(image, 0, 0);
    paintOver();
  }

  function paintOver(): void {
    const pen = over.getContext('2d');
    if (!pen || !drawing || !overColors || !colors) {
      return;
    }
    pen.clearRect(0, 0, over.width, over.height);
    const scene: OverlayScene = { grid, camera, area: area(), strip: strip(), ratio, colors: overColors };
    const { tables, selected, byRequest } = drawing;
    const [first, ground] = looks(drawing, colors);
    pen.save();
    pen.beginPath();
    pen.rect(0, strip(), over.width, over.height - strip());
    pen.clip();
    if (!joined) {
      drawLabels(pen, scene, labelsOf(drawing, first, ground !== first));
    }
    pen.restore();
    const [table] = tables;
    if (table && table.length > 0) {
      const color = byRequest ? hueOf(selected, colors.light) : (colors.states[1] ?? colors.foreground);
      drawTable(pen, scene, table, color);
      tables.slice(1).forEach((other) => {
        outline(pen, scene, other, overColors?.foreground ?? '', Math.max(1, ratio));
      });
    } else {
      hint(pen);
    }
    for (const { events, strength } of drawing.marks) {
      drawEvents(pen, scene, events, strength);
    }
    for (const cell of new Set([hovered, document.activeElement === over ? cursor : -1])) {
      outline(pen, scene, [cell], overColors.focus, Math.max(2, 2 * ratio));
    }
  }

  /** What the empty strip is for. */
  function hint(pen: CanvasRenderingContext2D): void {
    if (overColors) {
      pen.font = `${12 * ratio}px ${overColors.font}`;
      pen.textBaseline = 'middle';
      pen.textAlign = 'left';
      pen.fillStyle = overColors.quiet;
      const text = joined
        ? world.engine === 'contiguous'
          ? 'One slab each, as long as it may become.'
          : 'Requests lie one behind the other.'
        : (drawing?.selected ?? -1) < 0
          ? `Pick a ${name} to see its request’s table here.`
          : `Request ${drawing?.selected} has no ${name}s now.`;
      pen.fillText(text, 0, strip() / 2);
    }
  }

  function setCamera(next: Camera): void {
    camera = held(next, grid, area());
    const each = camera.size < 1 ? `${(1 / camera.size ** 2).toFixed(1)} ${name}s to a pixel` : '';
    scale.textContent = each;
    paint();
  }

  function zoom(direction: 1 | -1, at?: readonly [number, number]): void {
    const size = zoomedSize(camera.size, fit.size, direction);
    const [x, y] = at ?? placeOfCursor();
    setCamera(size === fit.size ? fit : zoomAt(camera, size, x, y));
  }

  const showAll = (): void => setCamera(fit);

  function placeOfCursor(): readonly [number, number] {
    const { width, height } = area();
    return cursor >= 0 ? cornerOf(grid, camera, cursor) : [width / 2, height / 2];
  }

  const cellUnder = ({ offsetX, offsetY }: MouseEvent): number =>
    cellAt(grid, camera, offsetX * ratio, offsetY * ratio - strip());

  /** Where a drag began; it is one when the pointer has moved a little. */
  let drag: { x: number; y: number; camera: Camera; moved: boolean } | undefined;
  over.addEventListener('pointerdown', (event) => {
    drag = { x: event.offsetX, y: event.offsetY, camera, moved: false };
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointermove', (event) => {
    if (drag) {
      const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
      drag.moved ||= Math.hypot(dx, dy) > 4;
      if (drag.moved && camera.size !== fit.size) {
        setCamera({ ...drag.camera, x: drag.camera.x + dx * ratio, y: drag.camera.y + dy * ratio });
      }
      return;
    }
    point(cellUnder(event));
  });
  over.addEventListener('pointerup', (event) => {
    const cell = cellUnder(event);
    if (drag && !drag.moved && cell >= 0) {
      cursor = cell;
      actions.onPick(cell);
    }
    drag = undefined;
  });
  over.addEventListener('pointercancel', () => {
    drag = undefined;
  });
  over.addEventListener('pointerleave', () => point(-1));
  over.addEventListener(
    'wheel',
    (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1 : -1, [event.offsetX * ratio, event.offsetY * ratio - strip()]);
      }
    },
    { passive: false },
  );
  over.addEventListener('focus', () => {
    moveCursor(Math.max(0, cursor));
  });
  over.addEventListener('blur', paintOver);
  over.addEventListener('keydown', (event) => {
    const move = movedCursor(event, cursor, grid, camera);
    if (move !== undefined) {
      moveCursor(move);
    } else if (event.key === 'Enter') {
      actions.onPick(cursor);
    } else if (event.key === '+' || event.key === '=') {
      zoom(1);
    } else if (event.key === '-') {
      zoom(-1);
    } else if (event.key === '0') {
      showAll();
    } else {
      return;
    }
    event.preventDefault();
  });

  function moveCursor(cell: number): void {
    cursor = cell;
    const next = revealed(camera, grid, area(), cell);
    if (next.x !== camera.x || next.y !== camera.y) {
      setCamera(next);
    } else {
      paintOver();
    }
    actions.onPoint(cell);
  }

  function point(cell: number): void {
    if (cell !== hovered) {
      hovered = cell;
      paintOver();
      actions.onPoint(cell);
    }
  }

  /** The height is this panel's own doing; the width is the page's. */
  let wide = 0;
  let asked = 0;
  const resized = new ResizeObserver(() => {
    if (stack.clientWidth !== wide) {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(redraw); // sizes may not be set while they are told
    }
  });
  resized.observe(stack);

  function redraw(): void {
    wide = stack.clientWidth;
    dress();
    measure();
    setCamera(camera);
  }

  return {
    element,
    world,
    draw(next) {
      drawing = next;
      if (!raster || !colors) {
        redraw();
      } else {
        paint();
      }
    },
    redraw,
    pointed() {
      const cell = hovered >= 0 ? hovered : cursor;
      return cell >= 0 ? { cell, grid, camera } : undefined;
    },
    describe: (text) => over.setAttribute('aria-label', text),
    picture() {
      const canvas = el('canvas');
      canvas.width = over.width;
      canvas.height = over.height;
      const pen = canvas.getContext('2d');
      pen?.drawImage(base, 0, strip());
      pen?.drawImage(over, 0, 0);
      return canvas;
    },
    dispose() {
      resized.disconnect();
      cancelAnimationFrame(asked);
    },
  };
}
