/** Samples of TensorRT-LLM, LMDeploy and TGI on the whole road: from the file to the JSON. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { run } from '../cli/run';
import { schemaErrors } from './schema';

const samples = ['tensorrt-llm', 'lmdeploy', 'tgi'].flatMap((engine) =>
  readdirSync(`samples/${engine}`).map((name) => [engine, `samples/${engine}/${name}`] as const),
);

interface Term {
  readonly bytes: number;
  readonly low: number;
  readonly high: number;
}

describe.each(samples)('%s: %s', (engine, path) => {
  it('is planned, starts, and follows the schema', async () => {
    const { code, out } = await run(['report', path, '--format', 'json']);
    const json = JSON.parse(out);
    expect(schemaErrors(json)).toEqual([]);
    expect([code, json.problems, json.plans.length]).toEqual([0, [], 1]);
    const [plan] = json.plans;
    expect([plan.launch.engine, plan.starts]).toEqual([engine, true]);
    expect(plan.findings.filter((f: { severity: string }) => f.severity === 'error')).toEqual([]);
  });

  it('accounts for every byte: limit less terms is the pool, and a full pool adds up', async () => {
    const { budget, kv, capacity } = JSON.parse((await run(['report', path, '--format', 'json'])).out).plans[0];
    const terms: readonly Term[] = [budget.weights, budget.activations, budget.graphs, budget.other];
    const taken = terms.reduce((sum, t) => sum + t.bytes, 0);
    expect(Math.abs(budget.limitBytes - taken - budget.kv.bytes)).toBeLessThan(8);
    expect(budget.limitBytes).toBeLessThanOrEqual(budget.totalBytes);
    for (const t of [...terms, budget.kv as Term]) {
      expect(t.low <= t.bytes && t.bytes <= t.high).toBe(true);
    }
    for (const { waste } of [capacity.paged, capacity.contiguous]) {
      const { pool, ...parts } = waste;
      expect((Object.values(parts) as number[]).reduce((a, b) => a + b, 0)).toBe(pool);
      expect(Math.min(...(Object.values(parts) as number[]))).toBeGreaterThanOrEqual(0);
    }
    expect(Math.abs(kv.bytesPerGpu - budget.kv.bytes)).toBeLessThanOrEqual(kv.bytesPerBlockPerGpu);
  });
});
