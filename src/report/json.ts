/** The plan as JSON, schema `kv-planner/plan@1`. This file and `schema/plan.schema.json` spell the contract; nothing else does. */
import type { Capacity, Waste } from '../core/capacity/capacity';
import type { Budget, BudgetTerm, Finding, Layout, Pool } from '../core/engines/engine';
import type { Figure } from '../core/figure';
import type { KvLayer, Model } from '../core/model/model';
import type { TextRange } from '../launch/launch';
import { linesOf, type Position } from '../launch/lines';
import type { KvPlan, PlacedFinding, Plan } from '../planner';
import type { PlannedFile } from './planned';

export const PLAN_SCHEMA = 'kv-planner/plan@1';

type Places = (offset: number) => Position;

/** Every plan of the files, and what could not be read. Keys whose value is unknown are left out. */
export function planJson(files: readonly PlannedFile[]): object {
  return known({
    schema: PLAN_SCHEMA,
    plans: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.result.plans.map((plan) => onePlan(plan, places));
    }),
    problems: files.flatMap((f) => {
      const places = linesOf(f.text).position;
      return f.result.problems.map((p) => ({
        file: p.file,
        line: p.line ?? (p.range && places(p.range.start).line),
        message: p.message,
      }));
    }),
  });
}

function onePlan(plan: Plan, places: Places): object {
  return {
    launch: launchOf(plan, places),
    model: plan.model && {
      id: plan.model.id,
      source: plan.model.source.text,
      layers: layersOf(ownLayers(plan)),
      parameters: plan.model.parameters,
      weightBytes: weightBytesOf(plan.model),
    },
    draft: plan.draft && {
      id: plan.draft.id,
      layers: layersOf(plan.draft.layers),
      weightBytes: weightBytesOf(plan.draft),
    },
    hardware: plan.hardware && {
      gpu: plan.hardware.name,
      count: plan.hardware.count,
      memoryBytes: Math.round(plan.hardware.memory.value),
      origin: plan.hardware.origin.kind,
    },
    placement: plan.placement && { ...plan.placement },
    kv: plan.kv && kvOf(plan.kv),
    budget: plan.budget && budgetOf(plan.budget),
    capacity: plan.capacity && capacityOf(plan.capacity),
    starts: plan.starts,
    findings: plan.findings.map(findingOf),
  };
}

function launchOf(plan: Plan, places: Places): object {
  const { launch } = plan;
  return {
    file: launch.file,
    form: launch.form,
    engine: launch.engine,
    engineVersion: plan.engine.version.text,
    role: launch.role,
    range: rangeOf(launch.range, places),
    options: plan.options.map((o) => ({
      name: o.name,
      value: o.value,
      raw: o.raw,
      origin: o.origin,
      line: o.line,
      column: 'range' in o && places(o.range.start).line === o.line ? places(o.range.start).column : undefined,
      unresolved: o.value === undefined ? (o.unresolved ?? o.error) : undefined,
    })),
  };
}

const rangeOf = (range: TextRange, places: Places): object => ({ start: places(range.start), end: places(range.end) });

const weightBytesOf = (model: Model): number | undefined => model.weights && Math.round(model.weights.bytes);

/** The layers of the model that run, MTP heads included; those of a separate draft model stand under `draft`. */
function ownLayers({ model, draft, layers }: Plan): readonly KvLayer[] {
  return (layers ?? model?.layers ?? []).filter((layer) => !(draft && layer.draft));
}

/** KV layers that are alike, counted, in order of first appearance. */
function layersOf(layers: readonly KvLayer[]): object[] {
  const counted = new Map<string, { layer: KvLayer; count: number }>();
  for (const layer of layers.filter((l) => l.kind !== 'none')) {
    const key = JSON.stringify([layer.kind, layer.draft, layer.kvHeads, layer.headDim, layer.valueDim, layer.window]);
    const entry = counted.get(key);
    if (entry) {
      entry.count += 1;
    } else {
      counted.set(key, { layer, count: 1 });
    }
  }
  return [...counted.values()].map(({ layer, count }) => ({
    kind: layer.kind,
    count,
    draft: layer.draft,
    kvHeads: layer.kvHeads,
    headDim: layer.headDim,
    valueDim: layer.valueDim,
    window: layer.window,
  }));
}

function kvOf({ layout, pool, atMaxLength }: KvPlan): object {
  return {
    dtype: { ...layout.dtype },
    allocator: layout.allocator,
    blockSize: layout.blockSize,
    bytesPerTokenPerGpu: whole(layout.bytesPerToken),
    bytesPerTokenTotal: whole(layout.bytesPerTokenTotal),
    fixedBytesPerRequestPerGpu: whole(layout.fixedBytes),
    bytesPerBlockPerGpu: whole(layout.bytesPerBlock),
    groups: groupsOf(layout, atMaxLength && layout.groupBlocks(atMaxLength.tokens)),
    atMaxLength: atMaxLength && {
      payloadBytes: whole(atMaxLength.payload),
      reservedBytes: whole(atMaxLength.reserved),
    },
    ...(pool && poolOf(pool)),
    ranks: ranksOf(layout, pool),
    decidingRank: pool?.decidingRank ?? layout.decidingRank,
  };
}

