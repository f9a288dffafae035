/** One launch's way through its engine: configuration → layout → budget → pool → verdict → capacity. */
import { capacityOf } from '../core/capacity/compute';
import type {
  Budget,
  Configuration,
  ConfigureInput,
  Engine,
  Layout,
  Outcome,
  Pool,
  StartVerdict,
  Workload,
} from '../core/engines/engine';
import type { OptionRole } from '../core/engines/option';
import type { Origin } from '../core/figure';
import { between, type Estimate, exactly } from '../core/units';
import type { Launch } from '../launch/launch';
import { withLengths } from './capacity-origins';
import { settingOrigins } from './origins';

export interface RoadInput {
  readonly engine: Engine<Configuration>;
  readonly asked: ConfigureInput;
  readonly workload: Workload;
  readonly role: Launch['role'];
  /** Where KV bytes that were given beside the launch came from. */
  readonly givenKv?: Origin;
  /** Where the lengths of the workload came from. */
  readonly workloadOrigins?: readonly Origin[];
}

/** Throws `EngineRefusal` where the engine has no layout for it. */
export function roadOf(input: RoadInput): Outcome {
  const { engine, asked } = input;
  const { model, hardware, given } = asked;
  const configuration = engine.configure(asked);
  const layout = engine.layout(model, configuration);
  const stated = given.kvMemory ?? engine.statedKvBytes(configuration);
  const asksMemory = stated === undefined || (engine.fixedPool === true && given.kvMemory === undefined);
  const budget = asksMemory && hardware ? engine.budget(model, configuration, layout, hardware, given) : undefined;
  const kv =
    budget?.ranks.map(atLeastNothing) ?? (stated === undefined ? undefined : layout.ranks.map(() => exactly(stated)));
  if (!kv) {
    return { configuration, layout, budget };
  }
  const originOf = settingOrigins(engine, configuration);
  const pooled = pooledOf(engine, configuration, layout, kv, kvOrigin(input, budget ? undefined : stated, originOf));
  return {
    configuration: pooled.configuration,
    layout: pooled.layout,
    pool: pooled.pool,
    verdict: pooled.verdict,
    budget,
    capacity: capacityAt(pooled, input, originOf),
  };
}

function capacityAt(
  { configuration, layout, pool, verdict }: Pooled,
  { workload, role, workloadOrigins }: RoadInput,
  originOf: (role: OptionRole) => Origin | undefined,
): Outcome['capacity'] {
  const { maxLength } = configuration;
  if (maxLength === undefined) {
    return undefined;
  }
  const { longestContext } = verdict;
  const capacity = capacityOf({ configuration, layout, pool, maxLength, workload, role, originOf, longestContext });
  return withLengths(capacity, workloadOrigins ?? [], originOf('max-length'));
}

/** A pool is never smaller than nothing; how much is lacking stands in the budget. */
const atLeastNothing = ({ low, value, high }: Estimate): Estimate =>
  between(Math.max(0, low), Math.max(0, value), Math.max(0, high));

interface Pooled {
  readonly configuration: Configuration;
  readonly layout: Layout;
  readonly pool: Pool;
  readonly verdict: StartVerdict;
}

/** The pool, and the layout seen from the rank that decides it; `auto` lengths are what fits. */
function pooledOf(
  engine: Engine<Configuration>,
  asked: Configuration,
  first: Layout,
  kv: Budget['ranks'],
  origin: Origin,
): Pooled {
  const pool = engine.pool(asked, first, kv, origin);
  const layout = pool.decidingRank === first.decidingRank ? first : first.ofRank(pool.decidingRank);
  const verdict = engine.verdict(asked, layout, pool);
  const fitted = verdict.longestContext.value;
  if (!asked.autoLength || fitted === asked.maxLength || fitted <= 0) {
    return { configuration: asked, layout, pool, verdict };
  }
  const configuration = { ...asked, maxLength: fitted };
  return { configuration, layout, pool: engine.pool(configuration, layout, kv, origin), verdict };
}

function kvOrigin(
  { asked: { hardware, given }, givenKv }: RoadInput,
  stated: number | undefined,
  originOf: (role: OptionRole) => Origin | undefined,
): Origin {
  if (stated === undefined) {
    return { kind: 'estimate', text: `budget of one ${hardware?.name ?? 'GPU'}` };
  }
  return given.kvMemory === undefined
    ? (originOf('kv-memory') ?? { kind: 'file', text: 'stated by the launch' })
    : (givenKv ?? { kind: 'flag', text: 'kv-memory' });
}
