import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CELL,
  CELL_STATES,
  cellFill,
  cellInfo,
  cellState,
  createPlayer,
  createWorld,
  densityOf,
  fixedClock,
  frameJson,
  type Player,
  progressOf,
  scenesOf,
  type Traffic,
  tablesOf,
  type WorldOptions,
} from '../../../src/core/pool';
import { createPainter } from '../../../src/core/pool/paint';
import { createView } from '../../../src/core/pool/view';
import { runs, someTraffic } from './support';

const someWorld = fc.constantFrom<WorldOptions>(
  {
    engine: 'vllm-v1',
    blocks: 30,
    groups: [{ kind: 'full', blockSize: 4 }],
    batchTokens: 32,
    maxSequences: 8,
    maxLength: 120,
  },
  { engine: 'vllm-v0', blocks: 30, blockSize: 4, hostBlocks: 20, batchTokens: 120, maxSequences: 8, maxLength: 120 },
  { engine: 'sglang', tokens: 160, pageSize: 4, maxRunning: 8, maxLength: 120, chunk: 32 },
  {
    engine: 'tensorrt-llm',
    blocks: 30,
    blockSize: 4,
    hostBlocks: 8,
    maxBatch: 8,
    batchTokens: 120,
    maxLength: 120,
    policy: 'max-utilization',
  },
  {
    engine: 'contiguous',
    tokens: 300,
    maxLength: 120,
    fit: 'first-fit',
    batching: 'continuous',
    maxSequences: 8,
    batchTokens: 64,
  },
  { engine: 'llama.cpp', slots: 4, cells: 120 },
  { engine: 'llama.cpp', slots: 4, cells: 240, unified: true },
);

const play = (traffic: Traffic, options: WorldOptions, memory?: number) =>
  createPlayer(createWorld(traffic, options), fixedClock(0.02), { memoryBytes: memory });

/** Filled tokens on the device, counted on the picture. */
function filled({ view }: Player): number {
  let sum = 0;
  for (let cell = 0; cell < view.deviceCells; cell++) {
    const meta = view.meta[cell] ?? 0;
    const state = cellState(meta);
    sum += state === CELL.active || state === CELL.shared ? cellFill(meta) : 0;
  }
  return sum;
}

describe('a run that can be played back', () => {
  it('shows the same frame forwards, backwards and in another run of the same seed', () => {
    fc.assert(
      fc.property(
        someTraffic,
        someWorld,
        fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 6 }),
        (traffic, options, jumps) => {
          const player = play(traffic, options);
          const frames = [frameJson(player)];
          for (let i = 0; i < 300 && player.forward(); i++) {
            frames.push(frameJson(player));
          }
          const other = play(traffic, options);
          for (const jump of jumps) {
            const to = jump % frames.length;
            player.seek(to);
            other.seek(to);
            expect(frameJson(player)).toBe(frames[to]);
            expect(frameJson(other)).toBe(frames[to]);
          }
          player.seek(0);
          expect(frameJson(player)).toBe(frames[0]);
        },
      ),
      runs(60),
    );
  });

  it('the tables of running requests are on the picture, and the fills add up to what is computed', () => {
    fc.assert(
      fc.property(someTraffic, someWorld, (traffic, options) => {
        const player = play(traffic, options);
        const { scheduler } = player.world;
        const { requests } = scheduler;
        for (let i = 0; i < 200 && player.forward(); i++) {
          for (let request = 0; request < requests.traffic.count; request++) {
            for (const cell of tablesOf(player.world, request).flat()) {
              expect(player.view.meta[cell]).not.toBe(0);
            }
          }
          const computed = requests.computed.reduce((a, b, at) => a + (requests.status[at] === 2 ? b : 0), 0);
          if (options.engine === 'contiguous' || options.engine === 'llama.cpp') {
            expect(filled(player)).toBeGreaterThanOrEqual(0);
          } else if (requests.traffic.samples.every((count) => count === 1)) {
            expect(filled(player)).toBeLessThanOrEqual(
              computed + player.frame().ended.reduce((a, r) => a + (requests.computed[r] ?? 0), 0),
            );
          }
        }
      }),
      runs(60),
    );
  });

  it('forgets the oldest frames when its memory is full, and still goes back through the rest', () => {
    const [scene] = scenesOf({ blockSize: 16, prompt: 600, output: 250, maxLength: 8192 });
    if (!scene?.worlds[0]) {
      throw new Error('no scene');
    }
    const player = play(scene.traffic, scene.worlds[0].options, 500);
    const frames: string[] = [frameJson(player)];
    while (player.forward()) {
      frames.push(frameJson(player));
    }
    expect(player.first()).toBeGreaterThan(0);
    expect(player.last()).toBe(frames.length - 1);
    player.seek(0);
    expect(player.frame().index).toBe(player.first());
    expect(frameJson(player)).toBe(frames[player.first()]);
  });
});

