/** The saved result: its schema, its reader, and what the command line makes of it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { afterAll, describe, expect, test } from 'vitest';
import { isNoisy, kernelTimes, readBenchResult } from '../../../src/core/pool/kernel-result';
import { run } from '../cli/run';
import { aResult, aRow } from './aResult';

const schema = JSON.parse(readFileSync('schema/bench.schema.json', 'utf8'), (_, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
);
const validate = new Ajv2020({ allErrors: true, strict: true }).compile(schema);

const folder = mkdtempSync(join(tmpdir(), 'kv-planner-'));
afterAll(() => rmSync(folder, { recursive: true }));
function written(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Every way to break a result by one key: the schema and the reader must both say no. */
const broken: [string, Record<string, unknown>][] = [
  ['no schema', { schema: undefined }],
  ['another schema', { schema: 'kv-planner/plan@1' }],
  ['a count in words', { rounds: 'many' }],
  ['an unknown clock', { clock: { kind: 'sun' } }],
  ['a time of nothing', { rows: [{ ...aRow(16, 1.1), milliseconds: 0 }] }],
  ['rows of no interval', { rows: [{ ...aRow(16, 1.1), ratio: 1.1 }] }],
];

test('schema and reader take the same result', () => {
  const result = JSON.parse(JSON.stringify(aResult()));
  expect(validate(result), JSON.stringify(validate.errors)).toBe(true);
  expect(readBenchResult(result)).toEqual({ result });
});

test.each(broken)('schema and reader refuse %s', (_, change) => {
  const result = JSON.parse(JSON.stringify({ ...aResult(), ...change }));
  expect(validate(result)).toBe(false);
  expect(readBenchResult(result)).toHaveProperty('error');
});

test('block sizes are weighed by scattered blocks, and not at all in noise', () => {
  const rows = [aRow(16, 1.2), { ...aRow(16, 1.05), order: 'sequential' as const }, aRow(64, 1.02)];
  expect([...kernelTimes(aResult({ rows }))]).toEqual([
    [16, 1.2],
    [64, 1.02],
  ]);
  expect(isNoisy(aResult())).toBe(false);
  expect(isNoisy(aResult({ noise: { median: 1.2, low: 0.9, high: 1.4 } }))).toBe(true);
});

describe('simulate --bench', () => {
  const launch = ['simulate', 'samples/vllm/llama-3.1-8b-l4.compose.yaml', '--requests', '30'];
  const simulate = (file: string, ...more: string[]) => run([...launch, '--bench', file, ...more]);

  test('the table of block sizes gets measured times, and says whose', async () => {
    const file = written('good.json', aResult());
    const json = JSON.parse((await simulate(file, '--format', 'json')).out);
    const costs = json.launches[0].run.blockSizes.map((row: { kernelCost?: number }) => row.kernelCost);
    expect(costs.filter((cost: unknown) => cost !== undefined)).toEqual([1.4 / 1.02, 1.1 / 1.02, 1]);
    const { out, code } = await simulate(file);
    expect(code).toBe(0);
    expect(out).toMatch(/kernel time/);
    expect(out).toMatch(/1\.37 ×/);
    expect(out).toMatch(/not of the GPU\s+that serves/);
  });

  test.each<[string, unknown, RegExp]>([
    ['text', 'rows:', /is not JSON/],
    ['another file', { schema: 'kv-planner/plan@1' }, /schema: Invalid type/],
    ['checks only', aResult({ rows: [] }), /not measured/],
    ['noise', aResult({ noise: { median: 1.3, low: 0.9, high: 1.9 } }), /too much noise/],
  ])('%s is refused with a reason, and the rest is simulated', async (name, content, why) => {
    const { notes, out, code } = await simulate(written(`${name}.json`, content));
    expect(notes.join('\n')).toMatch(why);
    expect(out).toMatch(/Fits/);
    expect(code).toBe(1);
  });

  test('a file that is not there', async () => {
    const { notes, code } = await simulate(join(folder, 'none.json'));
    expect(notes).toContain(`${join(folder, 'none.json')}: no such file`);
    expect(code).toBe(1);
  });
});
