/** PowerShell scripts: commands with backticks at line ends, `$X`, `$env:X`, arrays and splats. */
import { mentionsEngine } from '../mentions';
import { type PsStatement, type PsValue, type PsWord, readStatements } from '../powershell/lex';
import type { Reading } from '../reading';
import { addPart, addUnit, builder, finish, type Mapped, unknown } from '../text/mapped';
import { readCommand } from '../words/terminal';
import type { Variable } from '../words/variable';
import { windowsWords } from '../words/windows';
import { baseName, type TextForm } from './form';

export const powershell: TextForm = {
  kind: 'text',
  form: 'powershell',
  names: /\.psm?1$/i,
  recognises: (head) => /^\uFEFF?#!.*\bpwsh\b/.test(head),
  fences: ['powershell', 'ps1', 'pwsh', 'ps'],
  read: (reading, text) => {
    if (mentionsEngine(text.text, reading.engines)) {
      readPowerShell(reading, text);
    }
  },
};

interface Script {
  readonly reading: Reading;
  readonly variables: Map<string, PsValue>;
  /** In which block each was set. */
  readonly depths: Map<string, number>;
}

function readPowerShell(reading: Reading, m: Mapped): void {
  const s: Script = { reading, variables: new Map(), depths: new Map() };
  const lookup = (name: string): PsValue =>
    s.variables.get(name) ?? `${name.replace(/^env:/, '')} is not set in this file`;
  readStatements({ m, lookup }, (statement) => readStatement(s, statement));
}

function readStatement(s: Script, statement: PsStatement): void {
  const { words } = statement;
  // `[int]$Ctx = 8192, [string]$Model` of a `param( )` block are assignments too.
  const equals = words.findIndex((w) => w.sign === '=' || w.sign === '+=');
  if (/^(?:if|elseif|while|foreach|for|switch|function|else|return)$/i.test(words[0]?.text.text ?? '')) {
    return;
  }
  if (/^param$/i.test(words[0]?.text.text ?? '')) {
    parameters(s, words);
  } else if (equals > 0 && words[equals - 1]) {
    assign(s, words[equals - 1] as PsWord, words[equals]?.sign === '+=', words.slice(equals + 1), statement.depth);
  } else {
    run(s, words);
  }
}

function parameters(s: Script, words: readonly PsWord[]): void {
  words.forEach((w, i) => {
    const name = variableOf(w);
    const next = words[i + 1]?.sign === '=' ? words[i + 2] : undefined;
    if (name !== undefined && words[i - 1]?.sign !== '=') {
      s.variables.set(name, next ? [next.text] : `${name} is what the script is called with`);
    }
  });
}

/** Types may stand before it: `[int]$Ctx`. */
const variableOf = (w: PsWord): string | undefined =>
  w.variable ?? /^(?:\[[\w.[\]]+\])+\$(\w+)$/.exec(w.text.text)?.[1]?.toLowerCase();

function assign(s: Script, target: PsWord, adds: boolean, words: readonly PsWord[], depth: number): void {
  const name = variableOf(target);
  if (name === undefined) {
    return;
  }
  const read = valueIn(words);
  const long = typeof read !== 'string' && textOf([...read, ...(adds ? known(s, name) : [])]).length > MAX_TEXT;
  const value = long ? `${name} is too long` : read;
  const before = s.variables.get(name);
  const outside = (s.depths.get(name) ?? depth) !== depth && before !== undefined;
  if (adds && typeof before !== 'string' && typeof value !== 'string') {
    const reason = `${name} gets this in one branch only`;
    s.variables.set(name, [...(before ?? []), ...(outside ? value.map((w) => maybe(w, reason)) : value)]);
    return;
  }
  const same = typeof before !== 'string' && typeof value !== 'string' && textOf(before ?? []) === textOf(value);
  s.variables.set(name, outside && !same ? `${name} is set differently in branches` : value);
  s.depths.set(name, depth);
}

const maybe = (word: Mapped, reason: string): Mapped => ({
  ...word,
  segments: word.segments.map((x) => ({ ...x, maybe: reason })),
});

/** More than any command line holds. */
const MAX_TEXT = 100_000;

function known(s: Script, name: string): readonly Mapped[] {
  const value = s.variables.get(name);
  return typeof value === 'string' ? [] : (value ?? []);
}

const textOf = (words: readonly Mapped[]): string => words.map((w) => w.text).join('\0');

