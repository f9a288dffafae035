/** What is pinned: kept by the Compare view, added to from others. */
import { type Pin, readPins } from '../../src/dashboard/protocol';

/** The table stays readable. The host takes as many. */
export const MOST_PINS = 12;

let pins: readonly Pin[] = [];
const listeners = new Set<() => void>();

export const pinned = (): readonly Pin[] => pins;

export function onPins(listener: () => void): void {
  listeners.add(listener);
}

function put(next: readonly Pin[]): void {
  pins = next.slice(0, MOST_PINS);
  for (const listener of listeners) {
    listener();
  }
}

/** How it was seen last does not make it another one. */
const keyOf = ({ file, index, whatIf, engine, revision }: Pin): string =>
  JSON.stringify([file, index, whatIf, engine, revision?.uri]);

/** False where it is there already, or there is no room. */
export function addPin(pin: Pin): boolean {
  if (pins.length >= MOST_PINS || pins.some((p) => keyOf(p) === keyOf(pin))) {
    return false;
  }
  put([...pins, pin]);
  return true;
}

export const removePin = (at: number): void => put(pins.filter((_, i) => i !== at));

/** Each as its launch is found now; what was pinned or removed meanwhile is asked about anew. */
export function relocatePins(asked: readonly Pin[], now: readonly Pin[]): void {
  if (pins === asked) {
    pins = now;
  }
}

/** What a reload brings back stands before what was pinned since. */
export function restorePins(state: unknown): void {
  const kept = readPins(state) ?? [];
  if (kept.length > 0) {
    put([...kept, ...pins]);
  }
}
