/** Windows batch scripts: `set X=…`, `%X%`, lines that `^` continues. */
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { logicalLines } from '../text/logical-lines';
import { type Mapped, part, unresolvedIn } from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import { readCommand } from '../words/terminal';
import { windowsWords } from '../words/windows';
import { baseName, type TextForm } from './form';

export const batch: TextForm = {
  kind: 'text',
  form: 'batch',
  names: /\.(?:bat|cmd)$/i,
  recognises: (head) => /^\uFEFF?@echo off\b/i.test(head),
  fences: ['bat', 'batch', 'cmd', 'dosbatch'],
  read: (reading, text) => {
    if (mentionsEngine(text.text, reading.engines)) {
      readBatch(reading, text);
    }
  },
};

interface Script {
  readonly reading: Reading;
  readonly text: Mapped;
  readonly variables: Map<string, { readonly value: Mapped; readonly differs?: string }>;
  /** Blocks of `if` and `for` around the line. */
  depth: number;
  label: string | undefined;
}

function readBatch(reading: Reading, text: Mapped): void {
  const s: Script = { reading, text, variables: new Map(), depth: 0, label: undefined };
  for (const { from, to } of logicalLines(text.text, '^')) {
    readLine(s, part(text, from, to));
  }
}

function readLine(s: Script, line: Mapped): void {
  const written = line.text;
  const label = /^\s*:([A-Za-z]\w*)/.exec(written);
  if (label) {
    s.label = label[1];
    return;
  }
  if (/^[\s@(]*(?:rem\b|::)/i.test(written)) {
    return;
  }
  const conditional = /^[\s@)]*(?:if|else|for)\b/i.test(written);
  // `if "%X%"=="" set X=…` is a default.
  const isDefault = /^[\s@]*if\s+(?:not\s+defined\s+(\w+)|"?%(\w+)%"?\s*==\s*"")\s+set\s+"?(\w+)=/i.exec(written);
  const defaults = isDefault !== null && (isDefault[1] ?? isDefault[2])?.toUpperCase() === isDefault[3]?.toUpperCase();
  for (const command of commandsOf(filled(s, line))) {
    readStatement(s, command, conditional && !defaults);
  }
  s.depth = Math.max(
    0,
    s.depth + (written.match(/\((?=\s*(?:$|rem))/gim)?.length ?? 0) - (/^\s*\)/.test(written) ? 1 : 0),
  );
}

const FROM_CALLER = 'is what the script is called with';

const REFERENCE = /%%(\w)|%~?[a-z]*(\d|\*)|%([\w.]+)(:[^%\n]*)?%|!([\w.]+)!/gi;

function filled(s: Script, line: Mapped): Mapped {
  return replaceIn(line, REFERENCE, (match): Replacement | undefined => {
    const [whole, loop, argument, name, changed, delayed] = match;
    if (loop !== undefined) {
      return { unresolved: `${whole} takes several values in a loop` };
    }
    if (argument !== undefined) {
      // The script's own folder is part of many paths.
      return whole.toLowerCase() === '%~dp0' ? { text: '' } : { unresolved: `${whole} ${FROM_CALLER}` };
    }
    const variable = s.variables.get((name ?? delayed ?? '').toUpperCase());
    if (changed) {
      return { unresolved: `${whole} changes ${name}` };
    }
    if (!variable) {
      return { unresolved: `${name ?? delayed} is not set in this file` };
    }
    return variable.differs === undefined ? { mapped: variable.value } : { unresolved: variable.differs };
  });
}

/** What stands between `&`, `|` and brackets, outside of quotes. */
function commandsOf(line: Mapped): readonly Mapped[] {
  const found: Mapped[] = [];
  let from = 0;
  let quoted = false;
  for (let i = 0; i <= line.text.length; i++) {
    const c = line.text[i];
    if (c === '"') {
      quoted = !quoted;
    } else if (c === '^') {
      i++;
    } else if (
      c === undefined ||
      (!quoted && /[&|()]/.test(c) && !(c === '(' || c === ')')) ||
      (!quoted && (c === '(' || c === ')') && isBlock(line.text, i, from))
    ) {
      found.push(part(line, from, i));
      from = i + 1;
    }
  }
  return found.filter((m) => m.text.trim() !== '');
}

