/** What the pool's simulation takes: the launch's own rules and memory as plain data. The page runs it in a worker. */
import * as v from 'valibot';
import type { ContiguousOptions, Machine, PairRules, WorldOptions } from '../../core/pool';
import { count } from './base';

/** Rules of an engine. Its fields are the simulation's own affair: it refuses what makes no world. */
const world = v.custom<WorldOptions>((it) => isRecord(it) && typeof it.engine === 'string');
const contiguous = v.custom<ContiguousOptions>((it) => isRecord(it) && typeof it.tokens === 'number');
const machine = v.custom<Machine>((it) => isRecord(it) && Object.values(it).every((n) => typeof n === 'number'));

const pairRules = v.custom<PairRules>((it) => isRecord(it) && typeof it.kind === 'string');

const isRecord = (it: unknown): it is Record<string, unknown> => typeof it === 'object' && it !== null;

const simulated = v.object({
  kind: v.literal('world'),
  /** `vLLM 0.28`, for people. */
  engine: v.string(),
  world,
  /** Slabs of the longest request on the same bytes; absent where no request has a size. */
  contiguous: v.optional(contiguous),
  /** What a step's time is estimated from; absent where the speed is not known: every step then lasts as long. */
  machine: v.optional(machine),
  /** Pipeline stages that a step goes through. */
  stages: count,
  /** Blocks that requests can get, and tokens of one; bytes per GPU. */
  blocks: count,
  blockSize: count,
  bytesPerBlock: v.number(),
  replicas: count,
  prompt: count,
  output: count,
  maxLength: count,
  /** What of the launch the simulation leaves out or simplifies. */
  notes: v.array(v.string()),
});

export const poolPart = v.variant('kind', [
  simulated,
  v.object({
    kind: v.literal('reason'),
    /** Why it is not simulated. */
    text: v.string(),
    /** What is known of its blocks and requests all the same; absent where its memory is not cut into blocks. */
    figures: v.optional(v.object({ blockSize: count, prompt: count, output: count, maxLength: count })),
    /** `LMDeploy 0.16`, for people. */
    engine: v.string(),
    /** What a prompt finds of one that was served before, which needs no scheduler. */
    reuse: v.object({ rules: pairRules, why: v.string() }),
  }),
]);

export type PoolPart = v.InferOutput<typeof poolPart>;
