/** Where each character of a YAML scalar's value is written: quotes, escapes, folded and literal blocks. */
import type { Scalar } from 'yaml';
import type { LayerKind } from '../launch';
import { addExact, addPart, addUnit, type Builder, builder, finish, type Mapped, plainText } from '../text/mapped';
import type { YamlDocument } from './document';
import { asWord, conditionAt, isMasked, stretches, type Template } from './template';

const KINDS: Readonly<Record<string, LayerKind>> = {
  PLAIN: 'yaml-plain',
  QUOTE_SINGLE: 'yaml-single',
  QUOTE_DOUBLE: 'yaml-double',
  BLOCK_FOLDED: 'yaml-block',
  BLOCK_LITERAL: 'yaml-block',
};

/** Nothing, said in a word; in quotes it is a text. */
export const saysNull = ({ text, layers }: Mapped): boolean =>
  /^(?:null|~)$/.test(text) && layers.every(({ kind }) => kind !== 'yaml-single' && kind !== 'yaml-double');

/** `plain` says what kind of layer an unquoted scalar is. */
export function scalarText(doc: YamlDocument, node: Scalar, plain: LayerKind = 'yaml-plain'): Mapped {
  const read = written(doc, node, plain);
  return doc.template ? filled(doc.text, doc.template, read) : read;
}

/** What a template prints is not known, and what it prints under a condition may not be there. */
function filled(text: string, template: Template, m: Mapped): Mapped {
  const b = builder();
  for (const s of m.segments) {
    const decoded = m.text.slice(s.at, s.at + s.length);
    for (const { from, to, kind } of isMasked(decoded)
      ? stretches(decoded)
      : [{ from: 0, to: s.length, kind: 'plain' }]) {
      const where = s.exact ? { start: s.start + from, end: s.start + to } : { start: s.start, end: s.end };
      if (kind === 'prints') {
        const shown = text.slice(where.start, where.end);
        addUnit(b, asWord(shown), where, { unresolved: `a template fills in ${shown.replace(/\s+/g, ' ')}` });
      } else if (kind === 'plain') {
        const condition = conditionAt(template, m.extent.start, where.start)?.reason;
        addPart(b, m, s.at + from, s.at + to, undefined, condition);
      }
    }
  }
  return finish(b, m.layers, m.extent);
}

function written(doc: YamlDocument, node: Scalar, plain: LayerKind): Mapped {
  const source = doc.template?.text ?? doc.text;
  const value = String(node.value ?? '');
  const kind = KINDS[node.type ?? 'PLAIN'] ?? 'yaml-plain';
  const start = (node.range?.[0] ?? 0) + doc.base;
  const end = Math.max(start, (node.range?.[1] ?? 0) + doc.base);
  const layers = [{ kind: kind === 'yaml-plain' ? plain : kind, range: { start, end } }];
  const quote = kind === 'yaml-single' || kind === 'yaml-double' ? 1 : 0;
  const inner = { start: start + quote, end: Math.max(start + quote, end - quote) };
  if (kind !== 'yaml-block' && inner.end - inner.start === value.length && source.startsWith(value, inner.start)) {
    return plainText(source, inner.start, inner.end, layers, { start, end });
  }
  const from = kind === 'yaml-block' ? afterHeader(source, start, end) : inner.start;
  const b = builder();
  const joint = node.type === 'BLOCK_FOLDED' ? ' ' : '\n';
  align({ source, value, kind, end: inner.end, joint, blanks: doc.template?.blanks ?? [] }, from, b);
  return finish(b, layers, { start, end });
}

/** The line of `>-` or `|` is not part of the text. */
function afterHeader(source: string, start: number, end: number): number {
  const newline = source.indexOf('\n', start);
  return newline === -1 || newline >= end ? end : newline + 1;
}

interface Pairing {
  readonly source: string;
  readonly value: string;
  readonly kind: LayerKind;
  readonly end: number;
  /** What parts two lines. */
  readonly joint: string;
  /** Lines of templates that are not there when the text is used. */
  readonly blanks: Template['blanks'];
}

/**
 * Walks source and value together. White space of the value stands for white space of the source, whatever folding
 * made of it; everything else is the same character or an escape.
 */
function align(p: Pairing, from: number, b: Builder): void {
  let at = from;
  let v = 0;
  while (v < p.value.length) {
    const same = p.blanks.length === 0 ? sameRun(p, at, v) : 0;
    if (same > 0) {
      addExact(b, p.value.slice(v, v + same), { start: at, end: at + same });
      at += same;
      v += same;
      continue;
    }
    const step = at < p.end ? stepAt(p, at, v) : undefined;
    if (!step) {
      // The rest does not correspond (a repaired error): one unit.
      addUnit(b, p.value.slice(v), { start: Math.min(at, p.end), end: p.end });
      return;
    }
    addStep(p, b, at, v, step);
    at += step.source;
    v += step.value;
  }
}

