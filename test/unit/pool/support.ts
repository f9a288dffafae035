import fc from 'fast-check';
import { generateTraffic, type Scheduler, type Traffic, type WorkloadSpec } from '../../../src/core/pool';

/** Small, varied traffic: enough to fill and overrun a small pool. */
export const someWorkload: fc.Arbitrary<WorkloadSpec> = fc.record({
  requests: fc.integer({ min: 1, max: 40 }),
  seed: fc.integer(),
  arrivals: fc.oneof(
    fc.record({ kind: fc.constant('poisson' as const), rate: fc.constantFrom(1, 10, 100) }),
    fc.record({ kind: fc.constant('bursts' as const), rate: fc.constant(20), burst: fc.constantFrom(2, 8) }),
    fc.record({
      kind: fc.constant('closed' as const),
      clients: fc.constantFrom(1, 3, 9),
      think: fc.constantFrom(0, 0.3),
    }),
    fc.constant({ kind: 'at-once' as const }),
  ),
  prompt: fc.constantFrom(
    { kind: 'uniform' as const, low: 1, high: 60 },
    { kind: 'exponential' as const, mean: 20, high: 90 },
    { kind: 'fixed' as const, value: 16 },
  ),
  output: fc.constantFrom({ kind: 'uniform' as const, low: 1, high: 40 }, { kind: 'fixed' as const, value: 1 }),
  sharedPrefix: fc.option(fc.record({ tokens: fc.constantFrom(3, 16, 33), variants: fc.constantFrom(1, 3) }), {
    nil: undefined,
  }),
  chat: fc.option(
    fc.record({
      turns: fc.constant({ kind: 'uniform' as const, low: 1, high: 4 }),
      thinkSeconds: fc.constantFrom(0, 1),
    }),
    { nil: undefined },
  ),
  samples: fc.constantFrom(1, 1, 3),
  limitFactor: fc.constantFrom(1, 2),
  adapters: fc.option(fc.record({ share: fc.constant(0.5), count: fc.constant(2) }), { nil: undefined }),
});

export const someTraffic: fc.Arbitrary<Traffic> = someWorkload.map(generateTraffic);

/** What a run did, as text: equal texts, equal runs. */
export function traceOf(scheduler: Scheduler): string {
  const { requests } = scheduler;
  return JSON.stringify([
    [...requests.status],
    [...requests.finished],
    [...requests.firstToken],
    [...requests.preemptions],
    [...requests.hitTokens],
  ]);
}

/** Runs of a property: a few hundred in the tests, `FUZZ_RUNS` of them in `test/fuzz`. */
export const runs = (usual: number): { readonly numRuns: number } => ({
  numRuns: Number(process.env.FUZZ_RUNS ?? usual),
});
