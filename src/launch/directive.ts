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
  const places = launches.map((launch) => placeOf(reading, launch));
  const owned = new Map<Launch, Directive[]>();
  const shared: Directive[] = [];
  for (const directive of directives) {
    const owner = ownerOf(reading, directive, places);
    if (owner) {
      listIn(owned, owner).push(directive);
    } else {
      shared.push(directive);
    }
  }
  const holds = holding(reading.text, shared, launches);
  return launches.map((launch) => {
    const all = holds(launch);
    const before = all.filter((d) => d.at < launch.range.start);
    const after = all.filter((d) => d.at >= launch.range.start).reverse();
    const own = owned.get(launch) ?? [];
    const nearest = new Map([...after, ...before, ...own].flatMap((d) => d.entries.map((e) => [e.key, e])));
    return { ...launch, directives: [...nearest.values()] };
  });
}

function listIn<K>(lists: Map<K, Directive[]>, key: K): Directive[] {
  const known = lists.get(key) ?? [];
  lists.set(key, known);
  return known;
}

/** Before any launch it holds for the whole file, later on for the YAML document it stands in. Per document: the last of a key is nearest. */
function holding(
  text: string,
  shared: readonly Directive[],
  launches: readonly Launch[],
): (launch: Launch) => readonly Directive[] {
  const first = launches.reduce((least, l) => Math.min(least, l.range.start), Number.POSITIVE_INFINITY);
  const forAll = shared.filter((d) => d.at < first);
  if (forAll.length === shared.length) {
    return () => forAll;
  }
  const separators = [...text.matchAll(/^---(?:\s|$)/gm)].map((m) => m.index);
  const documentOf = (at: number): number => {
    let [low, high] = [0, separators.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((separators[middle] as number) < at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const byDocument = new Map<number, Directive[]>();
  for (const directive of shared.filter((d) => d.at >= first)) {
    const document = documentOf(directive.at);
    listIn(byDocument, document).push(directive);
  }
  return (launch) => [...forAll, ...(byDocument.get(documentOf(launch.range.start)) ?? [])];
}

interface Place {
  readonly launch: Launch;
  readonly line: number;
  /** Where the line of its last character ends. */
  readonly end: number;
}

const placeOf = (reading: Reading, launch: Launch): Place => ({
  launch,
  line: reading.lines().line(launch.range.start),
  end: lineEnd(reading.text, launch.range.end),
});

/** The innermost launch a directive stands in, or directly above; undefined = the whole file. */
function ownerOf(reading: Reading, directive: Directive, places: readonly Place[]): Launch | undefined {
  const size = (l: Launch) => l.range.end - l.range.start;
  const around = places.filter(({ launch, end }) => launch.range.start <= directive.at && directive.at < end);
  const inner = around.map((p) => p.launch).sort((a, b) => size(a) - size(b))[0];
  return inner ?? places.find((p) => isDirectlyAbove(reading, directive, p.line))?.launch;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** A comment longer than this belongs to no launch. */
const MOST_COMMENT_LINES = 200;

/** Only comment lines stand between. */
function isDirectlyAbove(reading: Reading, directive: Directive, line: number): boolean {
  if (directive.line >= line || line - directive.line > MOST_COMMENT_LINES) {
    return false;
  }
  const start = reading.lines().offset({ line: directive.line + 1, column: 1 });
  const end = reading.lines().offset({ line, column: 1 });
  return /^(?:[ \t]*(?:#|\/\/|;|--)[^\n]*\r?\n?)*$/.test(reading.text.slice(start, end));
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

/** A directive is not longer: the rest of a line without end is none of it. */
const LONGEST = 2000;

const LINE_END = /[\r\n]|$/g;

function endOfLine(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return Math.min(LINE_END.exec(text)?.index ?? text.length, from + LONGEST);
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
