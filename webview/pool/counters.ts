/** What is counted under each world while it runs, and the same as a table. */
import type { Frame, RoomShares } from '../../src/core/pool';
import { withCommas } from '../../src/core/units';
import { el, textTable } from '../dom';
import type { LoadedWorld } from './panel';
import type { Picture } from './protocol';
import { STATE_NAMES, STATES, statesOf } from './words';

interface Counter {
  readonly label: string;
  readonly value: (frame: Frame) => number;
  /** Tokens: what part of the room they are. */
  readonly share?: keyof RoomShares;
}

const REQUESTS: readonly Counter[] = [
  { label: 'Served', value: ({ finished }) => finished },
  { label: 'Running', value: ({ running }) => running },
  { label: 'Waiting', value: ({ waiting }) => waiting },
];
const HELD: Counter = { label: 'Tokens held', value: ({ held }) => held, share: 'held' };
const PAGED: readonly Counter[] = [
  { label: 'Cached, nobody’s', value: ({ cached }) => cached, share: 'cached' },
  { label: 'Waste: block tails', value: ({ waste }) => waste.tail, share: 'tail' },
];
const RESERVED: Counter = {
  label: 'Waste: reserved',
  value: ({ waste }) => waste.reservation,
  share: 'reservation',
};
const SLABS: readonly Counter[] = [
  RESERVED,
  { label: 'Waste: never used', value: ({ waste }) => waste.internal, share: 'internal' },
  { label: 'Waste: too small', value: ({ waste }) => waste.external, share: 'external' },
];

const countersOf = ({ engine }: LoadedWorld): readonly Counter[] => {
  switch (engine) {
    case 'contiguous':
      return [...REQUESTS, HELD, ...SLABS];
    case 'llama.cpp':
      return [...REQUESTS, HELD, RESERVED];
    case 'vllm-v0':
      return [...REQUESTS, HELD, ...PAGED.slice(1)];
    default:
      return [...REQUESTS, HELD, ...PAGED];
  }
};

export interface Counters {
  readonly element: HTMLElement;
  /** What the worlds are compared by, in a line. */
  readonly answer: HTMLElement;
  draw(picture: Picture): void;
}

export function counters(world: LoadedWorld): Counters {
  const rows = countersOf(world).map((counter) => {
    const value = el('span', { class: 'value' });
    const share = el('span', { class: 'range' });
    const box = el('div', { class: 'count' }, el('dt', {}, counter.label), el('dd', {}, value, share));
    return { counter, value, share, box };
  });
  const answer = el('p', { class: 'pool-answer' });
  return {
    answer,
    element: el('dl', { class: 'counts' }, ...rows.map(({ box }) => box)),
    draw({ frame, shares }) {
      setText(answer, `${withCommas(frame.running)} running · ${percent(shares.wasted)} of the room wasted`);
      for (const { counter, value, share } of rows) {
        setText(value, withCommas(Math.round(counter.value(frame))));
        setText(share, counter.share ? percent(shares[counter.share]) : '');
      }
    },
  };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** One row per state, one column per world, and what is counted. */
export function countsRows(worlds: readonly LoadedWorld[], pictures: readonly Picture[]): string[][] {
  const seen = new Set(worlds.flatMap(({ engine }) => statesOf(engine)));
  const states = STATES.filter((state) => seen.has(state)).map((state) => [
    STATE_NAMES[state],
    ...worlds.map(({ engine }, i) =>
      statesOf(engine).includes(state) ? withCommas(pictures[i]?.counts[STATES.indexOf(state)] ?? 0) : '',
    ),
  ]);
  const labels = [...new Set(worlds.flatMap((world) => countersOf(world).map(({ label }) => label)))];
  const counted = labels.map((label) => [
    label,
    ...worlds.map((world, i) => {
      const counter = countersOf(world).find((each) => each.label === label);
      const frame = pictures[i]?.frame;
      return counter && frame ? withCommas(Math.round(counter.value(frame))) : '';
    }),
  ]);
  return [...states, ...counted];
}

export const countsTable = (worlds: readonly LoadedWorld[], pictures: readonly Picture[]): HTMLElement =>
  textTable(
    'Cells by state, and what is counted',
    ['State', ...worlds.map(({ title }) => title)],
    countsRows(worlds, pictures),
  );

/** A request's table: where each of its blocks lies. Long tables are cut, and say so. */
export function blockTable(world: LoadedWorld, tables: readonly Int32Array[], picture: Picture): HTMLElement {
  const most = 400;
  const rows = tables.flatMap((table, group) =>
    [...table.slice(0, most)].map((cell, logical) => [
      tables.length > 1 ? `${group}: ${logical}` : String(logical),
      cell === 0 && world.engine === 'vllm-v1' ? 'none (passed)' : withCommas(cell),
      `${withCommas(((picture.meta[cell] ?? 0) >>> 4) & 8191)} of ${withCommas(world.cellTokens)}`,
      String((picture.meta[cell] ?? 0) >>> 17),
    ]),
  );
  const cut = tables.reduce((sum, { length }) => sum + Math.max(0, length - most), 0);
  const head = [tables.length > 1 ? 'Group: logical' : 'Logical', 'Physical', 'Tokens', 'Owners'];
  const table = textTable('Block table of the selected request', head, rows);
  return el(
    'div',
    {},
    table,
    ...(cut > 0 ? [el('p', { class: 'note' }, `${withCommas(cut)} more are left out.`)] : []),
  );
}
