/** What the bench runs in a browser: one frame of a large pool, from the arrays that the worker sends to the canvas. */
import { createPlayer, createWorld, fixedClock, generateTraffic, sharesOf } from '../../src/core/pool';
import { scenarioOf } from '../../webview/pool/choices';
import { poolDeck } from '../../webview/pool/deck';
import { type PoolPanel, poolPanel } from '../../webview/pool/panel';
import type { Picture } from '../../webview/pool/protocol';
import { registerControls } from '../../webview/ui/toolkit';
import type { ViewContext } from '../../webview/view';

registerControls();

/** A pool of so many blocks that is filled and used again, and two of its frames. */
function picturesOf(blocks: number): { panel: PoolPanel; pictures: Picture[] } {
  const traffic = generateTraffic({
    requests: Math.ceil(blocks / 12),
    seed: 1,
    arrivals: { kind: 'at-once' },
    prompt: { kind: 'lognormal', mean: 200, spread: 0.6, low: 1, high: 4000 },
    output: { kind: 'lognormal', mean: 60, spread: 0.6, low: 1, high: 1000 },
  });
  const world = createWorld(traffic, {
    engine: 'vllm-v1',
    blocks,
    groups: [{ kind: 'full', blockSize: 16 }],
    batchTokens: blocks * 4,
    maxSequences: blocks,
    maxLength: 8192,
  });
  const player = createPlayer(world, fixedClock(0.02), { from: (index) => index >= 40 });
  const pictures = [0, 1].map((): Picture => {
    player.forward();
    const { meta, owner, logical } = player.view;
    return {
      frame: player.frame(),
      shares: sharesOf(player.frame(), blocks * 16),
      counts: new Uint32Array(9),
      meta: meta.slice(),
      owner: owner.slice(),
      logical: logical.slice(),
    };
  });
  const loaded = {
    title: 'Paged',
    engine: 'vllm-v1' as const,
    cells: blocks,
    deviceCells: blocks,
    cellTokens: 16,
  };
  const panel = poolPanel(loaded, { share: 1, cells: blocks }, { onPoint() {}, onPick() {} });
  document.body.replaceChildren(panel.element);
  return { panel, pictures };
}

/** Milliseconds of script of each frame; between frames the browser paints. */
async function frames(blocks: number, count: number, byRequest: boolean): Promise<number[]> {
  const { panel, pictures } = picturesOf(blocks);
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    await new Promise(requestAnimationFrame);
    const picture = pictures[i % 2];
    const start = performance.now();
    if (picture) {
      panel.draw({ picture, tables: [], selected: -1, byRequest, marks: [] });
    }
    times.push(performance.now() - start);
  }
  panel.dispose();
  return times;
}

/** How full the drawn pool is, so that a bench of an empty one is noticed. */
const used = (blocks: number): number => {
  const [picture] = picturesOf(blocks).pictures;
  return (picture?.meta.reduce((sum, meta) => sum + ((meta & 15) > 0 ? 1 : 0), 0) ?? 0) / blocks;
};

/** The whole view at play, worker and all: resolves when it has shown its first frame. */
async function play(blocks: number): Promise<void> {
  const host = {
    ask: async () => ({ ok: false, error: '' }),
    run() {},
    kept: () => undefined,
    keep() {},
    onShow() {},
    ready() {},
  };
  const context = { host, show() {}, say() {}, keep() {}, openTab() {} } as unknown as ViewContext;
  const deck = poolDeck({ name: 'bench', context, share: 1, initial: { speed: 120 } });
  document.body.replaceChildren(deck.element);
  deck.shown(true);
  const part = {
    world: {
      engine: 'vllm-v1' as const,
      blocks,
      groups: [{ kind: 'full' as const, blockSize: 16 }],
      batchTokens: 262_144,
      maxSequences: 16_384,
      maxLength: 8192,
    },
    kind: 'world' as const,
    engine: '',
    bytesPerBlock: 0,
    notes: [],
    contiguous: {
      tokens: blocks * 16,
      maxLength: 8192,
      fit: 'slots' as const,
      batching: 'continuous' as const,
      maxSequences: 16_384,
      batchTokens: 262_144,
    },
    blocks,
    blockSize: 16,
    stages: 1,
    replicas: 1,
    prompt: 600,
    output: 250,
    maxLength: 8192,
  };
  deck.load(scenarioOf(part, { requests: 12_000 }, undefined), { index: 40, selected: -1 });
  while (deck.element.dataset.step !== '40') {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  shown = 0;
  new MutationObserver(() => {
    shown++;
  }).observe(deck.element, { attributes: true, attributeFilter: ['data-step'] });
  deck.element.dispatchEvent(new KeyboardEvent('keydown', { key: ' ' }));
}

let shown = 0;

Object.assign(globalThis, { bench: { frames, used, play, shown: () => shown } });