it('tells what happened in every step, as the engine counts it', () => {
  fc.assert(
    fc.property(someTraffic, someWorld, (traffic, options) => {
      const player = play(traffic, options);
      const { scheduler } = player.world;
      const { count } = scheduler.requests.traffic;
      const served = new Map<number, 'in' | 'out'>();
      let evicted = 0;
      for (let i = 0; i < 400 && player.forward(); i++) {
        const frame = player.frame();
        const of = <K extends string>(kind: K) => frame.events.filter((event) => event.kind === kind);
        expect(of('preempted').length).toBe(frame.preempted.length);
        expect(of('copied').length).toBe(frame.copied);
        expect(of('swapped-out').length).toBe(frame.swappedOut > 0 ? 1 : 0);
        expect(of('swapped-in').length).toBe(frame.swappedIn > 0 ? 1 : 0);
        for (const event of frame.events) {
          if (event.kind === 'admitted' || event.kind === 'resumed') {
            expect(served.get(event.request)).toBe(event.kind === 'admitted' ? undefined : 'out');
            served.set(event.request, 'in');
          } else if (event.kind === 'preempted') {
            served.set(event.request, 'out');
          } else if (event.kind === 'evicted') {
            evicted += event.cells.length;
          }
        }
      }
      const { world } = player;
      if (world.engine === 'vllm-v1') {
        expect(evicted).toBe(world.scheduler.kv.pool.evictions);
      } else if (world.engine === 'sglang' || world.engine === 'tensorrt-llm') {
        expect(evicted).toBe(world.scheduler.tree.evictions);
      }
      expect(served.size).toBeLessThanOrEqual(count);
    }),
    runs(60),
  );
});

it('a picture that was only added to is the one that is drawn from nothing', () => {
  const group = (kind: 'full' | 'sliding', blockSize: number) => ({ kind, blockSize, window: 9 });
  const world = fc.record({
    groups: fc.constantFrom(
      [group('full', 4)],
      [group('full', 4), group('full', 8)],
      [group('full', 4), group('sliding', 4)],
    ),
    blocks: fc.integer({ min: 30, max: 60 }),
    preallocate: fc.constantFrom(0, 4),
    policy: fc.constantFrom('fcfs' as const, 'priority' as const),
  });
  fc.assert(
    fc.property(someTraffic, world, (traffic, options) => {
      const player = play(traffic, {
        engine: 'vllm-v1',
        batchTokens: 32,
        maxSequences: 8,
        maxLength: 120,
        ...options,
      });
      const kept = createView(player.world);
      const draw = createPainter(player.world, kept);
      for (let i = 0; i < 300 && player.forward(); i++) {
        draw();
        const anew = createView(player.world);
        createPainter(player.world, anew)();
        expect(kept).toEqual(anew);
        expect([...player.counts]).toEqual([...densityOf(player.view, player.view.cells)]);
      }
    }),
    runs(60),
  );
});

it('begins where it is asked to, with the frame that walking there shows', () => {
  fc.assert(
    fc.property(someTraffic, someWorld, fc.integer({ min: 0, max: 60 }), (traffic, options, from) => {
      const walked = play(traffic, options);
      walked.seek(from);
      const there = createPlayer(createWorld(traffic, options), fixedClock(0.02), { from: (index) => index >= from });
      expect(frameJson(there)).toBe(frameJson(walked));
      expect(there.first()).toBe(there.frame().index);
    }),
    runs(60),
  );
});

