/** A Python program → launches: engines it makes, and commands it runs. */
import type { Node } from 'web-tree-sitter';
import { assemble, modelOf, roleOf, withVisibleDevices } from '../assemble';
import { parseWith } from '../grammar/parse';
import type { Form, HardwareHint, Insertion, Launch, TextRange } from '../launch';
import type { Reading } from '../reading';
import { notePin, readScript } from '../shell/script';
import { type Mapped, part, rangeOf } from '../text/mapped';
import { findStart, startInImage } from '../words/find-start';
import { nearer, type Script, surrounded } from '../words/start';
import { assignedName, knownTexts, type Variable } from '../words/variable';
import { callOptions, type EngineCall, engineCall, spellingsOf } from './calls';
import { type ContainerCall, containerCall } from './containers';
import { hardwareOf } from './hardware';
import { enterFunction, type Runner, runProgram } from './run';
import { newScope } from './scope';
import { aroundNode, asText, asWord, type Given, nodeRange, type Placed, unknownIn, type Value } from './values';

export interface ProgramPlace {
  readonly form: Form;
  readonly title: string;
}

interface Context {
  readonly reading: Reading;
  readonly script: Mapped;
  readonly place: ProgramPlace;
  /** Commands by the place of their first word: a list may grow after it was first seen. */
  readonly commands: Map<number, CommandSeen>;
  readonly scripts: ScriptSeen[];
  readonly seen: Set<number>;
  readonly launches: Launch[];
}

interface ScriptSeen {
  readonly script: Script;
  readonly title: string;
}

interface CommandSeen {
  readonly items: readonly Placed[];
  readonly environment: readonly Variable[];
  readonly hardware: HardwareHint;
  readonly title: string;
  /** The words are given to it. */
  readonly container?: ContainerCall;
}

export function readPython(reading: Reading, script: Mapped, place: ProgramPlace): void {
  const grammar = reading.grammar('python');
  if (grammar === undefined) {
    return;
  }
  const tree = parseWith(grammar, script.text);
  if (!tree) {
    reading.problem('Python: this text is too long, or takes too long, and was not read', script.extent);
    return;
  }
  const c: Context = { reading, script, place, commands: new Map(), scripts: [], seen: new Set(), launches: [] };
  runProgram(runner(c), tree.rootNode);
  for (const command of c.commands.values()) {
    readCommand(c, command);
  }
  readScripts(c);
  c.launches.forEach(reading.found);
  if (tree.rootNode.hasError) {
    reportErrors(c, tree.rootNode);
  }
  tree.delete();
}

function runner(c: Context): Runner {
  const r: Runner = {
    script: c.script,
    scope: newScope(),
    depth: 0,
    environment: new Map(),
    entered: new Set(),
    waiting: [],
    returned: [],
    decorators: [],
    titles: [],
    called: (node, path, args) => called(c, r, node, path, args),
    enter: (fn, args, name) => enterFunction(r, fn, args, name),
    ended: (values) => ended(c, r, values),
  };
  return r;
}

function called(c: Context, r: Runner, node: Node, path: string, args: Given): void {
  notePins(c, path === '' ? node.text : path, args);
  const engine = engineCall(path, c.reading.engines);
  if (engine) {
    if (!c.seen.has(node.id)) {
      c.seen.add(node.id);
      readCall(c, r, engine, node, args);
    }
    return;
  }
  const whole = node.childForFieldName('function')?.text ?? '';
  const container = containerCall(path === '' ? whole : path, args, c.reading.engines, (p) => writtenAt(c, p));
  if (container) {
    const start = container.items[0]?.range.start ?? nodeRange(c.script, node).start;
    const { items, environment, hardware } = container;
    c.commands.set(start, { items, environment, hardware, title: titleIn(args) ?? titleOf(c, r), container });
    return;
  }
  const name = whole.replace(/^.*\./s, '');
  if (RUNS.test(path) || RUNS_BY_NAME.test(name) || args.positional.some((a) => isCommand(a))) {
    commandGiven(c, r, args);
  }
}

const writtenAt = (c: Context, { range }: Placed): string => c.reading.text.slice(range.start, range.end);

/** A container has a name. */
function titleIn({ keywords }: Given): string | undefined {
  const name = keywords.find((k) => k.key === 'name')?.value;
  return name?.kind === 'text' && unknownIn(name) === undefined ? name.text.text : undefined;
}

/** What hands its words to the system. */
const RUNS =
  /^(?:subprocess\.(?:run|Popen|call|check_call|check_output|getoutput)|os\.(?:system|popen|execv\w*|spawn\w*)|asyncio\.create_subprocess_\w+)$/;

