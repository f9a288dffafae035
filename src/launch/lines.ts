/** Offsets and lines of a text. Lines and columns count from 1, columns in UTF-16 units. */

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Lines {
  position(offset: number): Position;
  line(offset: number): number;
  /** The offset of a position; clamped to the line and the text. */
  offset(position: Position): number;
}

let last: { readonly of: string; readonly lines: Lines } | undefined;

/** Line ends are `\n`, `\r\n` and a lone `\r`, as in an editor. One text is asked for again and again: by who reads it, plans it, shows it. */
export function linesOf(text: string): Lines {
  if (last?.of !== text) {
    last = { of: text, lines: linesFrom(text, lineStarts(text)) };
  }
  return last.lines;
}

function linesFrom(text: string, starts: readonly number[]): Lines {
  const line = (offset: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low + 1;
  };
  return {
    line,
    position: (offset) => {
      const n = line(offset);
      return { line: n, column: offset - (starts[n - 1] as number) + 1 };
    },
    offset: (p) => {
      const n = Math.min(Math.max(p.line, 1), starts.length);
      const start = starts[n - 1] as number;
      return Math.min(start + Math.max(p.column, 1) - 1, starts[n] ?? text.length);
    },
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  if (text.includes('\r')) {
    for (const found of text.matchAll(/\r\n?|\n/g)) {
      starts.push(found.index + found[0].length);
    }
    return starts;
  }
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** Lone `\r` as `\n`, at the same places: what readers and grammars know as the end of a line. */
export const plainEnds = (text: string): string => (/\r(?!\n)/.test(text) ? text.replace(/\r(?!\n)/g, '\n') : text);
