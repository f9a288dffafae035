/** PowerShell's words: quotes, backticks, variables, arrays, here-strings; enough to follow commands and assignments. */
import type { Layer, LayerKind } from '../launch';
import { addPart, addUnit, type Builder, builder, finish, type Mapped, rangeOf, unresolvedIn } from '../text/mapped';

/** A variable's words (an array has several), or why they are not known. */
export type PsValue = readonly Mapped[] | string;

export interface PsWord {
  readonly text: Mapped;
  /** A variable alone, or a list in `@( )`: it stands for these words. */
  readonly list?: readonly Mapped[];
  /** `=`, `+=`, `,`, `{`, `}`, `(`, `)`, `|`. */
  readonly sign?: string;
  /** The variable's name where the word is one. */
  readonly variable?: string;
}

export interface PsStatement {
  readonly words: readonly PsWord[];
  /** Blocks in braces around it. */
  readonly depth: number;
}

export interface PsLexer {
  readonly m: Mapped;
  lookup(name: string): PsValue;
}

interface State extends PsLexer {
  at: number;
  words: PsWord[];
  depth: number;
  /** Round brackets and arrays: a line break inside them ends nothing. */
  open: number;
  /** Called with each statement, so that the next one knows what it set. */
  done(statement: PsStatement): void;
}

export function readStatements(lexer: PsLexer, done: (statement: PsStatement) => void): void {
  const s: State = { ...lexer, at: 0, words: [], depth: 0, open: 0, done };
  while (s.at < s.m.text.length) {
    step(s);
  }
  endStatement(s);
}

function endStatement(s: State): void {
  if (s.words.length > 0) {
    s.done({ words: s.words, depth: s.depth });
    s.words = [];
  }
}

const SPACE = /(?:[^\S\n]|`\r?\n)+/y;
const COMMENT = /<#[\s\S]*?(?:#>|$)|#[^\n]*/y;

function match(s: State, pattern: RegExp): string | undefined {
  pattern.lastIndex = s.at;
  return pattern.exec(s.m.text)?.[0];
}

function step(s: State): void {
  const space = match(s, SPACE) ?? match(s, COMMENT);
  if (space !== undefined) {
    s.at += space.length;
    return;
  }
  const c = s.m.text[s.at] as string;
  if (c === '\n' || c === ';' || c === '|') {
    if (s.open === 0 || c !== '\n') {
      endStatement(s);
    }
    s.at++;
  } else if (c === '{' || c === '}') {
    endStatement(s);
    s.depth = Math.max(0, s.depth + (c === '{' ? 1 : -1));
    s.open = 0;
    s.at++;
  } else if (/^(?:\+?=(?!=)|,|\(|\)|@\(|&(?!&)|&&|\d?>>?(?:&\d)?)/.test(s.m.text.slice(s.at, s.at + 6))) {
    sign(s, (/^(?:\+?=|,|@\(|\(|\)|&&?|\d?>>?(?:&\d)?)/.exec(s.m.text.slice(s.at, s.at + 6)) as RegExpExecArray)[0]);
  } else {
    word(s);
  }
}

function sign(s: State, text: string): void {
  const where = rangeOf(s.m, s.at, s.at + text.length);
  s.at += text.length;
  if (text === '&&') {
    endStatement(s);
  } else if (/>/.test(text)) {
    // A file that takes the output is no argument.
    const space = match(s, SPACE);
    s.at += space?.length ?? 0;
    s.at += /&\d$/.test(text) ? 0 : (match(s, /[^\s;|]+/y)?.length ?? 0);
  } else if (text !== '&') {
    s.open += text.endsWith('(') ? 1 : text === ')' ? -1 : 0;
    s.open = Math.max(0, s.open);
    const b = builder();
    addUnit(b, text, where);
    s.words.push({ text: finish(b, s.m.layers, where), sign: text });
  }
}

const VARIABLE = /\$(?:\{([^}\n]+)\}|((?:env:|script:|global:|local:)?\w+))|@(\w+)/iy;

function word(s: State): void {
  const b = builder();
  const from = s.at;
  const here = match(s, /@(["'])\r?\n[\s\S]*?\r?\n\1@/y);
  if (here !== undefined) {
    const inner = /^@["']\r?\n([\s\S]*?)\r?\n["']@$/.exec(here)?.[1] ?? '';
    const start = s.at + here.indexOf('\n') + 1;
    const layer = layerOf(s, 'pieces', s.at, s.at + here.length);
    if (here[1] === '"') {
      expandable(s, b, start, start + inner.length, layer);
    } else {
      layered(s, b, start, start + inner.length, layer);
    }
    s.at += here.length;
    s.words.push({ text: finish(b, s.m.layers, rangeOf(s.m, from, s.at)) });
    return;
  }
  VARIABLE.lastIndex = s.at;
  const alone = VARIABLE.exec(s.m.text);
  if (alone && /^(?:[\s;|,(){}=]|\+=|\[\]|$)/.test(s.m.text.slice(VARIABLE.lastIndex, VARIABLE.lastIndex + 2))) {
    s.at += alone[0].length;
    s.words.push(variableWord(s, alone, from));
    return;
  }
  while (s.at < s.m.text.length && !/[\s;|,(){}]/.test(s.m.text[s.at] as string)) {
    piece(s, b);
    if (s.m.text.startsWith('`\n', s.at) || s.m.text.startsWith('`\r\n', s.at)) {
      break;
    }
  }
  s.words.push({ text: finish(b, s.m.layers, rangeOf(s.m, from, s.at)) });
}

function variableWord(s: State, found: RegExpExecArray, from: number): PsWord {
  const name = nameOf(found);
  const where = rangeOf(s.m, from, s.at);
  const value = s.lookup(name);
  const b = builder();
  const layer = layerOf(s, 'ps-bare', from, s.at);
  if (typeof value === 'string') {
    addUnit(b, found[0], where, { unresolved: value, outer: [layer] });
    return { text: finish(b, s.m.layers, where), variable: name };
  }
  const [only] = value;
  if (value.length === 1 && only && !/^-/.test(only.text)) {
    const unresolved = unresolvedIn(only);
    addUnit(b, only.text, where, { outer: [layer], ...(unresolved === undefined ? {} : { unresolved }) });
    return { text: finish(b, s.m.layers, where), variable: name };
  }
  return { text: finish(b, s.m.layers, where), list: value, variable: name };
}

const nameOf = (found: RegExpExecArray): string => (found[1] ?? found[2] ?? found[3] ?? '').toLowerCase();

const layerOf = (s: State, kind: LayerKind, from: number, to: number): Layer => ({
  kind,
  range: rangeOf(s.m, from, to),
});

function piece(s: State, b: Builder): void {
  const c = s.m.text[s.at] as string;
  if (c === "'") {
    single(s, b);
  } else if (c === '"') {
    double(s, b);
  } else if (c === '`' && s.at + 1 < s.m.text.length) {
    addUnit(b, s.m.text[s.at + 1] as string, rangeOf(s.m, s.at, s.at + 2));
    s.at += 2;
  } else if (c === '$') {
    reference(s, b, layerOf(s, 'ps-bare', s.at, s.at + 1));
  } else {
    const bare = match(s, /[^\s;|,(){}'"`$]+/y) ?? c;
    layered(s, b, s.at, s.at + bare.length, layerOf(s, 'ps-bare', s.at, s.at + bare.length));
    s.at += bare.length;
  }
}

function single(s: State, b: Builder): void {
  const text = match(s, /'(?:[^']|'')*'?/y) ?? "'";
  const layer = layerOf(s, 'ps-single', s.at, s.at + text.length);
  const end = s.at + text.length - (text.length > 1 && text.endsWith("'") ? 1 : 0);
  let from = s.at + 1;
  for (const quote of s.m.text.slice(from, end).matchAll(/''/g)) {
    const at = s.at + 1 + quote.index;
    layered(s, b, from, at, layer);
    addUnit(b, "'", rangeOf(s.m, at, at + 2), { outer: [layer] });
    from = at + 2;
  }
  layered(s, b, from, end, layer);
  empty(s, b, layer, s.at + 1, end);
  s.at += text.length;
}

