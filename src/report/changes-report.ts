/** What changed in capacity between two texts, as a report. */
import { changesOf, type FigureChange, type LaunchChange } from '../compare/changes';
import { formatBytes } from '../core/units';
import { linesOf, type Position } from '../launch/lines';
import type { PlacedFinding, Plan } from '../planner';
import { percent } from './amounts';
import { type Column, clean, type PlanText, type ReportText, type Section } from './document';
import { verdict } from './headline';
import { numberOf } from './numbers';
import type { PlannedFile } from './planned';
import { findingTextOf, problemsOf } from './sections';

type Places = (offset: number) => Position;

export function changesReport(before: PlannedFile, after: PlannedFile): ReportText {
  const [was, is] = [linesOf(before.text).position, linesOf(after.text).position];
  return {
    title: 'What changed in capacity',
    plans: changesOf(before.result.plans, after.result.plans).map((change) =>
      launchText(change, before.name, after.name, was, is),
    ),
    problems: problemsOf([before, after]),
  };
}

function launchText(change: LaunchChange, was: string, is: string, before: Places, after: Places): PlanText {
  const plan = (change.after ?? change.before) as Plan;
  const at = (change.after ? after : before)(plan.launch.head.start);
  return {
    title: clean(plan.launch.title),
    place: clean(`${was} → ${is}${change.after ? `:${at.line}:${at.column}` : ''}`),
    subject: clean(`${subject(change.before) ?? 'not there'} → ${subject(change.after) ?? 'not there'}`),
    answers: [
      {
        label: 'Before',
        tone: 'unsure',
        text: change.before ? answerOf(change.before) : 'no such launch',
      },
      {
        label: 'After',
        tone: change.after?.starts === true ? 'good' : change.after?.starts === false ? 'bad' : 'unsure',
        text: change.after ? answerOf(change.after) : 'no such launch',
      },
    ],
    sections: [
      figures(change),
      options(change),
      findings('Findings that came', change.come, after, is),
      findings('Findings that went', change.gone, before, was),
    ].filter((section) => section !== undefined),
  };
}

const subject = (plan: Plan | undefined): string | undefined =>
  plan && `${plan.model?.id ?? 'model not known'} on ${plan.engine.title} ${plan.engine.version.text}`;

function answerOf(plan: Plan): string {
  const fits = plan.capacity && plan.starts !== false ? `; ${numberOf(plan.capacity.fits)} requests fit at once` : '';
  return `${verdict(plan).toLowerCase().replace('gpu', 'GPU')}${fits}`;
}

const FIGURES: readonly Column[] = [
  { title: '' },
  { title: 'Before', numeric: true },
  { title: 'After', numeric: true },
  { title: 'Change', numeric: true },
];

function figures({ figures: all, before, after }: LaunchChange): Section | undefined {
  const rows = all.map((change) => [
    change.label,
    change.before ? numberOf(change.before) : '–',
    change.after ? numberOf(change.after) : '–',
    changeText(change),
  ]);
  const same = before && after && all.every(({ difference }) => difference === 0);
  return rows.length === 0
    ? undefined
    : { title: same ? 'Capacity: the same' : 'Capacity', blocks: [{ kind: 'table', columns: FIGURES, rows }] };
}

function changeText({ ratio, difference = 0, after }: FigureChange): string {
  if (ratio === undefined) {
    return '';
  }
  if (difference === 0) {
    return 'the same';
  }
  const sign = difference > 0 ? '+' : '−';
  const bytes = after?.unit === 'bytes' ? ` (${sign}${formatBytes(Math.round(Math.abs(difference)))})` : '';
  return `${sign}${percent(Math.abs(ratio))}${bytes}`;
}

function options({ options: changed }: LaunchChange): Section | undefined {
  const columns = [{ title: 'Option' }, { title: 'Before' }, { title: 'After' }];
  const rows = changed.map(({ name, before, after }) => [
    clean(name),
    clean(before ?? 'not written'),
    clean(after ?? 'not written'),
  ]);
  return rows.length === 0 ? undefined : { title: 'Options', blocks: [{ kind: 'table', columns, rows }] };
}

function findings(title: string, items: readonly PlacedFinding[], places: Places, file: string): Section | undefined {
  const texts = items.map((finding) => findingTextOf(finding, file, places));
  return texts.length === 0 ? undefined : { title, blocks: [{ kind: 'findings', findings: texts }] };
}
