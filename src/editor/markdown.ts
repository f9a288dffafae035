/** Markdown that shows text from a file as text: nothing in it can format, link, run a command or reorder what is read. */
import { clean } from '../report/document';

const LONGEST = 400;

/** What starts formatting, a link, an image, HTML, a theme icon or a table cell anywhere in a line. */
const SPECIAL = /[\\`*_[\]<>&|~$@]/g;
/** What starts a block at the start of a line: headings, lists, rules, quotes. */
const OPENING = /^\s*(?=[-+#=])|^(\s*\d+)(?=[.)](?:\s|$))/;
/** What editors make a link of without being told. */
const ADDRESS = /:(?=\/)|(?<=\bwww)\./gi;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/**
 * Text from a file in a message, a title or a prompt: the editor makes links of `[words](command:…)` there, and icons of
 * `$(name)`, so neither is left together.
 */
export const plain = (text: string): string =>
  cut(clean(text)).replaceAll('](', ']\u2009(').replaceAll('$(', '$\u2009(');

/** Text from a file, as text on one line. */
export const escaped = (text: string): string =>
  cut(clean(text)).replace(SPECIAL, '\\$&').replace(ADDRESS, '\\$&').replace(OPENING, '$1\\');

/** A code span around any text: its fence is longer than every run of backticks inside. */
export function code(text: string): string {
  const inside = cut(clean(text));
  const longest = Math.max(0, ...[...inside.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 || inside.startsWith(' ') || inside === '' ? ' ' : '';
  return `${fence}${space}${inside}${space}${fence}`;
}

export const bold = (text: string): string => `**${escaped(text)}**`;

/** A link that runs one of our own commands; the arguments travel as JSON. */
export function commandLink(label: string, command: string, args: readonly unknown[]): string {
  const query = encodeURIComponent(JSON.stringify(args)).replace(
    /[()!'*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `[${escaped(label)}](command:${command}?${query})`;
}

/**
 * A table of cells that are text. `right` columns hold numbers; all columns but the last stay on one line. Hovers give cells
 * no room, and a space of any kind at their end is cut off unless it is an entity.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[]): string {
  const cell = (text: string, i: number): string =>
    i < head.length - 1 ? `${escaped(text).replaceAll(' ', '\u00a0')}&nbsp;&nbsp;` : escaped(text);
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const rule = `|${head.map((_, i) => (right.includes(i) ? '---:' : '---')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
