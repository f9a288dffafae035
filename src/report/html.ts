/** A report as one self-contained page: no script, nothing fetched, both colour schemes, text from files escaped. */
import { chartLines } from './chart';
import { type Block, type FindingText, type PlanText, type ReportText, TITLE } from './document';

/** A chart as a picture: what it shows, and the same in words. */
export interface Picture {
  readonly title: string;
  readonly text: string;
  /** PNG, base64. */
  readonly png: string;
  /** The same for a dark page. */
  readonly dark?: string;
}

export interface Extras {
  /** Said before everything else. */
  readonly notes?: readonly string[];
  readonly pictures?: readonly Picture[];
}

export function reportHtml(report: ReportText, { notes = [], pictures = [] }: Extras = {}): string {
  const title = escaped(report.title ?? TITLE);
  const problems = report.problems.map((p) => `<li>${escaped(p.place)}: ${escaped(p.message)}</li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline';${pictures.length > 0 ? ' img-src data:;' : ''} base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join('\n')}
${report.plans.map((plan, i) => planHtml(plan, i === 0 ? pictures : [])).join('\n')}
${problems.length > 0 ? `<section><h2>Not planned</h2><ul>${problems.join('')}</ul></section>` : ''}
</main>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --line: #8886; --good: #186a2c; --bad: #b3261e; --unsure: #7a4b00; }
@media (prefers-color-scheme: dark) { :root { --good: #7fd394; --bad: #ff9a91; --unsure: #f2c063; } }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
th { font-weight: 600; }
.scroll { overflow-x: auto; }
.how, .place { opacity: .8; font-size: .9em; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad, .error { color: var(--bad); } .unsure, .warning { color: var(--unsure); }
.answer { font-size: 1.15em; margin: .2rem 0; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
pre { overflow-x: auto; padding: .5rem; border: 1px solid var(--line); }
`;

/** Anything but a picture's own letters is left out: nothing else can get into the page this way. */
const addressOf = (png: string): string => `data:image/png;base64,${png.replace(/[^A-Za-z0-9+/=]/g, '')}`;

const pictureHtml = ({ title, text, png, dark }: Picture): string =>
  `<figure><figcaption><strong>${escaped(title)}</strong></figcaption>
<picture>${dark === undefined ? '' : `<source media="(prefers-color-scheme: dark)" srcset="${addressOf(dark)}">`}
<img alt="${escaped(`${title}. ${text}`)}" src="${addressOf(png)}"></picture>
<p class="how">${escaped(text)}</p></figure>`;

/** The answer first, then what it looks like, then what it rests on. */
function planHtml(plan: PlanText, pictures: readonly Picture[]): string {
  const answers = plan.answers.map(
    (a) =>
      `<p class="answer"><strong>${escaped(a.label)}</strong>: <span class="${a.tone}">${escaped(a.text)}</span></p>`,
  );
  const sections = plan.sections.map((s) => `<h3>${escaped(s.title)}</h3>\n${s.blocks.map(blockHtml).join('\n')}`);
  return `<section>
<h2>${escaped(plan.title)}</h2>
${answers.join('\n')}
<p>${escaped(plan.subject)}<br><span class="place">${escaped(plan.place)}</span></p>
${pictures.map((picture) => `${pictureHtml(picture)}\n`).join('')}${sections.join('\n')}
</section>`;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'rows':
      return tableHtml(
        '',
        block.rows.map(
          (row) =>
            `<tr><th scope="row">${escaped(row.label)}</th><td>${escaped(row.value)}${(row.how ?? [])
              .map((text) => `<div class="how">${escaped(text)}</div>`)
              .join('')}</td></tr>`,
        ),
      );
    case 'table': {
      const kind = (i: number): string => (block.columns[i]?.numeric ? ' class="n"' : '');
      const head = block.columns.map((column, i) => `<th scope="col"${kind(i)}>${escaped(column.title)}</th>`);
      const rows = block.rows.map((row) => `<tr>${row.map((cell, i) => cellHtml(cell, i, kind(i))).join('')}</tr>`);
      return tableHtml(`<thead><tr>${head.join('')}</tr></thead>`, rows);
    }
    case 'log':
      return `<p>${escaped(block.caption)}:</p><pre>${block.lines.map(escaped).join('\n')}</pre>`;
    case 'chart': // the table beside it says the same
      return `<p>${escaped(block.caption)}:</p><pre aria-hidden="true">${chartLines(block.bars).map(escaped).join('\n')}</pre>`;
    case 'findings':
      return `<ul>${block.findings.map(findingHtml).join('')}</ul>`;
  }
}

const cellHtml = (cell: string, column: number, kind: string): string =>
  column === 0 ? `<th scope="row">${escaped(cell)}</th>` : `<td${kind}>${escaped(cell)}</td>`;

const tableHtml = (head: string, rows: readonly string[]): string =>
  `<div class="scroll"><table>${head}<tbody>${rows.join('')}</tbody></table></div>`;

function findingHtml(finding: FindingText): string {
  const fixes = finding.fixes.map((fix) => `<li>fix: ${escaped(fix)}</li>`);
  return `<li><strong class="${finding.severity}">${finding.severity}</strong> <span class="place">${escaped(finding.place)} ${escaped(finding.code)}</span><br>${escaped(finding.message)}${fixes.length > 0 ? `<ul>${fixes.join('')}</ul>` : ''}</li>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
