/** The Pool view and the tour, the page alone: every control, known frames, keyboard, themes, reduced motion, hidden. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import {
  createPlayer,
  createWorld,
  fixedClock,
  frameJson,
  generateTraffic,
  type Player,
  rooflineClock,
  scenesOf,
} from '../../src/core/pool';
import { type PoolPart, PROTOCOL, type View } from '../../src/dashboard/protocol';
import {
  expectNoBarriers,
  type Opening,
  openPage,
  openTab,
  picture,
  THEME_NAMES,
  tell,
  untried,
  viewOf,
} from './fake-host';

type World = Extract<PoolPart, { kind: 'world' }>;

/** The launch's pool, so small that it overflows: what happens then is seen. */
function partOf(blocks = 400): World {
  const view = viewOf();
  if (view.kind !== 'plan' || view.pool.kind !== 'world' || view.pool.world.engine !== 'vllm-v1') {
    throw new Error('The plan has no pool of vLLM V1.');
  }
  const { pool } = view;
  return {
    ...pool,
    blocks: blocks - 1,
    world: { ...view.pool.world, blocks, maxSequences: 32, maxLength: 2048, batchTokens: 1024 },
    contiguous: pool.contiguous && { ...pool.contiguous, tokens: (blocks - 1) * 16, maxLength: 2048 },
    maxLength: 2048,
    prompt: 200,
    output: 100,
  };
}

const poolView = (part: PoolPart = partOf()): View => ({
  ...(viewOf() as Extract<View, { kind: 'plan' }>),
  pool: part,
});

/** The run as the core alone plays it: no code of page or worker. */
function alone({ world, machine, prompt, output, maxLength, blocks, blockSize }: World, seed = 1): Player {
  const lengths = (mean: number) =>
    ({ kind: 'lognormal', mean, spread: 0.6, low: 1, high: Math.max(mean, Math.floor(maxLength / 2)) }) as const;
  const fit = Math.floor(blocks / Math.ceil((prompt + output) / blockSize));
  const traffic = generateTraffic({
    requests: Math.max(24, Math.ceil(fit * 1.5)),
    seed,
    arrivals: { kind: 'at-once' },
    prompt: lengths(prompt),
    output: lengths(output),
  });
  return createPlayer(createWorld(traffic, world), machine ? rooflineClock(machine) : fixedClock(0.02));
}

function frameAt(player: Player, index: number): string {
  player.seek(index);
  return frameJson(player);
}

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

async function openPool(view: View = poolView(), opening: Opening = {}, tab = 'Pool'): Promise<Page> {
  const page = await openPage(browser, view, opening);
  await page.evaluate(() => {
    const saved: unknown[] = [];
    Object.assign(window, { saved, replies: { save: (params: unknown) => ({ saved: saved.push(params) > 0 }) } });
  });
  await openTab(page, tab);
  await page.locator('.view .pool-deck[data-step]:visible').waitFor();
  return page;
}

const stepOf = async (page: Page): Promise<number> =>
  Number(await page.locator('.pool-deck:visible').getAttribute('data-step'));

const reach = (page: Page, step: number) => expect.poll(() => stepOf(page), { timeout: 15_000 }).toBe(step);

const button = (page: Page, name: string | RegExp) => page.locator('.pool-deck:visible').getByRole('button', { name });

async function seek(page: Page, step: number): Promise<void> {
  await page.locator('.pool-deck:visible input[type=range]').evaluate((element: HTMLInputElement, to) => {
    element.max = String(Math.max(to, Number(element.max)));
    element.value = String(to);
    element.dispatchEvent(new Event('input'));
  }, step);
  await reach(page, step);
}

/** The frames of all worlds, as the page saves them. */
async function savedFrames(page: Page): Promise<unknown[]> {
  const before = await page.evaluate<number>('saved.length');
  await button(page, /JSON|cells as JSON/).click();
  await expect.poll(() => page.evaluate<number>('saved.length')).toBe(before + 1);
  return JSON.parse(await page.evaluate<string>('saved.at(-1).content'));
}

test('steps, scrubs and plays to frames that the simulation alone makes too', async () => {
  const page = await openPool(poolView(), { width: 1100, height: 1000 });
  const player = alone(partOf());
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(player, 0)));
  await button(page, 'One step forward').click();
  await reach(page, 1);
  await button(page, 'One step forward').click();
  await reach(page, 2);
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(player, 2)));
  await seek(page, 150);
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(player, 150)));
  await button(page, 'One step back').click();
  await reach(page, 149);
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(player, 149)));
  await button(page, 'To the start').click();
  await reach(page, 0);
  await button(page, 'Play').click();
  await expect.poll(() => stepOf(page)).toBeGreaterThan(5);
  await button(page, 'Pause').click();
  await page.waitForTimeout(300);
  const stopped = await stepOf(page);
  await page.waitForTimeout(300);
  expect(await stepOf(page)).toBe(stopped);
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(player, stopped)));
  await page.context().close();
});

