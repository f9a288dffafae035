/** Decoded text that remembers where each character stands in the file: through quotes, escapes, folding, variables. */
import type { Layer, TextRange } from '../launch';

/** Quotes around part of a text; the range includes them. Compared by identity. */
export interface Span extends TextRange {
  readonly kind: 'shell-bare' | 'shell-single' | 'shell-double';
  /** The text came out of a variable and was then split at white space. */
  readonly split?: true;
}

/** `length` decoded characters from `at` on, written at `start`…`end`. */
export interface Segment {
  readonly at: number;
  readonly length: number;
  readonly start: number;
  readonly end: number;
  /** Characters correspond one to one; otherwise the segment is one unit (an escape, a variable). */
  readonly exact: boolean;
  readonly span?: Span;
  /** Why this part cannot be known; its decoded text is then the text as written. */
  readonly unresolved?: string;
  /** Why this part may not be there at all. */
  readonly maybe?: string;
  /** Ways of writing around this part alone, outside of its span, outermost first. */
  readonly outer?: readonly Layer[];
}

export interface Mapped {
  readonly text: string;
  readonly segments: readonly Segment[];
  /** Ways of writing around the whole text, outermost first. */
  readonly layers: readonly Layer[];
  /** All that was written, quotes included. */
  readonly extent: TextRange;
}

const NO_LAYERS: readonly Layer[] = [];

/** `text` is the whole file; the result is the part of it between two offsets. */
export function plainText(
  text: string,
  start: number,
  end: number,
  layers: readonly Layer[] = NO_LAYERS,
  extent: TextRange = { start, end },
): Mapped {
  const segments = [segment(0, end - start, start, end, true)];
  return { text: text.slice(start, end), segments, layers, extent };
}

/** Text that stands for what is written at `where`. */
export function unit(text: string, where: TextRange): Mapped {
  const segments = [segment(0, text.length, where.start, where.end, false)];
  return { text, segments, layers: NO_LAYERS, extent: where };
}

/** The same for a text that cannot be known. */
export function unknown(text: string, where: TextRange, unresolved: string): Mapped {
  const segments = [segment(0, text.length, where.start, where.end, false, undefined, unresolved)];
  return { text, segments, layers: NO_LAYERS, extent: where };
}

/** Where decoded characters `from`…`to` are written. Quotes are left out when both ends stand inside the same ones. */
export function rangeOf(m: Mapped, from = 0, to = m.text.length): TextRange {
  const first = from === to ? segmentAround(m, from) : segmentAt(m, from);
  const last = from === to ? first : segmentAt(m, to - 1);
  if (!first || !last) {
    return m.extent;
  }
  const start = offsetIn(first, from, 'start');
  const end = offsetIn(last, to, 'end');
  if (first.span === last.span) {
    return { start, end: Math.max(start, end) };
  }
  return { start: first.span?.start ?? start, end: last.span?.end ?? end };
}

function offsetIn(s: Segment, index: number, edge: 'start' | 'end'): number {
  return s.exact ? s.start + Math.min(Math.max(index - s.at, 0), s.length) : s[edge];
}

/** The segment that holds the character at `index`. */
export function segmentAt(m: Mapped, index: number): Segment | undefined {
  const s = m.segments[indexOfSegment(m, index)];
  return s && s.at <= index ? s : undefined;
}

