/** Makefiles: the recipes of every target, each line a shell's, with Make's variables filled in. */
import { readEnvFile } from '../env-file';
import type { Layer } from '../launch';
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { readShell } from '../shell/script';
import { logicalLines } from '../text/logical-lines';
import {
  addPart,
  addUnit,
  builder,
  finish,
  type Mapped,
  part,
  rangeOf,
  trimmed,
  unit,
  withOwnLayers,
} from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import { NOTHING } from '../words/start';
import { baseName, type TextForm } from './form';

export const makefile: TextForm = {
  kind: 'text',
  form: 'makefile',
  names: /(?:^|[\\/])(?:GNU)?[Mm]akefile(?:\.[\w-]+)?$|\.(?:mk|mak)$/,
  recognises: (head) => /^#!.*\bmake\b/.test(head),
  fences: ['makefile', 'make', 'mk'],
  read: (reading, text) => {
    if (mentionsEngine(text.text, reading.engines)) {
      readMakefile(reading, text);
    }
  },
};

interface Variable {
  readonly value: Mapped;
  /** What a call gives: its place is the call's, since the variable that is called may serve several. */
  readonly given?: true;
  /** Why it may be another. */
  readonly differs?: string;
}

interface Recipe {
  readonly target: string;
  readonly line: Mapped;
}

interface Make {
  readonly reading: Reading;
  readonly text: Mapped;
  readonly variables: Map<string, Variable>;
  /** Of one target alone: `serve: TP = 2`. */
  readonly own: Map<string, Map<string, Variable>>;
  readonly exported: Set<string>;
  readonly recipes: Recipe[];
  /** Variables of a target that have been filled in. */
  readonly expanded: Map<string, Mapped>;
  targets: readonly string[];
  /** Conditionals around the line. */
  depth: number;
  /** The variable of several lines that the line stands in; `from` is where its text begins. */
  define: { readonly name: string; readonly operator: string; readonly from: number } | undefined;
}

function readMakefile(reading: Reading, text: Mapped): void {
  const m: Make = {
    reading,
    text,
    variables: new Map(),
    own: new Map(),
    exported: new Set(),
    recipes: [],
    expanded: new Map(),
    targets: [],
    depth: 0,
    define: undefined,
  };
  for (const { from, to } of logicalLines(text.text, '\\')) {
    readLine(m, from, to);
  }
  for (const recipe of m.recipes) {
    readRecipe(m, recipe);
  }
}

