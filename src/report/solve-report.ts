/** Solutions as a report: for Markdown and HTML. The words are those of the terminal. */
import { formatBytes, withCommas } from '../core/units';
import { linesOf } from '../launch/lines';
import type { Solution, Solved } from '../solve';
import { type Answer, clean, type PlanText, type ReportText, type Row, type Section } from './document';
import { wordsOf } from './numbers';
import { problemsOf } from './sections';
import type { SolvedFile } from './solve-json';
import { answer, changeText, editLines, how, now, type Places, targetText } from './solve-text';

export function solveReport(files: readonly SolvedFile[]): ReportText {
  return {
    title: 'Solutions for a target',
    plans: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.solved.map((solved) => launchText(solved, places, f.text));
    }),
    problems: problemsOf(files),
  };
}

function launchText(solved: Solved, places: Places, text: string): PlanText {
  const { plan, met, solutions, nearest } = solved;
  const at = places(plan.launch.head.start);
  const found = solutions.length > 0;
  return {
    title: clean(plan.launch.title),
    place: clean(`${plan.launch.file}:${at.line}:${at.column}`),
    subject: clean(
      `${plan.model?.id ?? 'model not known'} · ${plan.engine.title} ${plan.engine.version.text} · ${plan.hardware?.name ?? 'GPU not known'}`,
    ),
    answers: [
      { label: 'Target', tone: 'unsure', text: targetText(solved) },
      { label: 'Now', tone: met ? 'good' : 'bad', text: now(solved) },
      ...(met
        ? []
        : answer(solved).map((line): Answer => ({ label: 'Answer', tone: found ? 'good' : 'bad', text: line }))),
    ],
    sections: [
      ...solutions.map((s, i) => solutionSection(`${i + 1}. `, s, plan.launch.file, places, text)),
      ...(nearest ? [solutionSection('Nearest on the GPUs offered: ', nearest, plan.launch.file, places, text)] : []),
    ],
  };
}

function solutionSection(lead: string, solution: Solution, file: string, places: Places, text: string): Section {
  const { changes, edits, plan, served, gpus, moreGpus } = solution;
  const what = [...changes.map(changeText), ...(moreGpus ? [`${gpus} GPUs in all`] : [])];
  const pool = plan.kv?.pool;
  const rows: Row[] = [
    { label: 'Then', value: how(plan, served) },
    ...(plan.capacity ? [{ label: 'Requests of up to', value: `${withCommas(plan.capacity.maxLength)} tokens` }] : []),
    ...(pool ? [{ label: 'Blocks, per GPU', value: wordsOf(pool.blocks) }] : []),
    ...(plan.kv
      ? [
          {
            label: 'One token, per GPU',
            value: formatBytes(Math.round(plan.kv.layout.bytesPerToken.value)),
          },
        ]
      : []),
  ];
  const lines = edits.flatMap((edit) => editLines(edit, places, text, file));
  return {
    title: `${lead}${what.join(', ') || 'nothing'}`,
    blocks: [
      { kind: 'rows', rows },
      ...(lines.length > 0 ? [{ kind: 'log' as const, caption: 'In the file', lines }] : []),
    ],
  };
}
