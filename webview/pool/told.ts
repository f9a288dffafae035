/** What happened on the way to the step that is shown: kept for the list, and for a moment as marks on the cells. */
import type { Drawing } from './panel';
import type { Passed, Shown } from './protocol';

export interface Told {
  /** A step is shown, behind or before the one that was. */
  take(next: Shown, before: Shown | undefined, playing: boolean): void;
  readonly log: () => readonly Passed[];
  /** Of one world; they fade while it plays, and stand while it rests. */
  marks(world: number, playing: boolean): Drawing['marks'];
  clear(): void;
}

/** How long what happened stays marked while it plays, in milliseconds. */
const FADE = 600;
const MARKED = 12;
const LISTED = 80;

export function createTold(): Told {
  let log: readonly Passed[] = [];
  let marked: { readonly at: number; readonly passed: Passed }[] = [];

  function list(next: Shown, before: Shown | undefined): void {
    if (before && next.index > before.index) {
      log = [...log.filter(({ index }) => index <= before.index), ...next.passed].slice(-LISTED);
    } else if (next.index !== before?.index) {
      log = [...log.filter(({ index }) => index < next.index), ...here(next)];
    }
  }

  return {
    take(next, before, playing) {
      list(next, before);
      if (next.index !== before?.index) {
        const at = performance.now();
        const fresh = playing ? next.passed.slice(-MARKED) : here(next);
        marked = [...(playing ? marked : []), ...fresh.map((passed) => ({ at, passed }))].slice(-MARKED * 2);
      }
    },
    log: () => log,
    marks(world, playing) {
      const now = performance.now();
      marked = playing ? marked.filter(({ at }) => now - at < FADE) : marked;
      return marked
        .filter(({ passed }) => passed.world === world)
        .map(({ at, passed: { events } }) => ({ events, strength: playing ? 1 - (now - at) / FADE : 1 }));
    },
    clear() {
      log = [];
      marked = [];
    },
  };
}

/** What the shown step itself did. */
const here = ({ index, pictures }: Shown): Passed[] =>
  pictures.flatMap(({ frame }, world) => (frame.events.length > 0 ? [{ index, world, events: frame.events }] : []));