/** One word, or a list of them; anything else is computed. */
function valueIn(given: readonly PsWord[]): PsValue {
  const path = joinedPath(given);
  if (path) {
    return [path];
  }
  const words = computed(given);
  const plain = words.filter((w) => w.sign === undefined);
  const signs = words.filter((w) => w.sign !== undefined).map((w) => w.sign);
  if (plain.length === 1 || signs.every((x) => x === ',' || x === '@(' || x === ')' || x === '(')) {
    const isList = signs.length > 0;
    const rest = plain.slice(1).some((w) => /^-/.test(w.text.text) && !isList);
    return rest || (plain.length > 1 && !isList) ? COMPUTED : plain.flatMap((w) => w.list ?? [w.text]);
  }
  return COMPUTED;
}

const BRACKETS = /[()]$/;

/** `($Ctx * 2)` is one word that is computed; `(Join-Path $Here "x.exe")` names a program. */
function computed(words: readonly PsWord[]): readonly PsWord[] {
  const found: PsWord[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as PsWord;
    const end = word.sign === '(' ? nextBracket(words, i + 1) : -1;
    const inner = words[end]?.sign === ')' ? words.slice(i + 1, end) : [];
    if (inner.filter((w) => w.sign === undefined).length > 1) {
      found.push({ text: joinedPath(inner) ?? notKnown(word.text, inner) });
      i = end;
    } else {
      found.push(word);
    }
  }
  return found;
}

/** Looked for from there on: in a row of brackets each finds the next one. */
function nextBracket(words: readonly PsWord[], from: number): number {
  let at = from;
  while (at < words.length && !BRACKETS.test(words[at]?.sign ?? '')) {
    at++;
  }
  return at;
}

function notKnown(open: Mapped, inner: readonly PsWord[]): Mapped {
  const where = { start: open.extent.start, end: (inner.at(-1)?.text.extent.end ?? open.extent.end) + 1 };
  return unknown(`(${inner.map((w) => w.text.text).join(' ')})`, where, COMPUTED);
}

const COMPUTED = 'it is computed when the script runs';

/** `Join-Path $Folder "llama-server.exe"`, with `-Path` and `-ChildPath` or without. */
function joinedPath(words: readonly PsWord[]): Mapped | undefined {
  const parts = words
    .slice(1)
    .filter((w) => w.sign === undefined && !/^-(?:Additional)?(?:Child)?Path$/i.test(w.text.text));
  if (!/^join-path$/i.test(words[0]?.text.text ?? '') || parts.length === 0) {
    return undefined;
  }
  const b = builder();
  parts.forEach(({ text }, i) => {
    if (i > 0) {
      addUnit(b, '\\', { start: text.extent.start, end: text.extent.start });
    }
    addPart(b, text, 0, text.text.length);
  });
  const extent = { start: parts[0]?.text.extent.start ?? 0, end: parts.at(-1)?.text.extent.end ?? 0 };
  return finish(b, [{ kind: 'pieces', range: extent }], extent);
}

function run(s: Script, given: readonly PsWord[]): void {
  const words = computed(given);
  const own = words.filter((w) => w.sign === undefined);
  const plain = own.flatMap((w) => w.list ?? [w.text]);
  const closed = own.at(-1)?.list !== undefined || words.some((w) => w.sign === '@(');
  const command = started(plain);
  if (command.length === 0) {
    return;
  }
  const environment: readonly Variable[] = [...s.variables].flatMap(([name, value]) => {
    const [only] = typeof value === 'string' ? [] : value;
    return name.startsWith('env:') && only ? [{ name: name.slice(4).toUpperCase(), value: only }] : [];
  });
  const title = baseName(s.reading.input.name);
  readCommand(s.reading, { words: command, environment, form: 'powershell', title, bare: 'ps-bare', closed });
}

/** `Start-Process -FilePath X -ArgumentList "…"`, `Start-Process X @("…")`. */
function started(words: readonly Mapped[]): readonly Mapped[] {
  if (/^(?:invoke-expression|iex)$/i.test(words[0]?.text ?? '')) {
    const text = words.slice(1).find((w) => !/^-Command$/i.test(w.text));
    return text ? windowsWords(text, false) : [];
  }
  if (!/^(?:start-process|saps|start)$/i.test(words[0]?.text ?? '')) {
    return words;
  }
  const rest = words
    .slice(1)
    .filter(
      (w) =>
        !/^-(?:FilePath|ArgumentList|Args|NoNewWindow|Wait|PassThru|WindowStyle|RedirectStandard\w+|WorkingDirectory)$/i.test(
          w.text,
        ),
    );
  const [program, ...given] = rest;
  return program ? [program, ...given.flatMap((w) => (isText(w, given.length) ? windowsWords(w, false) : [w]))] : [];
}

/** Arguments in one string, or `"-m x.gguf"` among others; a path with a space in it is one. */
const isText = (w: Mapped, count: number): boolean => /\s/.test(w.text) && (count === 1 || /^-/.test(w.text));
