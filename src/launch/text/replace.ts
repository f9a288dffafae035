/** Text with its references filled in: what is known stands at the reference, or where it is written if it holds options. */
import { addPart, addUnit, builder, finish, type Mapped, rangeOf, unresolvedIn } from './mapped';

/** What a reference stands for; undefined = it is no reference. */
export type Replacement =
  | { readonly text: string }
  /** `written` where its place is its own, not the reference, whatever it holds. */
  | { readonly mapped: Mapped; readonly written?: true }
  /** `as` where the reference as written would not be one word of the text around it. */
  | { readonly unresolved: string; readonly as?: string }
  /** Nothing: white space, a continuation. */
  | { readonly skip: true };

export function replaceIn(
  m: Mapped,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => Replacement | undefined,
): Mapped {
  const b = builder();
  let at = 0;
  for (const match of m.text.matchAll(pattern)) {
    const found = replace(match as RegExpExecArray);
    if (found) {
      addPart(b, m, at, match.index);
      at = match.index + match[0].length;
      add(b, found, m, match.index, at);
    }
  }
  addPart(b, m, at, m.text.length);
  return finish(b, m.layers, m.extent);
}

function add(b: ReturnType<typeof builder>, found: Replacement, m: Mapped, from: number, to: number): void {
  const where = rangeOf(m, from, to);
  if ('skip' in found) {
    return;
  }
  if ('mapped' in found) {
    const { mapped } = found;
    const unresolved = unresolvedIn(mapped);
    // Of several words one may be unknown and the others not.
    if (unresolved !== undefined && (mapped.segments.length === 1 || !/^-|\S\s+\S/.test(mapped.text))) {
      addUnit(b, m.text.slice(from, to), where, { unresolved });
    } else if (found.written || /^-|\s/.test(mapped.text)) {
      addPart(b, mapped, 0, mapped.text.length);
    } else {
      addUnit(b, mapped.text, where);
    }
    return;
  }
  if ('text' in found) {
    addUnit(b, found.text, where);
  } else {
    addUnit(b, found.as ?? m.text.slice(from, to), where, { unresolved: found.unresolved });
  }
}

/** More than any command line holds. */
const MAX_TEXT = 64 * 1024;

/** A text with each of its `{{ … }}` filled in; undefined where one is not known. */
export function printedIn(text: string, print: (reference: string) => string | undefined): string | undefined {
  let known = true;
  const filled = text.replace(/\{\{.*?\}\}/gs, (reference) => {
    const value = print(reference);
    known &&= value !== undefined;
    return value ?? '';
  });
  return known && filled.length <= MAX_TEXT ? filled : undefined;
}