/** Index of the first segment that ends after `index`. */
function indexOfSegment(m: Mapped, index: number): number {
  let low = 0;
  let high = m.segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const s = m.segments[middle] as Segment;
    if (s.at + s.length > index) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** For an empty stretch: an empty segment (`""`) that stands there, else a neighbour. */
function segmentAround(m: Mapped, index: number): Segment | undefined {
  const touching = m.segments.filter((s) => s.at <= index && index <= s.at + s.length);
  return touching.find((s) => s.length === 0) ?? touching.at(-1);
}

/** Why part of `from`…`to` cannot be known; undefined when all of it can. */
export function unresolvedIn(m: Mapped, from = 0, to = m.text.length): string | undefined {
  for (const s of m.segments) {
    if (s.unresolved !== undefined && s.at < to && s.at + s.length > from) {
      return s.unresolved;
    }
  }
  return undefined;
}

/** Why the text may not be there; undefined when it is. */
export const maybeIn = (m: Mapped): string | undefined => m.segments.find((s) => s.maybe !== undefined)?.maybe;

/** Collects the parts of a text. */
export interface Builder {
  text: string;
  readonly segments: Segment[];
}

/** A builder makes its segments itself, so that the last one can grow. */
type Growing = { -readonly [K in 'length' | 'end']: Segment[K] };

export const builder = (): Builder => ({ text: '', segments: [] });

export function finish(b: Builder, layers: readonly Layer[], extent: TextRange): Mapped {
  return { text: b.text, segments: b.segments, layers, extent };
}

/** Adds decoded characters `from`…`to` of `m`; inside quotes when `span` is given, perhaps not there when `maybe` is. */
export function addPart(b: Builder, m: Mapped, from: number, to: number, span?: Span, maybe?: string): void {
  for (let i = indexOfSegment(m, from); i < m.segments.length; i++) {
    const s = m.segments[i] as Segment;
    if (s.at >= to) {
      return;
    }
    const left = Math.max(from - s.at, 0);
    const right = Math.min(to - s.at, s.length);
    if (right > left) {
      const start = s.exact ? s.start + left : s.start;
      const end = s.exact ? s.start + right : s.end;
      const at = b.text.length;
      const perhaps = s.maybe ?? maybe;
      push(b, segment(at, right - left, start, end, s.exact, span ?? s.span, s.unresolved, perhaps, s.outer));
      b.text += m.text.slice(s.at + left, s.at + right);
    }
  }
}

/** One shape for every segment: they are made by the thousand. */
const segment = (
  at: number,
  length: number,
  start: number,
  end: number,
  exact: boolean,
  span?: Span,
  unresolved?: string,
  maybe?: string,
  outer?: readonly Layer[],
): Segment => ({ at, length, start, end, exact, span, unresolved, maybe, outer });

/** Adds text that is written otherwise than it reads. */
export function addUnit(
  b: Builder,
  text: string,
  where: TextRange,
  more: Pick<Segment, 'span' | 'unresolved' | 'maybe' | 'outer'> = {},
): void {
  const { span, unresolved, maybe, outer } = more;
  push(b, segment(b.text.length, text.length, where.start, where.end, false, span, unresolved, maybe, outer));
  b.text += text;
}

/** Adds text that stands at `where` as it is. */
export function addExact(b: Builder, text: string, where: TextRange): void {
  push(b, segment(b.text.length, text.length, where.start, where.end, true));
  b.text += text;
}

function push(b: Builder, s: Segment): void {
  const last = b.segments.at(-1);
  if (last?.exact && s.exact && last.end === s.start && isAlike(last, s)) {
    const growing: Growing = last;
    growing.length += s.length;
    growing.end = s.end;
  } else {
    b.segments.push(s);
  }
}

const isAlike = (a: Segment, b: Segment): boolean => a.span === b.span && a.maybe === b.maybe && a.outer === b.outer;

export function part(m: Mapped, from: number, to: number): Mapped {
  const b = builder();
  addPart(b, m, from, to);
  return finish(b, m.layers, rangeOf(m, from, to));
}

/** Without white space at either end. */
export function trimmed(m: Mapped): Mapped {
  const from = m.text.length - m.text.trimStart().length;
  return part(m, from, Math.max(from, m.text.trimEnd().length));
}

/**
 * The same with what cannot be known filled in, where `fill` knows it after all. `kept` = what stands there serves more
 * than this text, and no value is written in its place.
 */
export function refilled(m: Mapped, fill: (where: TextRange) => string | undefined, kept = false): Mapped {
  if (m.segments.every((s) => s.unresolved === undefined)) {
    return m;
  }
  const b = builder();
  for (const s of m.segments) {
    const text = s.unresolved === undefined ? undefined : fill(s);
    if (text === undefined) {
      addPart(b, m, s.at, s.at + s.length);
    } else {
      addUnit(b, text, s, kept || /^-|\s/.test(text) ? { outer: inPieces(s) } : {});
    }
  }
  return finish(b, m.layers, m.extent);
}

/** What stands here is more than one value: none is written in its place. */
const inPieces = ({ start, end }: TextRange): readonly Layer[] => [{ kind: 'pieces', range: { start, end } }];

/** The same, for text of other ways of writing: it brings its own. */
export const withOwnLayers = (m: Mapped, own: readonly Layer[] = m.layers): Mapped => ({
  ...m,
  segments: m.segments.map((s) => ({ ...s, outer: [...own, ...(s.outer ?? [])] })),
});

/** The same text, but it may not be there. */
export function asMaybe(m: Mapped, reason: string): Mapped {
  return { ...m, segments: m.segments.map((s) => ({ ...s, maybe: s.maybe ?? reason })) };
}

/** The word as a text of its own (`bash -c "…"`): its quotes become a layer around it, or around each of its parts. */
export function asText(word: Mapped): Mapped {
  const spans = new Map<Span, Layer>();
  for (const { span } of word.segments) {
    if (span && !spans.has(span)) {
      spans.set(span, { kind: span.kind, range: { start: span.start, end: span.end } });
    }
  }
  if (spans.size <= 1) {
    const layers = [...word.layers, ...spans.values()];
    return { ...word, layers, segments: word.segments.map((s) => ({ ...s, span: undefined })) };
  }
  const outers = new Map([...spans].map(([span, layer]) => [span, [layer]]));
  const outerOf = (s: Segment) => (s.span ? outers.get(s.span) : s.outer);
  return { ...word, segments: word.segments.map((s) => ({ ...s, span: undefined, outer: outerOf(s) })) };
}

/** The text as it comes out of an unquoted variable. */
export function asSplit(m: Mapped): Mapped {
  const spans = new Map<Span | undefined, Span>();
  const splitOf = (span: Span | undefined): Span => {
    const known = spans.get(span) ?? { kind: span?.kind ?? 'shell-bare', ...(span ?? m.extent), split: true };
    spans.set(span, known);
    return known;
  };
  return { ...m, segments: m.segments.map((s) => ({ ...s, span: splitOf(s.span) })) };
}

/** What a value at `from`…`to` must be encoded for. `shell` is false where words are items of a list. */
export function layersOf(m: Mapped, from: number, to: number, shell: boolean): readonly Layer[] {
  const first = from === to ? segmentAround(m, from) : segmentAt(m, from);
  const last = from === to ? first : segmentAt(m, to - 1);
  const range = rangeOf(m, from, to);
  const outer = [...m.layers, ...outerLayers(first, last, range)];
  if (!shell) {
    return outer;
  }
  const span = first?.span === last?.span ? first?.span : undefined;
  const split: readonly Layer[] = first?.span?.split || last?.span?.split ? [{ kind: 'shell-split', range }] : [];
  const quotes = span ? { kind: span.kind, range: { start: span.start, end: span.end } } : undefined;
  return [...outer, quotes ?? { kind: 'shell-bare', range }, ...split];
}

/** Text over several literals cannot be written as one value. */
function outerLayers(first: Segment | undefined, last: Segment | undefined, range: TextRange): readonly Layer[] {
  const [a = NO_LAYERS, b = NO_LAYERS] = [first?.outer, last?.outer];
  const same = a === b || (a.length === b.length && a.every((l, i) => l.range === b[i]?.range));
  return same ? a : [{ kind: 'pieces', range }];
}
