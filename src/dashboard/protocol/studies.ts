/** What the launch would come to at other values of an option or two. Every row is from a plan of its own. */
import * as v from 'valibot';
import { count } from './base';

const tone = v.picklist(['good', 'unsure', 'bad']);

const longest = v.object({
  summary: v.string(),
  bars: v.array(
    v.object({
      label: v.string(),
      tokens: v.number(),
      low: v.number(),
      high: v.number(),
      /** The interval in words, or that it is exact. */
      range: v.string(),
      tone,
      note: v.string(),
      current: v.boolean(),
    }),
  ),
  marks: v.array(v.object({ tokens: v.number(), label: v.string() })),
});

const blocks = v.object({
  summary: v.string(),
  rows: v.array(
    v.object({
      size: count,
      current: v.boolean(),
      /** Of what a request holds, 0…1. */
      tailShare: v.number(),
      tailTokens: v.number(),
      entries: v.number(),
      blocks: v.number(),
      requests: v.number(),
    }),
  ),
});

const heat = v.object({
  summary: v.string(),
  lengths: v.array(count),
  rows: v.array(
    v.object({
      label: v.string(),
      current: v.boolean(),
      tone,
      note: v.string(),
      /** What memory holds, and the most that the engine runs. */ requests: v.array(v.number()),
      limit: v.optional(v.number()),
    }),
  ),
  most: v.number(),
});

const wasteKind = v.picklist(['payload', 'tail', 'padding', 'reservation', 'fragmentation']);

const waste = v.object({
  summary: v.string(),
  total: v.string(),
  totalGiB: v.number(),
  rows: v.array(
    v.object({
      label: v.string(),
      requests: v.string(),
      parts: v.array(
        v.object({ kind: wasteKind, label: v.string(), share: v.number(), size: v.string(), why: v.string() }),
      ),
    }),
  ),
});

export const studies = v.object({
  longest: v.optional(longest),
  blocks: v.optional(blocks),
  heat: v.optional(heat),
  waste: v.optional(waste),
  /** Why one or all of them are not there. */
  missing: v.array(v.string()),
});

export type StudiesView = v.InferOutput<typeof studies>;
export type LongestView = v.InferOutput<typeof longest>;
export type BlocksView = v.InferOutput<typeof blocks>;
export type HeatView = v.InferOutput<typeof heat>;
export type WasteView = v.InferOutput<typeof waste>;
export type WasteKind = v.InferOutput<typeof wasteKind>;
