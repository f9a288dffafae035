/** What the pool's figures and events are called. */
import { CELL, CELL_STATES, type CellInfo, type PoolEvent } from '../../src/core/pool';
import { withCommas } from '../../src/core/units';
import type { AboutRequest, Loaded } from './protocol';

type State = keyof typeof CELL;

export const STATE_NAMES: Readonly<Record<State, string>> = {
  free: 'Free',
  active: 'Active',
  shared: 'Shared',
  cached: 'Cached',
  leaving: 'Next to be evicted',
  swapped: 'On the host',
  reserved: 'Reserved',
  wasted: 'Never used',
  unusable: 'Too small',
};

export const STATE_NOTES: Readonly<Record<State, string>> = {
  free: 'nobody’s, holds nothing',
  active: 'one owner; the lower part is filled',
  shared: 'several owners read it',
  cached: 'nobody’s, but its content can be found again',
  leaving: 'cached, and among the next to be given away',
  swapped: 'in the host’s memory',
  reserved: 'set aside for tokens still to come',
  wasted: 'set aside and never filled',
  unusable: 'free, but in pieces too small for the request that waits',
};

export const STATES = Object.keys(CELL) as State[];

export type WorldKind = Loaded['worlds'][number]['engine'];

/** The states that a world's cells can be in. */
export function statesOf(engine: WorldKind): readonly State[] {
  switch (engine) {
    case 'vllm-v1':
      return ['free', 'active', 'shared', 'cached', 'leaving'];
    case 'vllm-v0':
      return ['free', 'active', 'shared', 'swapped'];
    case 'sglang':
      return ['free', 'active', 'shared', 'cached'];
    case 'tensorrt-llm':
      return ['free', 'active', 'shared', 'cached', 'leaving', 'swapped'];
    case 'contiguous':
      return ['free', 'active', 'reserved', 'wasted', 'unusable'];
    case 'llama.cpp':
      return ['free', 'active', 'cached', 'reserved'];
  }
}

/** What one cell is called. */
export const cellName = (engine: WorldKind): string =>
  engine === 'contiguous' || engine === 'llama.cpp' ? 'cell' : engine === 'sglang' ? 'page' : 'block';

const some = (count: number, one: string): string => `${withCommas(count)} ${one}${count === 1 ? '' : 's'}`;

function eventWords(event: PoolEvent, cell: string): string {
  switch (event.kind) {
    case 'admitted':
      return event.found > 0
        ? `Request ${event.request} admitted; ${some(event.found, 'prompt token')} found in the cache`
        : `Request ${event.request} admitted`;
    case 'resumed':
      return `Request ${event.request} goes on`;
    case 'preempted':
      return event.swapped
        ? `Request ${event.request} gives way: moved to the host`
        : `Request ${event.request} gives way: ${some(event.lost, 'token')} to be computed again`;
    case 'finished':
      return `Request ${event.request} finished`;
    case 'rejected':
      return `Request ${event.request} refused: ${event.why}`;
    case 'evicted':
      return event.cells.length === 1
        ? `Cached ${cell} ${event.cells[0]} evicted and given away`
        : `${some(event.cells.length, `cached ${cell}`)} evicted and given away`;
    case 'copied':
      return `${cell[0]?.toUpperCase()}${cell.slice(1)} ${event.from} copied to ${event.to} before it is written`;
    case 'swapped-out':
      return `${some(event.blocks, 'block')} moved to the host`;
    case 'swapped-in':
      return `${some(event.blocks, 'block')} brought back from the host`;
  }
}

/** What matters most in a step that does many things. */
const EVENT_ORDER: readonly PoolEvent['kind'][] = [
  'preempted',
  'swapped-out',
  'swapped-in',
  'resumed',
  'copied',
  'evicted',
  'rejected',
  'admitted',
  'finished',
];

/** Lines for one step of one world: what matters most first, and requests that fare alike in one line. */
export function eventLines(
  events: readonly PoolEvent[],
  cell: string,
): { readonly kind: PoolEvent['kind']; readonly text: string }[] {
  const plain = (event: PoolEvent): boolean =>
    event.kind === 'finished' || (event.kind === 'admitted' && event.found === 0);
  return EVENT_ORDER.flatMap((kind) => {
    const ofKind = events.filter((event) => event.kind === kind);
    const alike = ofKind.filter(plain);
    const others = ofKind.filter((event) => alike.length < 3 || !plain(event));
    const requests = alike.map((event) => ('request' in event ? event.request : -1));
    const more = requests.length > 8 ? ` and ${requests.length - 8} more` : '';
    const verb = kind === 'finished' ? 'finished' : 'admitted';
    const joint = { kind, text: `Requests ${requests.slice(0, 8).join(', ')}${more} ${verb}` };
    return [...(alike.length < 3 ? [] : [joint]), ...others.map((event) => ({ kind, text: eventWords(event, cell) }))];
  });
}

export function cellWords(info: CellInfo, cell: string, cellTokens: number): string {
  const { owner, logical, tokens, owners, hash } = info;
  const name = `${cell[0]?.toUpperCase()}${cell.slice(1)} ${withCommas(info.cell)}`;
  const whose =
    owner === undefined ? '' : `request ${owner}${logical === undefined ? '' : `, ${cell} ${logical} of its own`}`;
  const full = ['active', 'shared', 'cached', 'leaving', 'swapped'].includes(info.state)
    ? `${tokens} of ${some(cellTokens, 'token')}`
    : '';
  const shared = owners > 1 ? `${owners} owners` : '';
  return [name, STATE_NAMES[info.state].toLowerCase(), whose, full, shared, hash ? `hash ${hash}` : '']
    .filter(Boolean)
    .join(' · ');
}

export function requestWords(about: AboutRequest): string {
  const { request, status, prompt, output, computed, found, preemptions } = about;
  const lengths = `prompt ${withCommas(prompt)}, output ${withCommas(output)}`;
  const holds = status === 'running' || status === 'swapped';
  return [
    `Request ${request}: ${status}`,
    holds ? `${withCommas(computed)} of ${withCommas(prompt + output)} tokens in the cache (${lengths})` : lengths,
    found > 0 ? `${withCommas(found)} found there when it was admitted` : '',
    preemptions > 0 ? `gave way ${preemptions === 1 ? 'once' : `${preemptions} times`}` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Seconds, as short as they can be told apart. */
export const timeWords = (seconds: number): string =>
  seconds < 60 ? `${seconds.toFixed(2)} s` : `${Math.floor(seconds / 60)} min ${(seconds % 60).toFixed(0)} s`;

/** How many of each state share a pixel. */
export function bucketWords(cells: readonly number[], meta: Int32Array, cell: string): string {
  const counts = new Uint32Array(CELL_STATES);
  for (const each of cells) {
    const state = (meta[each] ?? 0) & 15;
    counts[state] = (counts[state] ?? 0) + 1;
  }
  const parts = STATES.flatMap((state, i) => (counts[i] ? [`${counts[i]} ${STATE_NAMES[state].toLowerCase()}`] : []));
  return `${cells.length} ${cell}s from ${withCommas(cells[0] ?? 0)} share this pixel: ${parts.join(', ')}`;
}