/** A bracket at the start or end of a command opens or closes a block; within words it is text. */
const isBlock = (text: string, at: number, from: number): boolean =>
  text[at] === '('
    ? /^\s*$|^\s*(?:if|else|for)\b/i.test(text.slice(from, at))
    : /^\s*(?:$|else\b)/i.test(text.slice(at + 1)) || /^\s*$/.test(text.slice(from, at));

const SET = /^[\s@]*set\s+(\/[ap]\s+)?(")?([^=\s"]+)\s*=/i;

function readStatement(s: Script, command: Mapped, conditional: boolean): void {
  const set = SET.exec(command.text);
  const lead =
    /^[\s@]*(?:(?:else\s+)?if\s+(?:\/i\s+)?(?:not\s+)?(?:(?:defined|exist|errorlevel)\s+\S+|\S+\s*(?:==|equ|neq|lss|gtr|leq|geq)\s*\S+)\s+|else\s+|call\s+)*/i.exec(
      command.text,
    );
  const inner = lead && lead[0] !== '' ? part(command, lead[0].length, command.text.length) : command;
  const setInner = set ? undefined : SET.exec(inner.text);
  if (set) {
    assign(s, command, set, conditional || s.depth > 0);
  } else if (setInner) {
    assign(s, inner, setInner, conditional || s.depth > 0);
  } else {
    runCommand(s, inner);
  }
}

/** More than any command line holds. */
const MAX_TEXT = 100_000;

function assign(s: Script, command: Mapped, set: RegExpExecArray, conditional: boolean): void {
  const [head, option, quote, name = ''] = set;
  const written = command.text.slice(head.length);
  const end = head.length + (quote ? Math.max(written.lastIndexOf('"'), 0) : written.trimEnd().length);
  const value = part(command, head.length, end);
  const key = name.toUpperCase();
  const before = s.variables.get(key);
  if (conditional && before && unresolvedIn(value)?.endsWith(FROM_CALLER)) {
    // What stands there is the default.
    return;
  }
  const differs =
    value.text.length > MAX_TEXT
      ? `${name} is too long`
      : option !== undefined
        ? `${name} is computed when the script runs`
        : conditional && before && before.value.text !== value.text && !/^[\s@]*if\s+not\s+defined/i.test(command.text)
          ? `${name} is set differently in branches`
          : undefined;
  s.variables.set(key, {
    value: value.text.length > MAX_TEXT ? part(value, 0, 0) : value,
    ...(differs === undefined ? {} : { differs }),
  });
}

function runCommand(s: Script, command: Mapped): void {
  const commands = started(windowsWords(command, true)).filter((words) => words.length > 0);
  if (commands.length === 0) {
    return;
  }
  const environment = [...s.variables].flatMap(([name, v]) =>
    v.differs === undefined ? [{ name, value: v.value }] : [],
  );
  const title = s.label ?? baseName(s.reading.input.name);
  for (const words of commands) {
    readCommand(s.reading, { words, environment, form: 'batch', title, bare: 'batch-bare' });
  }
}

/** Commands inside commands are followed this far. */
const MAX_DEPTH = 8;

/** `start "title" /D FOLDER /B program …`, `cmd /k program …`: the commands inside. */
function started(words: readonly Mapped[], depth = 0): readonly (readonly Mapped[])[] {
  if (depth > MAX_DEPTH) {
    return [];
  }
  const program = words[0]?.text.toLowerCase() ?? '';
  if (/(?:^|\\)cmd(?:\.exe)?$/.test(program)) {
    const at = words.findIndex((w) => /^\/[ck]$/i.test(w.text));
    return at === -1 ? [] : inside(words.slice(at + 1), depth + 1);
  }
  if (program !== 'start') {
    return [words];
  }
  let at = 1;
  let titled = false;
  for (let word = words[at]; word; word = words[at]) {
    if (/^\/d$/i.test(word.text)) {
      at += 2;
    } else if (word.text.startsWith('/')) {
      at++;
    } else if (!titled && isQuoted(word)) {
      titled = true;
      at++;
    } else {
      break;
    }
  }
  return started(words.slice(at), depth + 1);
}

/** The command is the rest of the line, or stands in quotes of its own. */
function inside(words: readonly Mapped[], depth: number): readonly (readonly Mapped[])[] {
  const [only] = words;
  return only && words.length === 1 && /\s/.test(only.text)
    ? commandsOf(only).flatMap((c) => started(windowsWords(c, true), depth))
    : started(words, depth);
}

const isQuoted = (w: Mapped): boolean => w.segments[0]?.outer?.at(-1)?.kind === 'batch-quoted';
