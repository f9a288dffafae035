/**
 * The other direction: from a number of requests to the settings that serve them. Nothing is computed here: options are
 * changed in the text, and the text is planned again, until the smallest changes that reach the target are found.
 */

import { withCommas } from './core/units';
import type { TextEdit } from './launch/edit';
import type { Problem, ReadInput } from './launch/launch';
import { type Overrides, type Plan, type PlanContext, type PlanResult, planText } from './planner';
import { type Attempt, attempt, type Demand, OFFERED, Paused, type Scratch, writtenAs } from './solve/attempt';
import { type Lever, type LeverKind, leversOf, optionNames } from './solve/levers';
import { type Found, nearestOf, type Quest, searched, settled } from './solve/search';

export interface Target {
  /** Requests at once, all replicas of a launch together. */
  readonly concurrency: number;
  /** Tokens of each, prompt and output; absent = those of the workload. */
  readonly length?: number;
}

export interface Change {
  readonly option: string;
  /** As written, or the default; absent when neither is known. */
  readonly from?: string;
  readonly to: string;
}

export interface Solution {
  readonly kinds: readonly LeverKind[];
  readonly changes: readonly Change[];
  /** Of the text as it is; together they lead to `text`. */
  readonly edits: readonly TextEdit[];
  readonly text: string;
  readonly plan: Plan;
  /** Requests at once, all replicas together. */
  readonly served: number;
  /** GPUs that all replicas use, and whether the file offers fewer. */
  readonly gpus: number;
  readonly moreGpus: boolean;
}

export interface Solved {
  /** The launch as it is, at the target's workload. */
  readonly plan: Plan;
  readonly target: Target & { readonly length: number };
  readonly served: number;
  /** Nothing need be changed. */
  readonly met: boolean;
  /** GPUs that are offered, or used where nothing offers any. */
  readonly gpus: number;
  /** Smallest change first. */
  readonly solutions: readonly Solution[];
  /** The most that can be reached, where nothing on the GPUs offered reaches the target. */
  readonly nearest?: Solution;
  /** Why there is no solution, or none on the GPUs offered. */
  readonly reason?: string;
}

export interface SolveResult {
  readonly solved: readonly Solved[];
  readonly problems: readonly (Problem & { readonly line?: number })[];
  readonly needs: PlanResult['needs'];
}

/** Solves each launch of a text. */
export function solveFor(target: Target, input: ReadInput, context: PlanContext): SolveResult {
  return solveSome(target, input, context, () => ({ tried: new Map() }));
}

/** Milliseconds that a search takes at once: one attempt at least, about as long as a file takes to plan. */
const SLICE = 25;

/** Solves one launch of a text, in slices: between them `pause` lets others work, and rejects to end the search. */
export async function solveOne(
  target: Target,
  input: ReadInput,
  context: PlanContext,
  at: number,
  pause: () => Promise<void>,
): Promise<SolveResult> {
  const tried: Scratch['tried'] = new Map();
  for (;;) {
    const until = Date.now() + SLICE;
    const before = tried.size;
    const next = (): void => {
      if (tried.size > before && Date.now() >= until) {
        throw new Paused();
      }
    };
    try {
      return solveSome(target, input, context, (i) => (i === at ? { tried, next } : undefined));
    } catch (error) {
      if (!(error instanceof Paused)) {
        throw error;
      }
      await pause();
    }
  }
}

/** Those launches that are given something to remember attempts in. */
function solveSome(
  target: Target,
  input: ReadInput,
  context: PlanContext,
  memory: (at: number) => Pick<Scratch, 'tried' | 'next'> | undefined,
): SolveResult {
  const asked = target.length === undefined ? context : { ...context, flags: atLength(target.length, context) };
  const { plans, problems, needs } = planText(input, asked);
  const all = plans.flatMap((plan, at) => {
    const own = memory(at);
    return own ? [solved(target, plan, { ...own, input, context: asked, at, demand: demandOf(target, plan) })] : [];
  });
  return { solved: all, problems, needs };
}

/** A length is the prompt and as much of the usual output as it has room for. */
function atLength(length: number, { flags }: PlanContext): Overrides {
  const output = Math.max(1, Math.min(Number(flags?.output ?? 250) || 250, length - 1));
  return { ...flags, prompt: String(Math.max(1, length - output)), output: String(output) };
}

/** More machines than this are not proposed. */
const MOST_GPUS = 64;

const demandOf = (target: Target, { workload }: Plan): Demand => ({
  concurrency: target.concurrency,
  length: target.length ?? workload.prompt + workload.output,
});

