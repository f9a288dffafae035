/** A word of a parsed script → the words it becomes: quotes off, variables in, split where a shell splits. */
import type { Node } from 'web-tree-sitter';
import type { TextRange } from '../launch';
import {
  addPart,
  addUnit,
  asSplit,
  type Builder,
  builder,
  finish,
  type Mapped,
  part,
  rangeOf,
  type Span,
  segmentAt,
  unresolvedIn,
} from '../text/mapped';
import { evaluate } from '../words/arithmetic';
import { callersWord, isCallers, type Scope, type Value } from './scope';

export interface WordContext {
  /** The script; node offsets count in its decoded text. */
  readonly script: Mapped;
  readonly scope: Scope;
}

interface Sink extends WordContext {
  readonly words: Mapped[];
  word: Builder | undefined;
  depth: number;
}

/** Words inside words are followed this far. */
const MAX_DEPTH = 100;

export function expandWord(node: Node, context: WordContext): readonly Mapped[] {
  const sink: Sink = { ...context, words: [], word: undefined, depth: 0 };
  addNode(sink, node, undefined);
  const plain = sink.words.length === 0;
  endWord(sink);
  const only = sink.words[0];
  return plain && only ? [{ ...only, extent: placeOf(sink, node.startIndex, node.endIndex) }] : sink.words;
}

/** As in an assignment: nothing is split. */
export function expandText(node: Node, context: WordContext): Mapped {
  const extent = placeOf(context, node.startIndex, node.endIndex);
  return finish(
    joined(context, 0, (sink) => addNode(sink, node, NO_SPLIT)),
    context.script.layers,
    extent,
  );
}

/** Stands for quotes where nothing is split but no quotes are written. */
const NO_SPLIT: Span = { kind: 'shell-double', start: -1, end: -1 };

function joined(context: WordContext, depth: number, add: (sink: Sink) => void): Builder {
  const sink: Sink = { ...context, words: [], word: builder(), depth };
  add(sink);
  const b = builder();
  const all = [...sink.words, ...(sink.word ? [{ text: sink.word.text, segments: sink.word.segments }] : [])];
  all.forEach((w, i) => {
    if (i > 0) {
      const at = w.segments[0]?.start ?? 0;
      addUnit(b, ' ', { start: at, end: at });
    }
    addPart(b, { ...context.script, ...w }, 0, w.text.length);
  });
  return { text: b.text, segments: b.segments.map((s) => (s.span === NO_SPLIT ? { ...s, span: undefined } : s)) };
}

/** Adds text that is written otherwise at decoded offsets `from`…`to` of the script. */
function unitAt(sink: Sink, text: string, from: number, to: number, more: { span?: Span; unresolved?: string }): void {
  const outer = segmentAt(sink.script, from)?.outer;
  addUnit(current(sink), text, placeOf(sink, from, to), { ...more, ...(outer ? { outer } : {}) });
}

const placeOf = (c: WordContext, from: number, to: number): TextRange => rangeOf(c.script, from, to);

function current(sink: Sink): Builder {
  sink.word ??= builder();
  return sink.word;
}

function endWord(sink: Sink): void {
  if (sink.word) {
    const found = finish(sink.word, sink.script.layers, { start: 0, end: 0 });
    sink.words.push({ ...found, extent: rangeOf(found) });
    sink.word = undefined;
  }
}

function addNode(sink: Sink, node: Node, span: Span | undefined): void {
  if (sink.depth > MAX_DEPTH) {
    addUnknown(sink, node, 'it is nested too deep', span);
    return;
  }
  sink.depth++;
  addByType(sink, node, span);
  sink.depth--;
}

