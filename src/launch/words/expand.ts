/** Variables in a text that is no shell's: compose `${X:-d}` and Kubernetes `$(X)`. */
import type { LayerKind } from '../launch';
import { addPart, addUnit, type Builder, builder, finish, type Mapped, part, rangeOf } from '../text/mapped';

/** A variable's text, or why it is not known; undefined = not set anywhere that can be seen. */
export type Lookup = (name: string) => string | { readonly unresolved: string } | undefined;

type Reference =
  | { readonly length: number; readonly literal: string }
  | { readonly length: number; readonly text: string }
  | { readonly length: number; readonly unresolved: string }
  /** Text that stands in the file itself, from and to. */
  | { readonly length: number; readonly inline: readonly [number, number] };

type Reader = (m: Mapped, at: number, lookup: Lookup) => Reference | undefined;

export const expandCompose = (m: Mapped, lookup: Lookup): Mapped => expand(m, lookup, composeReference, 'compose');

export const expandKubernetes = (m: Mapped, lookup: Lookup): Mapped => expand(m, lookup, podReference, 'kubernetes');

/** Variables made of one another several times grow without end: what comes after this much stays as it is written. */
const MAX_TEXT = 64 * 1024;
const TOO_LONG = 'it grows too long';

function expand(m: Mapped, lookup: Lookup, read: Reader, kind: LayerKind): Mapped {
  const layers = [...m.layers, { kind, range: m.extent }];
  if (!m.text.includes('$')) {
    return { text: m.text, segments: m.segments, layers, extent: m.extent };
  }
  const b = builder();
  let from = 0;
  for (let at = m.text.indexOf('$'); at !== -1; at = m.text.indexOf('$', from)) {
    addPart(b, m, from, at);
    const found = read(m, at, lookup) ?? { length: 1, literal: '$' };
    const reference = b.text.length > MAX_TEXT ? { length: found.length, unresolved: TOO_LONG } : found;
    add(b, m, at, reference, lookup, read, kind);
    from = at + reference.length;
  }
  addPart(b, m, from, m.text.length);
  return finish(b, layers, m.extent);
}

function add(b: Builder, m: Mapped, at: number, r: Reference, lookup: Lookup, read: Reader, kind: LayerKind): void {
  const where = rangeOf(m, at, at + r.length);
  if ('literal' in r) {
    addUnit(b, r.literal, where);
  } else if ('text' in r) {
    addUnit(b, r.text, where);
  } else if ('unresolved' in r) {
    addUnit(b, m.text.slice(at, at + r.length), where, { unresolved: r.unresolved });
  } else {
    addInline(b, expand(part(m, ...r.inline), lookup, read, kind), where);
  }
}

/** One word is a value, and its place is the reference; more than that is text, and its place is where it stands. */
function addInline(b: Builder, inner: Mapped, where: { readonly start: number; readonly end: number }): void {
  const unresolved = inner.segments.find((s) => s.unresolved !== undefined)?.unresolved;
  if (unresolved !== undefined) {
    addUnit(b, inner.text, where, { unresolved });
  } else if (/\s|^-/.test(inner.text)) {
    addPart(b, inner, 0, inner.text.length);
  } else {
    addUnit(b, inner.text, where);
  }
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;

function nameAt(text: string, at: number): string | undefined {
  NAME.lastIndex = at;
  return NAME.exec(text)?.[0];
}

function composeReference(m: Mapped, at: number, lookup: Lookup): Reference | undefined {
  if (m.text[at + 1] === '$') {
    return { length: 2, literal: '$' };
  }
  if (m.text[at + 1] !== '{') {
    const name = nameAt(m.text, at + 1);
    return name === undefined ? undefined : { length: 1 + name.length, ...known(name, lookup(name)) };
  }
  const name = nameAt(m.text, at + 2);
  const close = closingBrace(m.text, at + 2);
  if (name === undefined || close === -1) {
    return undefined;
  }
  return braced(m.text, name, at + 2 + name.length, close, at, lookup);
}

/** `${NAME` has been read; `operator` is where `:-default}` stands. */
function braced(text: string, name: string, operator: number, close: number, at: number, lookup: Lookup): Reference {
  const length = close + 1 - at;
  const [sign = ''] = /^:?[-?+]|/.exec(text.slice(operator, close)) ?? [];
  const value = lookup(name);
  const isSet = value !== undefined && (value !== '' || !sign.startsWith(':'));
  if (sign.endsWith('-') && !isSet) {
    return { length, inline: [operator + sign.length, close] };
  }
  if (sign.endsWith('+')) {
    return isSet ? { length, inline: [operator + sign.length, close] } : { length, ...known(name, value) };
  }
  return { length, ...known(name, value) };
}

const known = (name: string, value: ReturnType<Lookup>): { text: string } | { unresolved: string } =>
  typeof value === 'string' ? { text: value } : (value ?? { unresolved: `${name} is not set in the files at hand` });

/** A reference longer than this is none: time stays linear in a text of unclosed braces. */
const MAX_REFERENCE = 4096;

function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < Math.min(text.length, from + MAX_REFERENCE); i++) {
    if (text[i] === '{' && text[i - 1] === '$') {
      depth++;
    } else if (text[i] === '}' && --depth === 0) {
      return i;
    }
  }
  return -1;
}

/** Kubernetes leaves a reference to an unknown variable as it stands; here it is unknown where it came from. */
function podReference(m: Mapped, at: number, lookup: Lookup): Reference | undefined {
  if (m.text.startsWith('$$(', at)) {
    return { length: 3, literal: '$(' };
  }
  const name = m.text[at + 1] === '(' ? nameAt(m.text, at + 2) : undefined;
  if (name === undefined || m.text[at + 2 + name.length] !== ')') {
    return undefined;
  }
  return { length: name.length + 3, ...known(name, lookup(name)) };
}
