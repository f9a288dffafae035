/** Walks a parsed script as it would run: assignments, branches, functions; hands every command on. */
import type { Node } from 'web-tree-sitter';
import type { Mapped } from '../text/mapped';
import { addPart, builder, finish, rangeOf, unit, unresolvedIn } from '../text/mapped';
import { assignmentsIn } from '../words/arithmetic';
import type { Variable } from '../words/variable';
import { callersWord, copyScope, isCallers, mergeScopes, type Scope, type Value } from './scope';
import { expandText, expandWord } from './words';

export interface Command {
  readonly words: readonly Mapped[];
  /** `A=b` before the words, and exported variables. */
  readonly environment: readonly Variable[];
  /** Decoded offsets in the script. */
  readonly from: number;
  readonly to: number;
  readonly scope: Scope;
  /** The function it stands in. */
  readonly title?: string;
}

/** A heredoc with what receives it. */
export interface Heredoc {
  readonly words: readonly Mapped[];
  /** The file it is written to. */
  readonly path?: string;
  /** Decoded offsets of the body in the script. */
  readonly from: number;
  readonly to: number;
  /** The delimiter was quoted: no variables in the body. */
  readonly literal: boolean;
  readonly scope: Scope;
}

export interface Visitor {
  command(command: Command): void;
  heredoc(heredoc: Heredoc): void;
  /** `source FILE`. */
  sourced(path: string): ReadonlyMap<string, string>;
}

interface Run {
  readonly script: Mapped;
  readonly visitor: Visitor;
  readonly functions: Map<string, Node>;
  readonly called: Set<string>;
  scope: Scope;
  title: string | undefined;
  depth: number;
}

export function runScript(root: Node, script: Mapped, scope: Scope, visitor: Visitor): void {
  const run: Run = { script, visitor, functions: new Map(), called: new Set(), scope, title: undefined, depth: 0 };
  statements(run, root.namedChildren);
  for (const [name, body] of run.functions) {
    if (!run.called.has(name)) {
      inFunction(run, name, body, undefined);
    }
  }
}

/** Deeper nesting of statements is not followed. */
const MAX_DEPTH = 200;

function statements(run: Run, nodes: readonly (Node | null)[]): void {
  if (run.depth > MAX_DEPTH) {
    return;
  }
  run.depth++;
  for (const node of nodes) {
    if (node) {
      statement(run, node);
    }
  }
  run.depth--;
}

function statement(run: Run, node: Node): void {
  switch (node.type) {
    case 'command':
      command(run, node, []);
      return;
    case 'redirected_statement':
      redirected(run, node);
      return;
    case 'variable_assignment':
      assign(run, node);
      return;
    case 'declaration_command':
      declare(run, node);
      return;
    case 'list':
      list(run, node);
      return;
    case 'if_statement':
      branches(run, node, 'if');
      return;
    case 'case_statement':
      branches(run, node, 'case');
      return;
    case 'for_statement':
    case 'while_statement':
    case 'c_style_for_statement':
      loop(run, node);
      return;
    case 'subshell':
      inside(run, () => statements(run, node.namedChildren), copyScope(run.scope));
      return;
    case 'function_definition': {
      const body = node.childForFieldName('body');
      const name = node.childForFieldName('name')?.text;
      if (body && name !== undefined) {
        run.functions.set(name, body);
      }
      return;
    }
    case 'test_command':
      compute(run, arithmeticOf(node) ?? '', node);
      return;
    case 'comment':
    case 'heredoc_body':
      return;
    default:
      statements(run, node.namedChildren);
      return;
  }
}

function inside(run: Run, act: () => void, scope: Scope): Scope {
  const outer = run.scope;
  run.scope = scope;
  act();
  run.scope = outer;
  return scope;
}

