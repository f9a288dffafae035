/** HCL and TOML as far as launches need them: blocks, attributes, lists, maps, strings, heredocs; every text at its place. */
import type { Layer, TextRange } from '../launch';
import { addPart, addUnit, builder, finish, type Mapped, part, rangeOf } from '../text/mapped';

export type HclValue =
  | { readonly kind: 'text'; readonly text: Mapped }
  | { readonly kind: 'list'; readonly items: readonly HclValue[] }
  | { readonly kind: 'map'; readonly values: ReadonlyMap<string, HclAttribute> }
  /** A number, a name, a call: as written. */
  | { readonly kind: 'other'; readonly written: string; readonly range: TextRange };

export interface HclAttribute {
  readonly value: HclValue;
}

export interface HclBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly values: Map<string, HclAttribute>;
  readonly blocks: HclBlock[];
  range: TextRange;
}

interface State {
  readonly m: Mapped;
  readonly toml: boolean;
  /** What `var.x` and `local.x` stand for. */
  readonly known: Map<string, Mapped>;
  at: number;
  depth: number;
}

export const reference = (value: HclValue): TextRange =>
  value.kind === 'text' ? rangeOf(value.text) : value.kind === 'other' ? value.range : { start: 0, end: 0 };

const newBlock = (type: string, labels: readonly string[], range: TextRange): HclBlock => ({
  type,
  labels,
  values: new Map(),
  blocks: [],
  range,
});

export function readHcl(m: Mapped, toml: boolean): HclBlock {
  const known = new Map<string, Mapped>();
  if (!toml) {
    // Defaults of variables and locals may stand below what uses them.
    collect(readRoot(m, toml, known), known);
  }
  return readRoot(m, toml, known);
}

function readRoot(m: Mapped, toml: boolean, known: Map<string, Mapped>): HclBlock {
  const root = newBlock('', [], m.extent);
  body({ m, toml, known, at: 0, depth: 0 }, root);
  return root;
}

function collect(root: HclBlock, known: Map<string, Mapped>): void {
  for (const block of root.blocks) {
    const value = block.type === 'variable' ? block.values.get('default')?.value : undefined;
    const [name] = block.labels;
    const text = value && asText(value);
    if (name !== undefined && text) {
      known.set(`var.${name}`, text);
    }
    for (const [key, local] of block.type === 'locals' ? block.values : []) {
      const found = asText(local.value);
      if (found) {
        known.set(`local.${key}`, found);
      }
    }
  }
}

function asText(value: HclValue): Mapped | undefined {
  if (value.kind === 'text') {
    return value.text;
  }
  if (value.kind !== 'other' || !/^-?[\d.]+$|^(?:true|false)$/.test(value.written)) {
    return undefined;
  }
  const b = builder();
  addUnit(b, value.written, value.range);
  return finish(b, [], value.range);
}

const MAX_DEPTH = 50;

function match(s: State, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = s.at;
  const found = pattern.exec(s.m.text);
  if (found) {
    s.at = pattern.lastIndex;
  }
  return found;
}

