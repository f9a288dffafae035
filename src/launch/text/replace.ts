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
/** More than any file sets. */
const MAX_NAMES = 1000;

/** What a name stands for, filled in; undefined where that is not known. */
export type NameLookup = (name: string) => string | undefined;

/**
 * Names whose texts hold `{{ … }}` of other names. Each is filled in once; one that refers to itself is not known.
 * `written` is a name's own text, `print` what a reference prints.
 */
export function filledNames(
  written: NameLookup,
  print: (reference: string, lookup: NameLookup) => string | undefined,
): NameLookup {
  const known = new Map<string, string | undefined>();
  const lookup = (name: string): string | undefined => {
    if (!known.has(name) && known.size < MAX_NAMES) {
      known.set(name, undefined);
      const text = written(name);
      known.set(name, text === undefined ? undefined : printedIn(text, (reference) => print(reference, lookup)));
    }
    return known.get(name);
  };
  return lookup;
}

function printedIn(text: string, print: (reference: string) => string | undefined): string | undefined {
  let left = text.includes('{%') ? 0 : MAX_TEXT;
  const filled = text.replace(/\{\{.*?\}\}/gs, (reference) => {
    const value = left > 0 ? print(reference) : undefined;
    left = value === undefined ? 0 : left - value.length;
    return value ?? '';
  });
  return left > 0 && filled.length <= MAX_TEXT ? filled : undefined;
}