/** Both ways are read; what differs afterwards is not known. */
function branches(run: Run, node: Node, kind: 'if' | 'case'): void {
  const isClause = (n: Node) => n.type === 'elif_clause' || n.type === 'else_clause' || n.type === 'case_item';
  const children = node.namedChildren.filter((n) => n !== null);
  const conditions = new Set((kind === 'if' ? node.childrenForFieldName('condition') : []).map((n) => n?.id));
  statements(
    run,
    children.filter((n) => conditions.has(n.id)),
  );
  const first = kind === 'if' ? [children.filter((n) => !isClause(n) && !conditions.has(n.id))] : [];
  const others = children.filter(isClause).map((n) => n.namedChildren.filter((c) => c !== null && !isPattern(n, c)));
  const ends = [...first, ...others].map((body) => inside(run, () => statements(run, body), copyScope(run.scope)));
  const complete = children.some(
    (n) => n.type === 'else_clause' || /^\s*\(?\*\)/.test(n.type === 'case_item' ? n.text : ''),
  );
  mergeScopes(run.scope, complete ? ends : [...ends, copyScope(run.scope)]);
}

/** Behind a test (`[ -n "$X" ] && …`) it may happen or not; a command is taken to succeed. */
function list(run: Run, node: Node): void {
  const [first, ...rest] = node.namedChildren;
  if (!first || (first.type !== 'test_command' && arithmeticOf(first) === undefined)) {
    statements(run, node.namedChildren);
    return;
  }
  statements(run, [first]);
  const end = inside(run, () => statements(run, rest), copyScope(run.scope));
  mergeScopes(run.scope, [end, copyScope(run.scope)]);
}

/** `(( … ))` as a command: the grammar takes it for the name of one, or for a test. */
function arithmeticOf(node: Node): string | undefined {
  const written = node.type === 'command' ? node.childForFieldName('name') : node.type === 'test_command' ? node : null;
  return /^\(\(([\s\S]*)\)\)$/.exec(written?.text ?? '')?.[1];
}

/** Names that arithmetic sets; what is more than whole numbers of known names is not known afterwards. */
function compute(run: Run, text: string, node: Node): void {
  const where = rangeOf(run.script, node.startIndex, node.endIndex);
  const known = (name: string) => {
    const value = run.scope.variables.get(name);
    return value?.kind === 'text' && unresolvedIn(value.text) === undefined ? value.text.text : undefined;
  };
  for (const { name, value } of assignmentsIn(text, known)) {
    run.scope.variables.set(
      name,
      value === undefined
        ? { kind: 'unknown', reason: `${name} is computed when the script runs` }
        : { kind: 'text', text: unit(String(value), where) },
    );
  }
}

const isPattern = (clause: Node, child: Node): boolean =>
  clause.type === 'case_item' && clause.childrenForFieldName('value').some((v) => v?.id === child.id);

function loop(run: Run, node: Node): void {
  const variable = node.childForFieldName('variable')?.text;
  const values = node.childrenForFieldName('value').flatMap((v) => (v ? expandWord(v, run) : []));
  const scope = copyScope(run.scope);
  if (variable !== undefined) {
    const only = values.length === 1 ? values[0] : undefined;
    // `for arg`, `for arg in "$@"`.
    const given = values.length === 0 || (only !== undefined && isCallers({ kind: 'text', text: only }));
    const value: Value = given
      ? { kind: 'unknown', reason: callersWord('@') }
      : only
        ? { kind: 'text', text: only }
        : { kind: 'unknown', reason: `${variable} takes several values in a loop` };
    scope.variables.set(variable, value);
  }
  const body = node.childForFieldName('body');
  const end = inside(run, () => statements(run, body ? body.namedChildren : []), scope);
  mergeScopes(run.scope, [end, copyScope(run.scope)]);
}

function assign(run: Run, node: Node): void {
  const name = node.childForFieldName('name');
  const value = node.childForFieldName('value');
  if (name?.type !== 'variable_name') {
    return;
  }
  const appends = run.script.text.startsWith('+=', name.endIndex);
  const read = readValue(run, value, node);
  const before = appends ? run.scope.variables.get(name.text) : undefined;
  run.scope.variables.set(name.text, bounded(name.text, appends ? appended(before, read) : read));
}