test('what happens is told as the simulation did it, and counted beside the arena', async () => {
  const page = await openPool(poolView(), { width: 1100, height: 1200 });
  const player = alone(partOf());
  player.seek(1);
  while (!player.frame().events.some(({ kind }) => kind === 'preempted') && player.forward()) {}
  const at = player.frame().index;
  await seek(page, at);
  await page.locator('[data-kind=preempted]').first().waitFor();
  const event = player.frame().events.find(({ kind }) => kind === 'preempted');
  const request = event && 'request' in event ? event.request : -1;
  expect(await page.locator('[data-kind=preempted]').first().textContent()).toContain(`Request ${request} gives way`);
  const [paged, arena] = await page.locator('.counts').allTextContents();
  expect(paged).toContain(`Running${player.frame().running}`);
  expect(arena).toMatch(/Waste: reserved.*Waste: never used.*Waste: too small/);
  await page.getByText('As a table', { exact: true }).click();
  const table = page.getByRole('table', { name: 'Cells by state' });
  await table.getByRole('row', { name: /^Active/ }).waitFor(); // it is filled a moment later
  await picture(page, 'pool-preemption');
  await page.context().close();
});

test('a request’s block table: picked on the canvas, drawn, listed, and let go', async () => {
  const page = await openPool(poolView(), { width: 1100, height: 1200 });
  await seek(page, 40);
  const canvas = page.locator('.pool-stack canvas').nth(1);
  await canvas.click({ position: { x: 60, y: 60 } });
  await page.getByText(/^Request \d+: running/).waitFor();
  await page.getByText('Block table', { exact: true }).click();
  const table = page.getByRole('table', { name: 'Block table of the selected request' });
  await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(3);
  await canvas.hover({ position: { x: 60, y: 60 } });
  await page.getByText(/^Block \d+ · active · request \d+, block \d+ of its own/).waitFor();
  await picture(page, 'pool-table');
  await button(page, 'Deselect').click();
  await table.waitFor({ state: 'hidden' });
  await page.context().close();
});

test('traffic and rules: another seed, another policy, a trace', async () => {
  const page = await openPool();
  await seek(page, 30);
  await page.getByText('Traffic and rules').click();
  const seed = page.getByRole('textbox', { name: 'Seed' });
  await seed.fill('7');
  await page.keyboard.press('Enter');
  await reach(page, 0);
  await seek(page, 30);
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(alone(partOf(), 7), 30)));
  await page.getByRole('combobox', { name: 'Prefix cache' }).click();
  await page.getByRole('option', { name: 'off' }).click();
  await reach(page, 0);
  await seek(page, 60);
  const part = partOf();
  const without = alone({ ...part, world: { ...part.world, caching: false } as World['world'] }, 7);
  expect((await savedFrames(page))[0]).toEqual(JSON.parse(frameAt(without, 60)));
  const rows = Array.from(
    { length: 12 },
    (_, i) => `{"timestamp":${i},"input_length":64,"output_length":9,"hash_ids":[1]}`,
  );
  await page.evaluate(`opensFile('calls.jsonl', ${JSON.stringify(rows.join('\n'))})`);
  await page.getByRole('button', { name: 'Load a trace …' }).click();
  await page.getByText('Trace: calls.jsonl').waitFor();
  await page.getByText('12 requests.').waitFor();
  await page.getByRole('button', { name: 'Generated traffic' }).click();
  await expect.poll(() => page.getByText('Trace: calls.jsonl').count()).toBe(0);
  await page.context().close();
});

test('without a pointer: the grid is one stop, its keys move, zoom, pick and play', async () => {
  const page = await openPool(poolView(), { width: 1100, height: 1000 });
  await seek(page, 40);
  await page.locator('.pool-stack canvas').nth(1).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText(/^Block 1 · active/).waitFor();
  await page.keyboard.press('End');
  await expect.poll(() => page.locator('.pool-details').textContent()).not.toMatch(/^Block 1 /);
  await page.keyboard.press('Control+End');
  await page.getByText(/^Block 399 · /).waitFor();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('+');
  await page.keyboard.press('Enter');
  await page.getByText(/^Request \d+: /).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText(/^Request \d+: /).waitFor({ state: 'hidden' });
  await page.keyboard.press('.');
  await reach(page, 41);
  await page.keyboard.press(',');
  await reach(page, 40);
  await page.keyboard.press(' ');
  await expect.poll(() => stepOf(page)).toBeGreaterThan(41);
  await page.keyboard.press(' ');
  await page.keyboard.press('Tab'); // the next stop is not another cell
  expect(await page.evaluate(() => document.activeElement?.localName)).not.toBe('body');
  await page.context().close();
});

