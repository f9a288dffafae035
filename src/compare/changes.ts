/** What became of the launches of a file: paired with those of another text, and held against each other figure by figure. */
import type { Figure } from '../core/figure';
import type { PlacedFinding, Plan } from '../planner';

/** Absent on a side: not known there. */
export interface FigureChange {
  readonly label: string;
  readonly before?: Figure;
  readonly after?: Figure;
  /** After ÷ before − 1; absent where that says nothing. */
  readonly ratio?: number;
  /** After − before. */
  readonly difference?: number;
}

export interface OptionChange {
  readonly name: string;
  /** As written; absent: not written there. */
  readonly before?: string;
  readonly after?: string;
}

export interface LaunchChange {
  /** Absent: the launch is only on the other side. */
  readonly before?: Plan;
  readonly after?: Plan;
  /** Those that are known on either side. */
  readonly figures: readonly FigureChange[];
  /** Written options that differ. */
  readonly options: readonly OptionChange[];
  readonly gone: readonly PlacedFinding[];
  readonly come: readonly PlacedFinding[];
}

/** Launches are paired by engine and name, then by engine, then in order; what is left stands alone. */
export function changesOf(before: readonly Plan[], after: readonly Plan[]): readonly LaunchChange[] {
  const left = [...before];
  const take = (fits: (plan: Plan) => boolean): Plan | undefined => {
    const at = left.findIndex(fits);
    return at === -1 ? undefined : left.splice(at, 1)[0];
  };
  const partners = new Map<Plan, Plan>();
  for (const rule of RULES) {
    for (const plan of after.filter((p) => !partners.has(p))) {
      const partner = take((other) => rule(other, plan));
      if (partner) {
        partners.set(plan, partner);
      }
    }
  }
  return [...after.map((plan) => changeOf(partners.get(plan), plan)), ...left.map((plan) => changeOf(plan, undefined))];
}

const RULES: readonly ((a: Plan, b: Plan) => boolean)[] = [
  (a, b) => a.engine.id === b.engine.id && a.launch.title === b.launch.title,
  (a, b) => a.launch.title === b.launch.title,
  (a, b) => a.engine.id === b.engine.id,
  () => true,
];

function changeOf(before: Plan | undefined, after: Plan | undefined): LaunchChange {
  return {
    before,
    after,
    figures: FIGURES.flatMap(([label, of]) => {
      const [x, y] = [before && of(before), after && of(after)];
      return x || y ? [figureChange(label, x, y)] : [];
    }),
    options: before && after ? optionChanges(before, after) : [],
    gone: before && after ? missingIn(before.findings, after.findings) : [],
    come: before && after ? missingIn(after.findings, before.findings) : [],
  };
}

function figureChange(label: string, before: Figure | undefined, after: Figure | undefined): FigureChange {
  return before && after && before.value > 0
    ? { label, before, after, ratio: after.value / before.value - 1, difference: after.value - before.value }
    : { label, before, after };
}

const FIGURES: readonly (readonly [string, (plan: Plan) => Figure | undefined])[] = [
  ['Requests at once', (p) => p.capacity?.fits],
  ['Paged, memory alone', (p) => p.capacity?.paged.requests],
  ['Contiguous, memory alone', (p) => p.capacity?.contiguous.requests],
  ['Longest context that fits', (p) => p.capacity?.longestContext],
  ['One token, per GPU', (p) => p.kv?.layout.bytesPerToken],
  ['One request of max length, per GPU', (p) => p.kv?.atMaxLength?.reserved],
  ['One block, per GPU', (p) => p.kv?.layout.bytesPerBlock],
  ['Blocks, per GPU', (p) => p.kv?.pool?.blocks],
  ['KV pool, per GPU', (p) => p.kv?.pool?.bytes],
  ['Limit for the engine, per GPU', (p) => p.budget?.limit],
  ['Weights, per GPU', (p) => p.budget?.weights.figure],
  ['Activations, per GPU', (p) => p.budget?.activations.figure],
  ['CUDA graphs, per GPU', (p) => p.budget?.graphs.figure],
  ['Other, per GPU', (p) => p.budget?.other.figure],
];

function optionChanges(before: Plan, after: Plan): readonly OptionChange[] {
  const [was, is] = [written(before), written(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((name) => ({ name, before: was.get(name), after: is.get(name) }))
    .filter((change) => change.before !== change.after);
}

/** The last of an option counts. */
const written = ({ launch }: Plan): ReadonlyMap<string, string> =>
  new Map(launch.options.map((option) => [option.name, option.raw]));

const missingIn = (findings: readonly PlacedFinding[], others: readonly PlacedFinding[]): readonly PlacedFinding[] =>
  findings.filter((finding) => !others.some((o) => o.code === finding.code && o.message === finding.message));