const ASSIGNMENT = /^ *(?:(?:export|override|private)\s+)*([\w.-]+)[ \t]*(\+|\?|:{1,3})?=[ \t]*/;
const TARGET_ASSIGNMENT =
  /^([^\s:=#][^:=#]*):[ \t]*(?:(?:export|override|private)\s+)*([\w.-]+)[ \t]*(\+|\?|:{1,3})?=[ \t]*/;
const DEFINE = /^\s*(?:(?:export|override)\s+)*define[ \t]+([\w.-]+)[ \t]*(\+|\?|:{1,3})?=?[ \t]*\r?$/;
const RULE = /^([^\s:=#][^:=]*?)[ \t]*&?::?(?!=)([^;]*)(;)?/;

function readLine(m: Make, from: number, to: number): void {
  const line = m.text.text.slice(from, to);
  if (m.define) {
    readDefined(m, m.define, line, from);
  } else if (line.startsWith('\t') && m.targets.length > 0) {
    m.recipes.push(...m.targets.map((target) => ({ target, line: part(m.text, from + 1, to) })));
  } else if (/^\s*(?:#|$)/.test(line)) {
    return;
  } else if (DEFINE.test(line)) {
    const [, name = '', operator = ''] = DEFINE.exec(line) ?? [];
    m.define = { name, operator, from: to + (m.text.text.startsWith('\r\n', to) ? 2 : 1) };
  } else if (/^\s*(?:ifn?eq|ifn?def)\b/.test(line)) {
    m.depth++;
  } else if (/^\s*endif\b/.test(line)) {
    m.depth = Math.max(0, m.depth - 1);
  } else {
    readStatement(m, line, from, to);
  }
}

/** `endef` ends it. Its lines are those of a recipe once it stands in one: an `@` before a command is not the shell's. */
function readDefined(m: Make, { name, operator, from }: NonNullable<Make['define']>, line: string, to: number): void {
  if (/^\s*endef\b/.test(line)) {
    m.define = undefined;
    const value = replaceIn(part(m.text, from, Math.max(from, to - 1)), /^[ \t]*[-+]?@[-+@]*/gm, () => ({
      skip: true,
    }));
    set(m, m.variables, name, operator, value);
  }
}

function readStatement(m: Make, line: string, from: number, to: number): void {
  const included = /^\s*-?s?include\s+(\S+)/.exec(line);
  if (included) {
    include(m, included[1] as string, from + line.indexOf(included[1] as string));
    return;
  }
  const own = TARGET_ASSIGNMENT.exec(line);
  if (own) {
    for (const target of (own[1] as string).trim().split(/\s+/)) {
      const names = m.own.get(target) ?? new Map<string, Variable>();
      m.own.set(target, names);
      assign(m, names, own[2] as string, own[3] ?? '', from + own[0].length, to);
    }
    return;
  }
  const assignment = ASSIGNMENT.exec(line);
  if (assignment) {
    const name = assignment[1] as string;
    if (/^ *export\b/.test(line)) {
      m.exported.add(name);
    }
    assign(m, m.variables, name, assignment[2] ?? '', from + assignment[0].length, to);
    return;
  }
  if (/^\s*export\b/.test(line)) {
    for (const name of line.replace(/^\s*export\s*/, '').split(/\s+/)) {
      m.exported.add(name);
    }
    return;
  }
  readRule(m, line, from, to);
}

function readRule(m: Make, line: string, from: number, to: number): void {
  const rule = RULE.exec(line);
  if (!rule) {
    return;
  }
  m.targets = (rule[1] as string).trim().split(/\s+/).slice(0, 20);
  if (rule[3]) {
    m.recipes.push(...m.targets.map((target) => ({ target, line: part(m.text, from + rule[0].length, to) })));
  }
}

function assign(m: Make, names: Map<string, Variable>, name: string, operator: string, from: number, to: number): void {
  const written = m.text.text.slice(from, to);
  const comment = /(?:^|[^\\])#/.exec(written);
  const end = comment ? comment.index + comment[0].length - 1 : written.length;
  set(m, names, name, operator, continued(part(m.text, from, from + written.slice(0, end).trimEnd().length)));
}

function set(m: Make, names: Map<string, Variable>, name: string, operator: string, value: Mapped): void {
  const before = names.get(name);
  if (operator === '?' && before) {
    return;
  }
  const differs =
    m.depth > 0 && before?.value.text !== value.text ? `${name} is set differently in branches` : undefined;
  const next = operator === '+' && before ? appended(before.value, value) : value;
  names.set(name, { value: next, ...(differs === undefined ? {} : { differs }) });
}

/** A continued line of a variable is one line with a space. */
const continued = (value: Mapped): Mapped => replaceIn(value, /\s*\\\r?\n\s*/g, () => ({ text: ' ' }));

function appended(before: Mapped, value: Mapped): Mapped {
  const b = builder();
  addPart(b, before, 0, before.text.length);
  addUnit(b, ' ', { start: value.extent.start, end: value.extent.start });
  addPart(b, value, 0, value.text.length);
  return finish(b, value.layers, value.extent);
}

/** `.env` and the like: their texts stand in another file, so the place is the name of that file. */
function include(m: Make, path: string, at: number): void {
  const text = /[$*]/.test(path) ? undefined : m.reading.file(path.replace(/^\.\//, ''));
  if (typeof text === 'string') {
    const where = rangeOf(m.text, at, at + path.length);
    for (const [name, value] of readEnvFile(text.replaceAll(/^(\s*[\w.-]+)\s*[:?]=/gm, '$1='))) {
      m.variables.set(name, { value: unit(value, where) });
    }
  }
}

/** References inside references are followed this far. */
const MAX_DEPTH = 20;
/** More than any command line holds. */
const MAX_TEXT = 100_000;
const REFERENCE = /\$\$|\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\$\{([^{}]*)\}|\$([@<*^?\w])/g;

function expand(m: Make, text: Mapped, target: string, depth = 0): Mapped {
  return replaceIn(text, REFERENCE, (match): Replacement | undefined => {
    if (match[0] === '$$') {
      return { text: '$' };
    }
    const name = (match[1] ?? match[2] ?? match[3] ?? '').trim();
    const [head, what] = /^\$[({](call|if)[ \t]+/.exec(match[0]) ?? [];
    if (head !== undefined && depth <= MAX_DEPTH) {
      const given = argumentsOf(text, match.index + head.length, match[0].slice(head.length, -1));
      return what === 'if' ? chosen(m, given, target, depth) : called(m, given, target, depth);
    }
    return name === '@' ? { text: target } : referenced(m, name, target, depth);
  });
}

/** What stands between the commas of `$(call NAME,a,b)`. */
function argumentsOf(text: Mapped, at: number, written: string): readonly Mapped[] {
  let from = at;
  return written
    .split(/,(?![^()]*\))/)
    .slice(0, 10)
    .map((word) => {
      const start = from;
      from += word.length + 1;
      const argument = part(text, start, start + word.length);
      return withOwnLayers(argument, [{ kind: 'make-argument', range: argument.extent }]);
    });
}

/** `$(if $(KV),--kv-cache-dtype $(KV))`: what is not set in this file is empty. */
function chosen(m: Make, [condition, then, otherwise]: readonly Mapped[], target: string, depth: number): Replacement {
  const name = /^\$[({]([\w.-]+)[)}]$/.exec(condition?.text.trim() ?? '')?.[1];
  const found = name === undefined ? undefined : (m.own.get(target)?.get(name) ?? m.variables.get(name));
  if (name === undefined || found?.differs !== undefined) {
    return { unresolved: `$(if ${condition?.text.trim()}, …) is what Make finds when it runs` };
  }
  const isTrue = found !== undefined && expand(m, found.value, target, depth + 1).text.trim() !== '';
  const branch = isTrue ? then : otherwise;
  return branch ? { mapped: expand(m, branch, target, depth + 1) } : { text: '' };
}

/** `$(call NAME,a,b)`: the variable with `$(1)` and `$(2)` for what it is called with; the others are empty. */
function called(m: Make, [what, ...given]: readonly Mapped[], target: string, depth: number): Replacement {
  const name = what?.text.trim() ?? '';
  const nowhere = m.variables.get(name)?.value.extent ?? { start: 0, end: 0 };
  const words = Array.from({ length: 9 }, (_, i): readonly [string, Variable] => {
    const word = given[i];
    return [
      String(i + 1),
      { value: word ? expand(m, trimmed(word), target, depth + 1) : unit('', nowhere), given: true },
    ];
  });
  const inner: Make = { ...m, variables: new Map([...m.variables, ...words]), expanded: new Map() };
  return referenced(inner, name, target, depth + 1);
}

function referenced(m: Make, name: string, target: string, depth: number): Replacement {
  const words = /^or\s+([\s\S]*)$/.exec(name)?.[1];
  if (words !== undefined) {
    return firstOf(m, name, words.split(/,(?![^()]*\))/), target, depth);
  }
  const variable = m.own.get(target)?.get(name) ?? m.variables.get(name);
  if (!/^[\w.-]+$/.test(name)) {
    return { unresolved: `$(${name}) is what Make finds when it runs` };
  }
  if (!variable) {
    return { unresolved: `${name} is not set in this file` };
  }
  if (variable.differs !== undefined || depth > MAX_DEPTH) {
    return { unresolved: variable.differs ?? `${name} refers to itself` };
  }
  const key = `${target}\n${name}`;
  const mapped = m.expanded.get(key) ?? expand(m, variable.value, target, depth + 1);
  m.expanded.set(key, mapped);
  return mapped.text.length > MAX_TEXT
    ? { unresolved: `${name} is too long` }
    : { mapped, ...(variable.given && { written: true }) };
}

/** `$(or $(M),$(MODEL))`: what is not set in this file is empty. */
function firstOf(m: Make, whole: string, words: readonly string[], target: string, depth: number): Replacement {
  for (const word of words.map((w) => w.trim())) {
    const name = /^\$[({]([\w.-]+)[)}]$/.exec(word)?.[1];
    const found = name === undefined ? undefined : referenced(m, name, target, depth);
    if (name === undefined && /[$]/.test(word)) {
      return { unresolved: `$(${whole}) is what Make finds when it runs` };
    }
    if (name === undefined && word !== '') {
      return { text: word };
    }
    const isSet = name !== undefined && (m.own.get(target)?.has(name) || m.variables.has(name));
    if (found && isSet && !('text' in found && found.text === '') && !('mapped' in found && found.mapped.text === '')) {
      return found;
    }
  }
  return { text: '' };
}

function readRecipe(m: Make, { target, line }: Recipe): void {
  const lead = /^[@+\-\s]*/.exec(line.text)?.[0].length ?? 0;
  const script = expand(m, part(line, lead, line.text.length), target);
  if (!mentionsEngine(script.text, m.reading.engines)) {
    return;
  }
  const layer: Layer = { kind: 'make', range: script.extent };
  const environment = [...m.exported].flatMap((name) => {
    const found = referenced(m, name, target, 0);
    return 'mapped' in found ? [{ name, value: found.mapped }] : [];
  });
  const place = { form: 'makefile' as const, title: target === '' ? baseName(m.reading.input.name) : target };
  readShell(m.reading, { ...script, layers: [...script.layers, layer] }, place, { ...NOTHING, environment });
}