test('step, speed, seed and selection survive a reload: the same picture', async () => {
  const page = await openPool();
  await seek(page, 33);
  const frames = await savedFrames(page);
  const file = { version: PROTOCOL, file: 'file:///a.sh', index: 0, whatIf: untried };
  await tell(page, { version: PROTOCOL, type: 'show', view: poolView(), state: file });
  await page
    .locator('.pool-stack canvas')
    .nth(1)
    .click({ position: { x: 40, y: 60 } });
  await page.getByText(/^Request \d+: /).waitFor();
  await expect.poll(() => page.evaluate('kept.at(-1)?.page.views.pool.deck.selected')).toBeGreaterThanOrEqual(0);
  const state = await page.evaluate('kept.at(-1)');
  await page.context().close();
  const again = await openPage(browser, poolView(), { state });
  await again.evaluate(() => {
    const saved: unknown[] = [];
    Object.assign(window, { saved, replies: { save: (params: unknown) => ({ saved: saved.push(params) > 0 }) } });
  });
  await reach(again, 33);
  await again.getByText(/^Request \d+: /).waitFor();
  expect(await savedFrames(again)).toEqual(frames);
  await again.context().close();
});

test('the step at which it plays is kept while it plays', async () => {
  const page = await openPool();
  await tell(page, {
    version: PROTOCOL,
    type: 'show',
    view: poolView(),
    state: { version: PROTOCOL, file: 'file:///a.sh', index: 0, whatIf: untried },
  });
  await page.locator('.pool .pool-deck').getByRole('button', { name: 'Play' }).click();
  const kept = () => page.evaluate('kept.at(-1)?.page?.views.pool.deck.index ?? 0');
  await expect.poll(kept, { timeout: 10_000 }).toBeGreaterThan(3);
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(1);
  await page.context().close();
});

