/** Variables of a script as it runs: what they hold, where that is written, and what is not known. */
import { addPart, builder, finish, type Mapped, unresolvedIn } from '../text/mapped';

export type Value =
  | { readonly kind: 'text'; readonly text: Mapped }
  | { readonly kind: 'array'; readonly words: readonly Mapped[] }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface Scope {
  readonly variables: Map<string, Value>;
  readonly exported: Set<string>;
  /** `$1` …; undefined where the caller is not known. */
  positional: readonly Mapped[] | undefined;
}

/** Why a word that the script's caller gives cannot be known. */
export const callersWord = (name: string): string => `$${name} ${FROM_CALLER}`;
const FROM_CALLER = 'is what the script is called with';

/** Nothing but what the caller gives. */
export function isCallers(v: Value): boolean {
  const reason = v.kind === 'unknown' ? v.reason : v.kind === 'text' ? unresolvedIn(v.text) : undefined;
  return reason?.endsWith(FROM_CALLER) === true;
}

export const newScope = (): Scope => ({ variables: new Map(), exported: new Set(), positional: undefined });

export const copyScope = (s: Scope): Scope => ({
  variables: new Map(s.variables),
  exported: new Set(s.exported),
  positional: s.positional,
});

/** What holds after branches of which one was taken. */
export function mergeScopes(into: Scope, branches: readonly Scope[]): void {
  const names = new Set(branches.flatMap((b) => [...b.variables.keys()]));
  for (const name of names) {
    const before = into.variables.get(name);
    const values = branches.map((b) => b.variables.get(name));
    if (values.some((v) => v !== before)) {
      into.variables.set(name, mergeValues(name, values));
    }
  }
  for (const name of branches.flatMap((b) => [...b.exported])) {
    into.exported.add(name);
  }
}

/**
 * A variable set only where it was not set before (`if [ -z "$X" ]`) is a default, and so is the one that the caller may
 * replace (`--model) MODEL="$2"`), as in `${1:-x}`.
 */
function mergeValues(name: string, values: readonly (Value | undefined)[]): Value {
  const all = values.filter((v) => v !== undefined);
  const own = all.filter((v) => !isCallers(v));
  const known = own.length > 0 && own.every((v) => v.kind !== 'unknown') ? own : all;
  const [first, ...others] = known;
  const reason = `${name} is set differently in branches`;
  if (first && others.every((v) => sameValue(first, v))) {
    const isMaybe = all.length < values.length && holdsOptions(first);
    return isMaybe ? maybeFrom(first, 0, `${name} gets this in one branch only`) : first;
  }
  const longest = [...known].sort((a, b) => lengthOf(b) - lengthOf(a))[0];
  const grown = longest && known.map((v) => growth(v, longest));
  if (longest && grown?.every((n) => n !== undefined)) {
    return maybeFrom(longest, Math.min(...(grown as readonly number[])), `${name} gets this in one branch only`);
  }
  return { kind: 'unknown', reason };
}

/** Options are no default of anything: without them the command has none. */
const holdsOptions = (v: Value): boolean =>
  v.kind === 'array' ? v.words[0]?.text.startsWith('-') === true : v.kind === 'text' && v.text.text.startsWith('-');

function sameValue(a: Value, b: Value): boolean {
  if (a.kind === 'text' && b.kind === 'text') {
    return a.text.text === b.text.text && unresolvedIn(a.text) === undefined && unresolvedIn(b.text) === undefined;
  }
  return (
    a === b ||
    (a.kind === 'array' && b.kind === 'array' && a.words.length === b.words.length && growth(a, b) !== undefined)
  );
}

function lengthOf(v: Value): number {
  return v.kind === 'array' ? v.words.length : v.kind === 'text' ? v.text.text.length : -1;
}

/** How much of `longer` is `v`, when `longer` is `v` with something added; texts only in whole words. */
function growth(v: Value, longer: Value): number | undefined {
  if (v.kind === 'array' && longer.kind === 'array') {
    return v.words.every((w, i) => w.text === longer.words[i]?.text) ? v.words.length : undefined;
  }
  if (v.kind !== 'text' || longer.kind !== 'text' || !longer.text.text.startsWith(v.text.text)) {
    return undefined;
  }
  const rest = longer.text.text.slice(v.text.text.length);
  return rest === '' || /^\s+-/.test(rest) || (v.text.text === '' && rest.startsWith('-'))
    ? v.text.text.length
    : undefined;
}

function maybeFrom(v: Value, from: number, reason: string): Value {
  if (v.kind === 'array') {
    return { kind: 'array', words: v.words.map((w, i) => (i < from ? w : maybe(w, 0, reason))) };
  }
  return v.kind === 'text' ? { kind: 'text', text: maybe(v.text, from, reason) } : v;
}

/** The text from character `from` on may not be there. */
function maybe(m: Mapped, from: number, reason: string): Mapped {
  const b = builder();
  addPart(b, m, 0, from);
  const kept = b.segments.length;
  addPart(b, m, from, m.text.length);
  const segments = b.segments.map((s, i) => (i < kept ? s : { ...s, maybe: s.maybe ?? reason }));
  return finish({ text: b.text, segments }, m.layers, m.extent);
}
