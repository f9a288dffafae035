/**
 * What the dashboard's page and its host say to each other. Both sides check what they get: a message of another version,
 * or of no known shape, counts as not sent. The host words and computes everything; the page draws it.
 */
import * as v from 'valibot';

export const PROTOCOL = 1;

const version = v.literal(PROTOCOL);

const tone = v.picklist(['good', 'unsure', 'bad', 'unknown']);
const severity = v.picklist(['error', 'warning', 'information', 'hint']);
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

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

/** What to change for a what-if; empty text leaves it to the file. The host checks each as it checks a directive. */
const whatIf = v.object({
  gpu: v.pipe(v.string(), v.maxLength(100)),
  gpus: v.pipe(v.string(), v.maxLength(12)),
  prompt: v.pipe(v.string(), v.maxLength(12)),
  output: v.pipe(v.string(), v.maxLength(12)),
});

const controls = v.object({
  gpu: v.string(),
  gpus: v.string(),
  prompt: v.string(),
  output: v.string(),
  gpuChoices: v.array(v.object({ name: v.string(), memory: v.string() })),
  /** What is tried now: the entries that are not empty are not what the file and the settings say. */
  whatIf,
});

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
});

const view = v.variant('kind', [
  planView,
  v.object({ kind: v.literal('empty'), text: v.string() }),
  v.object({ kind: v.literal('error'), text: v.string() }),
]);

/** What the page keeps over a reload: what it shows and what was tried, never results. */
const state = v.object({
  version,
  /** Uri of the file. */
  file: v.string(),
  /** Which of the file's launches. */
  index: count,
  whatIf,
});

const reply = v.variant('ok', [
  v.object({ ok: v.literal(true), view, state: v.optional(state) }),
  v.object({ ok: v.literal(false), error: v.string() }),
]);

const toPage = v.variant('type', [
  v.object({ version, type: v.literal('show'), view, state: v.optional(state) }),
  v.object({ version, type: v.literal('reply'), to: count, reply }),
]);

const toHost = v.variant('type', [
  v.object({ version, type: v.literal('ready') }),
  v.object({ version, type: v.literal('request'), id: count, method: v.literal('whatIf'), whatIf }),
  v.object({
    version,
    type: v.literal('run'),
    command: v.picklist(['showReport', 'setGpu', 'reveal']),
    line: v.optional(count),
  }),
]);

export type View = v.InferOutput<typeof view>;
export type PlanView = v.InferOutput<typeof planView>;
export type BudgetView = v.InferOutput<typeof budget>;
export type Segment = v.InferOutput<typeof segment>;
export type RequestsView = v.InferOutput<typeof requests>;
export type FindingView = v.InferOutput<typeof finding>;
export type FactView = v.InferOutput<typeof fact>;
export type Controls = v.InferOutput<typeof controls>;
export type WhatIf = v.InferOutput<typeof whatIf>;
export type Reply = v.InferOutput<typeof reply>;
export type ToPage = v.InferOutput<typeof toPage>;
export type ToHost = v.InferOutput<typeof toHost>;

function reader<S extends v.GenericSchema>(schema: S): (message: unknown) => v.InferOutput<S> | undefined {
  return (message) => {
    const result = v.safeParse(schema, message);
    return result.success ? result.output : undefined;
  };
}

export const readToPage = reader(toPage);
export const readToHost = reader(toHost);

export type DashboardState = v.InferOutput<typeof state>;

export const readState = reader(state);
