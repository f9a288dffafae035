/** What a page of ours answers, as its address holds it. */

import * as v from 'valibot';
import { Uri } from 'vscode';

export const SCHEME = 'kv-planner-report';

const offset = v.pipe(v.number(), v.integer(), v.minValue(0));
const wholeNumber = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000_000));

const ASK = v.variant('kind', [
  /** The launches of a file, or the one at an offset. */
  v.object({ kind: v.literal('report'), of: v.string(), offset: v.optional(offset) }),
  /** A text out of a document, and where it stands there. */
  v.object({ kind: v.literal('text'), of: v.string(), text: v.string(), start: offset, end: offset }),
  v.object({
    kind: v.literal('solve'),
    of: v.string(),
    offset,
    concurrency: wholeNumber,
    length: v.optional(wholeNumber),
  }),
  /** `vllm`, or with a version: `vllm@0.21`. */
  v.object({ kind: v.literal('engines'), of: v.string(), offset, engines: v.array(v.string()) }),
  /** Against another text; `name` is what it is called. */
  v.object({ kind: v.literal('changes'), of: v.string(), before: v.string(), name: v.string() }),
]);

export type Ask = v.InferOutput<typeof ASK>;

/** `title` is what its tab shows. */
export const addressOf = (ask: Ask, title: string): Uri =>
  Uri.from({ scheme: SCHEME, path: `${title.replaceAll('/', '∕')}.md`, query: JSON.stringify(ask) });

/** Anyone can ask for an address of our scheme: what is not ours asks nothing. */
export function askOf(page: Uri): Ask | undefined {
  try {
    const parsed = v.safeParse(ASK, JSON.parse(page.query));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
