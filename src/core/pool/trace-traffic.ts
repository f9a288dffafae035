import type { Run } from './content';
import { createRandom, exponential } from './random';
import { MOONCAKE_CHUNK, type TraceRow } from './trace-rows';
import { outputSourceOf, type Traffic, trafficBuilder } from './traffic';

export type TraceFormat = 'mooncake' | 'csv' | 'sharegpt' | 'vllm-bench';

export interface TraceOptions {
  readonly name?: string;
  /** For files without times: requests a second (Poisson); without it all come at once. */
  readonly rate?: number;
  readonly seed?: number;
  /** Seconds between an answer and the next question of a conversation (mean, exponential). */
  readonly thinkSeconds?: number;
  readonly mostRequests?: number;
}

/** Sources of the trace's chunks start above those of messages that nobody shares. */
const FIRST_OWN = 1;
const FIRST_CHUNK = 2 ** 30;

/** Traffic of rows in order of time; what was not in the file is added to the notes. */
export function trafficOfRows(
  format: TraceFormat | undefined,
  taken: readonly TraceRow[],
  options: TraceOptions,
): { readonly traffic: Traffic; readonly notes: readonly string[] } {
  const notes = notesOf(format);
  const times = arrivalTimes(format, taken, options);
  const order = taken.map((_, i) => i).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
  if (order.some((row, i) => row !== i)) {
    notes.push('The rows were not in order of time; they are served in order of time.');
  }
  const first = times[order[0] ?? 0] ?? 0;
  const builder = trafficBuilder(options.name ?? 'trace');
  const random = createRandom((options.seed ?? 0) + 1);
  let own = FIRST_OWN;
  let index = 0;
  for (const at of order) {
    const row = taken[at];
    if (!row) {
      continue;
    }
    const prompt: Run[] = [];
    let after = -1;
    for (const [turn, { message, answer }] of (row.turns ?? [{ message: row.prompt, answer: row.output }]).entries()) {
      prompt.push(...promptRuns(row, message, own++));
      const arrival = turn === 0 ? (times[at] ?? 0) - first : (options.thinkSeconds ?? 0) * exponential(random);
      builder.add({ arrival, after, prompt, output: Math.max(1, answer), session: row.turns ? at : -1 });
      prompt.push({ source: outputSourceOf(index), first: 0, count: Math.max(1, answer) });
      after = index++;
    }
  }
  return { traffic: builder.build(), notes };
}

function promptRuns({ chunks }: TraceRow, message: number, own: number): Run[] {
  const runs: Run[] = [];
  let left = message;
  for (const chunk of chunks ?? []) {
    if (left > 0) {
      runs.push({ source: FIRST_CHUNK + chunk, first: 0, count: Math.min(left, MOONCAKE_CHUNK) });
      left -= MOONCAKE_CHUNK;
    }
  }
  return left > 0 ? [...runs, { source: own, first: 0, count: left }] : runs;
}

function arrivalTimes(
  format: TraceFormat | undefined,
  taken: readonly TraceRow[],
  { rate, seed = 0 }: TraceOptions,
): Float64Array {
  const times = Float64Array.from(taken, (row) => row.arrival);
  const untimed = format === 'sharegpt' || (format === 'vllm-bench' && times.every((time) => time === 0));
  if (untimed && rate !== undefined && rate > 0) {
    const random = createRandom(seed);
    let now = 0;
    for (let i = 0; i < times.length; i++) {
      now += exponential(random) / rate;
      times[i] = now;
    }
  }
  return times;
}

function notesOf(format: TraceFormat | undefined): string[] {
  switch (format) {
    case 'sharegpt':
      return ['Lengths are estimated from characters, four to a token: the file holds texts, not token counts.'];
    case 'csv':
    case 'vllm-bench':
      return ['The file holds lengths only: nothing is shared between its requests.'];
    default:
      return [];
  }
}
