/** Lines of a text, with those that a mark at their end continues. */
export interface LogicalLine {
  readonly from: number;
  /** Without the line break at the end. */
  readonly to: number;
}

/** `mark` stands at the end of a line that goes on: `\`, `^`, a backtick. */
export function logicalLines(text: string, mark: string, continues = true): readonly LogicalLine[] {
  const lines: LogicalLine[] = [];
  let from = 0;
  for (const end of text.matchAll(/\r\n|\n|\r|$/g)) {
    if (end.index < from) {
      continue;
    }
    const isLast = end[0] === '';
    if (!isLast && continues && text[end.index - 1] === mark && end.index > from) {
      continue;
    }
    lines.push({ from, to: end.index });
    from = end.index + end[0].length;
    if (isLast) {
      break;
    }
  }
  return lines;
}
