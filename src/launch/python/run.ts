/** Walks a parsed program as it would run: imports, names, branches, functions. */
import type { Node } from 'web-tree-sitter';
import { assignment, augmented, bind, changes } from './assign';
import { evaluate } from './evaluate';
import type { Program } from './program-values';
import { assign, mergeScopes, newScope, type Scope } from './scope';
import { type Given, nodeRange, type Placed, plain, unknown, type Value } from './values';

export interface Runner extends Program {
  /** Functions that were entered, by node. */
  readonly entered: Set<number>;
  /** Functions and methods that nobody has called so far. */
  readonly waiting: { readonly fn: Value & { readonly kind: 'function' }; readonly name: string }[];
  returned: Value[];
  /** Decorators around what is being run, outermost first. */
  readonly decorators: Node[];
  /** Names of functions and classes around, for titles. */
  readonly titles: string[];
  /** A scope ends, or a function gives these: what they hold now is what they will hold. */
  ended(values: Iterable<Value>): void;
}

export function runProgram(r: Runner, root: Node): void {
  statements(r, root.namedChildren);
  r.ended(r.scope.names.values());
  // What others call is entered from there, with what they say.
  const calls = root.descendantsOfType('call').map((c) => c?.childForFieldName('function')?.text ?? '');
  const called = new Set(calls.map((name) => name.replace(/^(?:self|cls)\./, '')));
  for (const isCalled of [false, true]) {
    for (const next of r.waiting.splice(0)) {
      if (called.has(next.name) === isCalled) {
        enterWaiting(r, next);
      } else {
        r.waiting.push(next);
      }
    }
  }
  for (let next = r.waiting.shift(); next; next = r.waiting.shift()) {
    enterWaiting(r, next);
  }
}

function enterWaiting(r: Runner, { fn, name }: Runner['waiting'][number]): void {
  if (!r.entered.has(fn.node.id)) {
    enterFunction(r, fn, undefined, name);
  }
}

/** Statements inside statements are followed this far. */
const MAX_DEPTH = 150;

function statements(r: Runner, nodes: readonly (Node | null)[]): void {
  if (r.depth > MAX_DEPTH) {
    return;
  }
  r.depth++;
  for (const node of nodes) {
    if (node) {
      statement(r, node);
    }
  }
  r.depth--;
}

const body = (r: Runner, node: Node | null, field = 'body'): void =>
  statements(r, node?.childForFieldName(field)?.namedChildren ?? []);

function statement(r: Runner, node: Node): void {
  switch (node.type) {
    case 'comment':
    case 'pass_statement':
      return;
    case 'import_statement':
    case 'import_from_statement':
      imports(r, node);
      return;
    case 'expression_statement':
      for (const child of node.namedChildren) {
        if (child) {
          expression(r, child);
        }
      }
      return;
    case 'return_statement':
      gives(r, node.namedChild(0));
      return;
    case 'if_statement':
      branches(r, node);
      return;
    case 'for_statement':
      loop(r, node);
      return;
    case 'while_statement':
      aside(r, () => body(r, node));
      return;
    case 'try_statement':
      attempt(r, node);
      return;
    case 'with_statement':
      withItems(r, node);
      body(r, node);
      return;
    case 'function_definition':
      define(r, node, []);
      return;
    case 'class_definition':
      classDefinition(r, node, []);
      return;
    case 'decorated_definition':
      decorated(r, node);
      return;
    case 'block':
    case 'ERROR':
      statements(r, node.namedChildren);
      return;
    default:
      for (const child of node.namedChildren) {
        if (child && child.type !== 'block') {
          evaluate(r, child);
        } else if (child) {
          statements(r, child.namedChildren);
        }
      }
  }
}

function gives(r: Runner, node: Node | null): void {
  const value = node ? evaluate(r, node) : plain(null);
  r.returned.push(value);
  r.ended([value]);
}