function solved(target: Target, plan: Plan, scratch: Scratch): Solved {
  const { demand } = scratch;
  const now = attempt(scratch, {});
  const offered = plan.hardware?.count ?? plan.launch.hardware.count?.value ?? now?.gpus ?? 1;
  const known = (plan.hardware?.count ?? plan.launch.hardware.count) !== undefined;
  const gpus = Math.max(offered, now?.gpus ?? 1);
  const common = { plan, target: { ...target, length: demand.length }, served: now?.served ?? 0, gpus };
  if (!now || !plan.planned || !plan.kv?.pool) {
    return { ...common, met: false, solutions: [], reason: unknown(plan) };
  }
  if (now.served >= target.concurrency) {
    return { ...common, met: true, solutions: [] };
  }
  const solution = (found: Found): Solution => solutionOf(scratch, plan, found, offered);
  const within: Quest = { scratch, names: optionNames(plan), gpus };
  const tooLong = aboveModel(within, now);
  if (tooLong !== undefined) {
    return { ...common, met: false, solutions: [], reason: tooLong };
  }
  const found = quested(within, scratch, now);
  if (found.length > 0) {
    return { ...common, met: false, solutions: ordered(found).map(solution) };
  }
  const best = nearest(within, scratch, now);
  const beyond = quested({ ...within, gpus: MOST_GPUS }, scratch, now);
  return {
    ...common,
    met: false,
    solutions: ordered(beyond).map(solution),
    nearest: best && solution(best),
    reason: `No change on ${gpus === 1 ? 'the one GPU' : `the ${withCommas(gpus)} GPUs`} ${known ? 'offered' : 'in use'} reaches it.`,
  };
}

function quested(quest: Quest, scratch: Scratch, now: Attempt): readonly Found[] {
  const base = settled(scratch, {}, quest.names) ?? now;
  if (base.gpus <= quest.gpus && base.served >= scratch.demand.concurrency) {
    return [{ kinds: [], attempt: base }];
  }
  const levers: readonly Lever[] = leversOf(base, {
    demand: scratch.demand,
    kvCeiling: kvCeiling(quest, base),
    gpus: quest.gpus,
  });
  return searched(quest, levers);
}

/** The most that any attempt served, by the smallest change that serves as many. */
function nearest(quest: Quest, scratch: Scratch, now: Attempt): Found | undefined {
  const best = nearestOf(quest);
  if (!best) {
    return undefined;
  }
  const lower: Scratch = { ...scratch, demand: { ...scratch.demand, concurrency: best.served } };
  return ordered(quested({ ...quest, scratch: lower }, lower, now))[0] ?? { kinds: [], attempt: best };
}

/** KV bytes that a card holds for sure at the largest share; undefined while nobody knows the card. */
function kvCeiling({ scratch, names }: Quest, base: Attempt): number | undefined {
  const [bytes, share] = [names('kv-memory', 'bytes'), names('memory-share')];
  if (bytes === undefined || share === undefined || !base.plan.hardware) {
    return undefined;
  }
  const stated = base.plan.options.some((o) => o.name === bytes && typeof o.value === 'number');
  const budget = attempt(scratch, { ...base.changes, ...(stated ? { [bytes]: 'None' } : {}), [share]: '0.95' })?.plan
    .budget;
  return budget && Math.min(...budget.ranks.map((r) => r.low));
}

const COST: readonly LeverKind[] = ['share', 'kv-bytes', 'batch', 'sequences', 'block', 'length', 'dtype', 'gpus'];

/** By the costliest lever, then the next; a solution of fewer levers comes first. */
const ordered = (found: readonly Found[]): readonly Found[] =>
  [...found].sort((a, b) => cost(a) - cost(b) || a.attempt.gpus - b.attempt.gpus);

const cost = ({ kinds }: Found): number => kinds.reduce((sum, kind) => sum + 2 ** COST.indexOf(kind), 0);

function solutionOf(scratch: Scratch, plan: Plan, { kinds, attempt: found }: Found, offered: number): Solution {
  const more = found.gpus > offered;
  const made = (more && attempt(scratch, { ...found.changes, [OFFERED]: String(found.gpus) })) || found;
  return {
    kinds,
    changes: Object.entries(made.changes)
      .filter(([option]) => option !== OFFERED)
      .map(([option, to]): Change => ({ option, from: writtenAs(plan, option), to }))
      .filter(({ from, to }) => from !== to),
    edits: made.edits,
    text: made.text,
    plan: planText({ ...scratch.input, text: made.text }, scratch.context).plans[scratch.at] ?? made.plan,
    served: made.served,
    gpus: made.gpus,
    moreGpus: more,
  };
}

/** Why nothing can be tried. */
function unknown(plan: Plan): string {
  const worst =
    plan.findings.find((f) => f.severity === 'error') ?? plan.findings.find((f) => f.code.endsWith('-unknown'));
  return worst?.message ?? 'How much memory is left for the KV cache is not known.';
}

/** The model itself takes no request of that length: then there is nothing to search. */
function aboveModel({ scratch, names }: Quest, now: Attempt): string | undefined {
  const base = settled(scratch, {}, names) ?? now;
  const refused = base.plan.findings.find((f) => f.code === 'length-above-model');
  const most = refused?.fixes[0]?.value;
  return most === undefined ? undefined : `The model takes requests of ${withCommas(Number(most))} tokens at most.`;
}
