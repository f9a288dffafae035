/** Smallest changes that meet a target: each lever alone, then in pairs, then all together. */
import { type Attempt, attempt, type Changes, type Scratch } from './attempt';
import type { Lever, LeverKind, OptionNames } from './levers';

/** Steps taken on some levers; a lever that is not named stays as it is. */
type Taken = ReadonlyMap<Lever, number>;

export interface Found {
  readonly kinds: readonly LeverKind[];
  readonly attempt: Attempt;
}

const changesOf = (taken: Taken): Changes =>
  Object.assign({}, ...[...taken].map(([lever, step]) => lever.at(step))) as Changes;

/** A length of all requests together is rounded up for each, so it takes several to come near. */
const ROUNDS = 12;

/** What the target demands of limits whatever else is changed: a length that is accepted, sequences that may run. */
export function settled(scratch: Scratch, changes: Changes, names: OptionNames): Attempt | undefined {
  let now = attempt(scratch, changes);
  for (let round = 0; now && round < ROUNDS; round++) {
    const more = demanded(now, scratch, names);
    if (Object.entries(more).every(([option, value]) => now?.changes[option] === value)) {
      return now;
    }
    now = attempt(scratch, { ...now.changes, ...more });
  }
  return now;
}

function demanded({ plan }: Attempt, { demand }: Scratch, names: OptionNames): Changes {
  const { capacity } = plan;
  const [length, sequences, batch] = [names('max-length'), names('max-sequences'), names('batch-tokens')];
  const settingOf = (name: string | undefined) => plan.options.findLast((o) => o.name === name)?.value;
  const needed = Math.ceil(demand.concurrency / (plan.placement?.replicas ?? 1));
  const limit = capacity?.engineLimit?.value;
  const tokens = Number(settingOf(batch));
  const changes: Record<string, string> = {};
  if (capacity && length !== undefined && capacity.maxLength < demand.length && settingOf(length) !== 'auto') {
    changes[length] = String(lengthFor(demand.length, Number(settingOf(length)), capacity.maxLength));
  }
  if (limit === undefined || limit >= needed) {
    return changes;
  }
  // One limit for all replicas, or one for each: what it takes shows in what it gave.
  const written = Number(settingOf(sequences));
  if (sequences !== undefined && capacity?.limitedBy !== 'batch-tokens' && !(written >= needed && limit >= needed)) {
    changes[sequences] = String(written > 0 && limit > 0 ? Math.ceil((written * needed) / limit) : needed);
  }
  const perStep = capacity?.limitedBy === 'batch-tokens' ? Math.ceil(tokens / Math.max(1, limit)) : 1;
  if (batch !== undefined && tokens < needed * perStep) {
    changes[batch] = String(needed * perStep);
  }
  return changes;
}

/** Some engines ask for the length of all requests together: what it takes shows in what was asked for and what it gave. */
const lengthFor = (needed: number, asked: number, given: number): number =>
  asked > given && given > 0 ? Math.ceil((asked * needed) / given) : needed;

/** What a search goes by. */
export interface Quest {
  readonly scratch: Scratch;
  readonly names: OptionNames;
  /** Most GPUs of all replicas. */
  readonly gpus: number;
}

function reached(quest: Quest, taken: Taken): Attempt | undefined {
  const made = settled(quest.scratch, changesOf(taken), quest.names);
  return made && made.gpus <= quest.gpus && made.served >= quest.scratch.demand.concurrency ? made : undefined;
}

/** The first step of one lever at which the target is met, with the others as they are; −1 = it need not move. */
function firstStep(quest: Quest, lever: Lever, others: Taken): number | undefined {
  const met = (step: number) => reached(quest, step < 0 ? others : new Map([...others, [lever, step]])) !== undefined;
  if (!lever.monotone) {
    return [-1, ...Array(lever.steps).keys()].find(met);
  }
  let low = -1;
  let high = lever.steps - 1;
  if (!met(high)) {
    return undefined;
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (met(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

/** As far as each lever goes. */
const atMost = (levers: readonly Lever[]): Taken => new Map(levers.map((l) => [l, l.steps - 1]));

/** The costliest lever is moved back first, as far as the others at their most allow; so none can be moved back alone. */
function least(quest: Quest, levers: readonly Lever[]): Found | undefined {
  let taken: Map<Lever, number> = new Map(atMost(levers));
  for (const lever of [...levers].reverse()) {
    const others = new Map([...taken].filter(([l]) => l !== lever));
    const step = firstStep(quest, lever, others);
    if (step === undefined) {
      return undefined;
    }
    taken = step < 0 ? others : others.set(lever, step);
  }
  const made = reached(quest, taken);
  return made && { kinds: [...taken.keys()].map((l) => l.kind).reverse(), attempt: made };
}

/** Levers that name the same memory. */
const exclusive = (a: Lever, b: Lever): boolean =>
  new Set([a.kind, b.kind]).size === 2 && [a, b].every((l) => l.kind === 'share' || l.kind === 'kv-bytes');

/** Each alone; then pairs of those that alone do not do; then all of them. `levers`: cheapest first. */
export function searched(quest: Quest, levers: readonly Lever[]): readonly Found[] {
  const alone = levers.flatMap((lever) => least(quest, [lever]) ?? []);
  const rest = levers.filter((l) => !alone.some((f) => f.kinds.includes(l.kind)));
  const pairs = rest.flatMap((b, i) =>
    rest.slice(0, i).flatMap((a) => (exclusive(a, b) ? [] : (least(quest, [a, b]) ?? []))),
  );
  if (alone.length + pairs.length > 0) {
    return [...alone, ...pairs];
  }
  const all = levers.filter((l) => l.kind !== 'kv-bytes' || !levers.some((o) => o.kind === 'share'));
  const together = least(quest, all);
  return together ? [together] : [];
}

/** The most that was reached by any attempt within these GPUs; of equals, the one with fewest changes. */
export function nearestOf({ scratch, gpus }: Quest): Attempt | undefined {
  let best: Attempt | undefined;
  for (const made of scratch.tried.values()) {
    if (
      made &&
      made.gpus <= gpus &&
      made.served > 0 &&
      (best === undefined || made.served > best.served || (made.served === best.served && simpler(made, best)))
    ) {
      best = made;
    }
  }
  return best;
}

const simpler = (a: Attempt, b: Attempt): boolean => Object.keys(a.changes).length < Object.keys(b.changes).length;
