/**
 * Jupyter notebooks: the code cells one after another, as one program; lines of shell in them (`!vllm serve …`) apart. An
 * editor shows a notebook's cells as texts of their own under its name: such a text is one cell.
 */
import { mentionsEngine } from '../mentions';
import { jsonString } from '../text/json-string';
import { addPart, addUnit, builder, finish, type Mapped, plainText } from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import { baseName, type TextForm } from './form';

export const notebook: TextForm = {
  kind: 'text',
  form: 'notebook',
  names: /\.ipynb$/i,
  recognises: () => false,
  read: (reading, text) => {
    if (!mentionsEngine(text.text, reading.engines)) {
      return;
    }
    const cells = /^\s*\{/.test(text.text) ? codeCells(text) : [linesOf(text)];
    const title = baseName(reading.input.name);
    const constants = constantsOf(cells);
    for (const cell of cells) {
      const language = languageOf(cell[0]?.text ?? '');
      const own =
        language === undefined
          ? filled(
              joined([cell.filter((l) => /^(?:!|%pip\b)/.test(l.text))], () => true, 1),
              constants,
            )
          : joined([cell.slice(1)], () => true);
      if (own.text.trim() !== '') {
        reading.fenced(language ?? 'bash', own, 'notebook', title);
      }
    }
    // After what the shell installs.
    reading.fenced(
      'python',
      joined(cells, (line) => !isMagic(line)),
      'notebook',
      title,
    );
  },
};

/** Of a cell that is no part of the program: `%%bash`, `%%script bash`, `%%writefile run.sh`. */
function languageOf(line: string): string | undefined {
  const name = /^%%(?:script\s+)?(\w+)(?:\s+(?:-\S+\s+)*\S*\.(sh|py)\s*$)?/.exec(line);
  const language = name?.[1] === 'writefile' || name?.[1] === 'file' ? name[2] : name?.[1];
  return language === 'py' ? 'python' : language !== undefined && /^(?:ba|z)?sh$/.test(language) ? 'bash' : undefined;
}

/** Names that the program gives one plain value. */
function constantsOf(cells: readonly (readonly Mapped[])[]): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const line of cells.flat()) {
    const [, name = '', , quoted, number] =
      /^(\w+)\s*=\s*(?:(["'])([^"'\\\n]*)\2|(\d[\d.]*))\s*(?:#.*)?$/.exec(line.text.trimEnd()) ?? [];
    const value = quoted ?? number;
    if (name !== '' && value !== undefined) {
      found.set(name, found.has(name) && found.get(name) !== value ? undefined : value);
    }
  }
  return found;
}

/** `{MODEL}` and `$MODEL` of a line of shell are the program's names. */
const filled = (m: Mapped, constants: ReadonlyMap<string, string | undefined>): Mapped =>
  replaceIn(m, /\{(\w+)\}|\$(\w+)/g, ([whole, braced, bare]): Replacement | undefined => {
    const name = braced ?? bare ?? '';
    const text = constants.get(name);
    if (text !== undefined && !/\s/.test(text)) {
      return { text };
    }
    return braced !== undefined || constants.has(name)
      ? { unresolved: `${whole} is what the program holds when it runs` }
      : undefined;
  });

const isMagic = (line: string): boolean => /^\s*[%!]/.test(line);

/** A cell's lines are strings of a list; each keeps its own quotes. */
function joined(cells: readonly (readonly Mapped[])[], keep: (line: string) => boolean, skip = 0): Mapped {
  const b = builder();
  for (const cell of cells) {
    const whole = /^%%/.test(cell[0]?.text ?? '') ? [] : cell;
    for (const line of skip > 0 || keep('%') ? cell : whole) {
      if (keep(line.text)) {
        const outer = line.layers;
        const segments = line.segments.map((s) => ({ ...s, outer }));
        addPart(b, { ...line, segments }, skip, line.text.length);
      }
      const at = line.extent.end;
      if (!line.text.endsWith('\n')) {
        addUnit(b, '\n', { start: at, end: at }); // it stands nowhere in the file
      }
    }
  }
  return finish(b, [], { start: b.segments[0]?.start ?? 0, end: b.segments.at(-1)?.end ?? 0 });
}

function linesOf({ text }: Mapped): readonly Mapped[] {
  return [...text.matchAll(/[^\n]+\n?|\n/g)].map((line) => plainText(text, line.index, line.index + line[0].length));
}

const STRING = /"((?:[^"\\]|\\[\s\S])*)"/y;

/** By a scan for the keys: a notebook holds its outputs, and they may be megabytes. */
function codeCells(text: Mapped): readonly (readonly Mapped[])[] {
  const found: (readonly Mapped[])[] = [];
  for (const cell of text.text.matchAll(/"cell_type"\s*:\s*"(\w+)"/g)) {
    const next = text.text.indexOf('"cell_type"', cell.index + 1);
    const source = /"source"\s*:\s*(\[?)\s*/g;
    source.lastIndex = cell.index;
    const match = source.exec(text.text);
    if (cell[1] === 'code' && match && (next === -1 || match.index < next)) {
      found.push(strings(text, match.index + match[0].length));
    }
  }
  return found;
}

function strings(text: Mapped, from: number): readonly Mapped[] {
  const lines: Mapped[] = [];
  for (let at = from; ; ) {
    STRING.lastIndex = at;
    const found = STRING.exec(text.text);
    if (!found) {
      return lines;
    }
    lines.push(jsonString(text, at + 1, at + 1 + (found[1] as string).length));
    const comma = /\s*,\s*/y;
    comma.lastIndex = STRING.lastIndex;
    const next = comma.exec(text.text);
    if (!next) {
      return lines;
    }
    at = comma.lastIndex;
  }
}
