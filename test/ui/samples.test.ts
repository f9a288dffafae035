/** Every sample on every tab: something of use stands there, or a sentence that says why not. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SAMPLES } from '../../scripts/lib/paths.mjs';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { PROTOCOL, type View } from '../../src/dashboard/protocol';
import { planView } from '../../src/dashboard/view-model';
import { requestsByLength } from '../../src/planner';
import { whatIf } from '../../src/what-if';
import { bash } from '../unit/launch/support';
import { openPage, openTab, tell, viewOf } from './fake-host';

let browser: Browser;
let page: Page;
let grammars: Awaited<ReturnType<typeof bash>>;
beforeAll(async () => {
  grammars = await bash();
  browser = await launchChromium();
  page = await openPage(browser, viewOf(), { width: 900 });
});
afterAll(() => browser?.close());

const samples = readdirSync(SAMPLES).flatMap((engine) =>
  readdirSync(path.join(SAMPLES, engine)).map((file) => `${engine}/${file}`),
);

function shown(name: string): View {
  const tried = whatIf({ name, text: readFileSync(path.join(SAMPLES, name), 'utf8'), grammars }, {}, 0, {});
  if (!tried) {
    throw new Error(`No launch in ${name}.`);
  }
  return planView({ tried, points: requestsByLength(tried.plan), line: 1, whatIf: {}, remote: '' });
}

/** What must stand in a tab: one of these, in sight. */
const STANDS: Readonly<Record<string, readonly string[]>> = {
  Capacity: ['.chart-panel canvas', '.missing'],
  Pool: ['.pool-stack canvas', '.missing'],
  Learn: ['.pool-stack canvas'],
  Prefix: ['.answer', '.missing'],
  Compare: ['.note'],
  Benchmark: ['.bench h1'],
};

test.each(samples)('%s', async (name) => {
  const view = shown(name);
  await openTab(page, 'Capacity');
  await tell(page, { version: PROTOCOL, type: 'show', view });
  await page.locator('.capacity .place', { hasText: name }).waitFor();
  for (const [tab, marks] of Object.entries(STANDS)) {
    await openTab(page, tab);
    const panel = page.locator(`.view[data-view="${tab === 'Benchmark' ? 'bench' : tab.toLowerCase()}"]`);
    await panel
      .locator(marks.map((mark) => `${mark}:visible`).join(', '))
      .first()
      .waitFor();
    for (const sentence of await panel.locator('.missing:visible').allTextContents()) {
      expect(sentence, `${name}, ${tab}`).toMatch(/^[A-Z].{10,}\.$/s);
    }
    expect(await panel.textContent(), `${name}, ${tab}`).not.toMatch(/NaN|undefined|Infinity|\[object/);
  }
  // What two prompts share is said of every engine.
  await openTab(page, 'Prefix');
  const ids = (last: number) => JSON.stringify([...Array.from({ length: 300 }, (_, i) => i + 1), last]);
  await page.getByRole('textbox', { name: 'First prompt' }).fill(ids(500));
  await page.getByRole('textbox', { name: 'Second prompt' }).fill(ids(600));
  await page.getByRole('rowheader', { name: 'Shared at the front' }).waitFor();
});
