/** The prefix view: two prompts, conversations, a trace, all of them worked out in a real worker. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { PROTOCOL } from '../../src/dashboard/protocol';
import {
  expectNoBarriers,
  type Opening,
  openPage,
  openTab,
  picture,
  said,
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

async function openPrefix(opening: Opening = {}): Promise<Page> {
  const page = await openPage(browser, viewOf(), opening);
  await openTab(page, 'Prefix');
  await page.getByText('of all prompt tokens are found').waitFor();
  return page;
}

test('two prompts: where they part and what is found, by the engine’s rule', async () => {
  const page = await openPrefix();
  const ids = (last: number) => JSON.stringify([...Array.from({ length: 40 }, (_, i) => i + 1), last, 7, 8, 9]);
  await page.getByRole('textbox', { name: 'First prompt' }).fill(ids(500));
  await page.getByRole('textbox', { name: 'Second prompt' }).fill(ids(600));
  await page.getByText('32 tokens: 2 blocks of 16').waitFor();
  await page.getByText('73 % of the second prompt is found.').waitFor();
  await page.getByRole('textbox', { name: 'First prompt' }).fill(`Date: 2026-11-29\n${'Be kind. '.repeat(60)}`);
  await page.getByRole('textbox', { name: 'Second prompt' }).fill(`Date: 2026-11-30\n${'Be kind. '.repeat(60)}`);
  await page.getByText('at a number, line 1, column 15').waitFor();
  await page.getByText('this early breaks the cache').waitFor();
  await picture(page, 'prefix');
  const kept = await page.evaluate('kept.at(-1)');
  expect(kept).toBeUndefined(); // without a file nothing is kept
  await page.context().close();
});

test('conversations and a trace: found, saved, and what to do between turns', async () => {
  const page = await openPrefix();
  await page.getByRole('table', { name: 'What becomes of a conversation between its turns' }).waitFor();
  const found = await page.getByText('of all prompt tokens are found').textContent();
  await page.getByRole('textbox', { name: 'System prompt tokens' }).fill('0');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByText('of all prompt tokens are found').textContent()).not.toBe(found);
  const row = (n: number) =>
    JSON.stringify({ timestamp: n * 1000, input_length: 600, output_length: 50, hash_ids: [1, n + 2] });
  const text = `${[0, 1, 2, 3].map(row).join('\n')}\nnot a row\n`;
  await page.evaluate(`opensFile('chat.jsonl', ${JSON.stringify(text)}, 3)`);
  await page.getByRole('button', { name: 'Load a trace' }).click();
  await page.getByText('Requests of chat.jsonl.').waitFor();
  await page.getByText('1 rows are left out, the first at line 5').waitFor();
  await page.getByText('4 of 4 requests').waitFor();
  await page.getByRole('button', { name: 'Use Conversations' }).click();
  await expect.poll(() => page.getByText('Requests of chat.jsonl.').count()).toBe(0);
  await page.context().close();
});

test('what was typed survives a reload, and a state of another make does no harm', async () => {
  const views = { prefix: { prompts: ['one two', 'one three'], sessions: { turns: 3, rate: 'x' } } };
  const state = { version: PROTOCOL, file: 'file:///a.sh', index: 0, whatIf: untried, page: { tab: 'prefix', views } };
  const page = await openPage(browser, viewOf(), { state });
  await page.getByText('of all prompt tokens are found').waitFor(); // the tab that was open is open
  expect(await page.getByRole('textbox', { name: 'Second prompt' }).inputValue()).toBe('one three');
  expect(await page.getByRole('textbox', { name: 'Turns each' }).inputValue()).toBe('3');
  expect(await page.getByRole('textbox', { name: 'New per second' }).inputValue()).toBe('2');
  await page.context().close();
  for (const broken of [
    { ...state, page: { tab: 'gone', views: 7 } },
    { ...state, page: { tab: 'prefix', views: { prefix: 9 } } },
    3,
  ]) {
    const other = await openPage(browser, viewOf(), { state: broken });
    await openTab(other, 'Prefix');
    await other.getByText('of all prompt tokens are found').waitFor();
    await other.context().close();
  }
});

test('a prompt is kept as it is typed: a reload may come at once', async () => {
  const state = { version: PROTOCOL, file: 'file:///a.sh', index: 0, whatIf: untried };
  const page = await openPrefix({ state });
  await page.getByRole('textbox', { name: 'First prompt' }).fill('one two three');
  expect(await page.evaluate('kept.at(-1)?.page.views.prefix.prompts[0]')).toBe('one two three');
  await page.context().close();
});

test('a launch that is not simulated says why', async () => {
  const page = await openPage(browser, viewOf({ planned: false }));
  await openTab(page, 'Prefix');
  await page.getByText('It could not be planned.').waitFor();
  await tell(page, { version: PROTOCOL, type: 'show', view: viewOf() });
  await page.getByText('of all prompt tokens are found').waitFor();
  // Only Capacity, which was open first, asked its host for anything.
  const asked = (await said(page)).filter(({ type }) => type === 'request');
  expect(asked.map(({ method }) => method)).toEqual(['studies']);
  await page.context().close();
});

test.each(THEME_NAMES)('nothing bars anyone from reading it, in %s', async (theme) => {
  const page = await openPrefix({ theme });
  await page.getByRole('textbox', { name: 'First prompt' }).fill('[1,2,3,4,5]');
  await page.getByRole('textbox', { name: 'Second prompt' }).fill('[1,2,3,4,6]');
  await page.getByText('Nothing of the second prompt is found.').waitFor();
  await expectNoBarriers(page);
  await picture(page, `prefix-${theme}`);
  await page.context().close();
});

test.each([300, 3840])('nothing is cut off at %i pixels', async (width) => {
  const page = await openPrefix({ width });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await picture(page, `prefix-${width}`);
  await page.context().close();
});
