import {
  benchRows,
  type Columns,
  columnsOf,
  csvRow,
  mooncakeRow,
  type RowResult,
  shareGptRow,
  type TraceRow,
} from './trace-rows';
import { type TraceFormat, type TraceOptions, trafficOfRows } from './trace-traffic';
import type { Traffic } from './traffic';

export interface TraceProblem {
  /** Counts from 1. */
  readonly line: number;
  readonly message: string;
}

export interface Trace {
  readonly format: TraceFormat | undefined;
  readonly traffic: Traffic;
  /** Rows read, used or not. */
  readonly rows: number;
  /** Rows that were left out, and why; at most `PROBLEMS_KEPT`, `problemCount` in all. */
  readonly problems: readonly TraceProblem[];
  readonly problemCount: number;
  /** What is true of the traffic but was not in the file. */
  readonly notes: readonly string[];
}

const PROBLEMS_KEPT = 100;

/** A trace is pushed in pieces, as they are read; nothing of the text is kept. */
export interface TraceReader {
  readonly push: (text: string) => void;
  /** What comes next cannot be read; the rest of the trace stands. */
  readonly fail: (message: string) => void;
  /** The traffic of all that was read. It may be asked for again, with another seed or pace. */
  readonly end: (over?: Pick<TraceOptions, 'rate' | 'seed' | 'thinkSeconds'>) => Trace;
}

export function createTraceReader(options: TraceOptions = {}): TraceReader {
  const state = createState(options);
  let pending = '';
  let started = false;
  let ended = false;
  function finish(): void {
    if (ended) {
      return;
    }
    ended = true;
    if (state.mode === undefined) {
      pending = takeWhatIsWhole(state, openMode(state, `${pending}\n`));
    }
    finishPending(state, pending);
    pending = '';
  }
  return {
    push: (text) => {
      pending += text;
      if (!started) {
        pending = pending.replace(/^\uFEFF/, '');
        started = pending.length > 0;
      }
      pending = state.mode === undefined ? openMode(state, pending) : pending;
      pending = takeWhatIsWhole(state, pending);
    },
    fail: (message) => complain(state, state.line, message),
    end: (over) => {
      finish();
      const { traffic, notes } = trafficOfRows(state.format, state.taken, { ...options, ...over });
      return {
        format: state.format,
        traffic,
        rows: state.rows,
        problems: state.problems,
        problemCount: state.problemCount,
        notes: [...state.notes, ...notes],
      };
    },
  };
}

function takeWhatIsWhole(state: State, text: string): string {
  switch (state.mode) {
    case 'elements':
      return takeElements(state, text);
    case 'lines':
      return takeLines(state, text);
    case 'closed':
      return takeRest(state, text);
    default:
      return text;
  }
}

interface State {
  mode: 'lines' | 'elements' | 'closed' | 'object' | undefined;
  format: TraceFormat | undefined;
  columns: Columns | undefined;
  line: number;
  rows: number;
  readonly taken: TraceRow[];
  readonly most: number;
  readonly problems: TraceProblem[];
  problemCount: number;
  readonly notes: Set<string>;
  // inside a JSON array: where the current element began, and how deep we are
  scanned: number;
  elementStart: number;
  depth: number;
  inString: boolean;
  escaped: boolean;
  trailing: boolean;
}

const createState = ({ mostRequests = 2 ** 24 }: TraceOptions): State => ({
  mode: undefined,
  format: undefined,
  columns: undefined,
  line: 1,
  rows: 0,
  taken: [],
  most: mostRequests,
  problems: [],
  problemCount: 0,
  notes: new Set(),
  scanned: 0,
  elementStart: -1,
  depth: 0,
  inString: false,
  escaped: false,
  trailing: false,
});

function complain(state: State, line: number, message: string): void {
  state.problemCount++;
  if (state.problems.length < PROBLEMS_KEPT) {
    state.problems.push({ line, message });
  }
}

function takeRow(state: State, result: RowResult, line: number): void {
  state.rows++;
  if ('problem' in result) {
    complain(state, line, result.problem);
    return;
  }
  if (result.note !== undefined) {
    complain(state, line, `Used all the same: ${result.note}`);
  }
  if (state.taken.length < state.most) {
    state.taken.push(result.row);
  } else {
    state.notes.add(`Only the first ${state.most} requests are used.`);
  }
}

/** The first characters tell how the file is built. Returns what is left to read. */
function openMode(state: State, text: string): string {
  const start = /\S/.exec(text)?.index;
  const end = text.indexOf('\n');
  if (start === undefined || (end < start && !text.slice(start).includes('\n'))) {
    return text;
  }
  if (text[start] === '[') {
    state.mode = 'elements';
    state.line += countLines(text.slice(0, start));
    return text.slice(start + 1);
  }
  const firstLine = text.slice(start, text.indexOf('\n', start));
  state.mode = text[start] === '{' && parseJson(firstLine) === undefined ? 'object' : 'lines';
  return text;
}

const countLines = (text: string): number => text.split('\n').length - 1;

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function takeLines(state: State, text: string): string {
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    takeLine(state, text.slice(from, end).trim());
    state.line++;
    from = end + 1;
  }
  return text.slice(from);
}

