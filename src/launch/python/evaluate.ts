/** Expressions of a program, as far as they can be known without running it. */
import type { Node } from 'web-tree-sitter';
import { type Mapped, rangeOf } from '../text/mapped';
import { callValue, percentFormatted } from './builtins';
import { joinedTexts, type Program, variable } from './program-values';
import { lookUp } from './scope';
import { contentOf, stringLayer, stringValue } from './strings';
import {
  aroundNode,
  asText,
  type Given,
  type MapEntry,
  nodeRange,
  type Placed,
  plain,
  unknown,
  type Value,
} from './values';

/** Expressions inside expressions are followed this far. */
const MAX_DEPTH = 150;

export function evaluate(p: Program, node: Node): Value {
  if (p.depth > MAX_DEPTH) {
    return unknown('it is nested too deep');
  }
  p.depth++;
  const value = byType(p, node);
  p.depth--;
  return value;
}

/** The value with its place: inside the quotes of a single literal, else the whole expression. */
export function place(p: Program, node: Node): Placed {
  const value = evaluate(p, node);
  const around = aroundNode(p.script, node);
  if (node.type === 'string' && value.kind === 'text') {
    const { from, to } = contentOf(node);
    return {
      value,
      range: to > from ? rangeOf(p.script, from, to) : emptyAt(p.script, from),
      layers: [...around, stringLayer(node, p.script)],
      literal: true,
    };
  }
  const range = nodeRange(p.script, node);
  const literal =
    node.type === 'concatenated_string' || node.type === 'binary_operator' || node.type === 'parenthesized_expression';
  return { value, range, layers: [...around, { kind: 'python-value', range }], literal };
}

function emptyAt(script: Mapped, from: number): { readonly start: number; readonly end: number } {
  const { end } = rangeOf(script, from - 1, from);
  return { start: end, end };
}

function byType(p: Program, node: Node): Value {
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
      return stringValue(node, p.script, (inner) => evaluate(p, inner));
    case 'integer':
    case 'float':
      return numberOf(node.text);
    case 'true':
    case 'false':
      return plain(node.type === 'true');
    case 'none':
      return plain(null);
    case 'identifier':
      return lookUp(p.scope, node.text) ?? unknown(`${node.text} is not set in this file`);
    case 'attribute':
      return attribute(p, node);
    case 'subscript':
      return subscript(p, node);
    case 'call':
      return call(p, node);
    case 'list':
    case 'tuple':
    case 'set':
    case 'expression_list':
      return { kind: 'list', items: node.namedChildren.flatMap((n) => (n ? items(p, n) : [])) };
    case 'list_comprehension':
      return sameItems(p, node) ?? other(p, node);
    case 'dictionary':
      return dictionary(p, node);
    case 'parenthesized_expression':
    case 'await':
      return node.namedChild(0) ? evaluate(p, node.namedChild(0) as Node) : unknown('it is empty');
    case 'named_expression':
      return named(p, node);
    case 'unary_operator':
      return unary(p, node);
    case 'binary_operator':
      return binary(p, node);
    case 'boolean_operator':
      return either(p, node);
    case 'conditional_expression':
      return conditional(p, node);
    default:
      return other(p, node);
  }
}

/** `[str(c) for c in command if c]`: the list itself, without what is nothing. */
function sameItems(p: Program, node: Node): Value | undefined {
  const [clause, condition, ...more] = node.namedChildren.filter((n) => n?.type.endsWith('_clause'));
  const [name, of] = [clause?.childForFieldName('left'), clause?.childForFieldName('right')];
  const body = node.childForFieldName('body')?.text;
  if (!name || !of || more.length > 0 || (body !== name.text && body !== `str(${name.text})`)) {
    return undefined;
  }
  const value = evaluate(p, of);
  if (value.kind !== 'list' || !condition) {
    return value;
  }
  const isThere = ({ value: v }: Placed) =>
    v.kind === 'plain' ? Boolean(v.value) : v.kind !== 'text' || v.text.text !== '';
  return { kind: 'list', items: value.items.filter(isThere) };
}

