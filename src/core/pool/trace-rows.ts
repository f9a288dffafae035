/** Rows of public trace formats, one by one. A row that cannot be used says why; it never throws. */

/** One request of a trace. Times in seconds, as the file counts them. */
export interface TraceRow {
  readonly arrival: number;
  readonly prompt: number;
  readonly output: number;
  /** Identities of the prompt's chunks: equal beginnings, equal content. */
  readonly chunks?: readonly number[];
  /** Turns of a conversation come in one row: each turn's message and answer. */
  readonly turns?: readonly { readonly message: number; readonly answer: number }[];
}

export type RowResult = { readonly row: TraceRow; readonly note?: string } | { readonly problem: string };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lengths beyond this are a mistake in the file, not a prompt. */
const MOST_TOKENS = 2 ** 26;

function wholeNumber(value: unknown, name: string, least: number): number | { readonly problem: string } {
  if (value === undefined || value === null || value === '') {
    return { problem: `${name} is missing.` };
  }
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > MOST_TOKENS) {
    return { problem: `${name} is ${JSON.stringify(value)}, not a whole number from ${least} to ${MOST_TOKENS}.` };
  }
  return number;
}

function seconds(value: unknown, name: string, unit: number): number | { readonly problem: string } {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number)
    ? number * unit
    : { problem: value === undefined ? `${name} is missing.` : `${name} is ${JSON.stringify(value)}, not a number.` };
}

/** Tokens one hash id of the Mooncake traces stands for (kvcache-ai/Mooncake, FAST25-release/traces). */
export const MOONCAKE_CHUNK = 512;

/** `{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, …]}`; milliseconds. */
export function mooncakeRow(value: unknown): RowResult {
  if (!isRecord(value)) {
    return { problem: 'It is not an object.' };
  }
  const arrival = seconds(value.timestamp, 'timestamp', 0.001);
  const prompt = wholeNumber(value.input_length, 'input_length', 1);
  const output = wholeNumber(value.output_length, 'output_length', 0);
  for (const part of [arrival, prompt, output]) {
    if (typeof part !== 'number') {
      return part;
    }
  }
  const ids = value.hash_ids ?? [];
  if (!Array.isArray(ids) || !ids.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 30)) {
    return { problem: 'hash_ids is not a list of whole numbers.' };
  }
  const row = { arrival: Number(arrival), prompt: Number(prompt), output: Number(output), chunks: ids };
  const wanted = Math.ceil(row.prompt / MOONCAKE_CHUNK);
  return ids.length === wanted || ids.length === 0
    ? { row }
    : {
        row,
        note: `${ids.length} hash_ids for ${row.prompt} tokens, ${wanted} expected: the rest counts as not shared.`,
      };
}

/** Which columns of a CSV file hold what. */
export interface Columns {
  readonly time: number;
  readonly prompt: number;
  readonly output: number;
  readonly names: readonly [string, string, string];
}

const COLUMN_NAMES: readonly (readonly [string, string, string])[] = [
  ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'], // Azure/AzurePublicDataset, AzureLLMInferenceTrace
  ['Timestamp', 'Request tokens', 'Response tokens'], // HPMLL/BurstGPT
];

export function columnsOf(header: string): Columns | undefined {
  const fields = csvFields(header);
  for (const names of COLUMN_NAMES) {
    const [time = -1, prompt = -1, output = -1] = names.map((name) => fields.indexOf(name));
    if (time >= 0 && prompt >= 0 && output >= 0) {
      return { time, prompt, output, names };
    }
  }
  return undefined;
}

/** Fields of one line; quotes may enclose commas, and double themselves. */
function csvFields(line: string): string[] {
  if (!line.includes('"')) {
    return line.split(',').map((field) => field.trim());
  }
  const fields: string[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/gy;
  while (pattern.lastIndex < line.length) {
    const match = pattern.exec(line);
    if (!match) {
      return line.split(',');
    }
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] ?? '').trim());
  }
  return fields;
}

