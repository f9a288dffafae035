/** The dashboard's page alone, with a host made up here: what it draws, asks and survives, in every theme and width. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { PROTOCOL, type View, type WhatIf } from '../../src/dashboard/protocol';
import { aFinding } from '../unit/editor/aPlan';
import {
  expectNoBarriers,
  type Opening,
  openPage as open,
  said,
  styleOf,
  THEME_NAMES,
  tell,
  untried,
  viewOf,
} from './fake-host';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const openPage = (view: View, opening: Opening = {}): Promise<Page> => open(browser, view, opening);

const drawn = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLCanvasElement>('.chart canvas')]
      .filter((c) => c.checkVisibility())
      .map((c) => c.toDataURL()),
  );

test.each(THEME_NAMES)('nothing bars anyone from reading it, in %s', async (theme) => {
  const page = await openPage(viewOf({ starts: false, findings: [aFinding()] }, { ...untried, prompt: '900' }), {
    theme,
  });
  await expectNoBarriers(page);
  await page.context().close();
});

test.each([300, 520, 1080, 3840])('nothing is cut off at %i pixels', async (width) => {
  const page = await openPage(viewOf({ findings: [aFinding()] }), { width });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await page.context().close();
});

test('the charts wear a new theme at once', async () => {
  const page = await openPage(viewOf());
  const before = await drawn(page);
  await page.evaluate((style) => {
    document.documentElement.setAttribute('style', style);
    document.body.className = 'vscode-light';
  }, styleOf('vscode-light'));
  await expect.poll(async () => (await drawn(page)).every((picture, i) => picture !== before[i])).toBe(true);
  await page.context().close();
});

test('going through the tabs leaves no listener behind', async () => {
  const page = await openPage(viewOf());
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const round = async (): Promise<number> => {
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
    }
    await page.waitForTimeout(200);
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSEventListeners')?.value ?? Number.NaN;
  };
  await round();
  const before = await round();
  await round();
  expect(await round()).toBe(before);
  await page.context().close();
});

test('a change of the prompt asks the host, and its answer is drawn and kept', async () => {
  const page = await openPage(viewOf());
  const prompt = page.getByRole('textbox', { name: 'Prompt tokens' });
  await prompt.fill('1,900');
  await page.keyboard.press('Enter');
  const whatIf = { ...untried, prompt: '1900' };
  await expect
    .poll(() => said(page))
    .toContainEqual({ version: PROTOCOL, type: 'request', id: 2, method: 'whatIf', params: { whatIf } });
  const state = { version: PROTOCOL, file: 'file:///serve.sh', index: 0, whatIf };
  const result = { view: viewOf({ starts: 'unknown' }, whatIf), state };
  await tell(page, { version: PROTOCOL, type: 'reply', to: 2, ok: true, result });
  await page.getByRole('heading', { name: 'May not start' }).waitFor();
  expect(await page.evaluate('kept')).toEqual([{ ...state, edition: 1 }]);
  await page.getByRole('button', { name: 'Reset' }).click();
  await expect.poll(async () => (await said(page)).at(-1)).toMatchObject({ id: 4, params: { whatIf: untried } });
  await page.context().close();
});

test('what is tried is kept before the host answers, and an answer to an earlier try takes nothing back', async () => {
  const page = await openPage(viewOf());
  const state = { version: PROTOCOL, file: 'file:///serve.sh', index: 0, whatIf: untried };
  await tell(page, { version: PROTOCOL, type: 'show', view: viewOf(), state });
  const fill = async (name: string, value: string): Promise<void> => {
    await page.getByRole('textbox', { name }).fill(value);
    await page.keyboard.press('Enter');
  };
  const kept = () => page.evaluate('kept.at(-1)?.whatIf');
  const asked = async () => (await said(page)).filter(({ method }) => method === 'whatIf');
  await expect.poll(kept).toEqual({});
  await fill('Prompt tokens', '1900');
  expect(await kept()).toEqual({ prompt: '1900' });
  await fill('Output tokens', '77');
  const both = { prompt: '1900', output: '77' };
  expect(await kept()).toEqual(both);
  const [first, second] = await asked();
  const reply = (to: unknown, whatIf: WhatIf) =>
    tell(page, {
      version: PROTOCOL,
      type: 'reply',
      to,
      ok: true,
      result: { view: viewOf({}, whatIf), state: { ...state, whatIf } },
    });
  await reply(first?.id, { prompt: '1900' });
  await tell(page, { version: PROTOCOL, type: 'show', view: viewOf({}, { prompt: '1900' }), state });
  await fill('Max sequences', '9');
  expect(await kept()).toEqual({ ...both, 'max-sequences': '9' });
  await reply(second?.id, both);
  expect((await asked()).at(-1)).toMatchObject({ params: { whatIf: { ...both, 'max-sequences': '9' } } });
  expect(await kept()).toEqual({ ...both, 'max-sequences': '9' });
  await page.context().close();
});

test('of what the editor and the host kept the later is shown, and the host is told of what is kept from then on', async () => {
  const of = (tab: string, edition: number) => ({
    version: PROTOCOL,
    file: 'file:///serve.sh',
    index: 0,
    whatIf: untried,
    page: { tab, views: {} },
    edition,
  });
  for (const [state, kept, tab] of [
    [of('prefix', 3), of('pool', 4), 'Pool'],
    [of('prefix', 5), of('pool', 4), 'Prefix'],
    [undefined, of('pool', 1), 'Pool'],
    [of('prefix', 3), 'no state', 'Prefix'],
  ] as const) {
    const page = await openPage(viewOf(), { state, kept });
    expect(await page.getByRole('tab', { name: tab }).getAttribute('aria-selected')).toBe('true');
    const told = async () => (await said(page)).filter(({ type }) => type === 'kept').length;
    const before = await told();
    await page.getByRole('tab', { name: 'Compare' }).click();
    await expect.poll(told).toBeGreaterThan(before);
    expect((await said(page)).findLast(({ type }) => type === 'kept')).toEqual({
      version: PROTOCOL,
      type: 'kept',
      state: await page.evaluate('kept.at(-1)'),
    });
    await page.context().close();
  }
});

test('what is not a message of this protocol changes nothing', async () => {
  const page = await openPage(viewOf());
  await tell(page, { version: PROTOCOL + 1, type: 'show', view: { kind: 'empty', text: 'other version' } });
  await tell(page, { version: PROTOCOL, type: 'show', view: { kind: 'plan' } });
  await tell(page, '<img src=x onerror=alert(1)>');
  await tell(page, { version: PROTOCOL, type: 'show', view: { kind: 'error', text: 'Then <b>this</b>.' } });
  await page.getByText('Then <b>this</b>.').waitFor(); // the last one is read, as text
  expect(await page.getByText('other version').count()).toBe(0);
  await page.context().close();
});

test('a missing GPU, an empty file and the way back are drawn', async () => {
  const unknown = { hardware: undefined, budget: undefined, capacity: undefined, starts: 'unknown' } as const;
  const page = await openPage(viewOf(unknown));
  await page.getByText('Pick a GPU above').waitFor();
  await tell(page, { version: PROTOCOL, type: 'show', view: { kind: 'empty', text: 'Open a file.' } });
  await page.getByRole('heading', { name: 'No launch to plan' }).waitFor();
  await tell(page, { version: PROTOCOL, type: 'show', view: viewOf() });
  await page.getByRole('heading', { name: 'Starts · 1,024 requests fit' }).waitFor();
  await page.getByRole('button', { name: 'serve.sh:2' }).click();
  await expect
    .poll(async () => (await said(page)).at(-1))
    .toEqual({ version: PROTOCOL, type: 'run', command: 'reveal', line: 2 });
  await page.context().close();
});
