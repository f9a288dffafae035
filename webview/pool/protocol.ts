/**
 * What the page and the pool's worker say to each other. The page asks, the worker answers each question once, in order;
 * pictures travel as buffers that are handed over and handed back. Both sides check what they get.
 */
import * as v from 'valibot';
import type { CellInfo, Frame, PoolEvent, RoomShares, WorldOptions } from '../../src/core/pool';

const whole = v.pipe(v.number(), v.integer());
const count = v.pipe(whole, v.minValue(0), v.maxValue(2 ** 31 - 1));
const positive = v.pipe(v.number(), v.finite(), v.gtValue(0));

const ENGINES = ['vllm-v1', 'vllm-v0', 'sglang', 'tensorrt-llm', 'contiguous', 'llama.cpp'] as const;

/** The fields of an engine's options are checked where the host made them; here, that they are an engine's options. */
const options = v.custom<WorldOptions>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    ENGINES.some((engine) => 'engine' in value && value.engine === engine),
);

const clock = v.variant('kind', [
  v.object({ kind: v.literal('fixed'), seconds: positive }),
  v.object({
    kind: v.literal('estimated'),
    stages: v.pipe(count, v.minValue(1)),
    machine: v.object({
      bytesPerSecond: positive,
      operationsPerSecond: positive,
      weightBytes: v.number(),
      operationsPerToken: v.number(),
      operationsPerPair: v.number(),
      bytesPerToken: v.number(),
      bytesPerBlock: v.number(),
      linkBytesPerSecond: positive,
      overheadSeconds: v.number(),
    }),
  }),
]);

const replicas = v.pipe(count, v.minValue(1));

const traffic = v.variant('kind', [
  v.object({
    kind: v.literal('generated'),
    requests: v.pipe(count, v.minValue(1)),
    seed: whole,
    /** Requests a second, of one replica; without it all come at once. */
    rate: v.optional(positive),
    prompt: v.pipe(count, v.minValue(1)),
    output: v.pipe(count, v.minValue(1)),
    /** All of one length, or lengths spread around it. */
    lengths: v.picklist(['fixed', 'varied']),
    turns: v.pipe(count, v.minValue(1)),
    thinkSeconds: v.pipe(v.number(), v.minValue(0)),
    maxLength: count,
    sharedTokens: count,
    samples: v.pipe(count, v.minValue(1), v.maxValue(64)),
    priorities: v.pipe(count, v.minValue(1)),
  }),
  v.object({
    kind: v.literal('trace'),
    file: v.object({ id: count, name: v.string(), text: v.instance(Blob) }),
    seed: whole,
    rate: v.optional(positive),
    replicas,
  }),
]);

const scenario = v.variant('kind', [
  v.object({
    kind: v.literal('launch'),
    worlds: v.pipe(v.array(v.object({ title: v.string(), options })), v.minLength(1)),
    cellTokens: v.pipe(count, v.minValue(1)),
    traffic,
    clock,
  }),
  v.object({
    kind: v.literal('scene'),
    scene: count,
    figures: v.object({ blockSize: count, prompt: count, output: count, maxLength: count }),
  }),
]);

const buffers = v.array(v.instance(ArrayBuffer));

const command = v.variant('type', [
  v.object({ type: v.literal('load'), scenario, at: count }),
  /** So many steps on, or back where it is negative; `until` stops earlier. */
  v.object({ type: v.literal('step'), steps: whole, selected: whole, buffers }),
  v.object({ type: v.literal('seek'), index: count, selected: whole, buffers }),
  /** The tables of a request as of the frame that is shown; runs the simulation to that frame if it is elsewhere. */
  v.object({ type: v.literal('settle'), selected: whole, buffers }),
  v.object({ type: v.literal('inspect'), world: count, cell: count }),
]);

const toWorker = v.object({ id: count, command });

const int32 = v.instance(Int32Array);

const picture = v.object({
  /** One step's figures and events. Made by the simulation of the same bundle: only its shape is checked. */
  frame: v.custom<Frame>(
    (value) => typeof value === 'object' && value !== null && 'index' in value && 'events' in value,
  ),
  /** Of the world's room. */
  shares: v.custom<RoomShares>((value) => typeof value === 'object' && value !== null && 'held' in value),
  /** Cells by state. */
  counts: v.instance(Uint32Array),
  meta: int32,
  owner: int32,
  logical: int32,
});

/** Events of one world's step, at an index of the stage. */
const passed = v.object({
  index: count,
  world: count,
  events: v.custom<readonly PoolEvent[]>(Array.isArray),
});

const about = v.object({
  request: count,
  status: v.picklist(['not yet arrived', 'waiting', 'running', 'preempted', 'swapped', 'finished', 'rejected']),
  prompt: count,
  output: count,
  computed: count,
  found: count,
  preemptions: count,
});

const shown = v.object({
  type: v.literal('shown'),
  index: count,
  first: count,
  reached: count,
  ended: v.boolean(),
  pictures: v.array(picture),
  /** What happened in the steps on the way here, where it led forwards: the latest, oldest first. */
  passed: v.array(passed),
  /** World by world and group by group; absent where the simulation stands at another frame than the one shown. */
  tables: v.optional(v.array(v.array(int32))),
  about: v.optional(about),
});

const loaded = v.object({
  type: v.literal('loaded'),
  worlds: v.array(
    v.object({
      title: v.string(),
      engine: v.picklist(ENGINES),
      cells: count,
      deviceCells: count,
      cellTokens: count,
    }),
  ),
  requests: count,
  notes: v.array(v.string()),
});

const answer = v.variant('type', [
  loaded,
  shown,
  v.object({
    type: v.literal('inspected'),
    index: count,
    info: v.optional(v.custom<CellInfo>((value) => typeof value === 'object' && value !== null && 'state' in value)),
  }),
  v.object({ type: v.literal('failed'), error: v.string() }),
]);

const toPage = v.variant('kind', [
  v.object({ kind: v.literal('answer'), id: count, answer }),
  /** A long way is under way. */
  v.object({ kind: v.literal('progress'), id: count, index: count, goal: count }),
  /** A trace is being read: so much of it has been, 0…1. */
  v.object({ kind: v.literal('reading'), id: count, share: v.number() }),
]);

export type Scenario = v.InferOutput<typeof scenario>;
export type LaunchScenario = Extract<Scenario, { kind: 'launch' }>;
export type GeneratedTraffic = Extract<LaunchScenario['traffic'], { kind: 'generated' }>;
export type TrafficChoice = LaunchScenario['traffic'];
export type ClockChoice = v.InferOutput<typeof clock>;
export type Command = v.InferOutput<typeof command>;
export type ToWorker = v.InferOutput<typeof toWorker>;
export type Answer = v.InferOutput<typeof answer>;
export type Loaded = v.InferOutput<typeof loaded>;
export type Shown = v.InferOutput<typeof shown>;
export type Passed = v.InferOutput<typeof passed>;
export type Picture = v.InferOutput<typeof picture>;
export type AboutRequest = v.InferOutput<typeof about>;
export type ToPage = v.InferOutput<typeof toPage>;

function reader<S extends v.GenericSchema>(schema: S): (message: unknown) => v.InferOutput<S> | undefined {
  return (message) => {
    const result = v.safeParse(schema, message);
    return result.success ? result.output : undefined;
  };
}

export const readToWorker = reader(toWorker);
export const readToPage = reader(toPage);
