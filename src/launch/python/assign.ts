/** Values that get a name, and values that change in place. */
import type { Node } from 'web-tree-sitter';
import { evaluate, given, place } from './evaluate';
import type { Program } from './program-values';
import { assign, change, lookUp, type Scope } from './scope';
import { asText, type Given, type MapEntry, type Placed, plain, unknown, type Value } from './values';

export function assignment(p: Program, node: Node): void {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  if (left && !right && node.childForFieldName('type')) {
    // A field of a class that is given when one is made.
    p.scope.names.set(left.text, lookUp(p.scope, left.text) ?? unknown(`${left.text} is given when the program runs`));
  }
  if (!left || !right) {
    return;
  }
  if (right.type === 'assignment') {
    assignment(p, right);
  }
  const source = right.type === 'assignment' ? (right.childForFieldName('left') ?? right) : right;
  bind(p, left, place(p, source));
}

/** `a = …`, `self.a = …`, `a, b = …`, `kw["a"] = …`, `os.environ["A"] = …`. */
export function bind(p: Program, left: Node, placed: Placed): void {
  if (left.type === 'identifier' || (left.type === 'attribute' && /^[\w.]+$/.test(left.text))) {
    const scope = left.type === 'attribute' && p.scope.outer ? (memberScope(p.scope) ?? p.scope) : p.scope;
    assign(scope, left.text, placed.value);
  } else if (left.type === 'pattern_list' || left.type === 'tuple_pattern') {
    const items = placed.value.kind === 'list' ? placed.value.items : [];
    left.namedChildren.forEach((n, i) => {
      if (n) {
        const none: Placed = { ...placed, value: unknown(`${n.text} is known when the program runs`) };
        bind(p, n, items[i] ?? none);
      }
    });
  } else if (left.type === 'subscript') {
    bindKey(p, left, placed);
  }
}

/** What is set on `self` in one method is there in the others. */
const memberScope = (scope: Scope): Scope | undefined => (scope.outer?.outer ? scope.outer : undefined);

function bindKey(p: Program, left: Node, placed: Placed): void {
  const [object, keyNode] = [left.childForFieldName('value'), left.childForFieldName('subscript')];
  const key = keyNode && place(p, keyNode);
  const name = key ? asText(key.value) : undefined;
  const of = object && evaluate(p, object);
  if (!object || !key || name === undefined) {
    return;
  }
  if (of?.kind === 'import' && of.path === 'os.environ') {
    p.environment.set(name, placed);
    return;
  }
  const entry: MapEntry = { ...placed, key: name, keyRange: key.range };
  change(p.scope, object.text, (v) =>
    v.kind === 'map' ? { ...v, entries: [...v.entries.filter((e) => e.key !== name), entry] } : v,
  );
}

export function augmented(p: Program, node: Node): void {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  if (!left || !right) {
    return;
  }
  const added = place(p, right);
  const plus = node.childForFieldName('operator')?.text === '+=';
  const before = evaluate(p, left);
  const sum = plus ? addedTo(before, added) : undefined;
  change(p.scope, left.text, () => sum ?? unknown(`${left.text} is computed when the program runs`));
}

function addedTo(before: Value, added: Placed): Value | undefined {
  const { value } = added;
  if (before.kind === 'list') {
    const rest: readonly Placed[] = value.kind === 'list' ? value.items : [added];
    return { kind: 'list', items: [...before.items, ...rest] };
  }
  if (
    before.kind === 'plain' &&
    value.kind === 'plain' &&
    typeof before.value === 'number' &&
    typeof value.value === 'number'
  ) {
    return plain(before.value + value.value);
  }
  if (before.kind === 'text' && value.kind === 'text') {
    const at = before.text.text.length;
    const segments = [...before.text.segments, ...value.text.segments.map((s) => ({ ...s, at: s.at + at }))];
    return { kind: 'text', text: { ...before.text, text: before.text.text + value.text.text, segments } };
  }
  return undefined;
}

/** Methods that change a list or map in place. */
export function changes(p: Program, node: Node): boolean {
  const fn = node.childForFieldName('function');
  const object = fn?.type === 'attribute' ? fn.childForFieldName('object') : null;
  const name = fn?.childForFieldName('attribute')?.text ?? '';
  const args = node.childForFieldName('arguments');
  if (!object || !args || !/^(?:append|extend|update|insert|setdefault)$/.test(name)) {
    return false;
  }
  const of = evaluate(p, object);
  if (of.kind === 'import' && of.path === 'os.environ') {
    updateEnvironment(p, name, given(p, args));
    return true;
  }
  if (of.kind !== 'list' && of.kind !== 'map') {
    return false;
  }
  change(p.scope, object.text, (v) => changed(v, name, given(p, args)));
  return true;
}

function updateEnvironment(p: Program, name: string, args: Given): void {
  const [first, second] = args.positional;
  const key = first && asText(first.value);
  if (name === 'setdefault' && key !== undefined && second) {
    p.environment.set(key, second);
  }
  const entries = [...(first?.value.kind === 'map' ? first.value.entries : []), ...args.keywords];
  for (const entry of name === 'update' ? entries : []) {
    p.environment.set(entry.key, entry);
  }
}

function changed(value: Value, name: string, args: Given): Value {
  const [first] = args.positional;
  if (value.kind === 'list' && first) {
    const more =
      name === 'extend' && first.value.kind === 'list'
        ? first.value.items
        : name === 'append' || name === 'extend'
          ? [first]
          : [];
    return { kind: 'list', items: [...value.items, ...more] };
  }
  if (value.kind === 'map' && name === 'update') {
    const inner = first?.value.kind === 'map' ? first.value.entries : [];
    const entries = [...inner, ...args.keywords];
    const open = args.open ?? (first?.value.kind === 'unknown' ? first.value.reason : value.open);
    const kept = value.entries.filter((e) => !entries.some((n) => n.key === e.key));
    return { kind: 'map', entries: [...kept, ...entries], ...(open === undefined ? {} : { open }) };
  }
  return value;
}
