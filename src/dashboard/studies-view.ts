/** The studies of a launch as the page draws them: every number and every word is made here. */
import type { Waste } from '../core/capacity/capacity';
import { GiB, isExact, withCommas } from '../core/units';
import type { Plan } from '../planner';
import { intervalOf, inUnit, percent } from '../report/amounts';
import { clean } from '../report/document';
import type { BlockRow, FormatRow, FormatStudy, Studies, WasteRow } from '../what-if/studies';
import type { BlocksView, HeatView, LongestView, StudiesView, WasteKind, WasteView } from './protocol';

export function studiesView(plan: Plan, { formats, blocks, waste }: Studies): StudiesView {
  const longest = formats && longestView(plan, formats);
  return {
    ...(longest && longest.bars.length > 0 && { longest }),
    ...(formats && { heat: heatView(plan, formats) }),
    ...(blocks && { blocks: blocksView(plan, blocks) }),
    ...(waste && { waste: wasteView(waste) }),
    missing: missingOf(plan, { formats, blocks }),
  };
}

function missingOf(plan: Plan, { formats, blocks }: Studies): string[] {
  if (!formats) {
    return ['How many requests fit is not known, so there is nothing to hold against it: the headline says why.'];
  }
  return blocks ? [] : [`${plan.engine.title} has no block size to choose here.`];
}

const toneOf = ({ starts }: { readonly starts: Plan['starts'] }): 'good' | 'unsure' | 'bad' =>
  starts === true ? 'good' : starts === false ? 'bad' : 'unsure';

/** `fp8 · TP 2`; a launch on one GPU of an engine without such groups says its format alone. */
const labelOf = ({ dtype, tensor }: FormatRow, groups: boolean): string => (groups ? `${dtype} · TP ${tensor}` : dtype);

const hasGroups = (rows: readonly FormatRow[]): boolean => rows.some((r) => r.tensor !== rows[0]?.tensor);

function noteOf(row: FormatRow, plan: Plan): string {
  const offered = plan.hardware?.count ?? plan.launch.hardware.count?.value;
  if (row.starts !== false && offered !== undefined && row.gpus > offered) {
    return `needs ${withCommas(row.gpus)} GPUs, ${withCommas(offered)} ${offered === 1 ? 'is' : 'are'} offered`;
  }
  const long = `at a max length of ${withCommas(plan.capacity?.maxLength ?? 0)}`;
  return row.starts === true
    ? `on ${row.gpus === 1 ? 'one GPU' : `${withCommas(row.gpus)} GPUs`}`
    : row.starts === false
      ? `will not start ${long}`
      : `may not start ${long}`;
}

/** Other formats on as many GPUs, and other numbers of GPUs with that format. */
function longestView(plan: Plan, { rows }: FormatStudy): LongestView {
  const now = rows.find((r) => r.current);
  const near = rows.filter((r) => r.longest && (r.dtype === now?.dtype || r.tensor === now?.tensor));
  const groups = hasGroups(rows);
  const bars = near.map((row) => {
    const { tokens, range } = row.longest as NonNullable<FormatRow['longest']>;
    return {
      label: labelOf(row, groups),
      tokens,
      low: range?.low ?? tokens,
      high: range?.high ?? tokens,
      range: range && !isExact(range) ? intervalOf(range, 'tokens') : 'exact',
      tone: toneOf(row),
      note: noteOf(row, plan),
      current: row.current,
    };
  });
  const max = plan.capacity?.maxLength;
  const own = plan.model?.maxPositions;
  const marks = [
    ...(max === undefined ? [] : [{ tokens: max, label: `max length ${withCommas(max)}` }]),
    ...(own === undefined || own === max ? [] : [{ tokens: own, label: `the model’s own ${withCommas(own)}` }]),
  ];
  const said = bars.map((b) => `${b.label} ${withCommas(b.tokens)}${b.current ? ' (as it is)' : ''}`).join(', ');
  return { summary: `Longest request that still starts, in tokens: ${said}.`, bars, marks };
}

function heatView(plan: Plan, { lengths, rows }: FormatStudy): HeatView {
  const groups = hasGroups(rows);
  const made = rows.map((row) => ({
    label: labelOf(row, groups),
    current: row.current,
    tone: toneOf(row),
    note: noteOf(row, plan),
    requests: [...row.requests],
    ...(row.limit !== undefined && { limit: row.limit }),
  }));
  const limit = plan.capacity?.engineLimit?.value;
  const above = limit !== undefined && made.some((r) => r.requests.some((n) => n > (r.limit ?? n)));
  const capped = above ? ` ▴: more than the ${withCommas(limit)} that the engine runs at once.` : '';
  return {
    summary: `Requests that the memory of one replica holds, by their length, for each number format${groups ? ' and each size of a tensor group' : ''}.${capped}`,
    lengths: [...lengths],
    rows: made,
    most: Math.max(1, ...made.flatMap((r) => r.requests)),
  };
}

function blocksView(plan: Plan, rows: readonly BlockRow[]): BlocksView {
  const { prompt, output } = plan.workload;
  const [first, last] = [rows[0], rows.at(-1)];
  const of = (row: BlockRow | undefined): string =>
    row
      ? `blocks of ${withCommas(row.blockSize)} leave ${percent(row.tailShare)} of a request empty and take ${withCommas(row.entries)} table entries`
      : '';
  return {
    summary: `A request of ${withCommas(prompt)} + ${withCommas(output)} tokens: ${of(first)}; ${of(last)}.`,
    rows: rows.map(({ blockSize, current, tailShare, tailTokens, entries, blocks, requests }) => ({
      size: blockSize,
      current,
      tailShare,
      tailTokens,
      entries,
      blocks,
      requests,
    })),
  };
}

const KINDS: readonly (readonly [WasteKind, string, string])[] = [
  ['payload', 'Keys and values', 'of tokens that are there'],
  ['tail', 'Tail', 'unfilled slots of last blocks'],
  ['padding', 'Padding', 'pages and groups made equal'],
  ['reservation', 'Reservation', 'set aside for tokens that never come'],
  ['fragmentation', 'Left over', 'too little for one request more'],
];

function wasteView(rows: readonly WasteRow[]): WasteView {
  const pool = rows[0]?.waste.pool ?? 0;
  const part =
    (waste: Waste) =>
    ([kind, label, why]: (typeof KINDS)[number]) => ({
      kind,
      label,
      why,
      share: waste.pool > 0 ? Math.max(0, waste[kind]) / waste.pool : 0,
      size: inUnit(waste[kind], 'bytes'),
    });
  const made = rows.map(({ how, requests, waste }) => ({
    label: how === 'paged' ? 'Paged' : 'Contiguous',
    requests: withCommas(requests),
    parts: KINDS.map(part(waste)),
  }));
  const said = made.map((r) => `${r.label.toLowerCase()} ${percent(r.parts[0]?.share ?? 0)} (${r.requests} requests)`);
  return {
    summary: `Share of a full pool that holds keys and values: ${said.join(', ')}.`,
    total: inUnit(pool, 'bytes'),
    totalGiB: pool / GiB,
    rows: made.map((r) => ({ ...r, label: clean(r.label) })),
  };
}
