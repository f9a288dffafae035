/** A text that a shell runs → launches. */
import type { Node, Tree } from 'web-tree-sitter';
import { assemble } from '../assemble';
import { readEnvFile } from '../env-file';
import { parseWith } from '../grammar/parse';
import type { Form, Launch, Layer, TextRange } from '../launch';
import type { Reading } from '../reading';
import { asText, type Mapped, part, rangeOf, unresolvedIn } from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import type { Lookup } from '../words/expand';
import { findStart } from '../words/find-start';
import { batchHint } from '../words/slurm';
import { type Found, NOTHING, nearer, type Script, type Start, type Surroundings, surrounded } from '../words/start';
import { type Command, type Heredoc, runScript, type Visitor } from './run';
import { copyScope, newScope, type Scope } from './scope';

export interface ScriptPlace {
  readonly form: Form;
  readonly title: string;
  /** The launch's range; absent = each command's own. */
  readonly range?: TextRange;
  /** What the form says beside the script. */
  readonly model?: Launch['model'];
  readonly role?: Launch['role'];
  readonly hostPath?: (path: string) => string | undefined;
}

interface Context {
  readonly reading: Reading;
  readonly script: Mapped;
  readonly place: ScriptPlace;
  readonly around: Surroundings;
  readonly depth: number;
}

/** Scripts inside scripts are followed this far. */
const MAX_DEPTH = 5;

/** Reads the script inside a command (`bash -c "…"`); asks for the grammar when it is not loaded. */
export function readScript(reading: Reading, found: Script, place: ScriptPlace): void {
  read({ reading, script: asText(found.script), place, around: found, depth: 0 }, newScope());
}

/** Scripts that one shell runs one after another: what one sets holds in the next. */
export function readScripts(
  reading: Reading,
  scripts: readonly Mapped[],
  around: Surroundings,
  place: ScriptPlace,
): void {
  const scope = newScope();
  for (const { name, value } of around.environment) {
    scope.variables.set(name, { kind: 'text', text: value });
    scope.exported.add(name);
  }
  for (const script of scripts) {
    read({ reading, script, place, around: { ...around, environment: [] }, depth: 0 }, scope);
  }
}

/** Reads a whole text as a script. */
export function readShell(reading: Reading, script: Mapped, place: ScriptPlace, around: Surroundings = NOTHING): void {
  const hardware = nearer(batchHint(script), around.hardware);
  read({ reading, script, place, around: { ...around, hardware }, depth: 0 }, newScope());
}

