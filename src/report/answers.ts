/** The first lines of a report: does it start, how many fit. */
import { toFixedHalfEven, withCommas } from '../core/units';
import type { PlacedFinding, Plan } from '../planner';
import { intervalOf } from './amounts';
import type { Answer } from './document';
import { clean } from './document';
import { exactBytes, isEstimated, numberOf, wordsOf } from './numbers';
import { aboveLength, servedAtOnce } from './planned';

export function answersOf(plan: Plan): Answer[] {
  if (plan.planned) {
    return [starts(plan), fits(plan), ...fix(plan)];
  }
  // A launch that the engine will not take is an answer; one that we cannot plan is not.
  const label = plan.starts === false ? 'Starts' : 'Planned';
  return [{ label, tone: 'bad', text: `no. ${whyNot(plan)}` }, ...fix(plan)];
}

/** What would make it start. */
function fix({ starts, findings }: Plan): Answer[] {
  const first = findings.find((f) => f.fixes.length > 0 && (f.severity === 'error' || starts === 'unknown'));
  const title = starts === true ? undefined : first?.fixes[0]?.title;
  return title === undefined ? [] : [{ label: 'Fix', tone: 'good', text: clean(title) }];
}

/** The first error, or what stands in its place. */
export const decidingFinding = ({ findings }: Plan): PlacedFinding | undefined =>
  findings.find((f) => f.severity === 'error') ?? findings[0];

export const whyNot = (plan: Plan): string => clean(decidingFinding(plan)?.message ?? 'It is not covered.');

function starts(plan: Plan): Answer {
  if (plan.starts === true) {
    return { label: 'Starts', tone: 'good', text: `yes${depth(plan)}` };
  }
  if (plan.starts === false) {
    return { label: 'Starts', tone: 'bad', text: `no. ${whyNot(plan)}` };
  }
  return { label: 'Starts', tone: 'unsure', text: `not known. ${whyUnknown(plan)}` };
}

function whyUnknown(plan: Plan): string {
  const gpu = plan.findings.find((f) => f.code === 'gpu-unknown');
  const doubt = plan.findings.find((f) => f.refuses === 'perhaps');
  if (gpu || !plan.kv?.pool || !plan.capacity) {
    return gpu ? clean(gpu.message) : missing(plan);
  }
  return doubt && plan.kv.pool.logged && !isStraddling(plan) ? clean(doubt.message) : straddles(plan);
}

/** The pool's range has lengths on either side of the one asked for. */
function isStraddling({ capacity }: Plan): boolean {
  const range = capacity?.longestContext?.range;
  return (
    range !== undefined && capacity !== undefined && range.low < capacity.maxLength && capacity.maxLength <= range.high
  );
}

/** How far from the edge it is. */
function depth({ kv, capacity }: Plan): string {
  const concurrency = kv?.pool?.logged?.maxConcurrency;
  return concurrency && capacity
    ? `: the pool holds ${withCommas(Number(toFixedHalfEven(concurrency.value, 2)))} requests of the full ${withCommas(capacity.maxLength)} tokens`
    : '';
}

function straddles({ kv }: Plan): string {
  const needed = kv?.atMaxLength ? `one request of the full length needs ${wordsOf(kv.atMaxLength.reserved)}; ` : '';
  return `The memory left for the KV cache is estimated, and its range straddles what is needed: ${needed}the pool is ${kv?.pool ? wordsOf(kv.pool.bytes) : 'unknown'}.`;
}

/** What has to be said before anybody can know; the planner has put it into a finding. */
function missing(plan: Plan): string {
  const asked =
    plan.findings.find((f) => f.code === 'length-unknown' || f.code === 'weights-unknown') ??
    plan.findings.find(
      (f) => (f.code.endsWith('-unknown') && f.code !== 'draft-unknown') || f.code === 'bad-directive',
    );
  const fallback = plan.hardware ? 'The memory left for the KV cache is not known.' : 'The GPU is not known.';
  return clean(asked?.message ?? fallback);
}

function fits(plan: Plan): Answer {
  const { capacity } = plan;
  if (!capacity) {
    const one = plan.kv?.atMaxLength;
    const text = one
      ? `not known; one request of ${withCommas(one.tokens)} tokens reserves ${exactBytes(one.reserved.value)} per GPU`
      : 'not known';
    return { label: 'Fits', tone: 'unsure', text };
  }
  const { prompt, output } = capacity.workload;
  const above = aboveLength(plan);
  const longest = withCommas(capacity.maxLength);
  const range = intervalOf(capacity.fits.range, 'requests');
  const text =
    `${numberOf(capacity.fits)} requests at once of ${above ? longest : `${withCommas(prompt)} + ${withCommas(output)}`} tokens` +
    `${range && ` (estimated: ${range})`}${replicas(plan)}, ${limit(plan)}${copies(plan)}`;
  if (plan.starts === false && capacity.fits.value === 0) {
    return { label: 'Fits', tone: 'bad', text: 'nothing' };
  }
  if (plan.starts === false) {
    return {
      label: 'Fits',
      tone: 'bad',
      text: `nothing while it does not start${setAside(plan) ? '' : `; memory is left for ${text}`}`,
    };
  }
  if (above === 'refused') {
    const refused = `none of ${withCommas(prompt)} + ${withCommas(output)} tokens: more than the ${longest} that a request may have`;
    return { label: 'Fits', tone: 'bad', text: `${refused}; ${text}` };
  }
  return { label: 'Fits', tone: capacity.fits.value > 0 && !isEstimated(capacity.fits) ? 'good' : 'unsure', text };
}

function replicas(plan: Plan): string {
  const count = plan.placement?.replicas ?? 1;
  const all = servedAtOnce(plan);
  return count > 1 && all !== undefined ? ` on each of ${count} replicas (${withCommas(all)} in all)` : '';
}

/** What the file starts of it beside each other: every other number is of one. */
function copies(plan: Plan): string {
  const { copies: count = 1 } = plan.launch;
  const all = servedAtOnce(plan);
  return count > 1 && all !== undefined
    ? `; the ${count} copies that the file starts serve ${withCommas(all * count)} together`
    : '';
}

/** llama.cpp and Ollama set aside what their options ask for, be there memory for it or not: it says nothing of memory. */
export const setAside = ({ kv }: Plan): boolean => kv?.layout.allocator === 'slots' || kv?.layout.allocator === 'cells';

function limit(plan: Plan): string {
  const { capacity } = plan;
  const paged = capacity ? wordsOf(capacity.paged.requests) : '';
  switch (capacity?.limitedBy) {
    case 'max-sequences':
      return `which is the engine's limit${setAside(plan) ? '' : `; memory alone holds ${paged}`}`;
    case 'state-blocks':
      return 'limited by the blocks for states';
    case 'batch-tokens':
      return `limited by the tokens of one step; memory alone holds ${paged}`;
    default:
      return 'limited by memory';
  }
}
