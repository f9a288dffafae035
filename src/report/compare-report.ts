/** A comparison of engines as a report: for Markdown and HTML. The words are those of the terminal. */
import type { Compared, ComparedEngine } from '../compare';
import { linesOf, type Position } from '../launch/lines';
import type { Plan } from '../planner';
import type { ComparedFile } from './compare-json';
import { againstText, cells, NUMERIC, reasonsOf, TITLES } from './compare-text';
import { clean, type PlanText, type ReportText, type Section } from './document';
import { gpusOf, headline, workloadText } from './headline';
import { problemsOf } from './sections';

export function compareReport(files: readonly ComparedFile[]): ReportText {
  return {
    title: 'Engines compared',
    plans: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.compared.map((c) => launchText(c, places));
    }),
    problems: problemsOf(files),
  };
}

function launchText({ plan, engines }: Compared, places: (offset: number) => Position): PlanText {
  const at = places(plan.launch.head.start);
  const { tone, text } = headline(plan);
  return {
    title: clean(plan.launch.title),
    place: clean(`${plan.launch.file}:${at.line}:${at.column}`),
    subject: clean(`${plan.model?.id ?? 'model not known'} · ${gpusOf(plan)}`),
    answers: [{ label: 'As written', tone: tone === 'unknown' ? 'unsure' : tone, text }],
    sections: [
      {
        title: `At ${workloadText(plan)}`,
        blocks: [
          {
            kind: 'table',
            columns: TITLES.map((title, i) => (NUMERIC.has(i) ? { title, numeric: true } : { title })),
            rows: engines.map((engine) => cells(engine).map(clean)),
          },
        ],
      },
      ...engines.filter((e) => !e.asWritten).map((engine) => engineSection(engine, plan)),
    ],
  };
}

function engineSection(engine: ComparedEngine, base: Plan): Section {
  const reasons = reasonsOf(engine);
  const rows = reasons.length > 0 ? reasons : [['', 'the same'] as const];
  return {
    title: againstText(engine.plan, base),
    blocks: [{ kind: 'rows', rows: rows.map(([label, value]) => ({ label, value })) }],
  };
}