/** `# a remark` in backticks among words: the grammar takes it for a comment that does not end, and finds an error. */
const INLINE_COMMENT = /(?<!\S)`#[^`\n]*`(?![^\s;&|)])/g;

/** Between quotes the same characters are none, and no error: blanked is only where there is one. */
function parseScript(grammar: unknown, text: string): Tree | undefined {
  const tree = parseWith(grammar, text);
  const blanked = tree?.rootNode.hasError ? text.replace(INLINE_COMMENT, (found) => ' '.repeat(found.length)) : text;
  if (blanked === text) {
    return tree;
  }
  tree?.delete();
  return parseWith(grammar, blanked);
}

function read(c: Context, scope: Scope): void {
  const grammar = c.depth > MAX_DEPTH ? undefined : c.reading.grammar('bash');
  if (grammar === undefined) {
    return;
  }
  const tree = parseScript(grammar, c.script.text);
  if (!tree) {
    c.reading.problem('Shell: this text is too long, or takes too long, and was not read', c.script.extent);
    return;
  }
  for (const { name, value } of c.around.environment) {
    scope.variables.set(name, { kind: 'text', text: value });
  }
  runScript(tree.rootNode, c.script, scope, visitor(c));
  if (tree.rootNode.hasError) {
    reportErrors(c, tree.rootNode);
  }
  tree.delete();
}

function visitor(c: Context): Visitor {
  return {
    command: (command) => readCommand(c, command),
    heredoc: (heredoc) => readHeredoc(c, heredoc),
    sourced: (path) => readEnvFile(c.reading.file(path.replace(/^\.\//, '')) ?? ''),
  };
}

function readCommand(c: Context, command: Command): void {
  notePins(c, command.words);
  const found = findStart(command.words, c.reading.engines);
  if (!found) {
    readProgram(c, command);
    return;
  }
  const here = withSurroundings(c, command, found);
  if (here.kind === 'start') {
    launch(c, command, here);
    return;
  }
  const range = c.place.range ?? rangeOf(c.script, command.from, command.to);
  const place = { ...c.place, range, title: command.title ?? c.place.title };
  read({ ...c, script: asText(here.script), place, around: here, depth: c.depth + 1 }, newScope());
}

/** `python -c "from vllm import LLM; …"`. */
function readProgram(c: Context, { words }: Command): void {
  const at = words.findIndex((w) => w.text === '-c');
  const program = words[at + 1];
  if (at > 0 && program && /^(?:\S*\/)?python[\d.]*(?: -\w)*$/.test(textOf(words.slice(0, at)))) {
    c.reading.fenced('python', asText(program), c.place.form, c.place.title);
  }
}

const textOf = (words: readonly Mapped[]): string => words.map((w) => w.text).join(' ');

function notePins(c: Context, words: readonly Mapped[]): void {
  for (const word of words.filter((w) => w.text.includes('=='))) {
    notePin(c.reading, word);
  }
}

/** `pip install vllm==0.9.1`: the engine started further down is that one. */
export function notePin(reading: Reading, word: Mapped): void {
  const [, name = '', version = ''] = /^([\w-]+)(?:\[[^\]]*\])?==(\d[\w.]*)$/.exec(word.text) ?? [];
  if (reading.engines.some((e) => e.id === name)) {
    const range = rangeOf(word, word.text.length - version.length, word.text.length);
    reading.pinned.set(name, { text: version, range });
  }
}

/** Variables around the script, then those of the command, then those its wrappers set. */
function withSurroundings(c: Context, command: Command, found: Found): Found {
  const environment = found.contained
    ? found.environment
    : [...c.around.environment, ...command.environment, ...found.environment];
  return surrounded(found, environment, nearer(c.around.hardware, found.hardware), found.image ?? c.around.image);
}

function launch(c: Context, command: Command, start: Start): void {
  const range = c.place.range ?? foldedRange(c) ?? rangeOf(c.script, command.from, command.to);
  const title = command.title ?? c.place.title;
  const { form, model, role, hostPath } = c.place;
  c.reading.found(assemble(c.reading, { form, title, range, start, shell: true, model, role, hostPath }));
}

/** Lines of a folded scalar are one: a comment among them would end the command, so the launch is all of it. */
function foldedRange({ script, reading }: Context): TextRange | undefined {
  const block = script.layers[0];
  return block?.kind === 'yaml-block' && reading.text[block.range.start] === '>' ? block.range : undefined;
}

const RUNS_INPUT = /(?:^|\/)(?:ba|z|da|k)?sh$|(?:^|\/)(?:ssh|sbatch|qsub)$/;

/** `python3 - <<EOF`: the program is the body. */
const PYTHON_INPUT = /^(?:\S*\/)?python[\d.]*(?: -u)?(?: -)?$/;

/** A body that goes to a shell or into a script is commands; any other is a file that a command may name. */
function readHeredoc(c: Context, heredoc: Heredoc): void {
  const body = heredocBody(c, heredoc);
  if (heredoc.path !== undefined) {
    c.reading.written.set(heredoc.path, { body, lookup: heredoc.literal ? undefined : lookupIn(heredoc.scope) });
  }
  if (/\.ya?ml$/.test(heredoc.path ?? '') && /^(?:services|apiVersion):/m.test(body.text)) {
    c.reading.fenced('yaml', body, c.place.form, c.place.title);
  }
  if (heredoc.path === undefined && PYTHON_INPUT.test(textOf(heredoc.words))) {
    c.reading.fenced('python', body, c.place.form, c.place.title);
  }
  const language = languageOf(heredoc.path ?? '', body.text);
  if (language !== undefined) {
    c.reading.fenced(language, heredoc.literal ? body : filled(body, heredoc.scope), c.place.form, c.place.title);
  }
  const script = /^#!.*sh\b/.test(body.text) || /\.(?:ba)?sh$/.test(heredoc.path ?? '');
  if (script || (heredoc.path === undefined && heredoc.words.some((w) => RUNS_INPUT.test(w.text)))) {
    // Where the delimiter is not quoted, the outer shell fills in its variables first.
    const inner = heredoc.literal ? body : filled(body, heredoc.scope);
    read({ ...c, script: inner, depth: c.depth + 1 }, newScope());
  }
}

/** A file of another form that the script writes: a unit, a Modelfile, a program. */
function languageOf(path: string, text: string): string | undefined {
  if (
    /\.service$|\.service\.d\/[^/]*\.conf$/.test(path) ||
    (/^\[Service\]/m.test(text) && /^(?:ExecStart|Environment)=/m.test(text))
  ) {
    return 'systemd';
  }
  if (/(?:^|\/)modelfile[^/]*$|\.modelfile$/i.test(path)) {
    return 'modelfile';
  }
  return /(?:^|\/)Dockerfile[^/]*$/.test(path) ? 'dockerfile' : /\.py$/.test(path) ? 'python' : undefined;
}

const REFERENCE = /\\([$`\\])|\\\r?\n|\$\{(\w+)\}|\$(\w+)|\$\{(\w+):?-([^{}$]*)\}|(\$\([^()]*\)|\$\{[^}]*\}|`[^`]*`)/g;

/** The body as the shell writes it, its variables filled in. */
const filled = (body: Mapped, scope: Scope): Mapped =>
  replaceIn(body, REFERENCE, ([whole, escaped, braced, bare, withDefault, fallback = '', other]): Replacement => {
    const name = braced ?? bare ?? withDefault;
    const value = name === undefined ? undefined : scope.variables.get(name);
    if (escaped !== undefined) {
      return { text: escaped };
    }
    if (name === undefined) {
      return other === undefined ? { text: ' ' } : { unresolved: `${other} is known when the script runs` };
    }
    if (value?.kind === 'text') {
      return { mapped: value.text };
    }
    return withDefault !== undefined && !value
      ? { text: fallback }
      : { unresolved: value?.kind === 'unknown' ? value.reason : `${whole} is not set in this file` };
  });

function heredocBody(c: Context, heredoc: Heredoc): Mapped {
  const body = part(c.script, heredoc.from, heredoc.to);
  const filled: Layer = { kind: 'shell-heredoc', range: body.extent };
  return heredoc.literal ? body : { ...body, layers: [...body.layers, filled] };
}

function lookupIn(scope: Scope): Lookup {
  const { variables } = copyScope(scope);
  return (name) => {
    const value = variables.get(name);
    const unresolved =
      value?.kind === 'text' ? unresolvedIn(value.text) : value?.kind === 'unknown' ? value.reason : undefined;
    return unresolved !== undefined ? { unresolved } : value?.kind === 'text' ? value.text.text : undefined;
  };
}

/** Said only on the lines of a launch: valid scripts hold much that the grammar does not know. */
function reportErrors(c: Context, root: Node): void {
  for (const wrong of errorsIn(root, 0).slice(0, MAX_ERRORS)) {
    const range = rangeOf(c.script, wrong.startIndex, Math.max(wrong.startIndex, wrong.endIndex));
    if (c.reading.touches(range)) {
      const written = wrong.text.trim().slice(0, 40);
      c.reading.problem(
        wrong.isMissing ? `Shell: ${wrong.type} is missing here` : `Shell: not understood: ${written}`,
        range,
      );
    }
  }
}

const MAX_ERRORS = 20;

function errorsIn(node: Node, depth: number): readonly Node[] {
  if (node.isError || node.isMissing) {
    return [node];
  }
  return depth < 200 && node.hasError ? node.children.flatMap((n) => (n ? errorsIn(n, depth + 1) : [])) : [];
}
