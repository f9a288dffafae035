import { describe, expect, it } from 'vitest';
import {
  createSimulation,
  createVllmV1,
  fixedClock,
  type GroupSpec,
  ownersOf,
  runsOfTokens,
  tableOf,
  trafficBuilder,
  type VllmV1Options,
} from '../../../src/core/pool';

const counted = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

function serve(
  prompts: readonly (readonly number[])[],
  groups: readonly GroupSpec[],
  more: Partial<VllmV1Options> = {},
) {
  const builder = trafficBuilder('groups');
  prompts.forEach((prompt, i) => {
    builder.add({ arrival: 100 * i, prompt: runsOfTokens(prompt), output: 30 });
  });
  const scheduler = createVllmV1(builder.build(), {
    blocks: 200,
    groups,
    batchTokens: 64,
    maxSequences: 8,
    maxLength: 200,
    ...more,
  });
  return { scheduler, simulation: createSimulation(scheduler, { clock: fixedClock(1) }) };
}

describe('groups beside full attention', () => {
  const full: GroupSpec = { kind: 'full', blockSize: 4 };

  it('a state takes one block for good and ends prefix caching', () => {
    const { scheduler, simulation } = serve([counted(0, 22), counted(0, 22)], [full, { kind: 'state', blockSize: 4 }]);
    simulation.run(20);
    expect(tableOf(scheduler.kv, scheduler.slotOf(0), 1)).toEqual(
      Int32Array.of(tableOf(scheduler.kv, scheduler.slotOf(0), 1)[0] ?? 0),
    );
    simulation.run();
    expect([...scheduler.requests.hitTokens]).toEqual([0, 0]);
  });

  it('snapshots: a chunk ends on the last boundary, its state is kept and found again', () => {
    const prompts = [counted(0, 22), counted(0, 22), [...counted(0, 12), 77, 78, 79, 80, 81]];
    const { scheduler, simulation } = serve(prompts, [full, { kind: 'snapshots', blockSize: 4 }], { retention: 0 });
    const chunks: number[] = [];
    for (let i = 0; i < 3; i++) {
      simulation.advance();
      chunks.push(scheduler.step.tokens[0] ?? 0);
    }
    expect(chunks).toEqual([20, 2, 1]);
    const table = [...tableOf(scheduler.kv, scheduler.slotOf(0), 1)];
    expect(table.slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect(table.slice(4).every((block) => ownersOf(scheduler.kv.pool, block) === 1)).toBe(true);
    simulation.run();
    expect([...scheduler.requests.hitTokens]).toEqual([0, 20, 0]);
  });

  it('snapshots: the first to leave a shared prefix finds nothing and keeps its end; the next finds it', () => {
    const prompts = [counted(0, 22), [...counted(0, 12), 70, 71, 72, 73, 74], [...counted(0, 12), 80, 81, 82, 83, 84]];
    const { scheduler, simulation } = serve(prompts, [full, { kind: 'snapshots', blockSize: 4 }], { retention: 0 });
    simulation.run();
    expect([...scheduler.requests.hitTokens]).toEqual([0, 0, 12]);
  });

  it('chunked attention forgets whole chunks', () => {
    const { scheduler, simulation } = serve([counted(0, 22)], [full, { kind: 'chunked', blockSize: 4, window: 8 }]);
    simulation.run(5);
    const table = [...tableOf(scheduler.kv, scheduler.slotOf(0), 1)];
    expect(scheduler.requests.computed[0]).toBe(26);
    expect(table.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(table.slice(6).every((block) => block > 0)).toBe(true);
  });

  it('a draft head makes each hit one block shorter', () => {
    const hits = (draftHead: boolean) => {
      const { scheduler, simulation } = serve([counted(0, 22), counted(0, 22)], [full], { draftHead });
      simulation.run();
      return scheduler.requests.hitTokens[1];
    };
    expect([hits(false), hits(true)]).toEqual([20, 16]);
  });

  it('versions before 0.8.5 take four more blocks of 16 at each growth', () => {
    const { scheduler, simulation } = serve([counted(0, 22)], [full], { preallocate: 4 });
    simulation.advance();
    expect(tableOf(scheduler.kv, scheduler.slotOf(0)).length).toBe(6 + 4);
  });
});

describe('admission', () => {
  const full: GroupSpec = { kind: 'full', blockSize: 4 };

  it('alone, a request may use what the watermark keeps free beside others', () => {
    const { scheduler, simulation } = serve([counted(0, 40)], [full], { blocks: 12, watermark: 0.25 });
    simulation.advance();
    expect(scheduler.running()).toBe(1);
  });

  it('what a preempted request had been given goes back to the step', () => {
    const builder = trafficBuilder('refund');
    const ask = (arrival: number, tokens: number, priority: number) =>
      builder.add({ arrival, prompt: [{ source: 10 + priority, first: 0, count: tokens }], output: 20, priority });
    const [late, urgent, middle] = [ask(0, 36, 9), ask(1, 2, 0), ask(2, 30, 5)];
    const scheduler = createVllmV1(builder.build(), {
      blocks: 11,
      groups: [full],
      batchTokens: 8,
      maxSequences: 8,
      maxLength: 120,
      longPrefill: 6,
      policy: 'priority',
      reserveWholePrompt: false,
    });
    createSimulation(scheduler, { clock: fixedClock(1) }).run(5);
    const { requests, tokens, count, preempted, preemptedCount } = scheduler.step;
    expect([...preempted.subarray(0, preemptedCount)]).toEqual([late]);
    expect([...requests.subarray(0, count)]).toEqual([urgent, middle]);
    expect([...tokens.subarray(0, count)]).toEqual([1, 6]);
  });
});