const [SPACE, QUOTE, BACKSLASH] = [32, 39, 92];

/** How many characters from here on are the same in both: words and what parts them, up to an escape or the end of the line. */
function sameRun(p: Pairing, at: number, v: number): number {
  const { source, value, kind } = p;
  const special = kind === 'yaml-double' ? BACKSLASH : kind === 'yaml-single' ? QUOTE : undefined;
  const most = Math.min(p.end - at, value.length - v);
  let n = 0;
  while (n < most) {
    const c = source.charCodeAt(at + n);
    if (c !== value.charCodeAt(v + n) || c === special) {
      break;
    }
    if (c > SPACE) {
      n++;
      continue;
    }
    // White space before the end of a line may go, and with it all of this stretch is looked at anew.
    const white = blankLength(source, at + n, p.end);
    if (white === 0 || !value.startsWith(source.slice(at + n, at + n + white), v + n)) {
      break;
    }
    n += white;
  }
  return n;
}

/** Spaces and tabs between words of one line; 0 where the line ends after them. */
function blankLength(text: string, at: number, end: number): number {
  const white = whiteLength(text, at, end);
  for (let i = at; i < at + white; i++) {
    if (text[i] !== ' ' && text[i] !== '\t') {
      return 0;
    }
  }
  return white;
}

/** Characters of the source and of the value that belong together. */
interface Step {
  readonly source: number;
  readonly value: number;
  readonly exact: boolean;
}

function addStep(p: Pairing, b: Builder, at: number, v: number, step: Step): void {
  if (step.value === 0) {
    return;
  }
  const where = { start: at, end: at + step.source };
  const gone = p.kind === 'yaml-block' && p.blanks.some((l) => l.start >= at && l.start < where.end);
  const text = gone ? p.joint : p.value.slice(v, v + step.value);
  if (step.exact && !gone) {
    addExact(b, text, where);
  } else {
    addUnit(b, text, where);
  }
}

function stepAt(p: Pairing, at: number, v: number): Step | undefined {
  if (p.kind === 'yaml-double' && p.source[at] === '\\') {
    return escapeStep(p, at);
  }
  if (p.kind === 'yaml-single' && p.source.startsWith("''", at)) {
    return { source: 2, value: 1, exact: false };
  }
  const white = whiteLength(p.source, at, p.end);
  if (white > 0) {
    return whiteStep(p, at, v, white);
  }
  return wordStep(p, at, v);
}

/** Characters that are the same in both, up to white space or an escape. */
function wordStep(p: Pairing, at: number, v: number): Step | undefined {
  let n = 0;
  while (at + n < p.end && v + n < p.value.length && p.source[at + n] === p.value[v + n] && isWordPart(p, at + n)) {
    n++;
  }
  return n === 0 ? undefined : { source: n, value: n, exact: true };
}

function isWordPart(p: Pairing, at: number): boolean {
  const c = p.source[at] as string;
  const special = (p.kind === 'yaml-double' && c === '\\') || (p.kind === 'yaml-single' && c === "'");
  return !special && !isWhite(c);
}

const isWhite = (c: string | undefined): boolean => c === ' ' || c === '\t' || c === '\n' || c === '\r';

function whiteLength(text: string, at: number, end: number): number {
  let n = 0;
  while (at + n < end && isWhite(text[at + n])) {
    n++;
  }
  return n;
}

function whiteStep(p: Pairing, at: number, v: number, white: number): Step {
  const written = p.source.slice(at, at + white);
  const kept = whiteLength(p.value, v, p.value.length);
  if (!written.includes('\n') && kept >= white) {
    return { source: white, value: white, exact: true };
  }
  if (p.kind === 'yaml-block') {
    return { source: white, value: kept, exact: false };
  }
  const lines = written.split('\n').length - 1;
  return { source: white, value: Math.min(kept, Math.max(1, lines - 1)), exact: false };
}

const ESCAPE_LENGTH: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

function escapeStep(p: Pairing, at: number): Step {
  const c = p.source[at + 1] ?? '';
  if (c === '\n' || c === '\r') {
    return { source: 1 + whiteLength(p.source, at + 1, p.end), value: 0, exact: false };
  }
  const length = ESCAPE_LENGTH[c] ?? 2;
  const astral = c === 'U' && Number.parseInt(p.source.slice(at + 2, at + 10), 16) > 0xffff;
  return { source: length, value: astral ? 2 : 1, exact: false };
}
