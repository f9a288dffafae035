/** A report as Markdown (GitHub and VS Code). Text from files is escaped: it can hold no markup, link, mention or HTML. */
import { chartLines } from './chart';
import { type Block, type FindingText, type PlanText, type ReportText, TITLE } from './document';

export function reportMarkdown(report: ReportText): string {
  const parts = [`# ${escaped(report.title ?? TITLE)}`, ...report.plans.flatMap(planParts), ...problemParts(report)];
  return `${parts.join('\n\n')}\n`;
}

function planParts(plan: PlanText): string[] {
  return [
    `## ${escaped(plan.title)}`,
    plan.answers.map((answer) => `**${escaped(answer.label)}**: ${escaped(answer.text)}`).join('  \n'),
    `${escaped(plan.subject)}  \n${escaped(plan.place)}`,
    ...plan.sections.flatMap((section) => [`### ${escaped(section.title)}`, ...section.blocks.map(blockText)]),
  ];
}

function problemParts({ problems }: ReportText): string[] {
  const items = problems.map((problem) => `- ${escaped(problem.place)}: ${escaped(problem.message)}`);
  return items.length > 0 ? ['## Not planned', items.join('\n')] : [];
}

function blockText(block: Block): string {
  switch (block.kind) {
    case 'rows': {
      const told = block.rows.some((row) => (row.how ?? []).length > 0);
      const rows = block.rows.map(({ label, value, how = [] }) => [label, value, ...(told ? [how.join(' → ')] : [])]);
      return table(['', '', ...(told ? ['How'] : [])], [], rows);
    }
    case 'table': {
      const numeric = block.columns.map((column) => column.numeric === true);
      return table(
        block.columns.map((column) => column.title),
        numeric,
        block.rows,
      );
    }
    case 'log':
      return `${escaped(block.caption)}:\n\n${fenced(block.lines)}`;
    case 'chart':
      return `${escaped(block.caption)}:\n\n${fenced(chartLines(block.bars))}`;
    case 'findings':
      return block.findings.map(findingText).join('\n');
  }
}

function table(titles: readonly string[], numeric: readonly boolean[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => escaped(cell.trim())).join(' | ')} |`;
  return [
    line(titles),
    `|${titles.map((_, i) => (numeric[i] ? ' ---: |' : ' --- |')).join('')}`,
    ...rows.map(line),
  ].join('\n');
}

function findingText(finding: FindingText): string {
  const head = `- **${finding.severity}** ${escaped(finding.place)} (${escaped(finding.code)}): ${escaped(finding.message)}`;
  return [head, ...finding.fixes.map((fix) => `  - fix: ${escaped(fix)}`)].join('\n');
}

/** A fence longer than any run of backticks inside. */
function fenced(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length)));
  const fence = '`'.repeat(longest + 1);
  return [fence, ...lines, fence].join('\n');
}

/**
 * Nothing in the text can act as markup: the signs are escaped, and those that make a bare link, a mention or an entity
 * are written as entities, since a backslash does not stop these.
 */
export function escaped(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_{}[\]#|~!^$]/g, '\\$&')
    .replace(/@/g, '&#64;')
    .replace(/:(?=\/\/)/g, '&#58;')
    .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}&#46;`)
    .replace(/^(\s*)([-+])(?=\s|$)/, '$1\\$2')
    .replace(/^(\s*\d+)([.)])(?=\s|$)/, '$1\\$2');
}