/** What says by its name that it does: `execute_shell_command`, `launch_server_cmd`, `ssh.exec_command`. */
const RUNS_BY_NAME =
  /^(?:(?:Bash|SSH)Operator$|(?:run|exec|execute|launch|start|spawn)(?:_\w+)?_(?:command|cmd|shell|process)|exec|system|shell|sh|popen)$/;

/** `pip_install("vllm==0.9.1")` of an image that the program builds. */
function notePins(c: Context, path: string, args: Given): void {
  if (/pip_install/.test(path)) {
    const all = args.positional.flatMap((a) => (a.value.kind === 'list' ? a.value.items : [a]));
    for (const item of all) {
      if (item.value.kind === 'text') {
        notePin(c.reading, item.value.text);
      }
    }
  }
}

const isCommand = (placed: Placed): boolean =>
  placed.value.kind === 'list' && placed.value.items.length > 1 && isWord(placed.value.items[0]);

const isWord = (placed: Placed | undefined): boolean => placed !== undefined && asText(placed.value) !== undefined;

function commandGiven(c: Context, r: Runner, args: Given): void {
  const [first] = args.positional;
  const named = args.keywords.find((k) => /^(?:args|cmd|(?:bash_)?command)$/.test(k.key));
  const given = first ?? named;
  if (!given) {
    return;
  }
  const environment = [...variables(r), ...givenVariables(args)];
  const list = args.positional.find((a) => isCommand(a)) ?? (named && isCommand(named) ? named : undefined);
  if (list?.value.kind === 'list') {
    note(c, r, list.value.items, environment);
  } else if (
    args.positional.length > 1 &&
    args.positional.every((a) => a.value.kind === 'text' || a.value.kind === 'plain')
  ) {
    note(c, r, args.positional, environment);
  } else if (given.value.kind === 'text') {
    const hardware = hardwareOf(r, c.script);
    const script = { kind: 'script' as const, environment, hardware, script: given.value.text };
    c.scripts.push({ script, title: titleOf(c, r) });
  }
}

/** `env={**os.environ, "CUDA_VISIBLE_DEVICES": "0"}`. */
function givenVariables(args: Given): readonly Variable[] {
  const env = args.keywords.find((k) => k.key === 'env')?.value;
  return env?.kind === 'map' ? env.entries.map((e) => ({ name: e.key, value: asWord(e, e.key) })) : [];
}

const variables = (r: Runner): readonly Variable[] =>
  [...r.environment].map(([name, placed]) => ({ name, value: asWord(placed, name) }));

function note(c: Context, r: Runner, items: readonly Placed[], environment: readonly Variable[]): void {
  const start = items[0]?.range.start ?? 0;
  c.commands.set(start, { items, environment, hardware: hardwareOf(r, c.script), title: titleOf(c, r) });
}

/** Lists that no call was seen to get: they are handed on in ways that are not followed. */
function ended(c: Context, r: Runner, values: Iterable<Value>): void {
  for (const value of values) {
    const [first] = value.kind === 'list' ? value.items : [];
    if (value.kind === 'list' && first && asText(first.value) !== undefined && value.items.length > 1) {
      const known = c.commands.get(first.range.start);
      if (!known || (known.items.length < value.items.length && !known.container)) {
        note(c, r, value.items, known?.environment ?? variables(r));
      }
    }
  }
}

function readCommand(c: Context, command: CommandSeen): void {
  const { container } = command;
  const all = container?.text ?? command.items.map((item) => asWord(item, writtenAt(c, item)));
  // A list that is joined for a shell may begin with variables; a container's words are its own.
  const first = container ? 0 : all.findIndex((w) => assignedName(w.text) === undefined);
  const words = all.slice(Math.max(first, 0));
  const set = all.slice(0, Math.max(first, 0)).map((w) => {
    const name = assignedName(w.text) as string;
    return { name, value: part(w, name.length + 1, w.text.length) };
  });
  const found = container
    ? startInImage(container.entry, words, c.reading.engines, container, container.imageWord)
    : findStart(words, c.reading.engines);
  if (!found) {
    return;
  }
  const environment = found.contained ? found.environment : [...command.environment, ...set, ...found.environment];
  const start = surrounded(found, environment, nearer(command.hardware, found.hardware));
  const { title } = command;
  if (start.kind === 'script') {
    readScript(c.reading, start, { ...c.place, title });
    return;
  }
  const ends = words.map((w) => w.extent.end).filter((e) => e >= start.head.start);
  const range = { start: start.head.start, end: Math.max(start.head.end, ...ends.slice(0, 1000)) };
  const shell = container?.text !== undefined;
  const insertion = itemInsertion(command.items);
  c.launches.push(assemble(c.reading, { form: c.place.form, title, range, start, shell, insertion }));
}