function double(s: State, b: Builder): void {
  const text = match(s, /"(?:[^"`]|`[\s\S]|"")*"?/y) ?? '"';
  const layer = layerOf(s, 'ps-double', s.at, s.at + text.length);
  const end = s.at + text.length - (text.length > 1 && text.endsWith('"') ? 1 : 0);
  const after = s.at + text.length;
  expandable(s, b, s.at + 1, end, layer);
  empty(s, b, layer, s.at + 1, end);
  s.at = after;
}

function empty(s: State, b: Builder, layer: Layer, from: number, end: number): void {
  if (end <= from) {
    const at = rangeOf(s.m, from - 1, from).end;
    addUnit(b, '', { start: at, end: at }, { outer: [layer] });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' };

function expandable(s: State, b: Builder, from: number, to: number, layer: Layer): void {
  const before = s.at;
  s.at = from;
  while (s.at < to) {
    const c = s.m.text[s.at] as string;
    if (c === '`' || (c === '"' && s.m.text[s.at + 1] === '"')) {
      const next = s.m.text[s.at + 1] ?? '';
      addUnit(b, c === '`' ? (ESCAPES[next] ?? next) : '"', rangeOf(s.m, s.at, s.at + 2), { outer: [layer] });
      s.at += 2;
    } else if (c === '$') {
      reference(s, b, layer);
    } else {
      const plain = match(s, /[^`"$]+/y) ?? c;
      const end = Math.min(s.at + plain.length, to);
      layered(s, b, s.at, end, layer);
      s.at = end;
    }
  }
  s.at = before;
}

function reference(s: State, b: Builder, layer: Layer): void {
  const computed = match(s, /\$\((?:[^()]|\([^()]*\))*\)/y);
  VARIABLE.lastIndex = s.at;
  const found = computed === undefined ? VARIABLE.exec(s.m.text) : null;
  const text = computed ?? found?.[0];
  if (text === undefined) {
    layered(s, b, s.at, s.at + 1, layer);
    s.at++;
    return;
  }
  const where = rangeOf(s.m, s.at, s.at + text.length);
  const value = found ? s.lookup(nameOf(found)) : `${text} is computed when the script runs`;
  const known = typeof value === 'string' ? undefined : value.map((v) => v.text).join(' ');
  const unresolved = typeof value === 'string' ? value : value.map((v) => unresolvedIn(v)).find((u) => u !== undefined);
  const outer = [layer.kind === 'ps-bare' ? { kind: 'ps-bare' as const, range: where } : layer];
  addUnit(b, known ?? text, where, { outer, ...(unresolved === undefined ? {} : { unresolved }) });
  s.at += text.length;
}

function layered(s: State, b: Builder, from: number, to: number, layer: Layer): void {
  const inner = builder();
  addPart(inner, s.m, from, to);
  for (const segment of inner.segments) {
    b.segments.push({ ...segment, at: b.text.length + segment.at, outer: [...(segment.outer ?? []), layer] });
  }
  b.text += inner.text;
}
