/** Markdown that shows text from a file as text: nothing in it can format, link, run a command or reorder what is read. */

/** Characters that are not seen but change what is seen: controls, bidi marks and overrides, zero-width ones. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const PUNCTUATION = /[!-/:-@[-`{-~]/g;
const LONGEST = 200;

const named = (char: string): string =>
  /\s/.test(char) ? ' ' : `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** The text on one line, with invisible characters named and an end to its length. */
export function plain(text: string): string {
  const visible = text.replace(INVISIBLE, named);
  return visible.length > LONGEST ? `${visible.slice(0, LONGEST)}…` : visible;
}

/** Text from a file, as text: CommonMark lets every ASCII punctuation character be escaped. */
export const escaped = (text: string): string => plain(text).replace(PUNCTUATION, '\\$&');

/** A code span around any text: its fence is longer than every run of backticks inside. */
export function code(text: string): string {
  const inside = plain(text);
  const longest = Math.max(0, ...[...inside.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 || inside.startsWith(' ') || inside === '' ? ' ' : '';
  return `${fence}${space}${inside}${space}${fence}`;
}

export const bold = (text: string): string => `**${escaped(text)}**`;

/** A link that runs one of our own commands; the arguments travel as JSON. */
export function commandLink(label: string, command: string, args: readonly unknown[], title = label): string {
  const query = encodeURIComponent(JSON.stringify(args)).replace(
    /[()!'*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `[${escaped(label)}](command:${command}?${query} "${plain(title).replace(/["\\]/g, '')}")`;
}

/** A table of cells that are text. `right` columns hold numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  const rule = `|${head.map((_, i) => (right.includes(i) ? '---:' : '---')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
