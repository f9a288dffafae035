/** References replaced by texts of the same file, which keep their own places: macros, variables of a unit. */
import { addPart, addUnit, builder, finish, type Mapped, rangeOf, unresolvedIn } from '../text/mapped';

/** What a name stands for; undefined leaves the reference as it is written. */
export type Known = Mapped | { readonly unresolved: string } | undefined;

/** More than any command line holds: texts that double are not followed for ever. */
const MAX_TEXT = 100_000;

/**
 * `reference` is global; its first group that matches is the name, and where none does the reference is `$` escaped.
 * One value has the place of the reference; words and flags have the place where they stand.
 */
export function splice(m: Mapped, reference: RegExp, lookup: (name: string) => Known): Mapped {
  if (!m.text.includes('$') && !m.text.includes('%')) {
    return m;
  }
  const b = builder();
  let from = 0;
  let foreign = false;
  for (const found of m.text.matchAll(reference)) {
    const to = found.index + found[0].length;
    const name = found.slice(1).find((g) => g !== undefined);
    const known = name === undefined ? undefined : lookup(name);
    if (name !== undefined && known === undefined) {
      continue;
    }
    addPart(b, m, from, found.index);
    const where = rangeOf(m, found.index, to);
    if (known === undefined) {
      addUnit(b, found[0].slice(1), where);
    } else if ('unresolved' in known) {
      addUnit(b, found[0], where, { unresolved: known.unresolved });
    } else {
      foreign = add(b, known, found[0], where) || foreign;
    }
    from = to;
  }
  addPart(b, m, from, m.text.length);
  // A text from elsewhere is written in its own way: there only what needs no quotes anywhere can be put in.
  const layers = foreign ? [...m.layers, { kind: 'yaml-plain' as const, range: m.extent }] : m.layers;
  return finish(b, layers, m.extent);
}

/** Whether the text keeps its own place. */
function add(
  b: ReturnType<typeof builder>,
  known: Mapped,
  written: string,
  where: { readonly start: number; readonly end: number },
): boolean {
  if (b.text.length + known.text.length > MAX_TEXT) {
    addUnit(b, written, where, { unresolved: 'what it stands for is too long' });
    return false;
  }
  if (!/\s|^-/.test(known.text)) {
    const unresolved = unresolvedIn(known);
    addUnit(b, known.text, where, unresolved === undefined ? {} : { unresolved });
    return false;
  }
  addPart(b, known, 0, known.text.length);
  return true;
}