function addByType(sink: Sink, node: Node, span: Span | undefined): void {
  switch (node.type) {
    case 'string':
    case 'translated_string':
      addString(sink, node, span);
      return;
    case 'raw_string':
      addQuoted(sink, node.startIndex, node.endIndex, "'", span);
      return;
    case 'ansi_c_string':
      addQuoted(sink, node.startIndex + 1, node.endIndex, 'ansi', span);
      return;
    case 'concatenation':
    case 'command_name':
      addBetween(sink, node, node.startIndex, node.endIndex, span, false);
      return;
    case 'simple_expansion':
      addReference(sink, node, sink.script.text.slice(node.startIndex + 1, node.endIndex), span);
      return;
    case 'expansion':
      addExpansion(sink, node, span);
      return;
    case 'arithmetic_expansion':
      addArithmetic(sink, node, span);
      return;
    case 'command_substitution':
    case 'process_substitution':
      addCommand(sink, node, span);
      return;
    default:
      addLiteral(sink, node.startIndex, node.endIndex, span, false);
      return;
  }
}

/** Children in order; what stands between them is text. */
function addBetween(sink: Sink, node: Node, from: number, to: number, span: Span | undefined, quoted: boolean): void {
  let at = from;
  for (const child of node.namedChildren) {
    if (child && child.startIndex >= at && child.endIndex <= to && child.type !== 'string_content') {
      addLiteral(sink, at, child.startIndex, span, quoted);
      addNode(sink, child, span);
      at = child.endIndex;
    }
  }
  addLiteral(sink, at, to, span, quoted);
}

function addString(sink: Sink, node: Node, outer: Span | undefined): void {
  const open = sink.script.text.indexOf('"', node.startIndex);
  const place = placeOf(sink, open, node.endIndex);
  const span = outer && outer !== NO_SPLIT ? outer : ({ kind: 'shell-double', ...place } as const);
  // The parser closes an open quote itself, with nothing.
  const close = node.lastChild?.isMissing ? node.endIndex : node.endIndex - 1;
  if (close <= open + 1) {
    addUnit(current(sink), '', { start: place.start + 1, end: place.start + 1 }, { span });
  }
  addBetween(sink, node, open + 1, close, span, true);
}

function addQuoted(sink: Sink, from: number, to: number, kind: "'" | 'ansi', outer: Span | undefined): void {
  const place = placeOf(sink, from, to);
  const span = outer && outer !== NO_SPLIT ? outer : ({ kind: 'shell-single', ...place } as const);
  if (to - from <= 2) {
    addUnit(current(sink), '', { start: place.start + 1, end: place.start + 1 }, { span });
  } else if (kind === 'ansi') {
    addEscaped(sink, from + 1, to - 1, span, /\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[\s\S])/g, ansiEscape);
  } else {
    addPart(current(sink), sink.script, from + 1, to - 1, span);
  }
}