test('nothing runs while nobody sees it, and one simulation at a time', async () => {
  const page = await openPool();
  await page.evaluate(() => {
    const ask = window.requestAnimationFrame.bind(window);
    Object.assign(window, { frames: 0 });
    window.requestAnimationFrame = (f) => {
      (window as unknown as { frames: number }).frames++;
      return ask(f);
    };
  });
  const frames = () => page.evaluate<number>('frames');
  await button(page, 'Play').click();
  await expect.poll(() => stepOf(page)).toBeGreaterThan(3);
  const hide = (state: string) =>
    page.evaluate((s) => {
      Object.defineProperty(document, 'visibilityState', { value: s, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  await hide('hidden');
  await page.waitForTimeout(200);
  const [at, drawn] = [await stepOf(page), await frames()];
  await page.waitForTimeout(500);
  expect([await stepOf(page), await frames()]).toEqual([at, drawn]);
  await hide('visible');
  await expect.poll(() => stepOf(page)).toBeGreaterThan(at);
  await openTab(page, 'Capacity');
  await page.waitForTimeout(200);
  const away = await frames();
  await page.waitForTimeout(400);
  expect(await frames()).toBe(away);
  await openTab(page, 'Learn');
  await page.locator('.learn .pool-deck[data-step]').waitFor();
  expect(page.workers().length).toBe(1);
  await openTab(page, 'Pool');
  await expect.poll(() => stepOf(page)).toBeGreaterThanOrEqual(at);
  expect(page.workers().length).toBe(1);
  await page.context().close();
});

test('with reduced motion nothing moves by itself, and steps still do', async () => {
  const page = await openPool(poolView(), { reducedMotion: true });
  expect(await button(page, 'Play').getAttribute('disabled')).not.toBeNull();
  await page.getByText('Motion is reduced: go step by step.').waitFor();
  await button(page, 'One step forward').click();
  await reach(page, 1);
  await openTab(page, 'Learn');
  const [first] = scenesOf({ blockSize: 16, prompt: 200, output: 100, maxLength: 2048 });
  await reach(page, first?.step ?? -1); // the still frame is the one that makes the point
  await page.context().close();
});

test('half a million blocks: a map of counts that can be zoomed into', async () => {
  const page = await openPool(poolView(partOf(500_001)), { width: 1000, height: 900 });
  await seek(page, 3);
  const canvas = page.locator('.pool-stack canvas').nth(1);
  await canvas.hover({ position: { x: 30, y: 37 } });
  await page.getByText(/^\d+ blocks from [\d,]+ share this pixel: \d+ (active|free)/).waitFor();
  for (let i = 0; i < 6; i++) {
    await button(page, 'Larger cells: Paged').click();
  }
  await canvas.hover({ position: { x: 90, y: 80 } });
  await page.getByText(/^Block [\d,]+ · /).waitFor();
  await button(page, 'All cells in view: Paged').click();
  await picture(page, 'pool-500000');
  await page.context().close();
});

const reason = (text: string): PoolPart => ({
  kind: 'reason',
  text,
  engine: 'TGI 3.3',
  reuse: { rules: { kind: 'tokens' }, why: '' },
});

test('a launch that is not simulated says why, and the pool comes back when it is', async () => {
  const page = await openPage(browser, poolView(reason('The scheduler of TGI is not simulated.')));
  await openTab(page, 'Pool');
  await page.getByText('There is no pool to show. The scheduler of TGI is not simulated.').waitFor();
  await tell(page, { version: PROTOCOL, type: 'show', view: poolView() });
  await page.locator('.pool-deck[data-step]').waitFor();
  await button(page, 'Play').click();
  await expect.poll(() => stepOf(page)).toBeGreaterThan(3);
  await tell(page, { version: PROTOCOL, type: 'show', view: poolView(reason('Not now.')) });
  await page.getByText('There is no pool to show. Not now.').waitFor();
  const hidden = page.locator('.pool .pool-deck');
  const at = await hidden.getAttribute('data-step');
  await page.waitForTimeout(500);
  expect(Math.abs(Number(await hidden.getAttribute('data-step')) - Number(at)), 'one that was under way').toBeLessThan(
    2,
  );
  await page.context().close();
});

test('the tour: eight scenes, each played to the step that makes its point', async () => {
  const page = await openPool(poolView(), { width: 1100, height: 1000 }, 'Learn');
  const scenes = scenesOf({ blockSize: 16, prompt: 200, output: 100, maxLength: 2048 });
  for (const [i, scene] of scenes.entries()) {
    await page.getByRole('heading', { name: `${i + 1} of 8: ${scene.title}` }).waitFor();
    await page.getByText(scene.sentence).waitFor();
    await seek(page, scene.step);
    const expected = scene.worlds.slice(0, 1).map(({ options }) => {
      const player = createPlayer(createWorld(scene.traffic, options, 4), fixedClock(1));
      return JSON.parse(frameAt(player, scene.step));
    });
    expect((await savedFrames(page)).slice(0, 1)).toEqual(expected);
    await picture(page, `learn-${i + 1}-${scene.id}`);
    if (i < scenes.length - 1) {
      await page.getByRole('button', { name: 'Next' }).click();
    }
  }
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByRole('heading', { name: '7 of 8' }).waitFor();
  await button(page, 'Play').waitFor();
  await page.context().close();
});

test.each(THEME_NAMES)('nothing bars anyone from seeing it, in %s', async (theme) => {
  const page = await openPool(poolView(), { theme, width: 1100, height: 1000 });
  await seek(page, 60);
  await page.getByText('As a table', { exact: true }).click();
  await page.getByText('Traffic and rules').click();
  await expectNoBarriers(page);
  await picture(page, `pool-${theme}`);
  await openTab(page, 'Learn');
  await page.locator('.learn .pool-deck[data-step]').waitFor();
  await button(page, 'Pause').click();
  await expectNoBarriers(page);
  await picture(page, `learn-${theme}`);
  await page.context().close();
});

test('forced colours are told apart by patterns, at once', async () => {
  const page = await openPool(poolView(), { width: 1100, height: 1000 });
  await seek(page, 60);
  const drawn = () => page.evaluate(() => document.querySelector<HTMLCanvasElement>('.pool-stack canvas')?.toDataURL());
  const before = await drawn();
  await page.emulateMedia({ forcedColors: 'active' });
  await expect.poll(drawn).not.toBe(before);
  await picture(page, 'pool-forced-colours');
  await page.context().close();
});

test.each([300, 3840])('nothing is cut off at %i pixels', async (width) => {
  const page = await openPool(poolView(), { width });
  await seek(page, 60);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await picture(page, `pool-${width}`);
  await openTab(page, 'Learn');
  await page.locator('.learn .pool-deck[data-step]').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await picture(page, `learn-${width}`);
  await page.context().close();
});