function imports(r: Runner, node: Node): void {
  const module = node.childForFieldName('module_name')?.text;
  const names = node.childrenForFieldName('name');
  for (const name of names) {
    const path = (name?.type === 'aliased_import' ? name.childForFieldName('name') : name)?.text ?? '';
    const alias = name?.type === 'aliased_import' ? name.childForFieldName('alias')?.text : undefined;
    // `import a.b` gives the name `a`.
    const bound = alias ?? (module === undefined ? path.replace(/\..*$/, '') : path);
    const whole = module === undefined ? (alias === undefined ? bound : path) : `${module}.${path}`;
    r.scope.names.set(bound, { kind: 'import', path: whole });
  }
  if (module !== undefined && node.namedChildren.some((n) => n?.type === 'wildcard_import')) {
    for (const name of ['LLM', 'Llama', 'Engine', 'pipeline', 'EngineArgs', 'AsyncEngineArgs', 'KvCacheConfig']) {
      r.scope.names.set(name, { kind: 'import', path: `${module}.${name}` });
    }
  }
}

function expression(r: Runner, node: Node): void {
  if (node.type === 'assignment') {
    assignment(r, node);
  } else if (node.type === 'augmented_assignment') {
    augmented(r, node);
  } else if (node.type === 'call' && changes(r, node)) {
    return;
  } else {
    evaluate(r, node);
  }
}

/** Runs with names of its own, which are then dropped or merged. */
function aside(r: Runner, act: () => void): ReadonlyMap<string, Value> {
  const outer = r.scope;
  r.scope = { ...outer, names: new Map(outer.names) };
  act();
  const { names } = r.scope;
  r.scope = outer;
  return names;
}

function branches(r: Runner, node: Node): void {
  const condition = node.childForFieldName('condition');
  const read = condition ? evaluate(r, condition) : unknown('it is empty');
  const known = read.kind === 'plain' && read.asked ? unknown('it is what the program is called with') : read;
  const otherwise = node.childrenForFieldName('alternative');
  if ((condition && /__name__|TYPE_CHECKING/.test(condition.text)) || (known.kind === 'plain' && known.value)) {
    body(r, node, 'consequence');
    return;
  }
  if (known.kind === 'plain' && otherwise.length <= 1) {
    const [clause = null] = otherwise;
    if (clause?.type !== 'elif_clause') {
      body(r, clause);
      return;
    }
  }
  const ends = [aside(r, () => body(r, node, 'consequence'))];
  let complete = false;
  for (const clause of otherwise) {
    complete ||= clause?.type === 'else_clause';
    ends.push(aside(r, () => body(r, clause, clause?.type === 'else_clause' ? 'body' : 'consequence')));
  }
  mergeScopes(r.scope, complete ? ends : [...ends, new Map(r.scope.names)]);
}

function loop(r: Runner, node: Node): void {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  const over = right && evaluate(r, right);
  const only = over?.kind === 'list' && over.items.length === 1 ? over.items[0] : undefined;
  const end = aside(r, () => {
    if (left && right) {
      const name = left.text;
      const several: Placed = {
        value: unknown(`${name} takes several values in a loop`),
        range: nodeRange(r.script, right),
        layers: [],
        literal: false,
      };
      bind(r, left, only ?? several);
    }
    body(r, node);
  });
  mergeScopes(r.scope, [end, new Map(r.scope.names)]);
}

/** It is taken to succeed. */
function attempt(r: Runner, node: Node): void {
  body(r, node);
  for (const clause of node.namedChildren) {
    if (clause?.type === 'else_clause' || clause?.type === 'finally_clause') {
      body(r, clause);
      statements(r, clause.type === 'finally_clause' ? clause.namedChildren : []);
    } else if (clause?.type === 'except_clause' || clause?.type === 'except_group_clause') {
      aside(r, () =>
        statements(
          r,
          clause.namedChildren.filter((n) => n?.type === 'block'),
        ),
      );
    }
  }
}

function withItems(r: Runner, node: Node): void {
  for (const item of node.descendantsOfType('with_item').slice(0, 20)) {
    const value = item?.childForFieldName('value');
    if (value) {
      evaluate(r, value.type === 'as_pattern' && value.namedChild(0) ? (value.namedChild(0) as Node) : value);
    }
  }
}