/** What the engine logs depends on the maximum length. */
function poolOf(pool: Pool): object {
  return {
    bytesPerGpu: whole(pool.bytes),
    blocks: whole(pool.blocks),
    pools: pool.parts?.map((p) => ({ name: p.name, blocks: whole(p.blocks), groups: [...p.groups] })),
    ...(pool.logged && {
      tokensAsLogged: whole(pool.logged.tokens),
      maxConcurrencyAsLogged: pool.logged.maxConcurrency?.value,
      logLines: [...pool.logged.lines],
    }),
    ...(pool.hostTier && { hostTier: { bytes: whole(pool.hostTier.bytes), tokens: whole(pool.hostTier.tokens) } }),
  };
}

const groupsOf = (layout: Layout, blocks: readonly number[] | undefined): object[] =>
  layout.groups.map((group, i) => ({
    kind: group.kind,
    layers: group.layers,
    dtype: group.dtype,
    blockSize: group.blockSize,
    bytesPerBlock: Math.round(group.bytesPerBlock),
    blocksPerRequest: blocks?.[i],
  }));

const ranksOf = (layout: Layout, pool: Pool | undefined): object[] =>
  layout.ranks.map((rank, i) => ({
    stage: rank.stage,
    layers: rank.layers,
    bytesPerTokenPerGpu: Math.round(rank.bytesPerToken),
    bytesPerBlock: Math.round(rank.bytesPerBlock),
    kvBytes: pool?.ranks[i] && Math.floor(pool.ranks[i].kvBytes),
    blocks: pool?.ranks[i]?.blocks,
  }));

const budgetOf = (budget: Budget): object => ({
  totalBytes: whole(budget.total),
  limitBytes: whole(budget.limit),
  weights: termOf(budget.weights),
  activations: termOf(budget.activations),
  graphs: termOf(budget.graphs),
  other: termOf(budget.other),
  kv: termOf(budget.kv),
});

function termOf({ figure, why }: BudgetTerm): object {
  const bytes = whole(figure);
  const { range } = figure;
  return {
    bytes,
    low: range ? Math.floor(range.low) : bytes,
    high: range ? Math.ceil(range.high) : bytes,
    why,
  };
}

function capacityOf(capacity: Capacity): object {
  const { contiguous, paged } = capacity;
  return {
    maxLength: capacity.maxLength,
    longestContext: capacity.longestContext && whole(capacity.longestContext),
    workload: { ...capacity.workload },
    contiguous: {
      requests: whole(contiguous.requests),
      bytesPerRequest: whole(contiguous.bytesPerRequest),
      usedShare: contiguous.usedShare.value,
      waste: wasteOf(contiguous.waste),
    },
    paged: {
      requests: whole(paged.requests),
      blocksPerRequest: whole(paged.blocksPerRequest),
      bytesPerRequest: whole(paged.bytesPerRequest),
      tailTokens: whole(paged.tailTokens),
      usedShare: paged.usedShare.value,
      requestsAtMaxLength: whole(paged.requestsAtMaxLength),
      requestsPerGiB: paged.requestsPerGiB.value,
      waste: wasteOf(paged.waste),
    },
    steadyState: { requests: whole(capacity.steadyState) },
    engineLimit: capacity.engineLimit && whole(capacity.engineLimit),
    fits: whole(capacity.fits),
    limitedBy: capacity.limitedBy,
    transferBytesPerRequest: capacity.transferBytes && whole(capacity.transferBytes),
  };
}

/** Whole bytes that still add up: what rounding takes or gives is left over. */
function wasteOf({ pool, payload, tail, padding, reservation }: Waste): object {
  const [whole = 0, ...parts] = [pool, payload, tail, padding, reservation].map(Math.round);
  const [p, t, d, r] = parts;
  const fragmentation = parts.reduce((left, part) => left - part, whole);
  return { pool: whole, payload: p, tail: t, padding: d, reservation: r, fragmentation };
}

const findingOf = (finding: PlacedFinding): object => ({
  code: finding.code,
  severity: finding.severity,
  message: finding.message,
  option: finding.option,
  line: finding.line,
  fixes: finding.fixes.map((fix: Finding['fixes'][number]) => ({
    title: fix.title,
    option: fix.option,
    value: fix.value,
    with: fix.with,
    replaces: fix.replaces,
    directive: fix.directive,
  })),
});

/** Bytes, tokens, blocks and requests are integers in the contract. */
const whole = (figure: Figure): number => Math.round(figure.value);

/** The same without the keys whose value is unknown: absent means unknown, and never 0 or null. */
function known<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
