/** The benchmark's view where there is no GPU (this page is not secure, so WebGPU is absent), and a result that was kept. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { PROTOCOL } from '../../src/dashboard/protocol';
import { aResult } from '../unit/bench/aResult';
import {
  expectNoBarriers,
  type Opening,
  openPage,
  openTab,
  picture,
  said,
  THEME_NAMES,
  untried,
  viewOf,
} from './fake-host';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const kept = (bench: unknown) => ({
  version: PROTOCOL,
  file: 'file:///a.sh',
  index: 0,
  whatIf: untried,
  page: { tab: 'bench', views: { bench } },
});

/** The tab with a result of an earlier load. */
async function openResult(opening: Opening = {}, over: Parameters<typeof aResult>[0] = {}): Promise<Page> {
  const page = await openPage(browser, viewOf(), { ...opening, state: kept({ result: aResult(over) }) });
  await page.locator('[data-trouble="no-webgpu"]').waitFor();
  return page;
}

test('no WebGPU: said, with what still works, and the reference runs on the CPU', async () => {
  const page = await openPage(browser, viewOf());
  await openTab(page, 'Benchmark');
  await page.getByRole('heading', { name: 'This window has no WebGPU' }).waitFor();
  await page.getByText('Everything else in the dashboard works without it.').waitFor();
  await page.getByRole('button', { name: 'Run the CPU Reference' }).click();
  await page.getByRole('heading', { name: 'The reference gives the same output however its blocks lie' }).waitFor();
  await expectNoBarriers(page);
  await picture(page, 'bench-no-webgpu');
  await page.getByRole('button', { name: 'Look Again' }).click();
  await page.getByRole('heading', { name: 'This window has no WebGPU' }).waitFor();
  await page.context().close();
});

test('the shape is the launch’s, and what is set by hand is kept and taken back', async () => {
  const page = await openPage(browser, viewOf());
  await openTab(page, 'Benchmark');
  const heads = page.getByRole('textbox', { name: 'Query heads' });
  await expect.poll(() => heads.inputValue()).not.toBe('');
  const own = await heads.inputValue();
  await heads.fill('28');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Reset Shape' }).click();
  await expect.poll(() => heads.inputValue()).toBe(own);
  await page.context().close();
});

test('a result: the answer first, both charts, every row, what others published, and saved as it is', async () => {
  const page = await openResult();
  await page.getByRole('heading', { name: 'Blocks of 16 cost 10 % of the attention kernel’s time here' }).waitFor();
  await page.getByText('blocks of 64 are the smallest that are not measurably slower').waitFor();
  await page.getByText('RTX 4000 Ada,').waitFor();
  expect(await page.locator('.chart canvas:visible').count()).toBe(2);
  const table = page.getByRole('table', { name: 'All that was measured' });
  await table.getByRole('row', { name: /Paged, blocks of 1 scattered 1\.40 \[1\.38, 1\.42\] yes/ }).waitFor();
  await table.getByRole('row', { name: /Paged, blocks of 64 scattered .* no difference/ }).waitFor();
  await page
    .getByRole('table', { name: 'Published figures of paged attention' })
    .getByText('FlashInfer')
    .first()
    .waitFor();
  await page.evaluate(() => {
    Object.assign(window, { replies: { save: () => ({ saved: true }) } });
  });
  await page.getByRole('button', { name: 'Save the Result' }).click();
  await expect
    .poll(async () => (await said(page)).at(-1))
    .toMatchObject({ method: 'save', params: { type: 'json', name: 'kernel-benchmark' } });
  const { params } = (await said(page)).at(-1) as { params: { content: string } };
  expect(JSON.parse(params.content)).toEqual(aResult());
  await page.getByRole('button', { name: 'Save “block-size-trade-off” as a table' }).click();
  await expect.poll(async () => JSON.stringify((await said(page)).at(-1))).toContain('16,\\"1.10 [1.08, 1.12]\\"');
  await page.context().close();
});

test('noise and wrong kernels are the answer where they are', async () => {
  const noisy = await openResult({}, { noise: { median: 1.3, low: 0.9, high: 1.8 } });
  await noisy.getByRole('heading', { name: 'Too noisy to judge' }).waitFor();
  expect(await noisy.locator('.advice').count()).toBe(0);
  await noisy.context().close();
  const checks = { count: 90, wrong: 2, worst: 0.3, tolerance: 2e-5, storage: 2.5e-4 };
  const wrong = await openResult({}, { checks, rows: [], rounds: 0 });
  await wrong.getByRole('heading', { name: '2 of 90 checks failed on this GPU' }).waitFor();
  expect(await wrong.locator('.chart').count()).toBe(0);
  await wrong.context().close();
});

test('a state of another make does no harm', async () => {
  for (const bench of [7, { shape: { heads: -1, dtype: 3 }, result: { schema: 'x' } }, null]) {
    const page = await openPage(browser, viewOf(), { state: kept(bench) });
    await page.getByRole('heading', { name: 'This window has no WebGPU' }).waitFor();
    await page.context().close();
  }
});

test.each(THEME_NAMES)('nothing bars anyone from reading it, in %s', async (theme) => {
  const page = await openResult({ theme });
  await expectNoBarriers(page);
  await picture(page, `bench-${theme}`);
  await page.context().close();
});

test.each([300, 3840])('nothing is cut off at %i pixels', async (width) => {
  const page = await openResult({ width });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await picture(page, `bench-${width}`);
  await page.context().close();
});
