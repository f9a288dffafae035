import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonPrefix, createTraceReader, readTrace, type Trace, type TraceOptions } from '../../../src/core/pool';
import { runs } from './support';

function read(text: string, options: TraceOptions = {}, piece = 7): Trace {
  const reader = createTraceReader(options);
  for (let at = 0; at < text.length; at += piece) {
    reader.push(text.slice(at, at + piece));
  }
  return reader.end();
}

const MOONCAKE = `{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 3000, "input_length": 1300, "output_length": 7, "hash_ids": [0, 1, 9]}
not json

{"timestamp": 1500, "input_length": 600, "output_length": 2, "hash_ids": [0, 5]}
{"timestamp": 4000, "input_length": -6, "output_length": 2, "hash_ids": []}
{"timestamp": 5000, "input_length": 700, "output_length": 2, "hash_ids": [0]}`;

const AZURE = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2225670,abc,55
2023-11-16 18:15:51.2225670,12
yesterday,12,13`;

const BURST = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,"GPT-4, new",1087,230,1317,API log
99,ChatGPT,0,18,18,API log`;

const SHAREGPT = `[
 {"id": "a", "conversations": [{"from": "human", "value": "12345678"}, {"from": "gpt", "value": "1234"},
   {"from": "human", "value": "[{\\"x\\": 1}]"}, {"from": "gpt", "value": "12345678901234567"}]},
 {"id": "b", "conversations": [{"from": "gpt", "value": "hello"}]},
 {"id": "c"},
 {"id": "d", "conversations": [{"from": "human", "value": "1234"}, {"from": "gpt", "value": "1"}]}
]`;

const BENCH = JSON.stringify({
  completed: 2,
  input_lens: [10, 20, 30],
  output_lens: [1, 2, 0],
  errors: ['', '', 'timeout'],
});

const lengths = ({ traffic: { count, prompts, outputs } }: Trace) =>
  Array.from({ length: count }, (_, i) => [prompts[i], outputs[i]]);
const arrivals = ({ traffic }: Trace) =>
  [...traffic.arrivals.slice(0, traffic.count)].map((t) => Math.round(t * 1e4) / 1e4);
const places = ({ problems }: Trace) => problems.map(({ line, message }) => `${line}: ${message}`);

