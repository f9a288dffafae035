import { AxeBuilder } from '@axe-core/playwright';
import type { Frame, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import { eventually, openFile, runCommand, screenshot, setTheme, webviewFrame } from './workbench';

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