function decorated(r: Runner, node: Node): void {
  const definition = node.childForFieldName('definition');
  const decorators = node.namedChildren.filter((n) => n?.type === 'decorator') as Node[];
  for (const d of decorators) {
    if (d.namedChild(0)) {
      evaluate(r, d.namedChild(0) as Node);
    }
  }
  if (definition?.type === 'class_definition') {
    classDefinition(r, definition, decorators);
  } else if (definition) {
    define(r, definition, decorators);
  }
}

/** A function's own decorators and title are those around it when it is entered. */
const around = new WeakMap<Scope, { readonly decorators: readonly Node[]; readonly titles: readonly string[] }>();

function define(r: Runner, node: Node, decorators: readonly Node[]): void {
  const name = node.childForFieldName('name')?.text ?? '';
  const scope = newScope(r.scope);
  around.set(scope, { decorators: [...r.decorators, ...decorators], titles: [...r.titles] });
  const fn = { kind: 'function' as const, node, scope };
  r.scope.names.set(name, fn);
  r.waiting.push({ fn, name });
}

function classDefinition(r: Runner, node: Node, decorators: readonly Node[]): void {
  const name = node.childForFieldName('name')?.text ?? '';
  const members = newScope(r.scope);
  r.scope.names.set(name, { kind: 'class', name, members });
  const outer = r.scope;
  r.scope = members;
  r.decorators.push(...decorators);
  r.titles.push(name);
  body(r, node);
  r.titles.pop();
  r.decorators.length -= decorators.length;
  r.scope = outer;
}

/** Run once: with the arguments of the first call, or with none known. */
export function enterFunction(
  r: Runner,
  fn: Value & { readonly kind: 'function' },
  args: Given | undefined,
  name: string,
): Value {
  if (r.entered.has(fn.node.id) || r.depth > MAX_DEPTH) {
    return unknown(`${name}() is known when the program runs`);
  }
  r.entered.add(fn.node.id);
  const outer = { scope: r.scope, returned: r.returned, decorators: [...r.decorators], titles: [...r.titles] };
  const own = around.get(fn.scope);
  r.scope = fn.scope;
  r.returned = [];
  // A function that is called runs on the machine that its caller asked for.
  replace(r.decorators, [...(args ? outer.decorators : []), ...(own?.decorators ?? [])]);
  replace(r.titles, [...(own?.titles ?? []), name.replace(/^.*\./, '')]);
  parameters(r, fn.node, args);
  body(r, fn.node);
  r.ended(r.scope.names.values());
  const [only, ...more] = r.returned;
  r.scope = outer.scope;
  r.returned = outer.returned;
  replace(r.decorators, outer.decorators);
  replace(r.titles, outer.titles);
  return only && more.length === 0 ? only : unknown(`${name}() is known when the program runs`);
}

function replace<T>(list: T[], by: readonly T[]): void {
  list.splice(0, list.length, ...by);
}

function parameters(r: Runner, node: Node, args: Given | undefined): void {
  const all =
    node.childForFieldName('parameters')?.namedChildren.filter((n) => n !== null && n.type !== 'comment') ?? [];
  let index = 0;
  const named = new Set<string>();
  for (const parameter of all as readonly Node[]) {
    const name = parameter.childForFieldName('name')?.text ?? parameter.namedChild(0)?.text ?? parameter.text;
    if (parameter.type === 'dictionary_splat_pattern' && args) {
      const entries = args.keywords.filter((k) => !named.has(k.key));
      assign(r.scope, name, { kind: 'map', entries, ...(args.open === undefined ? {} : { open: args.open }) });
    }
    named.add(name);
    if (name === 'self' || name === 'cls' || /splat|separator/.test(parameter.type)) {
      continue;
    }
    const written = parameter.childForFieldName('value');
    const said = args?.keywords.findLast((k) => k.key === name) ?? args?.positional[index];
    index++;
    const value =
      said?.value ?? (written ? evaluate(r, written) : unknown(`${name} is what the function is called with`));
    assign(r.scope, name, value);
  }
}