describe('trace files', () => {
  it('Mooncake: chunks shared by id, times in order, the line of each bad row', () => {
    const trace = read(MOONCAKE);
    expect([trace.format, trace.rows]).toEqual(['mooncake', 6]);
    expect(lengths(trace)).toEqual([
      [1100, 5],
      [600, 2],
      [1300, 7],
      [700, 2],
    ]);
    expect(arrivals(trace)).toEqual([0, 1.5, 3, 5]);
    expect([commonPrefix(trace.traffic, 0, 1100, 2, 1300), commonPrefix(trace.traffic, 0, 1100, 1, 600)]).toEqual([
      1024, 512,
    ]);
    expect(places(trace)).toEqual([
      '3: It is not a JSON object.',
      '6: input_length is -6, not a whole number from 1 to 67108864.',
      '7: Used all the same: 1 hash_ids for 700 tokens, 2 expected: the rest counts as not shared.',
    ]);
    expect(trace.notes.join()).toContain('not in order of time');
  });

  it('Azure: seven digits of a second, bad rows by line', () => {
    const trace = read(AZURE);
    expect(lengths(trace)).toEqual([
      [374, 44],
      [396, 109],
    ]);
    expect(arrivals(trace)).toEqual([0, 4.3146]);
    expect(places(trace)).toEqual([
      '4: ContextTokens is "abc", not a whole number from 0 to 67108864.',
      '5: It has 2 fields, 3 are needed.',
      '6: TIMESTAMP is "yesterday", not a number.',
    ]);
  });

  it('BurstGPT: columns by name, quoted fields', () => {
    const trace = read(BURST);
    expect(lengths(trace)).toEqual([
      [472, 18],
      [1087, 230],
    ]);
    expect(arrivals(trace)).toEqual([0, 40]);
    expect(places(trace)).toEqual(['4: Request tokens is 0: nothing to serve.']);
  });

  it('ShareGPT: turns of a conversation, lengths estimated and said so', () => {
    const trace = read(SHAREGPT, { rate: 2, seed: 1 });
    expect(lengths(trace)).toEqual([
      [2, 1],
      [6, 5],
      [1, 1],
    ]);
    expect([...trace.traffic.after.slice(0, 3)]).toEqual([-1, 0, -1]);
    expect(commonPrefix(trace.traffic, 0, 3, 1, 6)).toBe(3);
    expect(places(trace)).toEqual(['4: It has no question with an answer.', '5: conversations is missing.']);
    expect(trace.notes.join()).toContain('estimated');
  });

  it.each([
    ['one line', BENCH],
    ['indented', JSON.stringify(JSON.parse(BENCH), undefined, 2)],
  ])('vLLM benchmark results, %s', (_, text) => {
    const trace = read(text);
    expect(trace.format).toBe('vllm-bench');
    expect(lengths(trace)).toEqual([
      [10, 1],
      [20, 2],
    ]);
    expect(trace.problems.map(({ message }) => message)).toEqual(['Request 2 failed in the benchmark: timeout']);
  });

  it.each([
    ['nothing', '', 'The file holds no requests.'],
    ['bytes that are no text', 'PK\u0003\u0004\ufffd\ufffd\n\ufffd', 'It is not text'],
    ['a wrong header', 'when,what\n1,2\n', 'The header “when,what” is not known'],
    ['a list cut short', SHAREGPT.slice(0, -6), 'the last entry is lost'],
    ['half a result', '{\n "input_lens": [1,', 'It is not JSON.'],
    ['a result without lists', '{\n "completed": 2\n}', '--save-detailed'],
  ])('%s is told, not thrown', (_, text, message) => {
    const { problems } = read(text);
    expect(
      problems.some((problem) => problem.message.includes(message)),
      JSON.stringify(problems),
    ).toBe(true);
  });

  async function* inPieces(bytes: Uint8Array, size = 11) {
    for (let at = 0; at < bytes.length; at += size) {
      yield bytes.subarray(at, at + size);
    }
  }

  it.each([
    ['CRLF', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
    ['a byte order mark', (text: string) => Buffer.from(`\uFEFF${text}`)],
    ['gzip', (text: string) => gzipSync(text)],
  ])('%s changes nothing', async (_, packed) => {
    for (const text of [MOONCAKE, AZURE, BURST, SHAREGPT, BENCH]) {
      expect(await readTrace(inPieces(packed(text)))).toEqual(read(text));
    }
  });

  it('a list on one line, without an end of the line', () => {
    const row = { timestamp: 0, input_length: 600, output_length: 5, hash_ids: [0, 1] };
    for (const rows of [[row], [row, row], []]) {
      const reader = createTraceReader();
      reader.push(JSON.stringify(rows));
      expect(reader.end()).toMatchObject({ rows: rows.length, problemCount: rows.length === 0 ? 1 : 0 });
    }
  });

  it('a damaged archive is told', async () => {
    const { problems } = await readTrace(inPieces(gzipSync(MOONCAKE).subarray(0, 60)));
    expect(problems[0]?.message).toContain('could not be read to its end');
  });

  it('the size of the pieces changes nothing, and no text throws', () => {
    const some = fc.oneof(fc.constantFrom(MOONCAKE, AZURE, BURST, SHAREGPT, BENCH), fc.string(), fc.json());
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 500 }), (text, piece, cut) => {
        const damaged = text.slice(0, cut) + text.slice(cut + 1);
        expect(read(damaged, {}, piece)).toEqual(read(damaged, {}, 10_000));
      }),
      runs(300),
    );
  });
});
