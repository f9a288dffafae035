/** Plans of one launch beside each other: what an option does to it, and what a fix will come to. */
import type { Fix } from '../core/engines/engine';
import type { Figure } from '../core/figure';
import { withCommas } from '../core/units';
import type { Plan } from '../planner';
import type { Alternative, TryOptions } from '../planner/alternatives';
import { withFix } from '../planner/fix-effects';
import { shortAmount } from '../report/amounts';
import { whyNot } from '../report/answers';
import { clean } from '../report/document';
import { verdict } from '../report/headline';
import { lowerFirst } from './lines';
import { escaped, table } from './markdown';

interface Measure {
  readonly title: string;
  of(plan: Plan): string | undefined;
}

const amount = (of: Figure | undefined): string | undefined => of && shortAmount(of);

const atOnce: Measure = {
  title: 'Fit at once',
  of: ({ capacity, starts, planned }) => (starts === false || !planned ? undefined : amount(capacity?.fits)),
};

/** The most telling first: what a hover has no room for is left out. */
const MEASURES: readonly Measure[] = [
  { title: '', of: verdict },
  atOnce,
  { title: 'KV/token per GPU', of: ({ kv }) => amount(kv?.layout.bytesPerToken) },
  { title: 'KV per GPU', of: ({ kv }) => amount(kv?.pool?.bytes) },
  { title: 'Blocks', of: ({ kv }) => amount(kv?.pool?.blocks) },
  { title: 'Per full request', of: ({ kv }) => amount(kv?.atMaxLength?.reserved) },
  { title: 'Fit at full length', of: ({ capacity }) => amount(capacity?.paged.requestsAtMaxLength) },
  { title: 'Memory holds', of: ({ capacity }) => amount(capacity?.paged.requests) },
  { title: 'Longest', of: ({ capacity }) => amount(capacity?.longestContext) },
  { title: 'Replicas', of: ({ placement }) => (placement ? withCommas(placement.replicas) : undefined) },
  { title: 'On the host', of: ({ kv }) => amount(kv?.pool?.hostTier?.bytes) },
];

/** A hover is narrow. */
const COLUMNS = 4;

/** Undefined where nothing was tried. */
export function alternativesText(option: string, rows: readonly Alternative[]): string | undefined {
  if (rows.length < 2) {
    return undefined;
  }
  const differing = MEASURES.map(({ title, of }) => ({ title, cells: rows.map(({ plan }) => of(plan) ?? '–') }));
  const shown = differing.filter(({ cells }) => new Set(cells).size > 1).slice(0, COLUMNS);
  if (shown.length === 0) {
    const others = rows.filter((r) => !r.isOwn).map(nameOf);
    return escaped(`The numbers of this plan are the same with it ${others.join(' or ')}.`);
  }
  const lines = rows.map((row, i) => [
    `${nameOf(row)}${row.isOwn ? ' (now)' : ''}`,
    ...shown.map(({ cells }) => cells[i] ?? ''),
  ]);
  const numeric = shown.flatMap(({ title }, i) => (title === '' ? [] : [i + 1]));
  const refusals = rows.filter((r) => !r.isOwn && !r.plan.planned);
  return [
    table([option, ...shown.map(({ title }) => title)], lines, numeric),
    ...refusals.slice(0, 1).map((r) => escaped(`${nameOf(r)}: ${whyNot(r.plan)}`)),
  ].join('\n\n');
}

const WORDS: { readonly [raw: string]: string } = { true: 'on', false: 'off' };

const nameOf = ({ raw }: Alternative): string =>
  raw === null ? 'not set' : (WORDS[raw] ?? (/^\d+$/.test(raw) ? withCommas(Number(raw)) : short(raw)));

/** JSON is long, and stands in the file. */
const short = (text: string): string => (text.length > 24 ? `${text.slice(0, 23)}…` : text);

/** A fix with what it comes to. */
export function fixTitle(plan: Plan, fix: Fix, tryOptions: TryOptions): string {
  const effect = effectLine(plan, withFix(plan, fix, tryOptions));
  return clean(effect === '' ? fix.title : `${fix.title} → ${effect}`);
}

/** `starts, 8 → 24 fit at once`; empty where nothing that is shown changes. */
export function effectLine(before: Plan, after: Plan): string {
  const parts: string[] = [];
  if (verdict(before) !== verdict(after)) {
    parts.push(lowerFirst(verdict(after)));
  }
  if (after.planned && after.starts !== false) {
    const differing = MEASURES.slice(1).find((m) => m.of(before) !== m.of(after) && m.of(after) !== undefined);
    parts.push(...(differing ? [changeOf(differing, before, after)] : []));
  }
  return parts.join(', ');
}

function changeOf(measure: Measure, before: Plan, after: Plan): string {
  const title = measure.title.charAt(0).toLowerCase() + measure.title.slice(1);
  const change = [measure.of(before), measure.of(after)].filter((text) => text !== undefined).join(' → ');
  return measure === atOnce ? `${change} ${title}` : `${title.replace('kV', 'KV')} ${change}`;
}
