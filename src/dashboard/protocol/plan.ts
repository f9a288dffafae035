/** The plan of one launch as the page draws it. The host words and computes everything. */
import * as v from 'valibot';
import { benchShape } from './bench';
import { controls } from './controls';
import { poolPart } from './pool';

const tone = v.picklist(['good', 'unsure', 'bad', 'unknown']);
const severity = v.picklist(['error', 'warning', 'information', 'hint']);

/** One number in words, with what lies behind it. */
const fact = v.object({ label: v.string(), value: v.string(), range: v.string(), note: v.string() });

/** A part of one GPU's memory. `share` is of the total, 0…1; `low` and `high` are the ends of an estimate. */
const segment = v.object({
  key: v.picklist(['weights', 'activations', 'graphs', 'other', 'kv', 'outside']),
  label: v.string(),
  share: v.number(),
  low: v.number(),
  high: v.number(),
  size: v.string(),
  range: v.string(),
  why: v.string(),
});

const budget = v.object({
  summary: v.string(),
  total: v.string(),
  totalGiB: v.number(),
  limit: v.string(),
  limitShare: v.number(),
  segments: v.array(segment),
});

const requests = v.object({
  summary: v.string(),
  points: v.array(v.object({ length: v.number(), contiguous: v.number(), paged: v.number() })),
  marks: v.array(v.object({ length: v.number(), label: v.string() })),
  /** Most requests the engine runs at once. */
  limit: v.optional(v.number()),
});

const finding = v.object({ severity, message: v.string(), code: v.string(), line: v.number() });

const planView = v.object({
  kind: v.literal('plan'),
  file: v.string(),
  launch: v.object({ title: v.string(), subject: v.string(), line: v.number() }),
  headline: v.object({ tone, text: v.string(), detail: v.string() }),
  facts: v.array(fact),
  budget: v.optional(budget),
  /** Why there is no budget bar or chart. */
  missing: v.optional(v.string()),
  requests: v.optional(requests),
  findings: v.array(finding),
  controls,
  pool: poolPart,
  bench: benchShape,
});

export const view = v.variant('kind', [
  planView,
  v.object({ kind: v.literal('empty'), text: v.string() }),
  v.object({ kind: v.literal('error'), text: v.string() }),
]);

export type View = v.InferOutput<typeof view>;
export type PlanView = v.InferOutput<typeof planView>;
export type BudgetView = v.InferOutput<typeof budget>;
export type Segment = v.InferOutput<typeof segment>;
export type RequestsView = v.InferOutput<typeof requests>;
export type FindingView = v.InferOutput<typeof finding>;
export type FactView = v.InferOutput<typeof fact>;
