/** A text that a shell runs → launches. */
import type { Node } from 'web-tree-sitter';
import { assemble } from '../assemble';
import { readEnvFile } from '../env-file';
import type { Form, Launch, Layer, TextRange } from '../launch';
import type { Reading } from '../reading';
import { asText, type Mapped, part, rangeOf, unresolvedIn } from '../text/mapped';
import type { Lookup } from '../words/expand';
import { batchHint } from '../words/slurm';
import {
  type Found,
  findStart,
  NOTHING,
  nearer,
  type Script,
  type Start,
  type Surroundings,
  surrounded,
} from '../words/start';
import { parseWith } from './parse';
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

function read(c: Context, scope: Scope): void {
  const grammar = c.depth > MAX_DEPTH ? undefined : c.reading.grammar('bash');
  if (grammar === undefined) {
    return;
  }
  const tree = parseWith(grammar, c.script.text);
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
  if (heredoc.path === undefined && PYTHON_INPUT.test(heredoc.words.map((w) => w.text).join(' '))) {
    c.reading.fenced('python', body, c.place.form, c.place.title);
  }
  const script = /^#!.*sh\b/.test(body.text) || /\.(?:ba)?sh$/.test(heredoc.path ?? '');
  if (script || (heredoc.path === undefined && heredoc.words.some((w) => RUNS_INPUT.test(w.text)))) {
    // Where the delimiter is not quoted, the outer shell fills in its variables first.
    read({ ...c, script: body, depth: c.depth + 1 }, heredoc.literal ? newScope() : copyScope(heredoc.scope));
  }
}

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
