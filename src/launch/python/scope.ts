/** Names of a program as it runs, and what holds after branches of which one was taken. */
import { type Placed, unknown, unknownIn, type Value } from './values';

export interface Scope {
  /** `self.x` and the like are names as well. */
  readonly names: Map<string, Value>;
  readonly outer?: Scope;
}

export const newScope = (outer?: Scope): Scope => ({ names: new Map(), ...(outer ? { outer } : {}) });

export function lookUp(scope: Scope, name: string): Value | undefined {
  for (let s: Scope | undefined = scope; s; s = s.outer) {
    const value = s.names.get(name);
    if (value) {
      return value;
    }
  }
  return undefined;
}

/** More than any command line holds: a list that doubles is not followed for ever. */
const MAX_ITEMS = 10_000;
const MAX_TEXT = 100_000;

export function assign(scope: Scope, name: string, value: Value): void {
  const large =
    (value.kind === 'list' && value.items.length > MAX_ITEMS) ||
    (value.kind === 'map' && value.entries.length > MAX_ITEMS) ||
    (value.kind === 'text' && value.text.text.length > MAX_TEXT);
  scope.names.set(name, large ? unknown(`${name} is too long`) : value);
}

/** Changes a name where it stands: `cmd.append(…)` in a function may grow a list of the module. */
export function change(scope: Scope, name: string, to: (value: Value) => Value): void {
  for (let s: Scope | undefined = scope; s; s = s.outer) {
    const value = s.names.get(name);
    if (value) {
      assign(s, name, to(value));
      return;
    }
  }
}

export function mergeScopes(into: Scope, branches: readonly ReadonlyMap<string, Value>[]): void {
  for (const name of new Set(branches.flatMap((b) => [...b.keys()]))) {
    const before = into.names.get(name);
    const values = branches.map((b) => b.get(name));
    if (values.some((v) => v !== before)) {
      into.names.set(
        name,
        merged(
          name,
          values.filter((v) => v !== undefined),
        ),
      );
    }
  }
}

/** A name set in one branch only is what that branch says. */
function merged(name: string, values: readonly Value[]): Value {
  const [first] = values;
  if (first && values.every((v) => isSame(first, v))) {
    return first;
  }
  return grown(name, values) ?? unknown(`${name} is set differently in branches`);
}

function isSame(a: Value, b: Value): boolean {
  if (a.kind === 'text' && b.kind === 'text') {
    return a.text.text === b.text.text && unknownIn(a) === undefined && unknownIn(b) === undefined;
  }
  return a === b || (a.kind === 'plain' && b.kind === 'plain' && a.value === b.value);
}

/** Lists and maps that one branch adds to: what was added may not be there. */
function grown(name: string, values: readonly Value[]): Value | undefined {
  const reason = `${name} gets this in one branch only`;
  const maybe = <T extends Placed>(item: T): T => ({ ...item, maybe: item.maybe ?? reason });
  const lists = values.flatMap((v) => (v.kind === 'list' ? [v.items] : []));
  if (lists.length === values.length) {
    const longest = [...lists].sort((a, b) => b.length - a.length)[0] ?? [];
    const common = Math.min(...lists.map((l) => l.length));
    const same = lists.every((l) => l.every((item, i) => item.value === longest[i]?.value));
    return same ? { kind: 'list', items: longest.map((item, i) => (i < common ? item : maybe(item))) } : undefined;
  }
  const maps = values.flatMap((v) => (v.kind === 'map' ? [v.entries] : []));
  if (maps.length === values.length) {
    const all = [...new Set(maps.flat())];
    const everywhere = (e: (typeof all)[number]) => maps.every((m) => m.includes(e));
    return { kind: 'map', entries: all.map((e) => (everywhere(e) ? e : maybe(e))) };
  }
  return undefined;
}
