/** String literals: quotes and prefixes off, escapes decoded, known values of an f-string in. */
import type { Node } from 'web-tree-sitter';
import type { Layer } from '../launch';
import { addPart, addUnit, type Builder, builder, finish, type Mapped, rangeOf } from '../text/mapped';
import { aroundNode, asText, nodeRange, unknown, unknownIn, type Value } from './values';

type Evaluate = (node: Node) => Value;

export function stringValue(node: Node, script: Mapped, evaluate: Evaluate): Value {
  const b = builder();
  const literals = node.type === 'concatenated_string' ? node.namedChildren : [node];
  for (const literal of literals) {
    if (literal?.type === 'string') {
      if (/^[A-Za-z]*b/i.test(literal.child(0)?.text.replace(/["'].*$/s, '') ?? '')) {
        return unknown('bytes are no text');
      }
      addLiteral(b, literal, script, evaluate);
    }
  }
  return { kind: 'text', text: finish(b, [], nodeRange(script, node)) };
}

/** Where the text of a single literal stands, inside its quotes. */
export function contentOf(literal: Node): { readonly from: number; readonly to: number } {
  const [open, close] = [literal.child(0), literal.child(literal.childCount - 1)];
  const to = close?.type === 'string_end' && !close.isMissing ? close.startIndex : literal.endIndex;
  return { from: open?.endIndex ?? literal.startIndex, to };
}

export const stringLayer = (literal: Node, script: Mapped): Layer => ({
  kind: 'python-string',
  range: nodeRange(script, literal),
});

interface Sink {
  readonly b: Builder;
  readonly script: Mapped;
  readonly around: readonly Layer[];
  readonly layer: Layer;
  readonly escapes: RegExp;
}

const ESCAPES = /\\(?:\r?\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{1,3}|[\s\S])/g;
const FORMATTED = /\\(?:\r?\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{1,3}|[\s\S])|\{\{|\}\}/g;
const BRACES = /\{\{|\}\}/g;
const NONE = /(?!)/g;

function addLiteral(b: Builder, literal: Node, script: Mapped, evaluate: Evaluate): void {
  const prefix = /^[A-Za-z]*/.exec(literal.child(0)?.text ?? '')?.[0] ?? '';
  const [raw, formatted] = [/r/i.test(prefix), /f/i.test(prefix)];
  const escapes = raw ? (formatted ? BRACES : NONE) : formatted ? FORMATTED : ESCAPES;
  const sink: Sink = { b, script, around: aroundNode(script, literal), layer: stringLayer(literal, script), escapes };
  const { from, to } = contentOf(literal);
  if (to <= from) {
    const at = rangeOf(script, from, from).start;
    addUnit(b, '', { start: at, end: at }, { outer: [...sink.around, sink.layer] });
  }
  let at = from;
  for (const child of literal.namedChildren) {
    if (child?.type === 'interpolation') {
      addText(sink, at, child.startIndex);
      addInterpolation(sink, child, evaluate);
      at = child.endIndex;
    }
  }
  addText(sink, at, to);
}

function addText(sink: Sink, from: number, to: number): void {
  const text = sink.script.text.slice(from, to);
  let at = 0;
  for (const found of text.matchAll(sink.escapes)) {
    addRaw(sink, from + at, from + found.index);
    at = found.index + found[0].length;
    const decoded = decode(found[0]);
    if (decoded !== '') {
      const where = rangeOf(sink.script, from + found.index, from + at);
      addUnit(sink.b, decoded, where, { outer: [...sink.around, sink.layer] });
    }
  }
  addRaw(sink, from + at, to);
}

/** As it stands; a part of the program may be written in a way of its own (a line of a notebook). */
function addRaw({ b, script, layer }: Sink, from: number, to: number): void {
  const inner = builder();
  addPart(inner, script, from, to);
  const layers = new Map<readonly Layer[] | undefined, readonly Layer[]>();
  for (const s of inner.segments) {
    const outer = layers.get(s.outer) ?? [...script.layers, ...(s.outer ?? []), layer];
    layers.set(s.outer, outer);
    b.segments.push({ ...s, at: b.text.length + s.at, outer });
  }
  b.text += inner.text;
}

const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };

function decode(written: string): string {
  if (written === '{{' || written === '}}') {
    return written.slice(1);
  }
  if (/^\\\r?\n/.test(written)) {
    return '';
  }
  if (/^\\[xu]./.test(written) && written.length > 2) {
    return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  }
  if (/^\\[0-7]/.test(written)) {
    return String.fromCharCode(Number.parseInt(written.slice(1), 8));
  }
  const letter = written[1] ?? '';
  // An escape that Python does not know stands for itself, backslash and all.
  return NAMED[letter] ?? (/["'\\]/.test(letter) ? letter : written);
}

function addInterpolation(sink: Sink, node: Node, evaluate: Evaluate): void {
  const where = nodeRange(sink.script, node);
  const outer = [...sink.around, sink.layer];
  const formatted = node.namedChildren.some((c) => c?.type === 'format_specifier' || c?.type === 'type_conversion');
  const expression = node.childForFieldName('expression') ?? node.namedChild(0);
  const value = expression ? evaluate(expression) : unknown('it is empty');
  const text = formatted ? undefined : asText(value);
  const unresolved =
    unknownIn(value) ?? (text === undefined ? `${node.text} is made when the program runs` : undefined);
  if (unresolved !== undefined || text === undefined) {
    addUnit(sink.b, node.text, where, { unresolved, outer });
  } else if (value.kind === 'text' && /^-|\s/.test(text)) {
    addPart(sink.b, value.text, 0, text.length);
  } else {
    addUnit(sink.b, text, where, { outer });
  }
}