/** A backslash takes the next character as it is, and a line break away. In double quotes only before `"\$` and a backtick. */
function addLiteral(sink: Sink, from: number, to: number, span: Span | undefined, quoted: boolean): void {
  if (to > from) {
    addEscaped(sink, from, to, span, quoted ? /\\(?:\r?\n|["\\$`])/g : /\\(?:\r?\n|[\s\S])/g, plainEscape);
  }
}

const plainEscape = (written: string): string => (/[\r\n]/.test(written) ? '' : written.slice(1));

const ANSI: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0', a: '\x07', e: '\x1b' };

const ansiEscape = (written: string): string =>
  /^\\[xu]/.test(written)
    ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
    : (ANSI[written[1] ?? ''] ?? written.slice(1));

function addEscaped(
  sink: Sink,
  from: number,
  to: number,
  span: Span | undefined,
  pattern: RegExp,
  decode: (written: string) => string,
): void {
  const text = sink.script.text.slice(from, to);
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    addPart(current(sink), sink.script, from + at, from + found.index, span);
    const decoded = decode(found[0]);
    at = found.index + found[0].length;
    if (decoded !== '') {
      unitAt(sink, decoded, from + found.index, from + at, { ...(span ? { span } : {}) });
    }
  }
  addPart(current(sink), sink.script, from + at, to, span);
}

/** `name` without `$` and braces. */
function addReference(sink: Sink, node: Node, name: string, span: Span | undefined): void {
  if (name === '@' || name === '*') {
    addWords(sink, node, sink.scope.positional, span, callersWord(name));
    return;
  }
  addValue(sink, node, variableValue(sink.scope, name), span);
}

function variableValue(scope: Scope, name: string): Value {
  if (/^\d+$/.test(name)) {
    const word = name === '0' ? undefined : scope.positional?.[Number(name) - 1];
    return word ? { kind: 'text', text: word } : { kind: 'unknown', reason: callersWord(name) };
  }
  if (name === 'OPTARG') {
    return { kind: 'unknown', reason: callersWord(name) };
  }
  return scope.variables.get(name) ?? { kind: 'unknown', reason: `${name} is not set in this file` };
}

const isSet = (scope: Scope, name: string): boolean =>
  scope.variables.has(name) || (/^\d+$/.test(name) && scope.positional?.[Number(name) - 1] !== undefined);

function addValue(sink: Sink, node: Node, value: Value, span: Span | undefined): void {
  if (value.kind === 'unknown') {
    addUnknown(sink, node, value.reason, span);
  } else if (value.kind === 'array') {
    const first = value.words[0];
    if (first) {
      addText(sink, node, first, span);
    }
  } else {
    addText(sink, node, value.text, span);
  }
}

function addUnknown(sink: Sink, node: Node, reason: string, span: Span | undefined): void {
  // What is around the script may say more of the same place.
  const unresolved = unresolvedIn(sink.script, node.startIndex, node.endIndex) ?? reason;
  unitAt(sink, node.text, node.startIndex, node.endIndex, { unresolved, ...(span ? { span } : {}) });
}

/**
 * A value's place is the reference. Text with options in it keeps the place where it is written, so that each option
 * has its own.
 */
function addText(sink: Sink, node: Node, m: Mapped, span: Span | undefined): void {
  const conditional = m.segments.some((s) => s.maybe !== undefined);
  const isUnknown = m.segments.length === 1 && m.segments[0]?.unresolved !== undefined && !conditional;
  if (isUnknown) {
    addUnknown(sink, node, m.segments[0]?.unresolved ?? '', span);
  } else if (span ? /^-|\s-/.test(m.text) || conditional : /^-|\s/.test(m.text) || conditional) {
    addSplit(sink, m, span);
  } else {
    const unresolved = unresolvedIn(m);
    unitAt(sink, m.text, node.startIndex, node.endIndex, {
      ...(span ? { span } : {}),
      ...(unresolved === undefined ? {} : { unresolved }),
    });
  }
}

function addSplit(sink: Sink, written: Mapped, span: Span | undefined): void {
  if (span) {
    addPart(current(sink), written, 0, written.text.length, span);
    return;
  }
  const m = asSplit(written);
  let from = 0;
  for (const white of m.text.matchAll(/\s+/g)) {
    if (segmentAt(m, white.index)?.unresolved === undefined) {
      if (white.index > from) {
        addPart(current(sink), m, from, white.index);
      }
      endWord(sink);
      from = white.index + white[0].length;
    }
  }
  if (from < m.text.length) {
    addPart(current(sink), m, from, m.text.length);
  }
}

function addWords(
  sink: Sink,
  node: Node,
  words: readonly Mapped[] | undefined,
  span: Span | undefined,
  reason: string,
): void {
  if (!words) {
    addUnknown(sink, node, reason, span);
    return;
  }
  words.forEach((word, i) => {
    if (i > 0) {
      endWord(sink);
    }
    addPart(current(sink), word, 0, word.text.length);
  });
}

const EXPANSION = /^\$\{([#!]?)(\w+|[@*?$!#-])(?:\[([^\]]*)\])?([\s\S]*)\}$/;

function addExpansion(sink: Sink, node: Node, span: Span | undefined): void {
  const text = sink.script.text.slice(node.startIndex, node.endIndex);
  const found = EXPANSION.exec(text);
  const [, prefix = '', name = '', index, rest = ''] = found ?? [];
  if (!found || prefix !== '') {
    addUnknown(sink, node, `${text} is not followed`, span);
    return;
  }
  const operator = /^:?[-=+?]/.exec(rest)?.[0] ?? '';
  if (operator === '' && rest !== '') {
    const before = variableValue(sink.scope, name);
    addUnknown(sink, node, isCallers(before) ? callersWord(name) : `${text} changes ${name}`, span);
    return;
  }
  const set = isSet(sink.scope, name);
  if ((/[-=]$/.test(operator) && !set) || operator.endsWith('+')) {
    const from = node.endIndex - 1 - (rest.length - operator.length);
    const text = addAlternative(
      sink,
      node,
      from,
      span,
      operator.endsWith('+') && !set ? `only when ${name} is set` : undefined,
    );
    if (operator.endsWith('=')) {
      sink.scope.variables.set(name, { kind: 'text', text });
    }
    return;
  }
  if (index === '@' || index === '*' || name === '@' || name === '*') {
    addAll(sink, node, name, span);
    return;
  }
  const value = variableValue(sink.scope, name);
  addValue(
    sink,
    node,
    index === undefined || value.kind !== 'array' ? value : elementOf(sink, node, value.words, index),
    span,
  );
}

/** By number, by a variable that holds one, or by the key of `([key]=value …)`. */
function elementOf(c: WordContext, node: Node, words: readonly Mapped[], index: string): Value {
  const plain = index.replace(/^["']|["']$/g, '');
  const variable = /^\$\{?(\w+)\}?$/.exec(plain)?.[1];
  const named = variable === undefined ? undefined : variableValue(c.scope, variable);
  if (named?.kind === 'unknown') {
    return named;
  }
  const key = named?.kind === 'text' ? named.text.text : plain;
  const unresolved = named?.kind === 'text' ? unresolvedIn(named.text) : undefined;
  if (unresolved !== undefined) {
    return { kind: 'unknown', reason: unresolved };
  }
  const head = `[${key}]=`;
  const keyed = words.find((w) => w.text.startsWith(head));
  if (keyed) {
    return { kind: 'text', text: part(keyed, head.length, keyed.text.length) };
  }
  const word = /^-?\d+$/.test(key) ? words.at(Number(key)) : undefined;
  return word ? { kind: 'text', text: word } : { kind: 'unknown', reason: `${node.text} is not set in this file` };
}

function addAll(sink: Sink, node: Node, name: string, span: Span | undefined): void {
  if (name === '@' || name === '*') {
    addReference(sink, node, name, span);
    return;
  }
  const value = variableValue(sink.scope, name);
  if (value.kind === 'array') {
    addWords(sink, node, value.words, span, '');
  } else {
    addValue(sink, node, value, span);
  }
}

/** The text after `:-` or `:+`, from `from` to the closing brace. */
function addAlternative(
  sink: Sink,
  node: Node,
  from: number,
  span: Span | undefined,
  condition: string | undefined,
): Mapped {
  const inner = joined(sink, sink.depth, (s) => addBetween(s, node, from, node.endIndex - 1, NO_SPLIT, false));
  const m = finish(inner, sink.script.layers, placeOf(sink, node.startIndex, node.endIndex));
  const segments = m.segments.map((s) => (condition === undefined ? s : { ...s, maybe: condition }));
  const text = { ...m, segments };
  addText(sink, node, text, span);
  return text;
}

function addArithmetic(sink: Sink, node: Node, span: Span | undefined): void {
  const inner = node.text.replace(/^\$\(\(|\)\)$|^\$\[|\]$/g, '');
  const value = evaluate(inner, (name) => {
    const found = variableValue(sink.scope, name);
    return found.kind === 'text' && unresolvedIn(found.text) === undefined ? found.text.text : undefined;
  });
  if (value === undefined) {
    addUnknown(sink, node, `${node.text} is computed when the script runs`, span);
    return;
  }
  unitAt(sink, String(value), node.startIndex, node.endIndex, span ? { span } : {});
}

/** `$(which vllm)` is the program itself. */
function addCommand(sink: Sink, node: Node, span: Span | undefined): void {
  const program = /^(?:\$\(|`)\s*(?:which|command -v|type -p)\s+([\w./-]+)\s*(?:\)|`)$/.exec(node.text)?.[1];
  if (program === undefined) {
    addUnknown(sink, node, `${shortened(node.text)} is the output of a command`, span);
    return;
  }
  unitAt(sink, program, node.startIndex, node.endIndex, span ? { span } : {});
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 57).replace(/\s+/g, ' ')}…` : text);
