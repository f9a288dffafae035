/** Fills that differ without colour too. One function draws the bar and its legend, so that they cannot disagree. */
import type { Palette } from './palette';

export type Texture = 'solid' | 'rising' | 'falling' | 'dots' | 'cross' | 'sparse';

const TILE = 8;

export function fillOf(color: string, texture: Texture, palette: Palette): string | CanvasPattern {
  if (texture === 'solid') {
    return color;
  }
  const tile = document.createElement('canvas');
  tile.width = TILE;
  tile.height = TILE;
  const pen = tile.getContext('2d');
  if (!pen) {
    return color;
  }
  if (texture !== 'sparse') {
    pen.fillStyle = color;
    pen.fillRect(0, 0, TILE, TILE);
  }
  pen.strokeStyle = texture === 'sparse' ? color : palette.background;
  pen.fillStyle = palette.background;
  pen.lineWidth = 1.5;
  pen.globalAlpha = texture === 'sparse' ? 0.7 : 0.5;
  drawTexture(pen, texture);
  return pen.createPattern(tile, 'repeat') ?? color;
}

function drawTexture(pen: CanvasRenderingContext2D, texture: Texture): void {
  if (texture === 'dots') {
    pen.beginPath();
    pen.arc(TILE / 2, TILE / 2, 1.4, 0, 2 * Math.PI);
    pen.fill();
    return;
  }
  if (texture === 'rising' || texture === 'cross' || texture === 'sparse') {
    diagonal(pen, 1);
  }
  if (texture === 'falling' || texture === 'cross') {
    diagonal(pen, -1);
  }
}

/** Three strokes, so that tiles meet without gaps at their corners. */
function diagonal(pen: CanvasRenderingContext2D, slope: 1 | -1): void {
  pen.beginPath();
  for (const shift of [-TILE, 0, TILE]) {
    pen.moveTo(shift, slope === 1 ? TILE : 0);
    pen.lineTo(shift + TILE, slope === 1 ? 0 : TILE);
  }
  pen.stroke();
}

/** A small sample of a fill, for a legend. */
export function swatch(color: string, texture: Texture, palette: Palette): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = 28;
  canvas.height = 28;
  canvas.className = 'swatch';
  canvas.setAttribute('aria-hidden', 'true');
  const pen = canvas.getContext('2d');
  if (pen) {
    pen.fillStyle = fillOf(color, texture, palette);
    pen.fillRect(0, 0, 28, 28);
  }
  return canvas;
}