const SPACE = /(?:\s+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const space = (s: State): void => {
  match(s, SPACE);
};

/** Attributes and blocks up to the closing brace; what is neither is passed over. */
function body(s: State, block: HclBlock): void {
  let into = block;
  for (space(s); s.at < s.m.text.length; space(s)) {
    const start = s.at;
    const table = s.toml ? match(s, /\[+\s*([\w.-]+)\s*\]+/y) : null;
    const key = table ? null : match(s, /(?:"([^"\n]*)"|([\w.-]+))/y);
    if (table) {
      into = newBlock(table[1] as string, [], rangeOf(s.m, start, s.at));
      block.blocks.push(into);
    } else if (!key) {
      if (s.m.text[s.at] === '}' && block.type !== '') {
        return;
      }
      s.at++;
    } else {
      entry(s, into, key[1] ?? key[2] ?? '', start);
    }
  }
}

function entry(s: State, block: HclBlock, name: string, start: number): void {
  match(s, /[ \t]*/y);
  if (match(s, /[=:](?!=)\s*/y)) {
    block.values.set(name, { value: value(s) });
    block.range = {
      start: Math.min(block.range.start, rangeOf(s.m, start, start).start),
      end: Math.max(block.range.end, rangeOf(s.m, 0, s.at).end),
    };
    return;
  }
  const labels: string[] = [];
  for (
    let label = match(s, /"([^"\n]*)"[ \t]*|([\w-]+)[ \t]+(?=[\w"{])/y);
    label;
    label = match(s, /"([^"\n]*)"[ \t]*|([\w-]+)[ \t]+(?=[\w"{])/y)
  ) {
    labels.push(label[1] ?? label[2] ?? '');
  }
  if (match(s, /\{/y) && s.depth < MAX_DEPTH) {
    const inner = newBlock(name, labels, rangeOf(s.m, start, s.at));
    s.depth++;
    body(s, inner);
    s.depth--;
    match(s, /\}/y);
    inner.range = rangeOf(s.m, start, s.at);
    block.blocks.push(inner);
  }
}

function value(s: State): HclValue {
  const c = s.m.text[s.at];
  if (c === '"' || (s.toml && c === "'")) {
    return quoted(s);
  }
  if (c === '[' && s.depth < MAX_DEPTH) {
    return list(s);
  }
  if (c === '{' && s.depth < MAX_DEPTH) {
    return map(s);
  }
  const heredoc = match(s, /<<[-~]?\s*"?(\w+)"?[^\n]*\n/y);
  return heredoc ? heredocText(s, heredoc[1] as string) : other(s);
}

function list(s: State): HclValue {
  s.at++;
  s.depth++;
  const items: HclValue[] = [];
  for (space(s); s.at < s.m.text.length && s.m.text[s.at] !== ']'; space(s)) {
    const before = s.at;
    items.push(value(s));
    space(s);
    match(s, /,/y);
    if (s.at === before) {
      s.at++;
    }
  }
  s.at++;
  s.depth--;
  return { kind: 'list', items };
}

function map(s: State): HclValue {
  const start = s.at++;
  s.depth++;
  const block = newBlock('map', [], rangeOf(s.m, start, s.at));
  for (space(s); s.at < s.m.text.length && s.m.text[s.at] !== '}'; space(s)) {
    const key = match(s, /(?:"([^"\n]*)"|([\w.-]+))\s*[=:]\s*/y);
    if (key) {
      block.values.set(key[1] ?? key[2] ?? '', { value: value(s) });
    } else {
      s.at++;
    }
    match(s, /[ \t]*,/y);
  }
  s.at++;
  s.depth--;
  return { kind: 'map', values: block.values };
}