/** More than any command line holds: a text that doubles is not followed for ever. */
const MAX_TEXT = 100_000;
const MAX_WORDS = 10_000;

function bounded(name: string, value: Value): Value {
  const large =
    (value.kind === 'text' && value.text.text.length > MAX_TEXT) ||
    (value.kind === 'array' && (value.words.length > MAX_WORDS || lengthOf(value.words) > MAX_TEXT));
  return large ? { kind: 'unknown', reason: `${name} is too long` } : value;
}

const lengthOf = (words: readonly Mapped[]): number => words.reduce((sum, w) => sum + w.text.length, 0);

function readValue(run: Run, value: Node | null, node: Node): Value {
  if (!value) {
    const at = rangeOf(run.script, node.endIndex, node.endIndex);
    return { kind: 'text', text: finish(builder(), run.script.layers, at) };
  }
  if (value.type === 'array') {
    const elements = value.namedChildren.filter((n) => n !== null && n.type !== 'comment');
    return { kind: 'array', words: elements.flatMap((n) => expandWord(n as Node, run)) };
  }
  return { kind: 'text', text: expandText(value, run) };
}

function appended(before: Value | undefined, value: Value): Value {
  if (!before || before.kind === 'unknown' || value.kind === 'unknown') {
    return before?.kind === 'unknown' ? before : value;
  }
  if (before.kind === 'array' || value.kind === 'array') {
    const words = (v: Value) =>
      v.kind === 'array' ? v.words : v.kind === 'text' && v.text.text !== '' ? [v.text] : [];
    return { kind: 'array', words: [...words(before), ...words(value)] };
  }
  const b = builder();
  addPart(b, before.text, 0, before.text.text.length);
  addPart(b, value.text, 0, value.text.text.length);
  return { kind: 'text', text: finish(b, value.text.layers, value.text.extent) };
}

function declare(run: Run, node: Node): void {
  const exports = /^(?:export|declare\s+-\w*x|typeset\s+-\w*x)\b/.test(node.text);
  for (const child of node.namedChildren) {
    const name = child?.type === 'variable_assignment' ? child.childForFieldName('name')?.text : child?.text;
    if (child?.type === 'variable_assignment') {
      assign(run, child);
    }
    if (exports && name !== undefined) {
      run.scope.exported.add(name);
    }
  }
}

/** Words after a redirection's file belong to the command. */
function redirected(run: Run, node: Node): void {
  const body = node.childForFieldName('body');
  const redirects = node.childrenForFieldName('redirect').filter((n) => n !== null);
  const extra = redirects.flatMap((r) =>
    r.type === 'file_redirect' ? r.childrenForFieldName('destination').slice(1) : [],
  );
  if (body?.type === 'command') {
    command(
      run,
      body,
      extra.filter((n) => n !== null),
    );
  } else if (body) {
    statement(run, body);
  }
  for (const redirect of redirects.filter((r) => r.type === 'heredoc_redirect')) {
    heredoc(run, redirect, body, redirects);
  }
}