export function csvRow(line: string, { time, prompt, output, names }: Columns): RowResult {
  const fields = csvFields(line);
  const least = Math.max(time, prompt, output) + 1;
  if (fields.length < least) {
    return { problem: `It has ${fields.length} fields, ${least} are needed.` };
  }
  const arrival = timeOf(fields[time] ?? '', names[0]);
  const input = wholeNumber(fields[prompt], names[1], 0);
  const generated = wholeNumber(fields[output], names[2], 0);
  for (const part of [arrival, input, generated]) {
    if (typeof part !== 'number') {
      return part;
    }
  }
  const row = { arrival: Number(arrival), prompt: Number(input), output: Number(generated) };
  return row.prompt === 0 ? { problem: `${names[1]} is 0: nothing to serve.` } : { row };
}

/** `12.5`, or `2023-11-16 18:15:46.6805900` (read as UTC; fractions of any length). */
function timeOf(text: string, name: string): number | { readonly problem: string } {
  const date = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/.exec(text);
  if (!date) {
    return seconds(text, name, 1);
  }
  const [, day, clock, fraction = '', zone = 'Z'] = date;
  const at = Date.parse(`${day}T${clock}${zone}`);
  return Number.isNaN(at)
    ? { problem: `${name} is “${text}”, not a time.` }
    : at / 1000 + Number(`0${fraction || '.0'}`);
}

/** Characters a token stands for, where a file has texts and no counts; as measured for `estimateTokens` of prompts.ts. */
const CHARACTERS_PER_TOKEN = 4;

const estimatedTokens = (text: string): number => Math.max(1, Math.ceil(text.length / CHARACTERS_PER_TOKEN));

/** One ShareGPT conversation: `{"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", …}]}`. */
export function shareGptRow(value: unknown): RowResult {
  const conversation = isRecord(value) ? (value.conversations ?? value.conversation) : undefined;
  if (!Array.isArray(conversation)) {
    return { problem: 'conversations is missing.' };
  }
  const turns: { message: number; answer: number }[] = [];
  let message = 0;
  for (const part of conversation) {
    if (!isRecord(part) || typeof part.value !== 'string') {
      return { problem: 'A part of the conversation has no value.' };
    }
    if (part.from === 'gpt' || part.from === 'chatgpt' || part.from === 'assistant' || part.from === 'bing') {
      if (message > 0) {
        turns.push({ message, answer: estimatedTokens(part.value) });
        message = 0;
      }
    } else {
      message += estimatedTokens(part.value);
    }
  }
  const [first] = turns;
  return first
    ? { row: { arrival: 0, prompt: first.message, output: first.answer, turns } }
    : { problem: 'It has no question with an answer.' };
}

/** What `vllm bench serve --save-result --save-detailed` writes: one object with a list per figure. */
export function benchRows(value: unknown): readonly RowResult[] | { readonly problem: string } {
  if (!isRecord(value) || !Array.isArray(value.input_lens) || !Array.isArray(value.output_lens)) {
    return { problem: 'input_lens and output_lens are missing: save the result with --save-detailed.' };
  }
  const { input_lens: inputs, output_lens: outputs } = value;
  if (inputs.length !== outputs.length) {
    return { problem: `input_lens has ${inputs.length} values and output_lens ${outputs.length}.` };
  }
  const starts = Array.isArray(value.start_times) ? value.start_times : [];
  const errors = Array.isArray(value.errors) ? value.errors : [];
  return inputs.map((_, i): RowResult => {
    const prompt = wholeNumber(inputs[i], `input_lens[${i}]`, 1);
    const output = wholeNumber(outputs[i], `output_lens[${i}]`, 0);
    const arrival = starts[i] === undefined ? 0 : seconds(starts[i], `start_times[${i}]`, 1);
    for (const part of [prompt, output, arrival]) {
      if (typeof part !== 'number') {
        return part;
      }
    }
    return errors[i]
      ? { problem: `Request ${i} failed in the benchmark: ${String(errors[i]).slice(0, 80)}` }
      : { row: { arrival: Number(arrival), prompt: Number(prompt), output: Number(output) } };
  });
}