/** A name that is known stands for its text; the place is the name. */
function other(s: State): HclValue {
  const start = s.at;
  const found = match(s, /(?:[^\s,\]}()#"]+|\((?:[^()"]|"[^"]*")*\)|"[^"\n]*")+/y);
  if (!found) {
    return { kind: 'other', written: '', range: rangeOf(s.m, start, start) };
  }
  const range = rangeOf(s.m, start, s.at);
  const written = found[0];
  if (/^(?:-?[\d.]+|true|false|null)$/.test(written)) {
    return { kind: 'other', written, range };
  }
  const b = builder();
  const known = s.known.get(written);
  const layer: Layer = { kind: 'python-word', range };
  addUnit(b, known?.text ?? written, range, {
    outer: [layer],
    ...(known ? {} : { unresolved: unknownReason(written) }),
  });
  return { kind: 'text', text: finish(b, s.m.layers, range) };
}

const unknownReason = (written: string): string =>
  /^var\./.test(written)
    ? `${written} has no default in this file`
    : `${written.slice(0, 60)} is known when it is applied`;

/** TOML has escapes alone; HCL has templates too. */
const ESCAPES = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g;
const PIECES = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])|\$\$\{|%%\{|\$\{((?:[^{}"]|"[^"]*")*)\}/g;
const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function quoted(s: State): HclValue {
  const quote = s.m.text[s.at] as string;
  const long = s.toml && s.m.text.startsWith(quote.repeat(3), s.at);
  const raw = quote === "'";
  const from = s.at + (long ? 3 : 1);
  const to = closing(s, from, long ? quote.repeat(3) : quote, raw);
  const range = rangeOf(s.m, s.at, Math.min(to + (long ? 3 : 1), s.m.text.length));
  s.at = Math.min(to + (long ? 3 : 1), s.m.text.length);
  const kinds: readonly Layer[] =
    raw || long
      ? [{ kind: 'pieces', range }]
      : [{ kind: 'yaml-double', range }, ...(s.toml ? [] : [{ kind: 'hcl' as const, range }])];
  return { kind: 'text', text: texts(s, from, to, range, kinds, raw) };
}

function texts(s: State, from: number, to: number, range: TextRange, kinds: readonly Layer[], raw: boolean): Mapped {
  const b = builder();
  const written = s.m.text.slice(from, to);
  let at = 0;
  for (const found of raw ? [] : written.matchAll(s.toml ? ESCAPES : PIECES)) {
    addPart(b, s.m, from + at, from + found.index);
    at = found.index + found[0].length;
    const where = rangeOf(s.m, from + found.index, from + at);
    if (found[1] !== undefined) {
      const known = s.known.get(found[1].trim());
      addUnit(b, known?.text ?? found[0], where, known ? {} : { unresolved: unknownReason(found[1].trim()) });
    } else {
      addUnit(b, decoded(found[0]), where);
    }
  }
  addPart(b, s.m, from + at, to);
  if (from === to) {
    addUnit(b, '', { start: range.start + 1, end: range.start + 1 });
  }
  return finish(b, [...s.m.layers, ...kinds], range);
}

function decoded(written: string): string {
  if (!written.startsWith('\\')) {
    return written.slice(1);
  }
  const code = /^.[uU](.+)/.exec(written)?.[1];
  return code !== undefined
    ? String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff))
    : (NAMED[written[1] ?? ''] ?? written.slice(1));
}

/** Quotes inside `${ }` belong to what stands there. */
function closing(s: State, from: number, quote: string, raw: boolean): number {
  const { text } = s.m;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\' && !raw) {
      i++;
    } else if (!s.toml && text.startsWith('${', i) && text[i - 1] !== '$') {
      const end = text.indexOf('}', i);
      i = end === -1 ? text.length : end;
    } else if (text.startsWith(quote, i)) {
      return i;
    } else if (text[i] === '\n' && quote.length === 1) {
      return i;
    }
  }
  return text.length;
}

/** The shell's own `$X` stays; `${var.x}` is filled in, and `$${X}` is the shell's `${X}`. */
function heredocText(s: State, mark: string): HclValue {
  const from = s.at;
  const end = new RegExp(`^[ \\t]*${mark}[ \\t]*\\r?$`, 'm');
  const found = end.exec(s.m.text.slice(from));
  const to = found ? from + found.index : s.m.text.length;
  s.at = found ? to + found[0].length : to;
  const body = part(s.m, from, to);
  const b = builder();
  let at = 0;
  for (const piece of body.text.matchAll(
    /[$%]{2}\{|\$\{((?:var|local|each|data|module|aws|google|azurerm)[\w.]*\.[^{}]*)\}/g,
  )) {
    addPart(b, body, at, piece.index);
    at = piece.index + piece[0].length;
    const where = rangeOf(body, piece.index, at);
    const known = piece[1] === undefined ? undefined : s.known.get(piece[1].trim());
    if (piece[1] === undefined) {
      addUnit(b, piece[0].slice(1), where);
    } else {
      addUnit(b, known?.text ?? piece[0], where, known ? {} : { unresolved: unknownReason(piece[1]) });
    }
  }
  addPart(b, body, at, body.text.length);
  const range = body.extent;
  return { kind: 'text', text: finish(b, [...s.m.layers, { kind: 'hcl', range }], range) };
}
