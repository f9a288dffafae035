/** Words of a command written as one string (compose `command:`), split as POSIX shells do but without expansion. */
import type { TextRange } from '../launch';
import {
  addPart,
  addUnit,
  type Builder,
  builder,
  finish,
  type Mapped,
  rangeOf,
  type Span,
  segmentAt,
} from '../text/mapped';

interface State {
  readonly m: Mapped;
  /** Some part of the text cannot be known. */
  readonly hasUnits: boolean;
  at: number;
  word: Builder | undefined;
  from: number;
}

/** Up to white space, a quote or an escape. */
const BARE = /[^ \t\n\r'"\\]*/y;

const isWhite = (c: string): boolean => c === ' ' || c === '\t' || c === '\n' || c === '\r';

export function splitWords(m: Mapped): readonly Mapped[] {
  const words: Mapped[] = [];
  const hasUnits = m.segments.some((x) => x.unresolved !== undefined);
  const s: State = { m, hasUnits, at: 0, word: undefined, from: 0 };
  while (s.at < m.text.length) {
    const c = m.text[s.at] as string;
    if (isWhite(c) && !isUnit(s, s.at)) {
      endWord(s, words);
      s.at++;
    } else if (c === '\\' && /[\r\n]/.test(m.text[s.at + 1] ?? '')) {
      // A continuation left over from a shell: white space.
      endWord(s, words);
      s.at += m.text.startsWith('\r\n', s.at + 1) ? 3 : 2;
    } else {
      begin(s);
      piece(s, c);
    }
  }
  endWord(s, words);
  return words;
}

/** What cannot be known is never split. */
const isUnit = (s: State, at: number): boolean => s.hasUnits && segmentAt(s.m, at)?.unresolved !== undefined;

function begin(s: State): void {
  if (!s.word) {
    s.word = builder();
    s.from = s.at;
  }
}

function endWord(s: State, words: Mapped[]): void {
  if (s.word) {
    words.push(finish(s.word, s.m.layers, rangeOf(s.m, s.from, s.at)));
    s.word = undefined;
  }
}

function piece(s: State, c: string): void {
  if (isUnit(s, s.at)) {
    const unit = segmentAt(s.m, s.at);
    const end = (unit?.at ?? s.at) + (unit?.length ?? 1);
    addPart(s.word as Builder, s.m, s.at, end);
    s.at = end;
  } else if (c === "'") {
    quoted(s, "'");
  } else if (c === '"') {
    quoted(s, '"');
  } else if (c === '\\' && s.at + 1 < s.m.text.length) {
    addUnit(s.word as Builder, s.m.text[s.at + 1] as string, rangeOf(s.m, s.at, s.at + 2));
    s.at += 2;
  } else {
    bare(s);
  }
}

function bare(s: State): void {
  BARE.lastIndex = s.at + 1;
  BARE.test(s.m.text);
  let end = s.at + 1;
  const most = BARE.lastIndex;
  while (end < most && !isUnit(s, end)) {
    end++;
  }
  addPart(s.word as Builder, s.m, s.at, end);
  s.at = end;
}

/** An unclosed quote runs to the end. */
function quoted(s: State, quote: string): void {
  const close = closing(s.m.text, s.at + 1, quote);
  const outer: TextRange = rangeOf(s.m, s.at, Math.min(close + 1, s.m.text.length));
  const span: Span = { ...outer, kind: quote === "'" ? 'shell-single' : 'shell-double' };
  if (close === s.at + 1) {
    addUnit(s.word as Builder, '', between(outer), { span });
  }
  for (let i = s.at + 1; i < close; ) {
    const next = quote === '"' ? escapeAt(s.m.text, i, close) : -1;
    if (next === i) {
      addUnit(s.word as Builder, s.m.text[i + 1] as string, rangeOf(s.m, i, i + 2), { span });
      i += 2;
    } else {
      const end = next === -1 ? close : next;
      addPart(s.word as Builder, s.m, i, end, span);
      i = end;
    }
  }
  s.at = close + 1;
}

const between = (outer: TextRange): TextRange => ({ start: outer.start + 1, end: outer.start + 1 });

/** Where in a double-quoted text the next escape is; -1 when there is none before `end`. */
function escapeAt(text: string, from: number, end: number): number {
  for (let i = text.indexOf('\\', from); i !== -1 && i < end - 1; i = text.indexOf('\\', i + 1)) {
    if (/["\\$`]/.test(text[i + 1] as string)) {
      return i;
    }
  }
  return -1;
}

function closing(text: string, from: number, quote: string): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\' && quote === '"') {
      i++;
    } else if (text[i] === quote) {
      return i;
    }
  }
  return text.length;
}
