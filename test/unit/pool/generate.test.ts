import { describe, expect, it } from 'vitest';
import {
  type Arrivals,
  commonPrefix,
  drawLength,
  generateTraffic,
  type Lengths,
  mooncakeLike,
  popular,
  type Traffic,
  withoutForks,
} from '../../../src/core/pool';
import { createRandom } from '../../../src/core/pool/random';

const mean = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0) / values.length;
const near = (value: number, expected: number, share: number) => {
  expect(Math.abs(value / expected - 1), `${value} against ${expected}`).toBeLessThan(share);
};

const base = {
  requests: 4000,
  seed: 11,
  arrivals: { kind: 'poisson', rate: 5 } as Arrivals,
  prompt: { kind: 'fixed', value: 30 } as Lengths,
  output: { kind: 'fixed', value: 10 } as Lengths,
};

describe('lengths', () => {
  it.each<[Lengths, number, number]>([
    [{ kind: 'fixed', value: 7 }, 7, 0.001],
    [{ kind: 'uniform', low: 10, high: 30 }, 20, 0.02],
    [{ kind: 'exponential', mean: 200 }, 200, 0.04],
    [{ kind: 'lognormal', mean: 600, spread: 0.8 }, 600, 0.05],
  ])('%j have their mean', (lengths, expected, share) => {
    const random = createRandom(3);
    near(mean(Array.from({ length: 20_000 }, () => drawLength(lengths, random))), expected, share);
  });

  it('popularity falls by rank', () => {
    const random = createRandom(3);
    const counts = new Array(5).fill(0);
    for (let i = 0; i < 10_000; i++) {
      counts[popular(5, random)] += 1;
    }
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(counts[0]).toBeGreaterThan(3 * counts[4]);
  });
});

describe('generated traffic', () => {
  const gaps = ({ arrivals, count }: Traffic) =>
    Array.from({ length: count - 1 }, (_, i) => (arrivals[i + 1] ?? 0) - (arrivals[i] ?? 0));
  const spread = (traffic: Traffic) => {
    const all = gaps(traffic);
    const average = mean(all);
    return mean(all.map((gap) => (gap - average) ** 2)) / average ** 2;
  };

  it('arrives at its rate: evenly spread by chance, or in bursts', () => {
    const poisson = generateTraffic(base);
    const bursts = generateTraffic({ ...base, arrivals: { kind: 'bursts', rate: 5, burst: 10 } });
    near(mean(gaps(poisson)), 0.2, 0.06);
    near(mean(gaps(bursts)), 0.2, 0.15);
    near(spread(poisson), 1, 0.15);
    expect(spread(bursts)).toBeGreaterThan(4);
  });

  it('closed: each client has one request at a time', () => {
    const { after } = generateTraffic({ ...base, requests: 12, arrivals: { kind: 'closed', clients: 5 } });
    expect([...after]).toEqual([-1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6]);
  });

  it('chats: a turn begins with everything said before, answers included', () => {
    const traffic = generateTraffic({
      ...base,
      requests: 200,
      sharedPrefix: { tokens: 40, variants: 3 },
      chat: { turns: { kind: 'fixed', value: 4 }, thinkSeconds: 20 },
    });
    const { after, prompts, outputs, sessions, arrivals } = traffic;
    const later = Array.from({ length: 200 }, (_, i) => i).filter((i) => (after[i] ?? -1) >= 0);
    expect(later.length).toBe(150);
    for (const i of later) {
      const before = after[i] ?? 0;
      const said = (prompts[before] ?? 0) + (outputs[before] ?? 0);
      expect(commonPrefix(traffic, before, said, i, prompts[i] ?? 0)).toBe(said);
      expect(prompts[i]).toBe(said + 30);
      expect(sessions[i]).toBe(sessions[before]);
    }
    near(mean(later.map((i) => arrivals[i] ?? 0)), 20, 0.25);
    expect(Math.max(...Array.from({ length: 50 }, (_, s) => commonPrefix(traffic, 0, 40, 4 * s, 40)))).toBe(40);
  });

  it('without forks, samples are requests of their own that share the prompt', () => {
    const traffic = generateTraffic({
      ...base,
      requests: 4,
      samples: 3,
      chat: { turns: { kind: 'fixed', value: 2 }, thinkSeconds: 1 },
    });
    const apart = withoutForks(traffic);
    expect(apart.count).toBe(12);
    expect([...apart.after]).toEqual([-1, -1, -1, 2, 2, 2, -1, -1, -1, 8, 8, 8]);
    expect(commonPrefix(apart, 0, 40, 1, 40)).toBe(30);
    expect(commonPrefix(apart, 0, 40, 3, 70)).toBe(40);
    expect(withoutForks(generateTraffic(base)).count).toBe(base.requests);
  });

  it('the same seed, the same traffic; another seed, another', () => {
    expect(generateTraffic(base)).toEqual(generateTraffic(base));
    expect(generateTraffic(base).arrivals).not.toEqual(generateTraffic({ ...base, seed: 12 }).arrivals);
  });

  it('Mooncake-like: means, and chunks that conversations share', () => {
    const traffic = mooncakeLike({ requests: 5000, seed: 7, arrivals: base.arrivals });
    near(mean(traffic.prompts), 7600, 0.05);
    near(mean(traffic.outputs), 180, 0.05);
    const sources = new Map<number, number>();
    for (const source of traffic.contents.sources.subarray(0, traffic.contents.size)) {
      sources.set(source, (sources.get(source) ?? 0) + 1);
    }
    const shared = [...sources.values()].filter((count) => count > 1).reduce((a, b) => a + b, 0);
    expect(shared / traffic.contents.size).toBeGreaterThan(0.3);
  });
});
