/** What was found of each launch, or one code of it, with the numbers it rests on: for who asks why. */
import { linesOf } from '../launch/lines';
import { answersOf } from './answers';
import { clean, type ReportText, type Row, type Section } from './document';
import type { PlannedFile } from './planned';
import { rowOf } from './rows';
import { findingTextOf, problemsOf } from './sections';

export function findingsReport(file: PlannedFile, code?: string): ReportText {
  const { position } = linesOf(file.text);
  return {
    title: code === undefined ? 'Findings' : `Finding ${clean(code)}`,
    plans: file.result.plans.map((plan) => {
      const asked = plan.findings.filter((f) => code === undefined || f.code === code);
      const { line, column } = position(plan.launch.head.start);
      const found: Section =
        asked.length > 0
          ? {
              title: 'What was found',
              blocks: [{ kind: 'findings', findings: asked.map((f) => findingTextOf(f, file.name, position)) }],
            }
          : { title: 'Nothing of that kind was found', blocks: [] };
      const figures = [
        ['KV pool, per GPU', plan.kv?.pool?.bytes],
        ['One request of max length, per GPU', plan.kv?.atMaxLength?.reserved],
        ['Longest context that fits', plan.capacity?.longestContext],
        ['Requests at once', plan.capacity?.fits],
      ] as const;
      const rows: Row[] = figures.flatMap(([label, figure]) => (figure ? [rowOf(label, figure)] : []));
      return {
        title: clean(plan.launch.title),
        place: clean(`${plan.launch.file}:${line}:${column}`),
        subject: clean(`${plan.model?.id ?? 'model not known'} · ${plan.engine.title} ${plan.engine.version.text}`),
        answers: answersOf(plan),
        sections: [
          found,
          ...(asked.length > 0 && rows.length > 0
            ? [{ title: 'The numbers it rests on', blocks: [{ kind: 'rows' as const, rows }] }]
            : []),
        ],
      };
    }),
    problems: problemsOf([file]),
  };
}
