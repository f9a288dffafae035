/** A plan as sections, rows and tables: made once here, drawn by every face. Nothing is computed; figures come from the plan. */
import type { BudgetTerm } from '../core/engines/engine';
import type { Figure } from '../core/figure';
import { withCommas } from '../core/units';
import { linesOf, type Position } from '../launch/lines';
import type { KvPlan, PlacedFinding, Plan } from '../planner';
import { intervalOf, inUnit } from './amounts';
import { answersOf } from './answers';
import { byLength, comparison, steps } from './comparison';
import {
  type Bar,
  type Block,
  clean,
  type FindingText,
  type PlanText,
  type ReportText,
  type Row,
  type Section,
} from './document';
import { gpusOf } from './headline';
import { isEstimated, numberOf } from './numbers';
import type { PlannedFile } from './planned';
import { rowOf } from './rows';

export function reportOf(files: readonly PlannedFile[]): ReportText {
  return {
    plans: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.result.plans.map((plan) => planTextOf(plan, places));
    }),
    problems: problemsOf(files),
  };
}

/** What could not be read, each with its place. */
export function problemsOf(files: readonly PlannedFile[]): ReportText['problems'] {
  return files.flatMap((f) => {
    const places = linesOf(f.text).position;
    return f.result.problems.map((p) => {
      const place = p.range ? colons(places(p.range.start)) : p.line;
      return { place: clean(place ? `${p.file}:${place}` : p.file), message: clean(p.message) };
    });
  });
}

const colons = ({ line, column }: Position): string => `${line}:${column}`;

function planTextOf(plan: Plan, places: (offset: number) => Position): PlanText {
  const { launch } = plan;
  const sections = [
    plan.kv && tokens(plan.kv),
    plan.kv && blocks(plan.kv, plan.starts),
    plan.budget && memory(plan),
    plan.capacity && comparison(plan.capacity),
    plan.capacity && steps(plan.capacity),
    byLength(plan),
    findings(plan, places),
    origins(plan),
    options(plan),
  ];
  return {
    title: clean(launch.title),
    place: clean(`${launch.file}:${colons(places(launch.head.start))}`),
    subject: clean(subjectOf(plan)),
    answers: answersOf(plan),
    sections: sections.filter((s) => s !== undefined),
  };
}

function subjectOf(plan: Plan): string {
  const model = plan.model?.id ?? plan.launch.model?.text ?? 'model not known';
  return [model, `${plan.engine.title} ${plan.engine.version.text}`, gpusOf(plan)].join(' · ');
}

function tokens({ layout, atMaxLength }: KvPlan): Section {
  const rows = [
    rowOf('One token, per GPU', layout.bytesPerToken),
    rowOf('One token, whole deployment', layout.bytesPerTokenTotal),
  ];
  const fixed =
    layout.fixedBytes.value > 0 ? [rowOf('Windows and states of one request, per GPU', layout.fixedBytes)] : [];
  const longest = atMaxLength
    ? [rowOf(`One request of ${withCommas(atMaxLength.tokens)} tokens, per GPU`, atMaxLength.reserved)]
    : [];
  return { title: 'Bytes of keys and values', blocks: [{ kind: 'rows', rows: [...rows, ...fixed, ...longest] }] };
}

function blocks({ layout, pool }: KvPlan, starts: Plan['starts']): Section {
  const rows: Row[] = [
    { label: 'Stored as', value: clean(storedAs(layout.dtype)) },
    { label: 'Block size', value: layout.blockSize === 1 ? '1 token' : `${withCommas(layout.blockSize)} tokens` },
    rowOf('One block, per GPU', layout.bytesPerBlock),
  ];
  if (pool) {
    rows.push(rowOf('Pool, per GPU', pool.bytes));
    rows.push(...(pool.parts?.map((p) => rowOf(`Blocks, ${p.name}`, p.blocks)) ?? [rowOf('Blocks', pool.blocks)]));
  }
  if (pool?.logged) {
    rows.push(rowOf('Tokens, as the engine logs them', pool.logged.tokens));
  }
  if (pool?.logged?.maxConcurrency) {
    rows.push(rowOf('Concurrency at the maximum length, as logged', pool.logged.maxConcurrency));
  }
  if (pool?.hostTier) {
    rows.push(
      rowOf('Host memory for blocks, whole replica', pool.hostTier.bytes),
      rowOf('Tokens it takes', pool.hostTier.tokens),
    );
  }
  const parts: Block[] = [{ kind: 'rows', rows }, ...groups(layout), ...ranks({ layout, pool })];
  // A launch that is refused prints its refusal instead.
  if (pool?.logged && starts !== false) {
    const caption = isEstimated(pool.bytes)
      ? 'What it will print if the estimate is met exactly'
      : 'What it will print';
    parts.push({ kind: 'log', caption, lines: pool.logged.lines.map(clean) });
  }
  return { title: 'Blocks', blocks: parts };
}

