/**
 * A launch that did not change is not planned again: in a file of twenty, an edit of one leaves nineteen as they were.
 * What is kept depends on the key alone, so nobody can tell but by the clock.
 */
import type { Finding, Outcome } from '../core/engines/engine';
import type { Ask } from './asks';
import type { AtLength } from './at-length';
import type { RoadInput } from './road';

export interface Answered {
  readonly outcome: Outcome;
  readonly tells: readonly Finding[];
  readonly atMaxLength?: AtLength;
}

/** Launches that are known; the oldest goes first. */
const MOST = 256;

/** Kept when a launch is seen again: most of what is planned while somebody types never comes back. */
const kept = new Map<string, Answered | undefined>();

export function remembered(input: RoadInput, ask: Ask, make: () => Answered): Answered {
  const key = keyOf(input, ask);
  const known = kept.get(key);
  if (known) {
    return known;
  }
  const answered = make();
  const isSeen = kept.has(key);
  if (!isSeen && kept.size >= MOST) {
    kept.delete(kept.keys().next().value as string);
  }
  kept.set(key, isSeen ? answered : undefined);
  return answered;
}

/** Models are made once and shared; one read from a file anew is another one. */
const numbers = new WeakMap<object, number>();
let next = 0;

function numberOf(thing: object | undefined): number {
  if (thing === undefined) {
    return 0;
  }
  let number = numbers.get(thing);
  if (number === undefined) {
    next += 1;
    number = next;
    numbers.set(thing, number);
  }
  return number;
}

/** Everything that an outcome or its words depend on. Parts are told apart by a character that no file gets into an option. */
function keyOf({ engine, asked, workload, role }: RoadInput, ask: Ask): string {
  const { settings, environment, usage, version, model, draft, hardware } = asked;
  let key = `${engine.id}\0${role}\0${usage}\0${version?.text}\0${numberOf(model)}\0${numberOf(draft)}\0${workload.prompt}\0${workload.output}`;
  key += `\0${hardware?.name}\0${hardware?.memory.value}\0${hardware?.count}`;
  for (const s of settings) {
    key += `\0${s.name}\0${s.raw}\0${s.origin}\0${s.line}\0${s.unresolved ?? ''}\0${s.error ?? ''}`;
    // Most values are their own text; the rest are small objects and lists.
    key += `\0${typeof s.value === 'object' ? JSON.stringify(s.value) : s.value}`;
  }
  for (const [name, value] of environment) {
    key += `\0${name}=${value}`;
  }
  for (const [name, { text, origin }] of ask) {
    key += `\0${name}\0${text}\0${origin.text}`;
  }
  return key;
}