/** A list that is joined to a text for a shell has been read as a list. */
function readScripts(c: Context): void {
  const heads = new Set(c.launches.map((l) => l.head.start));
  const found = (launch: Launch) => (heads.has(launch.head.start) ? undefined : c.launches.push(launch));
  const inner: Reading = { ...c.reading, found };
  for (const { script, title } of c.scripts) {
    readScript(inner, script, { ...c.place, title });
  }
}

/** After the last element, where a literal stands there; in a notebook the quotes would need quotes. */
function itemInsertion(items: readonly Placed[]): Insertion | undefined {
  const last = items.at(-1);
  const layer = last?.layers.at(-1);
  // Behind what one branch adds, it would stand in that branch.
  if (!last || last.maybe !== undefined || layer?.kind !== 'python-string' || last.layers.length > 1) {
    return undefined;
  }
  const at = layer.range.end;
  const layers = [{ kind: 'yaml-double' as const, range: { start: at, end: at } }];
  return { at, text: ', "--{name}", "{value}"', layers };
}

function titleOf(c: Context, r: Runner): string {
  return r.titles.length > 0 ? r.titles.join('.') : c.place.title;
}

function readCall(c: Context, r: Runner, engine: EngineCall, node: Node, args: Given): void {
  const head = nodeRange(c.script, node.childForFieldName('function') ?? node);
  const { text } = c.reading;
  const options = callOptions(engine, args, { text, head, line: (offset) => c.reading.lines().line(offset) });
  // Handed everything by something else (`LLM(**vars(args))`): there is nothing here to read.
  if (options.every((o) => o.origin === 'default')) {
    return;
  }
  const environment = variables(r);
  const own = hardwareOf(r, c.script);
  const named = engine.call.gpu === undefined ? undefined : args.keywords.find((k) => k.key === engine.call.gpu);
  const gpu = named?.value.kind === 'text' ? { text: named.value.text.text, range: named.range } : own.gpu;
  c.launches.push({
    file: c.reading.input.name,
    form: c.place.form,
    engine: engine.engine.id,
    version: c.reading.pinned.get(engine.engine.id),
    role: roleOf(options),
    ...(engine.call.usage && { usage: engine.call.usage }),
    title: titleOf(c, r),
    range: nodeRange(c.script, node),
    head,
    options,
    model: modelOf(options, engine.engine),
    environment: knownTexts(environment),
    hardware: withVisibleDevices(gpu ? { ...own, gpu } : own, environment),
    directives: [],
    ...(engine.call.values && { spellings: spellingsOf(engine.call.values) }),
    insertion: keywordInsertion(c, engine, node),
  });
}

/** After the last argument, in the manner of the ones before it. */
function keywordInsertion(c: Context, { call }: EngineCall, node: Node): Insertion | undefined {
  const list = node.childForFieldName('arguments');
  const args = list?.namedChildren.filter((n) => n !== null && n.type !== 'comment') ?? [];
  if (!list || call.only || aroundNode(c.script, list).length > 0) {
    return undefined;
  }
  const last = args.at(-1);
  const before = args.at(-2);
  const at = rangeOf(c.script, 0, last ? last.endIndex : list.startIndex + 1).end;
  const between = last && before ? c.script.text.slice(before.endIndex, last.startIndex) : ', ';
  const lead = last ? (/^,\s*$/.test(between) ? between : leadOf(c.script.text, list, last)) : '';
  const range = { start: at, end: at };
  const names = Object.fromEntries(Object.entries(call.keywords ?? {}).map(([written, name]) => [name, written]));
  return { at, text: `${lead}{keyword}={value}`, layers: [{ kind: 'python-value', range }], names };
}

/** The only argument may stand on a line of its own. */
function leadOf(text: string, list: Node, last: Node): string {
  const before = text.slice(list.startIndex + 1, last.startIndex);
  return /^\s*$/.test(before) && before !== '' ? `,${before}` : ', ';
}

/** Said only on the lines of a launch. */
function reportErrors(c: Context, root: Node): void {
  const wrong = root.descendantsOfType('ERROR').slice(0, 20);
  for (const node of wrong) {
    const range: TextRange | undefined = node ? nodeRange(c.script, node) : undefined;
    if (node && range && c.reading.touches(range)) {
      c.reading.problem(`Python: not understood: ${node.text.trim().slice(0, 40)}`, range);
    }
  }
}
