import { describe, expect, it } from 'vitest';
import {
  CELL,
  cellState,
  createPlayer,
  createTraceReader,
  createWorld,
  fixedClock,
  frameJson,
  generateTraffic,
  type PoolEvent,
  scenesOf,
  type TraceReader,
} from '../../../src/core/pool';
import { createAnswers } from '../../../webview/pool/answers';
import {
  type Answer,
  type Command,
  type LaunchScenario,
  readToPage,
  readToWorker,
  type Scenario,
  type Shown,
} from '../../../webview/pool/protocol';
import { createTraceStore } from '../../../webview/trace-reader';

const world = {
  engine: 'vllm-v1',
  blocks: 61,
  groups: [{ kind: 'full', blockSize: 4 }],
  batchTokens: 48,
  maxSequences: 12,
  maxLength: 120,
} as const;

const launch = (over: Partial<Extract<LaunchScenario['traffic'], { kind: 'generated' }>> = {}): LaunchScenario => ({
  kind: 'launch',
  worlds: [
    { title: 'Paged', options: world },
    {
      title: 'Contiguous',
      options: {
        engine: 'contiguous',
        tokens: 240,
        maxLength: 120,
        fit: 'slots',
        batching: 'continuous',
        maxSequences: 12,
        batchTokens: 48,
      },
    },
  ],
  cellTokens: 4,
  traffic: {
    kind: 'generated',
    requests: 30,
    seed: 3,
    prompt: 14,
    output: 9,
    lengths: 'varied',
    turns: 1,
    thinkSeconds: 0,
    maxLength: 120,
    sharedTokens: 8,
    samples: 1,
    priorities: 1,
    ...over,
  },
  clock: { kind: 'fixed', seconds: 0.02 },
});

const fileOf = (text: string) => ({ id: 1, name: 't.jsonl', text: new Blob([text]) });

/** A worker without the thread: each command to its end. */
function worker(scenario: Scenario, at = 0, trace?: TraceReader) {
  const answers = createAnswers();
  const ask = (command: Command): Answer => {
    const checked = readToWorker({ id: 1, command });
    expect(checked?.command).toEqual(command);
    const work = answers.answer(command, trace);
    let turn = work.next();
    while (!turn.done) {
      turn = work.next();
    }
    expect(readToPage({ kind: 'answer', id: 1, answer: turn.value })).toBeDefined();
    return turn.value;
  };
  const shown = (command: Command): Shown => {
    const answer = ask(command);
    if (answer.type !== 'shown') {
      throw new Error(JSON.stringify(answer));
    }
    return answer;
  };
  const loaded = ask({ type: 'load', scenario, at });
  return {
    loaded,
    ask,
    step: (steps: number, selected = -1) => shown({ type: 'step', steps, selected, buffers: [] }),
    seek: (index: number, selected = -1) => shown({ type: 'seek', index, selected, buffers: [] }),
    settle: (selected = -1) => shown({ type: 'settle', selected, buffers: [] }),
  };
}

const jsonOf = ({ pictures }: Shown, i = 0): string => {
  const picture = pictures[i];
  if (!picture) {
    throw new Error('no picture');
  }
  const { frame, meta, owner, logical } = picture;
  return frameJson({
    frame: () => frame,
    view: { cells: meta.length, deviceCells: meta.length, cellTokens: 4, meta, owner, logical },
  });
};

/** The same run, without any of the page's or worker's code. */
function alone() {
  const { prompt, output } = { prompt: 14, output: 9 };
  const lengths = (mean: number) => ({ kind: 'lognormal', mean, spread: 0.6, low: 1, high: 60 }) as const;
  const traffic = generateTraffic({
    requests: 30,
    seed: 3,
    arrivals: { kind: 'at-once' },
    prompt: lengths(prompt),
    output: lengths(output),
    sharedPrefix: { tokens: 8 },
  });
  return createPlayer(createWorld(traffic, world), fixedClock(0.02));
}

