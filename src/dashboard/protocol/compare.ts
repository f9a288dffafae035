/** Plans side by side. */
import * as v from 'valibot';
import { count, reader, sighting } from './base';
import { whatIf } from './controls';

/** Where a plan comes from: kept over a reload in place of the plan. */
export const pin = v.object({
  /** Uri of the file. */
  file: v.pipe(v.string(), v.maxLength(4000)),
  /** Which of the file's launches. */
  index: count,
  /** Absent in what was kept before there was one: then the index alone says which. */
  sighting: v.optional(sighting),
  whatIf,
  /** On another engine than the file's: `sglang`, `vllm@0.21`. */
  engine: v.optional(v.pipe(v.string(), v.maxLength(60))),
  /** As the file was: the address of its older text, and what it is called. */
  revision: v.optional(
    v.object({ uri: v.pipe(v.string(), v.maxLength(8000)), label: v.pipe(v.string(), v.maxLength(200)) }),
  ),
});

const tone = v.picklist(['good', 'unsure', 'bad', 'unknown']);

const column = v.object({
  title: v.string(),
  /** What tells it from the others: changes tried, engine, revision. */
  detail: v.string(),
  /** Why there is no plan. */
  error: v.optional(v.string()),
  tone,
});

const row = v.object({
  label: v.string(),
  cells: v.array(v.object({ text: v.string(), differs: v.boolean() })),
  /** For the chart: the same as numbers, null where it is not known; absent for words. */
  numbers: v.optional(v.array(v.nullable(v.number()))),
  unit: v.string(),
});

export const comparison = v.object({
  columns: v.array(column),
  rows: v.array(row),
  /** The same pins, each as its launch is found now: asked again, it is found from there. */
  pins: v.array(pin),
});

/** What can be pinned beside what is shown. */
export const pinnable = v.object({
  launches: v.array(v.object({ label: v.string(), detail: v.string(), pin })),
  engines: v.array(v.object({ label: v.string(), detail: v.string(), pin })),
  revisions: v.array(v.object({ label: v.string(), detail: v.string(), pin })),
});

export type Pin = v.InferOutput<typeof pin>;
export type ComparisonView = v.InferOutput<typeof comparison>;
export type Pinnable = v.InferOutput<typeof pinnable>;

/** What a reload brings back. */
export const readPins = reader(v.array(pin));
