import type { Frame } from 'playwright-core';
import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import { eventually, openFile, runCommand, screenshot, setTheme, webviewFrame } from './workbench';

const workbench = useWorkbench();
let dashboard: Frame;

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
  await page.locator('.tab').filter({ hasText: 'Capacity of' }).waitFor();
  await screenshot(page, 'report-dark');
});

test('the dashboard opens, with its controls defined and both charts painted', async () => {
  const { page } = workbench;
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  await runCommand(page, 'KV Planner: Open Dashboard');
  dashboard = await webviewFrame(page, 'body[data-ready="1"] canvas');
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
  expect(await dashboard.locator('body').textContent()).toContain('162');
});

for (const theme of ['dark', 'light', 'high-contrast', 'high-contrast-light'] as const) {
  test(`the dashboard wears the ${theme} theme`, async () => {
    const { page } = workbench;
    await setTheme(page, theme);
    await eventually('painted charts', async () => ((await painted(dashboard)).every(Boolean) ? true : undefined));
    await screenshot(page, `dashboard-${theme}`);
  });
}