describe('the pool’s worker', () => {
  it('shows the simulation’s own frames, wherever it goes', () => {
    const { step, seek, settle } = worker(launch());
    const player = alone();
    expect(jsonOf(settle())).toBe(frameJson(player));
    const frames = [frameJson(player)];
    while (player.forward()) {
      frames.push(frameJson(player));
    }
    for (const index of [7, 3, 20, 19, 21, 0, frames.length - 1]) {
      expect(jsonOf(seek(index))).toBe(frames[index]);
    }
    seek(10);
    expect(jsonOf(step(4))).toBe(frames[14]);
    expect(jsonOf(step(-5))).toBe(frames[9]);
  });

  it('loads straight to a step: the same picture as by walking there', () => {
    const walked = worker(launch()).seek(17);
    const { settle } = worker(launch(), 17);
    const there = settle();
    expect(there.index).toBe(17);
    expect([jsonOf(there, 0), jsonOf(there, 1)]).toEqual([jsonOf(walked, 0), jsonOf(walked, 1)]);
  });

  it('shows the arena at the step it computes at that time, and lets it finish when the paged world is done', () => {
    const { seek } = worker(launch());
    for (const index of [1, 5, 12]) {
      const [paged, arena] = seek(index).pictures.map(({ frame }) => frame.now);
      expect(arena).toBeGreaterThanOrEqual(paged ?? Number.NaN);
      expect(arena).toBeLessThan((paged ?? 0) + 0.02 + 1e-9);
    }
    const end = seek(100_000);
    expect(end.ended).toBe(true);
    expect(end.pictures.map(({ frame }) => frame.finished)).toEqual([30, 30]);
  });

  it('tells what happened in every step on the way, as the frames have it', () => {
    const { step } = worker(launch());
    const player = alone();
    const expected: PoolEvent[] = [];
    for (let i = 0; i < 25 && player.forward(); i++) {
      expected.push(...player.frame().events);
    }
    const { passed, index } = step(25);
    expect(index).toBe(25);
    expect(passed.filter((each) => each.world === 0).flatMap(({ events }) => events)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(10);
  });

  it('has tables only where the simulation stands at the frame that is shown, and goes there when it rests', () => {
    const { step, seek, settle } = worker(launch());
    const there = seek(12, 2);
    const [table] = there.tables?.[0] ?? [];
    expect(table?.length).toBeGreaterThan(1);
    const back = step(-3, 2);
    expect(back.tables).toBeUndefined();
    const settled = settle(2);
    expect(jsonOf(settled)).toBe(jsonOf(back));
    const cells = [...(settled.tables?.[0]?.[0] ?? [])];
    expect(cells.length).toBeGreaterThan(1);
    for (const cell of cells) {
      expect([CELL.active, CELL.shared]).toContain(cellState(settled.pictures[0]?.meta[cell] ?? 0));
    }
    expect(settled.about).toMatchObject({ request: 2, status: 'running' });
  });

  it('a cell’s hash is that of the frame that is shown, also after going back', () => {
    const { ask, seek } = worker(launch());
    const at = (index: number) => {
      seek(index);
      return ask({ type: 'inspect', world: 0, cell: 1 });
    };
    const early = at(3);
    at(40);
    expect(at(3)).toEqual(early);
    expect(early).toMatchObject({
      type: 'inspected',
      info: { cell: 1, tokens: 4, hash: expect.stringMatching(/^[\da-f]{16}$/) },
    });
  });

  it('takes the page’s buffers back', () => {
    const { ask, settle } = worker(launch());
    const first = settle();
    const buffers = first.pictures.flatMap(({ meta, owner, logical }) =>
      [meta, owner, logical].map(({ buffer }) => buffer as ArrayBuffer),
    );
    const next = ask({ type: 'step', steps: 1, selected: -1, buffers });
    expect(
      next.type === 'shown' && next.pictures.map(({ meta }) => buffers.includes(meta.buffer as ArrayBuffer)),
    ).toEqual([true, true]);
  });

  it('plays every scene of the tour to its step', () => {
    const figures = { blockSize: 16, prompt: 600, output: 250, maxLength: 8192 };
    scenesOf(figures).forEach(({ step, worlds, focus }, scene) => {
      const { loaded, seek } = worker({ kind: 'scene', scene, figures });
      expect(loaded).toMatchObject({ type: 'loaded', worlds: worlds.map(({ title }) => ({ title })) });
      const shown = seek(step, focus);
      expect(shown.index).toBe(step);
      expect(shown.tables?.length).toBe(worlds.length);
    });
  });

  it('says what cannot be run, and answers what it does not know', () => {
    const traffic = { kind: 'trace', file: fileOf(''), seed: 1, replicas: 1 } as const;
    expect(worker({ ...launch(), traffic }, 0, createTraceReader()).loaded).toMatchObject({
      type: 'failed',
      error: expect.stringContaining('There is no request to serve'),
    });
    expect(worker({ ...launch(), traffic }).loaded).toEqual({
      type: 'failed',
      error: 'The trace has not been read.',
    });
    expect(
      worker({ kind: 'scene', scene: 99, figures: { blockSize: 16, prompt: 1, output: 1, maxLength: 9 } }).loaded,
    ).toEqual({ type: 'failed', error: 'There is no such scene.' });
    expect(readToWorker({ id: 1, command: { type: 'step', steps: 0.5, selected: -1, buffers: [] } })).toBeUndefined();
    expect(
      readToWorker({ id: 1, command: { type: 'load', at: 0, scenario: { ...launch(), worlds: [] } } }),
    ).toBeUndefined();
    expect(readToPage({ kind: 'answer', id: 1, answer: { type: 'shown', index: -1 } })).toBeUndefined();
  });

  it('reads a trace once, deals it to the replicas, and stops where something else is wanted', async () => {
    const rows = Array.from(
      { length: 10 },
      (_, i) => `{"timestamp": ${i * 10}, "input_length": 20, "output_length": 5, "hash_ids": [${i}]}`,
    );
    const file = fileOf(rows.join('\n'));
    const traffic = { kind: 'trace', file, seed: 1, replicas: 2 } as const;
    const store = createTraceStore();
    expect(
      await store.read(
        file,
        () => {},
        () => false,
      ),
    ).toBeUndefined();
    const shares: number[] = [];
    const reader = await store.read(
      file,
      (share) => shares.push(share),
      () => true,
    );
    expect(shares.at(-1)).toBe(1);
    expect(
      await store.read(
        file,
        () => expect.fail('It was read again.'),
        () => true,
      ),
    ).toBe(reader);
    expect(reader?.end({ seed: 2 }).traffic).toEqual(reader?.end().traffic);
    const { loaded, seek } = worker({ ...launch(), traffic }, 0, reader);
    expect(loaded).toMatchObject({ type: 'loaded', requests: 5 });
    expect(seek(10_000).pictures[0]?.frame.finished).toBe(5);
  });
});
