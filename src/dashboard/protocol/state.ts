/** What is kept over a reload: what is shown and what was tried, never results. */
import * as v from 'valibot';
import { count, reader, sighting, version } from './base';
import { whatIf } from './controls';

/** The host's part. */
export const hostState = v.object({
  version,
  /** Uri of the file. */
  file: v.string(),
  /** Which of the file's launches. */
  index: count,
  /** Absent in what was kept before there was one. */
  sighting: v.optional(sighting),
  whatIf,
});

/** The page's part. Each view knows the shape of its own. */
const pageState = v.object({
  tab: v.string(),
  views: v.record(v.string(), v.unknown()),
});

export const keptState = v.object({
  ...hostState.entries,
  page: v.optional(pageState),
  /** Of two that were kept, the later has the higher one. */
  edition: v.optional(count),
});

export type HostState = v.InferOutput<typeof hostState>;
export type PageState = v.InferOutput<typeof pageState>;
export type KeptState = v.InferOutput<typeof keptState>;

export const readState = reader(keptState);
