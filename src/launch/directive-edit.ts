/** Writing what no engine reads into a file: as a directive, in a comment of the file's own syntax. */
import type { TextEdit } from './edit';
import type { DirectiveEntry, DirectiveKey, Launch, TextRange } from './launch';

/**
 * Gives one of the file's launches this entry: over the one that is its own, else on its own line of directives, which is
 * made above it when there is none. A directive that other launches share stays as it is. Nothing where the file has no
 * comments (JSON), where a line above the launch would not be one, or would speak of another launch on the same line.
 */
export function editDirective(
  { launch, launches }: { readonly launch: Launch; readonly launches: readonly Launch[] },
  text: string,
  key: DirectiveKey,
  value: string,
): readonly TextEdit[] {
  const written = /^[^\s"'=]+$/.test(value) ? value : `"${value.replaceAll('"', '')}"`;
  const own = launch.directives.filter((d) => launches.length === 1 || isOwn(launch, text, d));
  const entry = own.findLast((d) => d.key === key);
  if (entry) {
    return [{ range: quoted(text, entry.valueRange), text: written }];
  }
  const beside = own.at(-1);
  if (beside) {
    return [at(beside.range.end, ` ${key}=${written}`)];
  }
  const start = lineStart(text, launch.range.start);
  const comment = commentOf(launch.file, text.slice(start, launch.range.start));
  const second = launches.some(({ range }) => range.start >= start && range.start < launch.range.start);
  if (comment === undefined || second || continues(text, start)) {
    return [];
  }
  const indent = /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return [at(start, `${indent}${comment} kv-planner: ${key}=${written}${eol}`)];
}

/** It stands in the launch, or in the comments directly above it. */
function isOwn({ range }: Launch, text: string, entry: DirectiveEntry): boolean {
  const between = text.slice(entry.range.end, lineStart(text, range.start));
  const above = entry.range.start < range.start && /^[^\n]*\n(?:[ \t]*(?:#|\/\/|;|--|REM|::)[^\n]*\n)*$/i.test(between);
  return above || (entry.range.start >= range.start && entry.range.end <= lineEnd(text, range.end));
}

const at = (place: number, text: string): TextEdit => ({ range: { start: place, end: place }, text });

/** With the quotes around it. */
function quoted(text: string, { start, end }: TextRange): TextRange {
  const mark = text[start - 1];
  return mark === text[end] && (mark === '"' || mark === "'") ? { start: start - 1, end: end + 1 } : { start, end };
}

const lineStart = (text: string, place: number): number => text.lastIndexOf('\n', place - 1) + 1;

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** The line before it ends in a continuation: a comment there would end the command. */
const continues = (text: string, start: number): boolean =>
  /[\\`^]\r?\n$/.test(text.slice(Math.max(0, start - 3), start));

/** Undefined where the file has none. What stands before the launch on its line must be white space or a list's dash. */
function commentOf(file: string, before: string): string | undefined {
  if (/\.(?:bat|cmd)$/i.test(file)) {
    return 'REM';
  }
  if (/\.jsonc$/i.test(file)) {
    return '//';
  }
  return /\.(?:json|ipynb)$/i.test(file) || /^[ \t]*[[{]/.test(before) ? undefined : '#';
}