function takeLine(state: State, line: string): void {
  if (line === '') {
    return;
  }
  if (line.startsWith('{')) {
    const json = parseJson(line);
    if (json && state.rows === 0 && hasLists(json.value)) {
      takeBench(state, json.value);
      return;
    }
    state.format ??= 'mooncake';
    takeRow(state, json ? mooncakeRow(json.value) : { problem: 'It is not JSON.' }, state.line);
    return;
  }
  if (state.columns) {
    takeRow(state, csvRow(line, state.columns), state.line);
    return;
  }
  if (state.format === 'mooncake') {
    takeRow(state, { problem: 'It is not a JSON object.' }, state.line);
    return;
  }
  if (state.format === undefined) {
    state.columns = columnsOf(line);
    state.format = 'csv';
    if (!state.columns) {
      complain(
        state,
        state.line,
        isText(line)
          ? `The header “${line.slice(0, 80)}” is not known: TIMESTAMP, ContextTokens, GeneratedTokens or Timestamp, Request tokens, Response tokens.`
          : 'It is not text: a trace is JSON Lines, JSON or CSV, as it is or compressed with gzip.',
      );
    }
    return;
  }
  state.rows++;
}

/** Bytes that are no text come as what stands for them, or as controls. */
const isText = (line: string): boolean => !/\p{Cc}|\ufffd/u.test(line.slice(0, 1000).replaceAll('\t', ''));

const hasLists = (value: unknown): boolean => typeof value === 'object' && value !== null && 'input_lens' in value;

function takeBench(state: State, value: unknown): void {
  state.format = 'vllm-bench';
  const rows = benchRows(value);
  if ('problem' in rows) {
    complain(state, state.line, rows.problem);
    return;
  }
  for (const row of rows) {
    takeRow(state, row, state.line);
  }
}

/** Cuts the elements out of a JSON array as they are complete, so that a file of any size passes through. */
function takeElements(state: State, text: string): string {
  let rest = text;
  for (let i = state.scanned; i < rest.length; i++) {
    const character = rest[i];
    if (state.inString) {
      state.inString = state.escaped || character !== '"';
      state.escaped = !state.escaped && character === '\\';
    } else if (character === '"') {
      state.inString = true;
    } else if (character === '{' || character === '[') {
      state.elementStart = state.depth++ === 0 ? i : state.elementStart;
    } else if (character === '}' || character === ']') {
      state.depth--;
      if (state.depth === 0) {
        state.line += countLines(rest.slice(0, state.elementStart));
        takeElement(state, rest.slice(state.elementStart, i + 1));
        state.line += countLines(rest.slice(state.elementStart, i + 1));
        rest = rest.slice(i + 1);
        i = -1;
      } else if (state.depth < 0) {
        state.mode = 'closed';
        state.line += countLines(rest.slice(0, i));
        return takeRest(state, rest.slice(i + 1));
      }
    }
  }
  state.scanned = rest.length;
  return rest;
}

/** Behind a list only white space may follow. */
function takeRest(state: State, text: string): string {
  if (/\S/.test(text) && !state.trailing) {
    state.trailing = true;
    complain(state, state.line, 'The list ends on this line; what follows it is not read.');
  }
  return '';
}

function takeElement(state: State, text: string): void {
  state.scanned = 0;
  const json = parseJson(text);
  if (!json) {
    takeRow(state, { problem: 'It is not JSON.' }, state.line);
    return;
  }
  const isMooncake = typeof json.value === 'object' && json.value !== null && 'input_length' in json.value;
  state.format ??= isMooncake ? 'mooncake' : 'sharegpt';
  takeRow(state, state.format === 'mooncake' ? mooncakeRow(json.value) : shareGptRow(json.value), state.line);
}

function finishPending(state: State, pending: string): void {
  if (state.mode === 'lines') {
    takeLine(state, pending.trim());
  } else if (state.mode === 'object') {
    const json = parseJson(pending);
    if (json) {
      takeBench(state, json.value);
    } else {
      complain(state, 1, 'It is not JSON.');
    }
  } else if (state.mode === 'elements') {
    complain(state, state.line + countLines(pending), 'The file ends inside its list: the last entry is lost.');
  }
  if (state.rows === 0 && state.problemCount === 0) {
    complain(state, 1, 'The file holds no requests.');
  }
}

/** Reads bytes as they come, unpacking gzip. */
export async function readTrace(bytes: AsyncIterable<Uint8Array>, options: TraceOptions = {}): Promise<Trace> {
  const reader = createTraceReader(options);
  const decoder = new TextDecoder();
  try {
    for await (const chunk of unpacked(bytes)) {
      reader.push(decoder.decode(chunk, { stream: true }));
    }
    reader.push(decoder.decode());
  } catch (error) {
    reader.fail(`The file could not be read to its end: ${error instanceof Error ? error.message : String(error)}`);
  }
  return reader.end();
}

async function* unpacked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done) {
    return;
  }
  const all = resumed(first.value, source);
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all;
    return;
  }
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const next = await all.next();
      if (next.done) {
        controller.close();
      } else {
        controller.enqueue(new Uint8Array(next.value));
      }
    },
  });
  const plain = packed.pipeThrough(new DecompressionStream('gzip')).getReader();
  for (let next = await plain.read(); !next.done; next = await plain.read()) {
    yield next.value;
  }
}

async function* resumed(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    yield next.value;
  }
}
