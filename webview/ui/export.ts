/** Saving what is drawn: a picture, a table. */
import { type Host, PERSON } from '../host';
import { button } from './toolkit';

export interface Exported {
  /** A name for the file, without its ending. */
  readonly name: string;
  png?(): HTMLCanvasElement | undefined;
  csv?(): string;
}

/** One button for each way of saving. `say` tells what went wrong. */
export function exportButtons(host: Host, { name, png, csv }: Exported, say: (text: string) => void): HTMLElement {
  const box = document.createElement('div');
  box.className = 'export';
  const save = async (type: 'png' | 'csv', content: string | undefined): Promise<void> => {
    if (content !== undefined) {
      const reply = await host.ask('save', { name, type, content, base64: type === 'png' }, PERSON);
      say(reply.ok ? '' : reply.error);
    }
  };
  if (png) {
    box.append(button('PNG', () => void save('png', pictureOf(png())), 'icon', `Save “${name}” as a picture`));
  }
  if (csv) {
    box.append(button('CSV', () => void save('csv', csv()), 'icon', `Save “${name}” as a table`));
  }
  return box;
}

/** On the theme's own background, if no other: a canvas is transparent where nothing is drawn. Base64. */
export function pictureOf(canvas: HTMLCanvasElement | undefined, background?: string): string | undefined {
  const picture = document.createElement('canvas');
  const pen = picture.getContext('2d');
  if (!canvas || !pen || canvas.width === 0) {
    return undefined;
  }
  picture.width = canvas.width;
  picture.height = canvas.height;
  pen.fillStyle = background ?? getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.drawImage(canvas, 0, 0);
  return picture.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}

/** Text of a table, quoted where needed. A cell that a spreadsheet would run is kept as text. */
export const csvOf = (rows: readonly (readonly (string | number)[])[]): string =>
  `${rows.map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`;

function cellOf(value: string | number): string {
  const text = String(value);
  const safe = typeof value === 'string' && /^[=+@\-\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
