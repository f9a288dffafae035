/** `# kv-planner: key=value …`: what a file says to this planner in a comment. */
import { DIRECTIVES, isDirectiveKey } from './directive-keys';
import type { DirectiveEntry, Launch, TextRange } from './launch';
import type { Reading } from './reading';

const MARK = 'kv-planner:';

/** The part of a line of text that is a directive's entries, or undefined: what completion and signature help look at. */
export function directiveIn(line: string): string | undefined {
  const at = line.indexOf(MARK);
  return at >= 0 && opensComment(line.slice(0, at)) ? line.slice(at + MARK.length) : undefined;
}

interface Directive {
  readonly line: number;
  readonly at: number;
  readonly entries: readonly DirectiveEntry[];
}

/** Gives each launch the entries that hold for it: the nearest of a key. */
export function withDirectives(reading: Reading, launches: readonly Launch[]): readonly Launch[] {
  if (!reading.text.includes(MARK)) {
    return launches;
  }
  const directives = [...findDirectives(reading)];
  const owners = directives.map((d) => ownerOf(reading, d, launches));
  return launches.map((launch) => {
    const shared = directives.filter(
      (d, i) => owners[i] === undefined && holdsFor(reading.text, d.at, launch, launches),
    );
    const before = shared.filter((d) => d.at < launch.range.start);
    const after = shared.filter((d) => d.at >= launch.range.start).reverse();
    const own = directives.filter((_, i) => owners[i] === launch);
    const nearest = new Map([...after, ...before, ...own].flatMap((d) => d.entries.map((e) => [e.key, e])));
    return { ...launch, directives: [...nearest.values()] };
  });
}

/** Before any launch it holds for the whole file, later on for the YAML document it stands in. */
function holdsFor(text: string, at: number, launch: Launch, launches: readonly Launch[]): boolean {
  const between = text.slice(Math.min(at, launch.range.start), Math.max(at, launch.range.start));
  return launches.every((l) => at < l.range.start) || !/^---(?:\s|$)/m.test(between);
}

/** The innermost launch a directive stands in, or directly above; undefined = the whole file. */
function ownerOf(reading: Reading, directive: Directive, launches: readonly Launch[]): Launch | undefined {
  const size = (l: Launch) => l.range.end - l.range.start;
  const around = launches.filter(
    (l) => l.range.start <= directive.at && directive.at < lineEnd(reading.text, l.range.end),
  );
  const inner = around.sort((a, b) => size(a) - size(b))[0];
  return inner ?? launches.find((l) => isDirectlyAbove(reading, directive, reading.lines().line(l.range.start)));
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Only comment lines stand between. */
function isDirectlyAbove(reading: Reading, directive: Directive, line: number): boolean {
  const start = reading.lines().offset({ line: directive.line + 1, column: 1 });
  const end = reading.lines().offset({ line, column: 1 });
  return directive.line < line && /^(?:[ \t]*(?:#|\/\/|;|--)[^\n]*\r?\n?)*$/.test(reading.text.slice(start, end));
}

function* findDirectives(reading: Reading): Generator<Directive> {
  const { text } = reading;
  const lines = reading.lines();
  for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, at + MARK.length)) {
    const line = lines.line(at);
    const lineStart = lines.offset({ line, column: 1 });
    if (opensComment(text.slice(lineStart, at))) {
      const from = at + MARK.length;
      yield { line, at, entries: [...readEntries(reading, { start: from, end: endOfLine(text, from) })] };
    }
  }
}

const opensComment = (before: string): boolean => /(?:^|\s)(?:#+|\/\/+|;+|--|REM|::)\s*$/i.test(before);

function endOfLine(text: string, from: number): number {
  const found = /[\r\n]/.exec(text.slice(from, from + 2000));
  return found ? from + found.index : Math.min(text.length, from + 2000);
}

const ENTRY = /([^\s=]+)(?:=("[^"]*"|'[^']*'|\S*))?/g;

function* readEntries(reading: Reading, part: TextRange): Generator<DirectiveEntry> {
  for (const found of reading.text.slice(part.start, part.end).matchAll(ENTRY)) {
    const start = part.start + found.index;
    const range = { start, end: start + found[0].length };
    const key = found[1] as string;
    const written = found[2];
    const quoted = written !== undefined && /^(["']).*\1$/s.test(written) && written.length > 1 ? 1 : 0;
    const value = written?.slice(quoted, written.length - quoted) ?? '';
    if (!isDirectiveKey(key)) {
      reading.problem(`kv-planner: unknown key “${key}”; known are ${Object.keys(DIRECTIVES).join(', ')}`, range);
    } else if (value === '') {
      reading.problem(`kv-planner: “${key}” needs a value, as in ${key}=…`, range);
    } else {
      const valueStart = start + key.length + 1 + quoted;
      yield {
        key,
        value,
        range,
        valueRange: { start: valueStart, end: valueStart + value.length },
      };
    }
  }
}
