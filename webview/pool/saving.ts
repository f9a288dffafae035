/** Saving the step that is shown: its picture, its counts, its cells. */
import { frameJson } from '../../src/core/pool';
import { el } from '../dom';
import { PERSON } from '../host';
import { csvOf, exportButtons } from '../ui/export';
import { button } from '../ui/toolkit';
import type { ViewContext } from '../view';
import { countsRows } from './counters';
import type { PoolPanel } from './panel';
import type { Loaded, Picture, Shown } from './protocol';

export interface Saved {
  readonly panels: readonly PoolPanel[];
  readonly loaded: Loaded | undefined;
  readonly shown: Shown | undefined;
}

export function savingButtons(name: string, { host, say }: ViewContext, now: () => Saved): HTMLElement {
  const buttons = exportButtons(
    host,
    { name: `${name} step`, png: () => pictureOf(now().panels), csv: () => csvOf(rowsOf(now())) },
    say,
  );
  const saveJson = async (): Promise<void> => {
    const { shown } = now();
    const content = `[${(shown?.pictures ?? []).map(jsonOf).join(',\n')}]\n`;
    const params = { name: `${name} step ${shown?.index ?? 0}`, type: 'json' as const, content, base64: false };
    const reply = await host.ask('save', params, PERSON);
    say(reply.ok ? '' : reply.error);
  };
  buttons.append(button('JSON', () => void saveJson(), 'icon', 'Save this step’s cells as JSON'));
  return buttons;
}

/** The worlds below one another. */
function pictureOf(panels: readonly PoolPanel[]): HTMLCanvasElement {
  const gap = 16;
  const pictures = panels.map((panel) => panel.picture());
  const all = el('canvas');
  all.width = Math.max(1, ...pictures.map(({ width }) => width));
  all.height = pictures.reduce((sum, { height }) => sum + height + gap, 0);
  let top = 0;
  for (const picture of pictures) {
    all.getContext('2d')?.drawImage(picture, 0, top);
    top += picture.height + gap;
  }
  return all;
}

const rowsOf = ({ loaded, shown }: Saved): string[][] =>
  loaded && shown
    ? [['state', ...loaded.worlds.map(({ title }) => title)], ...countsRows(loaded.worlds, shown.pictures)]
    : [];

/** As the simulation alone writes the frame. */
const jsonOf = ({ frame, meta, owner, logical }: Picture): string =>
  frameJson({
    frame: () => frame,
    view: { cells: meta.length, deviceCells: meta.length, cellTokens: 0, meta, owner, logical },
  });