const storedAs = ({ key, value }: KvPlan['layout']['dtype']): string =>
  key === value ? value : `${value} (asked for: ${key})`;

/** Groups that are alike are one row. */
function groups({ groups }: KvPlan['layout']): Block[] {
  if (groups.length < 2) {
    return [];
  }
  const counted = new Map<string, { cells: string[]; count: number }>();
  for (const g of groups) {
    const cells = [g.kind, withCommas(g.layers), clean(g.dtype), withCommas(g.blockSize), withCommas(g.bytesPerBlock)];
    const row = counted.get(cells.join());
    counted.set(cells.join(), { cells, count: (row?.count ?? 0) + 1 });
  }
  return [
    {
      kind: 'table',
      columns: [
        { title: 'Groups', numeric: true },
        { title: 'Keep' },
        { title: 'Layers in each', numeric: true },
        { title: 'Stored as' },
        { title: 'Tokens per block', numeric: true },
        { title: 'Bytes per block, per GPU', numeric: true },
      ],
      rows: [...counted.values()].map(({ cells, count }) => [String(count), ...cells]),
    },
  ];
}

function ranks({ layout, pool }: KvPlan): Block[] {
  if (layout.ranks.length < 2) {
    return [];
  }
  const deciding = pool?.decidingRank ?? layout.decidingRank;
  return [
    {
      kind: 'table',
      columns: [
        { title: 'Pipeline stage' },
        { title: 'Layers', numeric: true },
        { title: 'Bytes per token, per GPU', numeric: true },
        { title: 'Bytes per block, per GPU', numeric: true },
        { title: 'Blocks', numeric: true },
      ],
      rows: layout.ranks.map((r, i) => [
        `${r.stage + 1} of ${layout.ranks.length}${i === deciding ? ' (decides)' : ''}`,
        withCommas(r.layers),
        withCommas(r.bytesPerToken),
        withCommas(r.bytesPerBlock),
        pool?.ranks[i] ? withCommas(pool.ranks[i].blocks) : '',
      ]),
    },
  ];
}

function memory({ budget }: Plan): Section | undefined {
  if (!budget) {
    return undefined;
  }
  const whole = (label: string, figure: Figure, how: 'symbols' | 'numbers'): string[] => [
    label,
    numberOf(figure),
    intervalOf(figure.range, 'bytes'),
    clean(
      [figure.explain()[how], ...figure.explain().origins.map((o) => (how === 'numbers' ? o.text : ''))]
        .filter(Boolean)
        .join('; '),
    ),
  ];
  const term = (label: string, t: BudgetTerm): string[] => [
    label,
    numberOf(t.figure),
    intervalOf(t.figure.range, 'bytes'),
    clean(t.why),
  ];
  return {
    title: 'Memory of one GPU',
    blocks: [
      {
        kind: 'table',
        columns: [
          { title: 'For' },
          { title: 'Per GPU', numeric: true },
          { title: 'Estimated between' },
          { title: 'How it is known' },
        ],
        rows: [
          whole('Total', budget.total, 'symbols'),
          whole('Limit for the engine', budget.limit, 'numbers'),
          term('− weights', budget.weights),
          term('− activations', budget.activations),
          term('− CUDA graphs', budget.graphs),
          term('− other', budget.other),
          term('= KV cache', budget.kv),
        ],
      },
      { kind: 'chart', caption: 'Of all its memory', bars: memoryBars(budget) },
      {
        kind: 'rows',
        rows: [
          rowOf('Weights', budget.weights.figure),
          rowOf('Activations', budget.activations.figure),
          rowOf('CUDA graphs', budget.graphs.figure),
          rowOf('Other', budget.other.figure),
          rowOf('KV cache', budget.kv.figure),
        ],
      },
    ],
  };
}

