/** A report for a terminal: the answer first, then how it came about. */
import { chartLines } from './chart';
import type { Answer, Block, FindingText, PlanText, ReportText, Row } from './document';

export interface TextStyle {
  /** ANSI colours: only for a terminal. */
  readonly colour: boolean;
  /** Columns to wrap messages at. */
  readonly width: number;
}

type Paint = (text: string, colour: Colour) => string;
type Colour = keyof typeof CODES;

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
const TONES = { good: 'green', bad: 'red', unsure: 'yellow' } as const;
const SEVERITIES = { error: 'red', warning: 'yellow', information: 'cyan', hint: 'dim' } as const;

export function reportText(report: ReportText, style: TextStyle): string {
  if (report.plans.length === 0) {
    return '';
  }
  const paint: Paint = (text, colour) => (style.colour ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text);
  return report.plans
    .map((plan) => planLines(plan, paint, style.width).join('\n'))
    .join('\n\n\n')
    .concat('\n');
}

function planLines(plan: PlanText, paint: Paint, width: number): string[] {
  return [
    ...answerLines(plan.answers, paint, width),
    '',
    `${paint(plan.title, 'bold')}: ${plan.subject}`,
    paint(plan.place, 'dim'),
    ...plan.sections.flatMap((section) => [
      '',
      paint(section.title, 'bold'),
      ...section.blocks.flatMap((block, i) => [...(i > 0 ? [''] : []), ...blockLines(block, paint, width)]),
    ]),
  ];
}

function answerLines(answers: readonly Answer[], paint: Paint, width: number): string[] {
  const room = Math.max(...answers.map((a) => a.label.length)) + 2;
  return answers.flatMap((answer) => {
    const [first = '', ...rest] = wrap(answer.text, width - room);
    const label = paint(answer.label.padEnd(room), 'bold');
    return [label + paint(first, TONES[answer.tone]), ...rest.map((line) => ' '.repeat(room) + line)];
  });
}

function blockLines(block: Block, paint: Paint, width: number): string[] {
  switch (block.kind) {
    case 'rows':
      return rowLines(block.rows, paint, width);
    case 'table':
      return tableLines(block, paint, width);
    case 'log':
      return [`  ${block.caption}:`, ...block.lines.map((line) => `    ${line}`)];
    case 'chart':
      return [`  ${block.caption}:`, ...chartLines(block.bars).map((line) => `    ${line}`)];
    case 'findings':
      return block.findings.flatMap((finding) => findingLines(finding, paint, width));
  }
}

function rowLines(rows: readonly Row[], paint: Paint, width: number): string[] {
  const room = Math.max(...rows.map((row) => row.label.length)) + 2;
  const indent = ' '.repeat(room + 2);
  return rows.flatMap((row) => {
    const [first = '', ...rest] = wrap(row.value, width - room - 2);
    const how = (row.how ?? []).flatMap((text) => wrap(text, width - room - 2));
    return [
      `  ${row.label.padEnd(room)}${first}`,
      ...rest.map((line) => indent + line),
      ...how.map((line) => indent + paint(line, 'dim')),
    ];
  });
}

function tableLines(table: Extract<Block, { kind: 'table' }>, paint: Paint, width: number): string[] {
  const titles = table.columns.map((column) => column.title);
  const rows = [titles, ...table.rows];
  const widths = titles.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const last = titles.length - 1;
  const indent = 2 + widths.slice(0, last).reduce((sum, w) => sum + w + 2, 0);
  const lines = (cells: readonly string[]): string[] => {
    const [first = '', ...rest] = wrap(cells[last] ?? '', Math.max(width - indent, 20));
    const row = [...cells.slice(0, last), first].map((cell, i) =>
      table.columns[i]?.numeric ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
    );
    return [`  ${row.join('  ')}`.trimEnd(), ...rest.map((line) => ' '.repeat(indent) + line)];
  };
  const [head = [], ...body] = rows.map(lines);
  return [...head.map((line) => paint(line, 'dim')), ...body.flat()];
}

function findingLines(finding: FindingText, paint: Paint, width: number): string[] {
  const word = paint(finding.severity, SEVERITIES[finding.severity]);
  return [
    `  ${word}  ${finding.place}  ${paint(finding.code, 'dim')}`,
    ...wrap(finding.message, width - 4).map((line) => `    ${line}`),
    ...finding.fixes.map((fix) => `    fix: ${fix}`),
  ];
}

/** Breaks at spaces; a word longer than the width stays whole, so that it can be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > Math.max(width, 20)) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line];
}
