/** One launch whose budget an engine has printed: planned without being told any of it, and compared term by term. */
import { GiB } from '../../src/core/units';
import { type Plan, planText } from '../../src/planner';

export type TermName = 'weights' | 'activations' | 'graphs' | 'other';
const TERM_NAMES: readonly TermName[] = ['weights', 'activations', 'graphs', 'other'];

/** GiB per GPU, as printed. */
export interface Measured extends Partial<Readonly<Record<TermName, number>>> {
  readonly kv?: number;
}

export interface BudgetLaunch {
  readonly id: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags: Readonly<Record<string, string>>;
  readonly measured: Measured;
}

export interface Compared {
  readonly measured: number;
  readonly low: number;
  readonly value: number;
  readonly high: number;
  readonly inside: boolean;
}

export interface BudgetResult {
  readonly id: string;
  /** Why it says nothing about the estimates. */
  readonly excluded?: string;
  readonly launch?: string;
  /** GiB of the card. */
  readonly card?: number;
  readonly kv?: Compared;
  readonly terms?: Partial<Readonly<Record<TermName, Compared>>>;
}

/** Logs print two decimals. */
const ROUNDING = 0.005;

function planOf({ args, environment = {}, flags }: BudgetLaunch): Plan | undefined {
  const text = [
    'services:',
    '  engine:',
    '    image: vllm/vllm-openai',
    '    environment:',
    "      VLLM_ALLOW_LONG_MAX_MODEL_LEN: '1'",
    ...Object.entries(environment).map(([name, value]) => `      ${name}: '${value}'`),
    '    command:',
    ...args.map((a) => `      - '${a}'`),
    '',
  ].join('\n');
  return planText({ text, name: 'compose.yaml' }, { flags }).plans[0];
}

export function compareBudget(launch: BudgetLaunch): BudgetResult {
  const { id, measured } = launch;
  const plan = planOf(launch);
  const budget = plan?.budget;
  if (!budget) {
    return { id, excluded: plan?.findings.map((f) => f.message).join('; ') ?? 'not read' };
  }
  const compared = (name: TermName | 'kv'): Compared | undefined => {
    const said = measured[name];
    const { figure } = budget[name];
    const { low, high } = figure.range ?? { low: figure.value, high: figure.value };
    return said === undefined
      ? undefined
      : {
          measured: said,
          low: low / GiB,
          value: figure.value / GiB,
          high: high / GiB,
          inside: low / GiB - ROUNDING <= said && said <= high / GiB + ROUNDING,
        };
  };
  const said = (name: string) => plan.options.find((o) => o.name === name)?.value;
  return {
    id,
    launch: `${plan.model?.id} tp ${plan.placement?.tensor} vLLM ${plan.engine.version.text}, T ${said('max-num-batched-tokens')}, S ${said('max-num-seqs')}`,
    card: budget.total.value / GiB,
    kv: compared('kv'),
    terms: Object.fromEntries(TERM_NAMES.map((name) => [name, compared(name)])),
  };
}

const median = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

export interface Summary {
  readonly cases: number;
  readonly outside: readonly string[];
  /** Shares of the card's memory. */
  readonly medianError: number;
  readonly medianInterval: number;
}

export function summaryOf(results: readonly BudgetResult[]): Summary {
  const rows = results.flatMap(({ id, kv, card }) => (kv && card ? [{ id, kv, card }] : []));
  return {
    cases: rows.length,
    outside: rows.filter(({ kv }) => !kv.inside).map(({ id }) => id),
    medianError: median(rows.map(({ kv, card }) => Math.abs(kv.value - kv.measured) / card)),
    medianInterval: median(rows.map(({ kv, card }) => (kv.high - kv.low) / card)),
  };
}

export interface TermSummary {
  readonly term: TermName;
  readonly cases: number;
  readonly outside: readonly string[];
  /** GiB. */
  readonly medianError: number;
}

export const termSummaries = (results: readonly BudgetResult[]): readonly TermSummary[] =>
  TERM_NAMES.map((term) => {
    const rows = results.flatMap(({ id, terms }) => (terms?.[term] ? [{ id, compared: terms[term] }] : []));
    return {
      term,
      cases: rows.length,
      outside: rows.filter(({ compared }) => !compared.inside).map(({ id }) => id),
      medianError: median(rows.map(({ compared }) => Math.abs(compared.value - compared.measured))),
    };
  }).filter(({ cases }) => cases > 0);
