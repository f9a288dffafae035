/**
 * Sections of `key = value` lines, with their places: INI files, systemd units, `.env` files. The grammar for INI knows
 * no continued lines and no key without a value, and units have both.
 */
import type { TextRange } from '../launch';
import { addPart, addUnit, builder, finish, type Mapped, plainText, rangeOf } from './mapped';

export interface IniSection {
  /** Empty for what stands before the first heading. */
  readonly name: string;
  /** The name in its brackets. */
  readonly nameRange: TextRange;
  /** From its heading to its last line that says something. */
  readonly range: TextRange;
  readonly settings: readonly IniSetting[];
}

export interface IniSetting {
  readonly key: string;
  readonly keyRange: TextRange;
  /** Without white space around; lines that go on are joined by a space. */
  readonly value: Mapped;
  /** Key to the end of the last line, without line end. */
  readonly range: TextRange;
}

export interface IniStyle {
  /** A backslash at the end joins the next line; comment lines between do not count. */
  readonly continued?: boolean;
  /** A comment may follow a value, after white space. */
  readonly trailing?: RegExp;
}

/** More lines than this no such file has. */
const MOST_LINES = 200_000;

/** Of a whole text, or of a part of one. */
export function readIni(given: string | Mapped, style: IniStyle): readonly IniSection[] {
  const m = typeof given === 'string' ? plainText(given, 0, given.length) : given;
  const { text } = m;
  const lines = [...linesIn(text)].slice(0, MOST_LINES);
  const sections: { name: string; nameRange: TextRange; range: TextRange; settings: IniSetting[] }[] = [
    { name: '', nameRange: { start: 0, end: 0 }, range: { start: 0, end: 0 }, settings: [] },
  ];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as TextRange;
    const current = sections.at(-1) as (typeof sections)[number];
    const written = text.slice(line.start, line.end);
    const heading = /^[ \t\uFEFF]*\[([^\]\n]*)\]/.exec(written);
    if (heading) {
      const start = line.start + written.indexOf('[') + 1;
      const end = start + (heading[1] as string).length;
      const nameRange = rangeOf(m, start, end);
      const range = rangeOf(m, start - 1, end + 1);
      sections.push({ name: (heading[1] as string).trim(), nameRange, range, settings: [] });
      continue;
    }
    if (isComment(written)) {
      continue;
    }
    const from = i;
    while (style.continued && goesOn(text, lines[i] as TextRange) && i + 1 < lines.length) {
      i = nextLine(text, lines, i);
    }
    const setting = settingIn(m, lines.slice(from, i + 1), style);
    if (setting) {
      current.settings.push(setting);
      current.range = { start: current.range.start, end: setting.range.end };
    }
  }
  return sections;
}

function* linesIn(text: string): Generator<TextRange> {
  let start = 0;
  for (const found of text.matchAll(/\r\n?|\n/g)) {
    yield { start, end: found.index };
    start = found.index + found[0].length;
  }
  yield { start, end: text.length };
}

const isComment = (line: string): boolean => /^[ \t\uFEFF]*(?:[;#]|$)/.test(line);

const goesOn = (text: string, line: TextRange): boolean => line.end > line.start && text[line.end - 1] === '\\';

/** Comments between do not end what goes on. */
function nextLine(text: string, lines: readonly TextRange[], at: number): number {
  let next = at + 1;
  while (next + 1 < lines.length && /^[ \t]*[;#]/.test(slice(text, lines[next] as TextRange))) {
    next++;
  }
  return next;
}

const slice = (text: string, r: TextRange): string => text.slice(r.start, r.end);

function settingIn(m: Mapped, lines: readonly TextRange[], style: IniStyle): IniSetting | undefined {
  const { text } = m;
  const first = lines[0] as TextRange;
  const match = /^([ \t\uFEFF]*(?:export[ \t]+)?)([^\s=:#;[\]"'\\][^\s=]*)[ \t]*=/.exec(slice(text, first));
  if (!match) {
    return undefined;
  }
  const keyStart = first.start + (match[1] as string).length;
  const key = match[2] as string;
  const b = builder();
  lines.forEach((line, i) => {
    const from = i === 0 ? first.start + match[0].length : line.start;
    addLine(m, { start: from, end: line.end }, i + 1 < lines.length, style, b);
  });
  const valueAt = first.start + match[0].length;
  const start = b.segments[0]?.start ?? rangeOf(m, valueAt - 1, valueAt).end;
  const extent = { start, end: b.segments.at(-1)?.end ?? start };
  if (b.segments.length === 0) {
    addUnit(b, '', { start, end: start });
  }
  const keyRange = rangeOf(m, keyStart, keyStart + key.length);
  return {
    key,
    keyRange,
    value: finish(b, m.layers, extent),
    range: { start: keyRange.start, end: Math.max(extent.end, keyRange.end) },
  };
}

function addLine(m: Mapped, line: TextRange, more: boolean, style: IniStyle, b: ReturnType<typeof builder>): void {
  const written = slice(m.text, line);
  if (b.segments.length > 0 && /^[ \t]*[;#]/.test(written)) {
    return;
  }
  const plain = more ? written.slice(0, -1) : written;
  const cut = style.trailing?.exec(plain)?.index ?? plain.length;
  const body = plain.slice(0, cut).trimEnd();
  const lead = body.length - body.trimStart().length;
  if (body.length === lead) {
    return;
  }
  if (b.text !== '') {
    const at = rangeOf(m, line.start + lead, line.start + lead + 1).start;
    addUnit(b, ' ', { start: at, end: at });
  }
  addPart(b, m, line.start + lead, line.start + body.length);
}
