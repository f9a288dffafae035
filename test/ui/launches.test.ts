import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import { eventually, openFile, runCommand, screenshot, setTheme, webviewFrame } from './workbench';

const workbench = useWorkbench();

const THEMES = ['dark', 'light', 'high-contrast', 'high-contrast-light'] as const;
const rows = () => workbench.page.locator('.pane-body [role="treeitem"]');

test('the view says what it is for, and its button fills it', async () => {
  const { page } = workbench;
  await runCommand(page, 'View: Show KV Planner');
  const button = page.locator('.welcome-view-content .monaco-button', { hasText: 'Find Launches' });
  await button.waitFor();
  await screenshot(page, 'launches-welcome-dark');
  await button.click();
  const labels = await eventually('a tree with a plan beside each launch', async () => {
    const all = (await rows().allTextContents()).map((text) => text.replaceAll('\u00a0', ' '));
    return all.some((label) => /fit · /.test(label)) && all.length > 20 ? all : undefined;
  });
  expect(labels.join('\n')).toMatch(/^llama-3\.1-70b-8xh100\.compose\.yamlvllm$/m);
  expect(labels.join('\n')).toMatch(/^llamaStarts · .*fit · vLLM 0\.28\.0$/m);
  expect(labels.join('\n')).toMatch(/Will not start · vLLM/);
});

test('a launch of the tree opens its file at its place, and its button the dashboard', async () => {
  const { page } = workbench;
  const launch = rows()
    .filter({ hasText: /Starts ·.*vLLM 0\.28\.0/ })
    .first();
  await launch.click();
  await page.locator('.tab.active[data-resource-name$="yaml"]').waitFor();
  await launch.hover();
  await launch.locator('.action-label[aria-label="Show Capacity Report"]').click();
  const report = await webviewFrame(page, '.markdown-body h1');
  expect(await report.locator('.markdown-body').textContent()).toMatch(/KV cache capacity/);
});

for (const theme of THEMES) {
  test(`the tree and a report in the ${theme} theme`, async () => {
    const { page } = workbench;
    await setTheme(page, theme);
    await rows().first().waitFor();
    const report = await webviewFrame(page, '.markdown-body h1');
    await report.locator('h2').first().waitFor();
    await screenshot(page, `launches-${theme}`);
  });
}

test('solving for a target asks for a number, and answers with changes', async () => {
  const { page } = workbench;
  await setTheme(page, 'dark');
  await runCommand(page, 'View: Close All Editor Groups');
  await openFile(page, 'vllm/llama-3.1-8b-l4.compose.yaml');
  await runCommand(page, 'KV Planner: Solve for a Target');
  const box = page.locator('.quick-input-widget:visible .quick-input-filter input');
  await box.fill('none');
  await page.locator('.quick-input-message', { hasText: 'A whole number from 1' }).waitFor();
  await box.fill('20');
  await page.keyboard.press('Enter');
  await page.locator('.quick-input-widget:visible', { hasText: 'Tokens of Each Request' }).waitFor();
  await page.keyboard.press('Enter');
  const answer = await webviewFrame(page, '.markdown-body h3');
  expect(await answer.locator('.markdown-body').textContent()).toMatch(/20 requests at once.*max-model-len 131072 →/s);
  await screenshot(page, 'solutions-dark');
});

for (const theme of THEMES) {
  test(`the walkthrough in the ${theme} theme`, async () => {
    const { page } = workbench;
    await setTheme(page, theme);
    await runCommand(page, 'View: Close All Editor Groups'); // in a narrow group its pictures are left out
    await runCommand(page, 'Welcome: Open Walkthrough...');
    await page
      .locator('.quick-input-list .monaco-list-row', { hasText: 'Plan the KV Cache of an LLM Server' })
      .first()
      .click();
    const steps = page.locator('.gettingStartedContainer .step-title');
    await steps.first().waitFor();
    expect((await steps.allTextContents()).join('|')).toMatch(
      /Open a file that starts an engine\|.*Ask for what you need/,
    );
    await webviewFrame(page, 'svg title');
    await screenshot(page, `walkthrough-${theme}`);
  });
}
