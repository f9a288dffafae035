/** Plans side by side, in words: what differs from the first is marked. */
import type { Figure } from '../core/figure';
import { GiB, withCommas } from '../core/units';
import type { Plan } from '../planner';
import { intervalOf, shortAmount } from '../report/amounts';
import { clean } from '../report/document';
import { headline } from '../report/headline';
import { isEstimated } from '../report/numbers';
import type { ComparisonView, Pin } from './protocol';

/** A pin that has been planned, or why it could not be. */
export interface Compared {
  readonly title: string;
  readonly detail: string;
  readonly plan?: Plan;
  readonly error?: string;
  /** As its launch is found now. */
  readonly pin: Pin;
}

export function comparisonView(columns: readonly Compared[]): ComparisonView {
  return {
    columns: columns.map(({ title, detail, plan, error }) => ({
      title: clean(title),
      detail: clean(detail),
      tone: plan ? headline(plan).tone : ('unknown' as const),
      ...(error !== undefined && { error: clean(error) }),
    })),
    rows: ROWS.map((row) => rowOf(row, columns)),
    pins: columns.map(({ pin }) => pin),
  };
}

interface RowSpec {
  readonly label: string;
  /** Words of one plan; empty where it is not known. */
  text(plan: Plan): string;
  /** For a chart. */
  number?(plan: Plan): number | undefined;
  readonly unit?: string;
}

function rowOf({ label, text, number, unit }: RowSpec, columns: readonly Compared[]): ComparisonView['rows'][number] {
  const texts = columns.map(({ plan }) => (plan ? clean(text(plan)) : ''));
  return {
    label,
    unit: unit ?? '',
    cells: texts.map((words, i) => ({ text: words || '–', differs: i > 0 && words !== '' && words !== texts[0] })),
    ...(number && { numbers: columns.map(({ plan }) => (plan && number(plan)) ?? null) }),
  };
}

/** A figure with its interval, where it is an estimate. */
function figureText(figure: Figure | undefined): string {
  if (!figure) {
    return '';
  }
  return isEstimated(figure)
    ? `${shortAmount(figure)} (${intervalOf(figure.range, figure.unit)})`
    : shortAmount(figure);
}

const figureRow = (label: string, pick: (plan: Plan) => Figure | undefined, unit: string, scale = 1): RowSpec => ({
  label,
  unit,
  text: (plan) => figureText(pick(plan)),
  number: (plan) => {
    const value = pick(plan)?.value;
    return value === undefined ? undefined : value / scale;
  },
});

const ROWS: readonly RowSpec[] = [
  { label: 'Does it start', text: (plan) => headline(plan).text.split(' · ')[0] ?? '' },
  figureRow('Requests at once, one replica', ({ capacity }) => capacity?.fits, 'requests'),
  figureRow('Fit paged, memory alone', ({ capacity }) => capacity?.paged.requests, 'requests'),
  figureRow('Fit contiguous', ({ capacity }) => capacity?.contiguous.requests, 'requests'),
  figureRow('Longest context', ({ capacity }) => capacity?.longestContext, 'tokens'),
  figureRow('KV memory per GPU', ({ kv }) => kv?.pool?.bytes, 'GiB', GiB),
  figureRow('KV per token, per GPU', ({ kv }) => kv?.layout.bytesPerToken, 'KiB', 1024),
  figureRow('Weights per GPU', ({ budget }) => budget?.weights.figure, 'GiB', GiB),
  figureRow('Blocks', ({ kv }) => kv?.pool?.blocks, 'blocks'),
  { label: 'Tokens in a block', text: ({ kv }) => (kv ? withCommas(kv.layout.blockSize) : '') },
  { label: 'KV dtype', text: ({ kv }) => kv?.layout.dtype.value ?? '' },
  figureRow('A request at the workload, per GPU', ({ capacity }) => capacity?.paged.bytesPerRequest, 'MiB', 2 ** 20),
  figureRow('Share of it in use', ({ capacity }) => capacity?.paged.usedShare, '%', 0.01),
  { label: 'Max length', text: ({ capacity }) => (capacity ? withCommas(capacity.maxLength) : '') },
  {
    label: 'Most requests the engine runs',
    text: ({ capacity }) => (capacity?.engineLimit ? withCommas(capacity.engineLimit.value) : ''),
  },
  { label: 'Workload', text: ({ workload }) => `${withCommas(workload.prompt)} + ${withCommas(workload.output)}` },
  { label: 'GPU', text: gpuText },
  { label: 'Spread', text: spreadText },
  { label: 'Engine', text: ({ engine }) => `${engine.title} ${engine.version.text}` },
  { label: 'Model', text: ({ model, launch }) => model?.id ?? launch.model?.text ?? '' },
  { label: 'Findings', text: findingsText },
];

function gpuText({ hardware }: Plan): string {
  const count = hardware?.count === undefined ? '' : `${withCommas(hardware.count)} × `;
  return hardware ? `${count}${hardware.name}` : '';
}

function spreadText({ placement }: Plan): string {
  if (!placement) {
    return '';
  }
  const { tensor, pipeline, replicas } = placement;
  const parts = [
    tensor > 1 && `tensor ${tensor}`,
    pipeline > 1 && `pipeline ${pipeline}`,
    replicas > 1 && `${withCommas(replicas)} replicas`,
  ].filter(Boolean);
  return parts.join(', ') || 'one GPU';
}

function findingsText({ findings }: Plan): string {
  const count = (severity: string): number => findings.filter((f) => f.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const said = [
    errors > 0 && `${errors} ${errors === 1 ? 'error' : 'errors'}`,
    warnings > 0 && `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
  ].filter(Boolean);
  return said.join(', ') || 'none that matter';
}