function heredoc(run: Run, node: Node, receiver: Node | null, redirects: readonly Node[]): void {
  const body = node.namedChildren.find((n) => n?.type === 'heredoc_body');
  const start = node.namedChildren.find((n) => n?.type === 'heredoc_start');
  if (!body) {
    return;
  }
  const words = receiver?.type === 'command' ? commandWords(run, receiver, []) : [];
  const inner = node.namedChildren.filter((n) => n?.type === 'file_redirect');
  const file = [...redirects, ...inner].find((r) => r?.type === 'file_redirect' && !/^\d/.test(r.text));
  const destination = file?.childForFieldName('destination');
  const written = destination ? expandText(destination, run).text : teePath(words);
  run.visitor.heredoc({
    words,
    ...(written === undefined ? {} : { path: written }),
    from: body.startIndex,
    to: body.endIndex,
    literal: /^["'\\]/.test(start?.text ?? ''),
    scope: run.scope,
  });
}

function teePath(words: readonly Mapped[]): string | undefined {
  const tee = words.findIndex((w) => /(?:^|\/)tee$/.test(w.text));
  return tee === -1 ? undefined : words.slice(tee + 1).find((w) => !w.text.startsWith('-'))?.text;
}

function commandWords(run: Run, node: Node, extra: readonly Node[]): readonly Mapped[] {
  const parts = node.namedChildren.filter(
    (n) => n !== null && n.type !== 'variable_assignment' && !n.type.endsWith('_redirect') && n.type !== 'comment',
  );
  return [...(parts as Node[]), ...extra].flatMap((n) => expandWord(n, run));
}

function command(run: Run, node: Node, extra: readonly Node[]): void {
  const arithmetic = arithmeticOf(node);
  if (arithmetic !== undefined) {
    compute(run, arithmetic, node);
    return;
  }
  const words = commandWords(run, node, extra);
  const name = words[0]?.text ?? '';
  const body = run.functions.get(name);
  if (body && !run.called.has(name)) {
    inFunction(run, name, body, words.slice(1));
    return;
  }
  if (name === 'source' || name === '.') {
    source(run, words[1]);
    return;
  }
  if (name === 'let') {
    words.slice(1).forEach((w) => {
      compute(run, w.text, node);
    });
    return;
  }
  if (name === 'set' || name === 'shift' || name === 'read' || name === 'unset') {
    forget(run, name, words.slice(1));
    return;
  }
  run.visitor.command({
    words,
    environment: [...exportedVariables(run), ...assignments(run, node)],
    from: node.startIndex,
    to: Math.max(node.endIndex, extra.at(-1)?.endIndex ?? 0),
    scope: run.scope,
    ...(run.title === undefined ? {} : { title: run.title }),
  });
}

/** The body is read once: with the arguments of the first call, or with none known. */
function inFunction(run: Run, name: string, body: Node, words: readonly Mapped[] | undefined): void {
  run.called.add(name);
  const outer = { title: run.title, positional: run.scope.positional };
  run.title = name;
  run.scope.positional = words;
  statements(run, body.namedChildren);
  run.title = outer.title;
  run.scope.positional = outer.positional;
}

function source(run: Run, path: Mapped | undefined): void {
  if (!path) {
    return;
  }
  for (const [name, text] of run.visitor.sourced(path.text)) {
    const segments = [{ at: 0, length: text.length, ...path.extent, exact: false }];
    run.scope.variables.set(name, { kind: 'text', text: { text, segments, layers: [], extent: path.extent } });
  }
}

/** Commands that change variables in ways that are not followed. */
function forget(run: Run, name: string, words: readonly Mapped[]): void {
  if (name === 'shift') {
    run.scope.positional = run.scope.positional?.slice(1);
  } else if (name === 'set' && words.some((w) => w.text === '--')) {
    run.scope.positional = words.slice(words.findIndex((w) => w.text === '--') + 1);
  } else if (name === 'unset') {
    words.forEach((w) => {
      run.scope.variables.delete(w.text);
    });
  } else if (name === 'read') {
    for (const w of words.filter((w) => /^\w+$/.test(w.text))) {
      run.scope.variables.set(w.text, { kind: 'unknown', reason: `${w.text} is read when the script runs` });
    }
  }
}

function exportedVariables(run: Run): readonly Variable[] {
  return [...run.scope.exported].flatMap((name) => {
    const value = run.scope.variables.get(name);
    return value?.kind === 'text' ? [{ name, value: value.text, word: true }] : [];
  });
}

function assignments(run: Run, node: Node): readonly Variable[] {
  return node.namedChildren.flatMap((n) => {
    const name = n?.type === 'variable_assignment' ? n.childForFieldName('name')?.text : undefined;
    const value = n?.childForFieldName('value');
    return name !== undefined && value ? [{ name, value: expandText(value, run), word: true }] : [];
  });
}
