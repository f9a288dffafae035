/** What the page and its host say to each other. Both sides check what they get. */
import * as v from 'valibot';
import { count, reader, version } from './base';
import { comparison, pin, pinnable } from './compare';
import { whatIf } from './controls';
import { view } from './plan';
import { hostState, keptState } from './state';
import { studies } from './studies';

const shown = v.object({ view, state: v.optional(hostState) });

/** Text of a picture or of a table, of at most 64 MiB. */
const content = v.pipe(v.string(), v.maxLength(2 ** 26));

/** A title, for people. */
const words = v.pipe(v.string(), v.maxLength(200));

/** Everything that the page can ask of its host, and what it gets. A request is added by a row here and in `requests.ts`. */
export const METHODS = {
  /** Plans the launch with changes that no file holds. */
  whatIf: { params: v.object({ whatIf }), result: shown },
  /** Writes what is tried into the file, as one edit that can be undone. */
  apply: { params: v.object({}), result: shown },
  /** What the launch as it is tried would come to at other values. */
  studies: { params: v.object({}), result: studies },
  /** What there is to compare with; the launch that is shown, as it is tried, comes first. */
  pinnable: { params: v.object({}), result: pinnable },
  /** Asks for a file, and which of its launches; nothing where the person cancels. */
  pickPin: { params: v.object({}), result: v.object({ pin: v.optional(pin) }) },
  compare: { params: v.object({ pins: v.pipe(v.array(pin), v.maxLength(12)) }), result: comparison },
  /** Makes the whole view one HTML file, with the charts as pictures (PNG, base64) for light and for dark pages, and saves it. */
  saveReport: {
    params: v.object({
      charts: v.pipe(
        v.array(v.object({ title: words, text: v.string(), png: content, dark: content })),
        v.maxLength(24),
      ),
    }),
    result: v.object({ saved: v.boolean() }),
  },
  /** Asks where to save, and writes. `base64` says how the content is written down. */
  save: {
    params: v.object({
      name: v.pipe(v.string(), v.maxLength(120)),
      type: v.picklist(['png', 'csv', 'json', 'html', 'txt']),
      content,
      base64: v.boolean(),
    }),
    result: v.object({ saved: v.boolean() }),
  },
  /** Asks for a file to read; nothing where the person cancels. A file that was opened before is let go. */
  openText: {
    params: v.object({
      title: words,
      endings: v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z0-9]{1,10}$/))), v.maxLength(10)),
    }),
    result: v.object({ file: v.optional(v.object({ id: count, name: v.string() })) }),
  },
  /** The next part of an opened file's text; after the last one the file is let go. `share` of it is read by then. */
  readText: {
    params: v.object({ id: count }),
    result: v.object({ text: content, share: v.pipe(v.number(), v.minValue(0), v.maxValue(1)), last: v.boolean() }),
  },
} as const;

export type Method = keyof typeof METHODS;
export type Params<M extends Method> = v.InferOutput<(typeof METHODS)[M]['params']>;
export type Result<M extends Method> = v.InferOutput<(typeof METHODS)[M]['result']>;

/** Undefined where they have not the method's shape. */
export const readParams = <M extends Method>(method: M, params: unknown): Params<M> | undefined =>
  reader(METHODS[method].params)(params) as Params<M> | undefined;
export const readResult = <M extends Method>(method: M, result: unknown): Result<M> | undefined =>
  reader(METHODS[method].result)(result) as Result<M> | undefined;

const toPage = v.variant('type', [
  v.object({ version, type: v.literal('show'), ...shown.entries }),
  v.object({ version, type: v.literal('reply'), to: count, ok: v.literal(true), result: v.unknown() }),
  v.object({ version, type: v.literal('refusal'), to: count, error: v.string() }),
]);

const toHost = v.variant('type', [
  v.object({ version, type: v.literal('ready') }),
  /** Said where the host keeps it too. */
  v.object({ version, type: v.literal('kept'), state: keptState }),
  v.object({
    version,
    type: v.literal('request'),
    id: count,
    method: v.picklist(Object.keys(METHODS) as [Method, ...Method[]]),
    params: v.unknown(),
  }),
  v.object({
    version,
    type: v.literal('run'),
    command: v.picklist(['showReport', 'setGpu', 'reveal']),
    line: v.optional(count),
  }),
]);

export type Shown = v.InferOutput<typeof shown>;
export type ToPage = v.InferOutput<typeof toPage>;
export type ToHost = v.InferOutput<typeof toHost>;

export const readToPage = reader(toPage);
export const readToHost = reader(toHost);
