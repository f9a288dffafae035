/**
 * What the kernel benchmark saves: `kv-planner/bench@1`. The dashboard and `npm run bench:kernels` write it; whoever
 * weighs block sizes reads it. `schema/bench.schema.json` says the same for other programs.
 */
import * as v from 'valibot';

export const BENCH_SCHEMA = 'kv-planner/bench@1';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(v.number(), v.gtValue(0));
const interval = v.object({ median: positive, low: positive, high: positive });
const text = v.pipe(v.string(), v.maxLength(500));

const row = v.object({
  kind: v.picklist(['contiguous', 'again', 'paged', 'naive', 'gather', 'read']),
  order: v.optional(v.picklist(['sequential', 'random', 'pool'])),
  blockSize: v.optional(v.pipe(count, v.minValue(1))),
  /** Time over that of contiguous, round by round: median and 95 % interval. */
  ratio: interval,
  /** Of one step. */
  milliseconds: positive,
  gigabytesPerSecond: positive,
  /** Share of what the read-only kernel reaches. */
  roofline: positive,
  /** The ratio's interval clears that of contiguous against itself. */
  real: v.boolean(),
});

const result = v.object({
  schema: v.literal(BENCH_SCHEMA),
  date: text,
  /** `remote`: the window shows another machine's files; the GPU is the window's. */
  where: v.object({ runner: v.picklist(['dashboard', 'node', 'browser']), system: text, remote: v.optional(text) }),
  adapter: v.object({
    vendor: text,
    architecture: text,
    device: text,
    description: text,
    fallback: v.boolean(),
  }),
  clock: v.object({ kind: v.picklist(['timestamps', 'cpu', 'wall']), quantumNanoseconds: v.optional(positive) }),
  shape: v.object({
    heads: count,
    kvHeads: count,
    headDim: count,
    dtype: v.picklist(['f32', 'f16', 'int8']),
    sequences: count,
    tokens: count,
    /** Keys and values, each once. */
    bytes: count,
    blockSize: count,
    changes: v.array(text),
  }),
  checks: v.object({
    count,
    wrong: count,
    /** Largest error of the kernels, relative to a head's largest output. */
    worst: v.number(),
    tolerance: v.number(),
    /** The same for what storing in the dtype does to the output. */
    storage: v.number(),
  }),
  /** None when the checks failed or only they were run. */
  rounds: count,
  /** Second half of the rounds over the first. */
  drift: v.optional(positive),
  noise: v.optional(interval),
  rows: v.array(row),
  notes: v.array(text),
});

export type BenchResult = v.InferOutput<typeof result>;

/** A result out of JSON, or what is wrong with it. */
export function readBenchResult(json: unknown): { readonly result: BenchResult } | { readonly error: string } {
  const read = v.safeParse(result, json);
  if (read.success) {
    return { result: read.output };
  }
  const [issue] = read.issues;
  const place = v.getDotPath(issue);
  return { error: place ? `${place}: ${issue.message}` : `is no benchmark result: ${issue.message}` };
}

/** A/A further from 1 than this: the machine did something else meanwhile. */
const QUIET = { low: 0.85, high: 1.15 } as const;

export const isNoisy = ({ noise }: BenchResult): boolean =>
  noise !== undefined && (noise.median < QUIET.low || noise.median > QUIET.high);

/** Time of paged attention by block size, blocks scattered as a pool scatters them, relative to contiguous. */
export const kernelTimes = ({ rows }: BenchResult): ReadonlyMap<number, number> =>
  new Map(
    rows.flatMap(({ kind, order, blockSize, ratio }) =>
      kind === 'paged' && order === 'random' && blockSize !== undefined ? [[blockSize, ratio.median] as const] : [],
    ),
  );
