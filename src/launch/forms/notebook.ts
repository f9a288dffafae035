/**
 * Jupyter notebooks: the code cells one after another, as one program; lines of shell in them (`!vllm serve …`) apart. An
 * editor shows a notebook's cells as texts of their own under its name: such a text is one cell.
 */
import { mentionsEngine } from '../mentions';
import { jsonString } from '../text/json-string';
import { addExact, addPart, builder, finish, type Mapped, plainText } from '../text/mapped';
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
    for (const cell of cells) {
      const shell = /^%%(?:bash|sh)\b/.test(cell[0]?.text ?? '')
        ? joined([cell.slice(1)], () => true)
        : joined([cell.flatMap((l) => (/^(?:!|%pip\b)/.test(l.text) ? [l] : []))], () => true, 1);
      if (shell.text.trim() !== '') {
        reading.fenced('bash', shell, 'notebook', title);
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
        addExact(b, '\n', { start: at, end: at });
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
