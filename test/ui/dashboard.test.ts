import { AxeBuilder } from '@axe-core/playwright';
import type { Frame, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import {
  eventually,
  focusText,
  openFile,
  runCommand,
  screenshot,
  setTheme,
  textBeside,
  typeBehind,
  webviewFrame,
} from './workbench';

const workbench = useWorkbench();

const dashboardOf = (page: Page) => webviewFrame(page, 'body[data-ready="1"] canvas');

/** Whether every canvas shows more than its background. */
const painted = (frame: Frame) =>
  frame.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
      return data?.some((value) => value !== 0) ?? false;
    }),
  );

test('the capacity report opens from the palette', async () => {
  const { page } = workbench;
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  await runCommand(page, 'KV Planner: Show Capacity Report');
  const report = await webviewFrame(page, '.markdown-body h1, .markdown-body h2');
  expect(await report.locator('.markdown-body').textContent()).toMatch(/Llama-3\.1-70B/);
  await screenshot(page, 'report-dark');
});

test('the dashboard opens, with its controls defined and both charts painted', async () => {
  const { page } = workbench;
  await runCommand(page, 'View: Close All Editor Groups');
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  await runCommand(page, 'KV Planner: Open Dashboard');
  const dashboard = await dashboardOf(page);
  await eventually('two painted charts', async () => {
    const charts = await painted(dashboard);
    return charts.length >= 2 && charts.every(Boolean) ? true : undefined;
  });
  const undefinedControls = await dashboard.evaluate(() =>
    [...document.querySelectorAll('*')]
      .map((element) => element.localName)
      .filter((name) => name.startsWith('vscode-') && !customElements.get(name)),
  );
  expect(undefinedControls).toEqual([]);
  expect(await dashboard.locator('body').textContent()).toMatch(/40 KiB.*54 blocks each/s);
});

for (const theme of ['dark', 'light', 'high-contrast', 'high-contrast-light'] as const) {
  test(`the dashboard wears the ${theme} theme`, async () => {
    const { page } = workbench;
    await setTheme(page, theme);
    const dashboard = await dashboardOf(page);
    await eventually('painted charts', async () => ((await painted(dashboard)).every(Boolean) ? true : undefined));
    await screenshot(page, `dashboard-${theme}`);
    await dashboard.locator('canvas').last().scrollIntoViewIfNeeded();
    await screenshot(page, `dashboard-charts-${theme}`);
    await dashboard.locator('h1, h2').first().scrollIntoViewIfNeeded();
  });
}

test('what is tried is written into the file as one edit, and one undo takes it back', async () => {
  const { page } = workbench;
  const dashboard = await dashboardOf(page);
  const before = await textBeside(page);
  expect(before).toContain('8192');
  for (const [name, value] of [
    ['Max length', '4096'],
    ['Max sequences', '77'],
    ['Prompt tokens', '901'],
  ] as const) {
    await dashboard.getByRole('textbox', { name }).fill(value);
    await dashboard.getByRole('textbox', { name }).press('Enter');
    await dashboard.locator('.changes li', { hasText: value }).waitFor();
  }
  expect(await textBeside(page)).toBe(before);
  await screenshot(page, 'what-if-tried');
  await dashboard.getByRole('button', { name: 'Apply to file' }).click();
  const after = await eventually('the file to change', async () => {
    const text = await textBeside(page);
    return ['4096', '77', 'prompt=901'].every((word) => text.includes(word)) ? text : undefined;
  });
  expect(after).not.toContain('8192');
  await eventually('nothing left to try', async () =>
    (await dashboard.locator('.changes li').count()) === 0 ? true : undefined,
  );
  await focusText(page);
  await page.keyboard.press('Control+z');
  await eventually('the file as it was', async () => ((await textBeside(page)) === before ? true : undefined));
});

test('plans are pinned and compared, and planned anew when the file is edited', async () => {
  const { page } = workbench;
  const dashboard = await dashboardOf(page);
  await dashboard.getByRole('button', { name: 'Pin to compare' }).click();
  await dashboard.getByRole('tab', { name: 'Capacity' }).click();
  await dashboard.getByRole('textbox', { name: 'Max sequences' }).fill('5');
  await dashboard.getByRole('textbox', { name: 'Max sequences' }).press('Enter');
  await dashboard.locator('.changes li', { hasText: '5' }).waitFor();
  await dashboard.getByRole('button', { name: 'Pin to compare' }).click();
  const limits = dashboard.getByRole('row', { name: /^Most requests the engine runs/ }).locator('td');
  await eventually('both limits', async () => {
    const texts = await limits.allTextContents();
    return texts.length === 2 && texts[0] === '1,024' && texts[1]?.startsWith('5') ? true : undefined;
  });
  await screenshot(page, 'compare-pinned');
  await focusText(page);
  await typeBehind(page, '8192', '0');
  const lengths = dashboard.getByRole('row', { name: /^Max length/ }).locator('td');
  await eventually('the edit', async () => ((await lengths.first().textContent()) === '81,920' ? true : undefined));
  await dashboard.getByRole('tab', { name: 'Capacity' }).click();
  await dashboard.getByRole('button', { name: 'Reset' }).click();
});

test('the launch’s pool is drawn by its worker, step by step, and the tour tells its figures', async () => {
  const { page } = workbench;
  const dashboard = await dashboardOf(page);
  await dashboard.getByRole('tab', { name: 'Pool' }).click();
  const pool = dashboard.locator('.pool .pool-deck');
  await dashboard.locator('.pool .pool-deck[data-step="0"]').waitFor();
  for (let step = 1; step <= 3; step++) {
    await pool.getByRole('button', { name: 'One step forward' }).click();
    await dashboard.locator(`.pool .pool-deck[data-step="${step}"]`).waitFor();
  }
  expect(await pool.locator('.counts').first().textContent()).toMatch(/Running[1-9]/);
  await screenshot(page, 'pool-workbench');
  await dashboard.getByRole('tab', { name: 'Learn' }).click();
  await dashboard.locator('.learn .pool-deck[data-step]').waitFor();
  expect(await dashboard.locator('.scene-text').textContent()).toContain('a request of 850 tokens');
  await screenshot(page, 'learn-workbench');
  await dashboard.getByRole('tab', { name: 'Capacity' }).click();
});

test('the dashboard has no accessibility violation that axe can see', async () => {
  const { page } = workbench;
  await dashboardOf(page);
  const { violations, passes } = await new AxeBuilder({ page })
    .include(['iframe.webview', 'iframe#active-frame', 'body'])
    .analyze();
  expect(passes.length, 'rules that found something to look at').toBeGreaterThan(10);
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)).toEqual(
    [],
  );
});

test('what was tried a second before the window is reloaded is tried after it', async () => {
  const { page } = workbench;
  await runCommand(page, 'View: Close All Editor Groups');
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  await runCommand(page, 'KV Planner: Open Dashboard');
  const dashboard = await dashboardOf(page);
  await page.waitForTimeout(8000); // a browser's workbench notes every five seconds that there is a panel at all
  await dashboard.getByRole('textbox', { name: 'Max sequences' }).fill('73');
  await dashboard.getByRole('textbox', { name: 'Max sequences' }).press('Enter');
  await page.waitForTimeout(1000);
  await page.reload();
  const again = await dashboardOf(page);
  await again.locator('.changes li', { hasText: '1024 → 73' }).waitFor();
  await again.getByRole('button', { name: 'Reset' }).click();
});
