/** The page used for long: what 200 changes of tab, of an option and of the theme make goes again. Needs the built page. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { type PageTheme, styleOf } from '../ui/fake-host';
import { openReal, type RealHost } from '../ui/real-host';
import { inWords, type Scale, scaleOf, type Weight } from './weigh';

const TIMES = 200;

let host: RealHost;
let scale: Scale;
let close: () => Promise<void>;
beforeAll(async () => {
  const browser = await launchChromium();
  close = () => browser.close();
  host = await openReal(browser, 'vllm/qwen3-32b.vllm.yaml', { width: 1100, height: 900 });
  scale = await scaleOf(host.page);
});
afterAll(() => close?.());

async function weigh(): Promise<Weight> {
  await host.page.evaluate('said.length = kept.length = 0'); // the made-up host's own notes
  await host.page.waitForTimeout(1000);
  return scale.weigh();
}

const tabTitles = (page: Page) => page.getByRole('tab').allTextContents();

async function changeTabs({ page }: RealHost, times: number): Promise<void> {
  const titles = await tabTitles(page);
  expect(titles.length).toBe(6);
  for (let n = 0; n < times; n++) {
    await page.getByRole('tab', { name: titles[n % titles.length] }).click();
  }
  await page.getByRole('tab', { name: 'Capacity' }).click();
}

async function changeOption({ page }: RealHost, times: number): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Max sequences' });
  for (let n = 0; n < times; n++) {
    const value = 100 + (n % 7);
    await field.fill(String(value));
    await page.keyboard.press('Enter');
    await page.locator('.changes', { hasText: `→ ${value}` }).waitFor();
  }
}

async function changeTheme({ page }: RealHost, times: number): Promise<void> {
  const themes: PageTheme[] = ['vscode-light', 'vscode-high-contrast', 'vscode-dark'];
  for (let n = 0; n < times; n++) {
    const name = themes[n % themes.length] ?? 'vscode-dark';
    await page.evaluate(
      async ([style, kind]) => {
        document.documentElement.setAttribute('style', style ?? '');
        document.body.className = kind ?? '';
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
      },
      [styleOf(name), name],
    );
  }
}

test.each([
  ['tabs', changeTabs],
  ['an option', changeOption],
  ['the theme', changeTheme],
] as const)(`${TIMES} changes of %s leave nothing behind`, async (what, change) => {
  await change(host, TIMES); // until every view is made, every cache filled and the code compiled
  const before = await weigh();
  await change(host, TIMES);
  const after = await weigh();
  console.log(`${what}: ${inWords(before)} → ${inWords(after)}`);
  expect(after.listeners).toBeLessThanOrEqual(before.listeners);
  expect(after.nodes).toBeLessThanOrEqual(before.nodes * 1.02);
  expect(after.heap / before.heap).toBeLessThan(1.1);
  expect(host.page.workers().length).toBeLessThanOrEqual(2);
});