function memoryBars(budget: NonNullable<Plan['budget']>): readonly Bar[] {
  const bar = (label: string, { value, unit }: Figure): Bar => ({
    label,
    value: inUnit(value, unit),
    share: Math.max(0, value) / budget.total.value,
  });
  return [
    bar('weights', budget.weights.figure),
    bar('activations', budget.activations.figure),
    bar('CUDA graphs', budget.graphs.figure),
    bar('other', budget.other.figure),
    bar('KV cache', budget.kv.figure),
  ];
}

/** Worst first. */
const SEVERITIES: readonly FindingText['severity'][] = ['error', 'warning', 'information', 'hint'];

function findings(plan: Plan, places: (offset: number) => Position): Section | undefined {
  const items = [...plan.findings]
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
    .map((f) => findingTextOf(f, plan.launch.file, places));
  return items.length > 0 ? { title: 'Findings', blocks: [{ kind: 'findings', findings: items }] } : undefined;
}

export const findingTextOf = (
  finding: PlacedFinding,
  file: string,
  places: (offset: number) => Position,
): FindingText => ({
  severity: finding.severity,
  code: clean(finding.code),
  place: clean(`${file}:${colons(places(finding.range.start))}`),
  message: clean(finding.message),
  fixes: finding.fixes.map((fix) => clean(`${fix.title} (${fix.option}: ${fix.value})`)),
});

function origins(plan: Plan): Section {
  const { engine, model, draft, hardware, kv, capacity, workload } = plan;
  const rows: Row[] = [
    {
      label: 'Engine',
      value: clean(`${engine.title} ${engine.version.text} (${engine.version.origin.text})`),
      how: notes(engine.version.note),
    },
    ...(model ? [{ label: 'Model', value: clean(model.id), how: notes(resolved(plan), model.source.text) }] : []),
    ...(draft ? [{ label: 'Draft model', value: clean(draft.id), how: notes(draft.source.text) }] : []),
    ...(hardware
      ? [
          {
            label: 'GPU',
            value: clean(`${hardware.name} (${hardware.origin.text})`),
            how: notes(few(hardware.gpu?.sources ?? [])),
          },
        ]
      : []),
    {
      label: 'Workload',
      value: `${withCommas(workload.prompt)} tokens of prompt, ${withCommas(workload.output)} of output`,
    },
  ];
  const figures = [
    kv?.layout.bytesPerToken,
    kv?.layout.bytesPerBlock,
    kv?.pool?.bytes,
    kv?.pool?.blocks,
    capacity?.paged.requests,
  ];
  const explained = figures.filter((f) => f !== undefined).map((f) => f.explain());
  const sources = unique(explained.map((e) => e.source).filter((s) => s !== undefined));
  return {
    title: 'Where the numbers come from',
    blocks: [
      {
        kind: 'rows',
        rows: [...rows, ...(sources.length > 0 ? [{ label: 'Formulas', value: clean(sources.join('; ')) }] : [])],
      },
    ],
  };
}

/** The first few sources; the rest is counted. */
function few(sources: readonly string[], most = 3): string {
  const more = sources.length > most ? `; and ${sources.length - most} more` : '';
  return sources.slice(0, most).join('; ') + more;
}

const notes = (...texts: readonly (string | undefined)[]): string[] =>
  texts.filter((t) => t).map((t) => clean(t ?? ''));

const resolved = ({ model }: Plan): string | undefined =>
  model?.resolvedFrom === undefined || model.resolvedFrom === model.id ? undefined : `written as ${model.resolvedFrom}`;

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

function options({ options }: Plan): Section | undefined {
  if (options.length === 0) {
    return undefined;
  }
  return {
    title: 'Options',
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Option' }, { title: 'Value' }, { title: 'From' }],
        rows: options.map((o) => [
          clean(o.name),
          clean(o.value === undefined ? o.raw : valueText(o.value)),
          clean(originText(o)),
        ]),
      },
    ],
  };
}

/** Where it stands, and why its value is not known or not taken. */
function originText(option: Plan['options'][number]): string {
  const from = 'from' in option ? option.from : undefined;
  const line = option.line === undefined ? option.origin : `${option.origin}, line ${option.line}`;
  const reason = option.value === undefined ? (option.unresolved ?? option.error) : option.how;
  return [from ? `${from.file}, line ${from.line}` : line, reason].filter(Boolean).join(': ');
}

function valueText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? 'not set');
}