it('a cell tells who has it, which of its blocks it is, how full, and its hash', () => {
  const [, scene] = scenesOf({ blockSize: 16, prompt: 600, output: 250, maxLength: 8192 });
  if (!scene?.worlds[0]) {
    throw new Error('no scene');
  }
  const player = play(scene.traffic, scene.worlds[0].options);
  player.seek(2);
  const [table = []] = tablesOf(player.world, 0);
  const infos = table.map((cell) => cellInfo(player.world, player.view, cell));
  expect(infos.map((info) => [info?.state, info?.owner, info?.logical, info?.tokens, info?.owners])).toEqual([
    ['active', 0, 0, 4, 1],
    ['active', 0, 1, 4, 1],
  ]);
  expect(infos.map((info) => info?.hash?.length)).toEqual([16, 16]);
  expect(cellInfo(player.world, player.view, 30)).toMatchObject({ state: 'free', owner: undefined, tokens: 0 });
  expect(cellInfo(player.world, player.view, 9999)).toBeUndefined();
});

it('a density map counts every cell once, in its place', () => {
  fc.assert(
    fc.property(someTraffic, someWorld, fc.integer({ min: 1, max: 40 }), (traffic, options, perBucket) => {
      const player = play(traffic, options);
      player.seek(12);
      const counts = densityOf(player.view, perBucket);
      const expected = new Uint32Array(counts.length);
      player.view.meta.forEach((meta, cell) => {
        const at = Math.floor(cell / perBucket) * CELL_STATES + cellState(meta);
        expected[at] = (expected[at] ?? 0) + 1;
      });
      expect(counts).toEqual(expected);
      expect(progressOf(player.simulation)).toBeLessThanOrEqual(1);
    }),
    runs(40),
  );
});

describe('the eight scenes', () => {
  const scenes = scenesOf({ blockSize: 16, prompt: 600, output: 250, maxLength: 8192 });
  const playerOf = (id: string, world = 0) => {
    const scene = scenes.find((each) => each.id === id);
    const options = scene?.worlds[world]?.options;
    if (!scene || !options) {
      throw new Error(`no scene ${id}`);
    }
    const player = createPlayer(createWorld(scene.traffic, options, 4), fixedClock(1));
    player.seek(scene.step);
    return { scene, player };
  };
  const states = ({ view }: Player) => new Set([...view.meta].map(cellState));

  it('speak with the launch’s figures', () => {
    expect(scenes.map(({ sentence }) => sentence).join(' ')).toContain(
      '850 tokens fill 54 blocks of 16 but for 14 tokens',
    );
    expect(scenes.length).toBe(8);
  });

  it('mapping: the focus’s blocks do not lie in a row', () => {
    const { scene, player } = playerOf('mapping');
    const [table = []] = tablesOf(player.world, scene.focus);
    expect(table.length).toBeGreaterThan(4);
    expect(table.some((block, i) => i > 0 && block !== (table[i - 1] ?? 0) + 1)).toBe(true);
  });

  it('shared prefix: shared blocks with the cache, none without', () => {
    expect(states(playerOf('shared-prefix', 0).player).has(CELL.shared)).toBe(true);
    expect(states(playerOf('shared-prefix', 1).player).has(CELL.shared)).toBe(false);
  });

  it('copy-on-write: one block is copied for each sample but the last', () => {
    const { player } = playerOf('copy-on-write');
    expect(player.frame().copied).toBe(2);
  });

  it('fragmentation: reserved, wasted and unusable room beside the paged pool', () => {
    const seen = new Set<number>();
    for (const world of [1, 2]) {
      const { player } = playerOf('fragmentation', world);
      player.seek(0);
      while (player.forward()) {
        for (const state of states(player)) {
          seen.add(state);
        }
      }
    }
    expect([CELL.reserved, CELL.wasted, CELL.unusable].every((state) => seen.has(state))).toBe(true);
  });

  it.each([
    ['recomputed', 0, 'preempted'],
    ['swapped', 1, 'swappedOut'],
  ] as const)('exhaustion: somebody gives way, %s', (_, world, what) => {
    const { player } = playerOf('exhaustion', world);
    player.seek(0);
    let given = 0;
    while (player.forward()) {
      const frame = player.frame();
      given += what === 'preempted' ? frame.preempted.length : frame.swappedOut;
    }
    expect(given).toBeGreaterThan(0);
    expect(player.frame().finished).toBe(player.world.scheduler.requests.traffic.count);
  });
});