/** Calls inside are still seen. */
function other(p: Program, node: Node): Value {
  for (const child of node.namedChildren) {
    if (child && child.type !== 'lambda_parameters') {
      evaluate(p, child);
    }
  }
  return unknown(`${shortened(node.text)} is known when the program runs`);
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 57).replace(/\s+/g, ' ')}…` : text);

function numberOf(text: string): Value {
  const value = Number(text.replaceAll('_', '').replace(/[jJlL]$/, ''));
  return Number.isNaN(value) ? unknown(`${text} is no number this knows`) : plain(value);
}

/** `a, *rest`: a splat of a known list is its items. */
function items(p: Program, node: Node): readonly Placed[] {
  if (node.type === 'comment') {
    return [];
  }
  if (node.type !== 'list_splat') {
    return [place(p, node)];
  }
  const inner = node.namedChild(0);
  const value = inner ? evaluate(p, inner) : unknown('it is empty');
  if (value.kind === 'list') {
    return value.items;
  }
  const range = nodeRange(p.script, node);
  const layers = [...aroundNode(p.script, node), { kind: 'pieces' as const, range }];
  const reason = value.kind === 'unknown' ? value.reason : `${node.text} is made when the program runs`;
  return [{ value: unknown(reason), range, layers, literal: false }];
}

function dictionary(p: Program, node: Node): Value {
  const entries: MapEntry[] = [];
  let open: string | undefined;
  for (const child of node.namedChildren) {
    if (child?.type === 'dictionary_splat') {
      const inner = splat(p, child);
      entries.push(...inner.entries);
      open = inner.open ?? open;
    } else if (child?.type === 'pair') {
      const entry = pair(p, child);
      if (entry) {
        entries.push(entry);
      } else {
        open = 'a key is known when the program runs';
      }
    }
  }
  return { kind: 'map', entries, ...(open === undefined ? {} : { open }) };
}

function pair(p: Program, node: Node): MapEntry | undefined {
  const [key, value] = [node.childForFieldName('key'), node.childForFieldName('value')];
  const placed = key && place(p, key);
  const name = placed ? asText(placed.value) : undefined;
  const read = value && place(p, value);
  return name === undefined || !placed || !read ? undefined : { ...read, key: name, keyRange: placed.range };
}

/** `**other`: what it holds is written there. */
function splat(p: Program, node: Node): { readonly entries: readonly MapEntry[]; readonly open?: string } {
  const inner = node.namedChild(0);
  const value = inner ? evaluate(p, inner) : unknown('it is empty');
  if (value.kind === 'map') {
    return { entries: value.entries, ...(value.open === undefined ? {} : { open: value.open }) };
  }
  return { entries: [], open: value.kind === 'unknown' ? value.reason : `${node.text} is made when the program runs` };
}

export function given(p: Program, node: Node): Given {
  const positional: Placed[] = [];
  const keywords: MapEntry[] = [];
  let open: string | undefined;
  for (const child of node.namedChildren) {
    if (child?.type === 'keyword_argument') {
      const [name, value] = [child.childForFieldName('name'), child.childForFieldName('value')];
      if (name && value) {
        keywords.push({ ...place(p, value), key: name.text, keyRange: nodeRange(p.script, name) });
      }
    } else if (child?.type === 'dictionary_splat') {
      const inner = splat(p, child);
      keywords.push(...inner.entries);
      open = inner.open ?? open;
    } else if (child) {
      positional.push(...items(p, child));
    }
  }
  return { positional, keywords, ...(open === undefined ? {} : { open }) };
}

const isDotted = (text: string): boolean => /^[\w.]+$/.test(text);

function attribute(p: Program, node: Node): Value {
  const whole = isDotted(node.text) ? lookUp(p.scope, node.text) : undefined;
  const object = node.childForFieldName('object');
  const name = node.childForFieldName('attribute')?.text ?? '';
  if (whole || !object) {
    return whole ?? unknown('it is empty');
  }
  const of = evaluate(p, object);
  const own = memberOf(of, name) ?? (/^(?:self|cls)$/.test(object.text) ? lookUp(p.scope, name) : undefined);
  return (
    own ??
    unknown(of.kind === 'unknown' && of.environment ? of.reason : `${shortened(node.text)} is not set in this file`)
  );
}

function memberOf(of: Value, name: string): Value | undefined {
  switch (of.kind) {
    case 'import':
      return { kind: 'import', path: `${of.path}.${name}` };
    case 'class':
      return of.members.names.get(name);
    case 'parser':
      return of.defaults.get(name)?.value;
    case 'made':
      return of.given.keywords.findLast((k) => k.key === name)?.value;
    default:
      return undefined;
  }
}

function subscript(p: Program, node: Node): Value {
  const object = node.childForFieldName('value');
  const keyNode = node.childForFieldName('subscript');
  const of = object ? evaluate(p, object) : unknown('it is empty');
  const key = keyNode ? evaluate(p, keyNode) : unknown('it is empty');
  if (of.kind === 'import' && of.path === 'os.environ') {
    return variable(p, asText(key));
  }
  const name = asText(key);
  if (of.kind === 'map' && name !== undefined) {
    const entry = of.entries.findLast((e) => e.key === name);
    return entry && entry.maybe === undefined
      ? entry.value
      : unknown(`${shortened(node.text)} is not set in this file`);
  }
  if (of.kind === 'list' && key.kind === 'plain' && typeof key.value === 'number') {
    return of.items.at(key.value)?.value ?? unknown(`${shortened(node.text)} is not set in this file`);
  }
  return unknown(of.kind === 'unknown' ? of.reason : `${shortened(node.text)} is known when the program runs`);
}

function named(p: Program, node: Node): Value {
  const [name, value] = [node.childForFieldName('name'), node.childForFieldName('value')];
  const read = value ? evaluate(p, value) : unknown('it is empty');
  if (name) {
    p.scope.names.set(name.text, read);
  }
  return read;
}

function unary(p: Program, node: Node): Value {
  const argument = node.childForFieldName('argument');
  const value = argument ? evaluate(p, argument) : unknown('it is empty');
  const isNumber = value.kind === 'plain' && typeof value.value === 'number';
  return isNumber && node.text.startsWith('-') ? plain(-(value.value as number)) : value;
}

const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '//': (a, b) => Math.floor(a / b),
  '%': (a, b) => a - b * Math.floor(a / b),
  '**': (a, b) => a ** b,
  '<<': (a, b) => a * 2 ** b,
};

function binary(p: Program, node: Node): Value {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  const operator = node.childForFieldName('operator')?.text ?? '';
  if (!left || !right) {
    return unknown('it is empty');
  }
  const [a, b] = [evaluate(p, left), evaluate(p, right)];
  const compute = OPERATORS[operator];
  if (
    compute &&
    a.kind === 'plain' &&
    b.kind === 'plain' &&
    typeof a.value === 'number' &&
    typeof b.value === 'number'
  ) {
    const result = compute(a.value, b.value);
    return Number.isFinite(result) ? plain(result) : unknown(`${shortened(node.text)} is no number`);
  }
  if (operator === '+' && a.kind === 'list' && b.kind === 'list') {
    return { kind: 'list', items: [...a.items, ...b.items] };
  }
  if (operator === '+' && (a.kind === 'text' || b.kind === 'text')) {
    return joinedTexts(p, node, [place(p, left), place(p, right)]);
  }
  if (operator === '%' && a.kind === 'text') {
    return percentFormatted(a.text, b);
  }
  if (operator === '/' && isPath(a)) {
    return joinedPath(p, node, a.path, [place(p, left), place(p, right)]);
  }
  if (operator === '|' && a.kind === 'map' && b.kind === 'map') {
    return { kind: 'map', entries: [...a.entries, ...b.entries] };
  }
  const why = [a, b].find((v) => v.kind === 'unknown');
  return why ?? unknown(`${shortened(node.text)} is computed when the program runs`);
}

const isPath = (v: Value): v is Value & { readonly kind: 'made' } => v.kind === 'made' && /(?:^|\.)Path$/.test(v.path);

/** More than any path holds. */
const MAX_PATH = 10_000;

/** `Path("/models") / "x.gguf"`. */
function joinedPath(p: Program, node: Node, path: string, parts: readonly Placed[]): Value {
  if (parts.some((part) => (asText(part.value)?.length ?? 0) > MAX_PATH)) {
    return unknown('it is too long');
  }
  const value = joinedTexts(p, node, parts, '/');
  const whole = { value, range: nodeRange(p.script, node), layers: [], literal: false };
  return { kind: 'made', path, given: { positional: [whole], keywords: [] } };
}

/** `os.environ.get("X") or "default"`. */
function either(p: Program, node: Node): Value {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  const [a, b] = [left && evaluate(p, left), right && evaluate(p, right)];
  if (node.childForFieldName('operator')?.text === 'or' && a && b) {
    if (a.kind === 'plain' && a.asked) {
      return unknown(`${shortened(node.text)} is known when the program runs`);
    }
    const empty =
      (a.kind === 'unknown' && a.environment) ||
      (a.kind === 'plain' && !a.value) ||
      (a.kind === 'text' && a.text.text === '');
    return empty ? b : a;
  }
  return unknown(`${shortened(node.text)} is known when the program runs`);
}

/** Both ways the same, or one of them nothing: `["--x"] if y else []` may be there. */
function conditional(p: Program, node: Node): Value {
  const [yes, condition, no] = node.namedChildren.filter((n) => n?.type !== 'comment').map((n) => n && evaluate(p, n));
  const reason = `it depends on ${shortened(node.namedChild(1)?.text ?? '')}`;
  if (!yes || !no) {
    return unknown(reason);
  }
  if (condition?.kind === 'plain' && !condition.asked) {
    return condition.value ? yes : no;
  }
  const maybe = (list: readonly Placed[]): Value => ({
    kind: 'list',
    items: list.map((i) => ({ ...i, maybe: reason })),
  });
  if (yes.kind === 'list' && no.kind === 'list' && (yes.items.length === 0 || no.items.length === 0)) {
    return maybe([...yes.items, ...no.items]);
  }
  const same = asText(yes) !== undefined && asText(yes) === asText(no);
  return same ? yes : unknown(reason);
}

/** What `__init__` sets is the class's own from then on; without one (a dataclass) the words set its fields. */
function made(p: Program, of: Value & { readonly kind: 'class' }, args: Given): Value {
  const init = of.members.names.get('__init__');
  if (init?.kind === 'function') {
    p.enter(init, args, '__init__');
    return of;
  }
  const fields = [...of.members.names].filter(([, v]) => v.kind !== 'function').map(([name]) => name);
  const positional = args.positional.flatMap((a, i) =>
    fields[i] === undefined ? [] : [[fields[i], a.value] as const],
  );
  const given = [...positional, ...args.keywords.map((k) => [k.key, k.value] as const)];
  const names = given.length === 0 ? of.members.names : new Map([...of.members.names, ...given]);
  return { ...of, members: { ...of.members, names } };
}

function call(p: Program, node: Node): Value {
  const fn = node.childForFieldName('function');
  const argumentsNode = node.childForFieldName('arguments');
  if (!fn || !argumentsNode) {
    return unknown('it is empty');
  }
  if (argumentsNode.type !== 'argument_list') {
    return other(p, argumentsNode);
  }
  const args = given(p, argumentsNode);
  const of = fn.type === 'identifier' ? lookUp(p.scope, fn.text) : evaluate(p, fn);
  const path = of?.kind === 'import' ? of.path : of === undefined ? fn.text : '';
  p.called(node, path, args);
  if (of?.kind === 'function') {
    return p.enter(of, args, fn.text);
  }
  if (of?.kind === 'class') {
    return made(p, of, args);
  }
  const known = callValue(p, { node, fn, path, args, place: (n) => place(p, n) });
  if (known) {
    return known;
  }
  return of?.kind === 'import'
    ? { kind: 'made', path, given: args }
    : unknown(`${shortened(node.text)} is known when the program runs`);
}
