/** A plan as the page draws it: every number and every word is made here, from the plan's figures. */
import type { LengthPoint } from '../core/capacity/capacity';
import type { Budget, BudgetTerm } from '../core/engines/engine';
import type { Figure } from '../core/figure';
import { formatBytes, GiB, withCommas } from '../core/units';
import type { Plan } from '../planner';
import { intervalOf, inUnit, percent, shortAmount } from '../report/amounts';
import { clean } from '../report/document';
import { headline } from '../report/headline';
import { wordsOf } from '../report/numbers';
import type { WhatIf as Tried } from '../what-if';
import { controlsView } from './controls-view';
import { benchShape, poolPart } from './pool-part';
import type { BudgetView, FactView, FindingView, PlanView, RequestsView, Segment, WhatIf } from './protocol';

export interface ViewInput {
  readonly tried: Tried;
  readonly points: readonly LengthPoint[];
  readonly line: number;
  /** As typed. */
  readonly whatIf: WhatIf;
  /** Name of the remote that the editor is connected to, or nothing. */
  readonly remote: string;
}

export function planView({ tried, points, line, whatIf, remote }: ViewInput): PlanView {
  const { plan } = tried;
  const { text, detail, tone } = headline(plan);
  return {
    kind: 'plan',
    file: clean(plan.launch.file),
    launch: { title: clean(plan.launch.title), subject: clean(subjectOf(plan)), line },
    headline: { tone, text, detail: clean(detail) },
    facts: factsOf(plan),
    budget: plan.budget && budgetView(plan.budget),
    missing: missingIn(plan),
    requests: requestsView(plan, points),
    findings: plan.findings.map(findingView),
    controls: controlsView(tried, whatIf),
    pool: poolPart(plan),
    bench: benchShape(plan, remote),
  };
}

function subjectOf({ model, launch, engine, hardware, placement }: Plan): string {
  const gpus = hardware && `${hardware.count === undefined ? '' : `${withCommas(hardware.count)} × `}${hardware.name}`;
  const spread = placement && placement.tensor > 1 ? `tensor parallel ${placement.tensor}` : '';
  return [model?.id ?? launch.model?.text ?? 'model not known', `${engine.title} ${engine.version.text}`, gpus, spread]
    .filter(Boolean)
    .join(' · ');
}

const findingView = ({ severity, message, code, line }: Plan['findings'][number]): FindingView => ({
  severity,
  message: clean(message),
  code,
  line,
});

function factsOf({ kv, capacity }: Plan): FactView[] {
  const facts: FactView[] = [];
  if (kv) {
    const { bytesPerToken, bytesPerTokenTotal } = kv.layout;
    facts.push(fact('KV per token', bytesPerToken, `per GPU; ${shortAmount(bytesPerTokenTotal)} for the whole model`));
  }
  if (kv?.pool) {
    const size = `${withCommas(kv.layout.blockSize)} ${kv.layout.blockSize === 1 ? 'token' : 'tokens'} each; ${shortAmount(kv.pool.bytes)} per GPU`;
    facts.push(fact('Blocks', kv.pool.blocks, size));
  }
  if (capacity) {
    const { contiguous, paged } = capacity;
    facts.push(
      fact(
        'Fit paged',
        paged.requests,
        `${wordsOf(paged.blocksPerRequest)} each, room for ${wordsOf(paged.tailTokens)} left empty`,
      ),
      fact(
        'Fit contiguous',
        contiguous.requests,
        `${shortAmount(contiguous.bytesPerRequest)} reserved each, ${percent(contiguous.usedShare.value)} of it used`,
      ),
    );
  }
  if (kv?.atMaxLength && capacity) {
    facts.push(
      fact('Longest request', kv.atMaxLength.reserved, `per GPU, at ${withCommas(capacity.maxLength)} tokens`),
    );
  }
  if (capacity?.longestContext) {
    facts.push(fact('Longest context', capacity.longestContext, 'tokens in one request that still start'));
  }
  return facts;
}

const fact = (label: string, figure: Figure, note: string): FactView => ({
  label,
  value: shortAmount(figure),
  range: intervalOf(figure.range, figure.unit),
  note,
});

function budgetView({ total, limit, weights, activations, graphs, other, kv }: Budget): BudgetView {
  const whole = total.value;
  const term = (key: Segment['key'], label: string, { figure, why }: BudgetTerm): Segment => ({
    key,
    label,
    share: share(figure.value, whole),
    low: share(figure.range?.low ?? figure.value, whole),
    high: share(figure.range?.high ?? figure.value, whole),
    size: inUnit(figure.value, 'bytes'),
    range: intervalOf(figure.range, 'bytes') || 'exact',
    why: clean(why),
  });
  const outside = Math.max(0, whole - limit.value);
  const segments = [
    term('weights', 'Weights', weights),
    term('activations', 'Activations', activations),
    term('graphs', 'Graphs', graphs),
    term('other', 'Other', other),
    term('kv', 'KV cache', kv),
    {
      key: 'outside' as const,
      label: 'Outside the limit',
      share: share(outside, whole),
      low: share(outside, whole),
      high: share(outside, whole),
      size: inUnit(outside, 'bytes'),
      range: '',
      why: 'what the engine may not use',
    },
  ];
  const parts = segments.map(({ label, size }) => `${label.toLowerCase().replace('kv', 'KV')} ${size}`);
  return {
    summary: `One GPU of ${shortAmount(total)}: ${parts.join(', ')}.`,
    total: shortAmount(total),
    totalGiB: whole / GiB,
    limit: shortAmount(limit),
    limitShare: share(limit.value, whole),
    segments,
  };
}

const share = (bytes: number, whole: number): number => (whole > 0 ? Math.max(0, bytes / whole) : 0);

/** Why the bar or the chart is not there. */
function missingIn(plan: Plan): string | undefined {
  if (!plan.planned) {
    return undefined; // the headline says why
  }
  if (!plan.hardware && plan.given.kvMemory === undefined) {
    return 'Pick a GPU above: the file does not name one, and memory, blocks and requests depend on it.';
  }
  if (!plan.budget) {
    return plan.given.kvMemory === undefined
      ? 'The budget of one GPU is not known; the findings below say why.'
      : `KV memory is given as ${formatBytes(plan.given.kvMemory)} per GPU, so the rest of the budget is not estimated.`;
  }
  return undefined;
}

function requestsView({ capacity }: Plan, points: readonly LengthPoint[]): RequestsView | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (!capacity || !first || !last) {
    return undefined;
  }
  const used = capacity.workload.prompt + capacity.workload.output;
  const marks = [
    { length: used, label: `workload ${withCommas(used)}` },
    { length: capacity.maxLength, label: `max length ${withCommas(capacity.maxLength)}` },
  ].filter(({ length }) => length >= first.length && length <= last.length);
  const limit = capacity.engineLimit?.value;
  return {
    summary:
      `Requests that fit by their length: paged from ${withCommas(first.paged)} at ${withCommas(first.length)} tokens ` +
      `to ${withCommas(last.paged)} at ${withCommas(last.length)}; contiguous ${withCommas(first.contiguous)} at any length.` +
      (limit === undefined ? '' : ` The engine runs at most ${withCommas(limit)}.`),
    points: points.map(({ length, contiguous, paged }) => ({ length, contiguous, paged })),
    marks,
    ...(limit !== undefined && { limit }),
  };
}
