import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import {
  applyQuickFix,
  codeLenses,
  eventually,
  hoverText,
  openFile,
  problems,
  runCommand,
  screenshot,
  setTheme,
  typeBehind,
  visibleText,
} from './workbench';

const workbench = useWorkbench();

test('hovering the length says what a request costs and how many fit', async () => {
  const { page } = workbench;
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  const text = await hoverText(page, '--max-model-len', /per request/);
  expect(text).toMatch(/[\d.]+ GiB per request/);
  expect(text).toMatch(/requests fit if each reserves the full length/);
});

test('hints stand behind the values', async () => {
  const { page } = workbench;
  await eventually('the hint behind the length', async () =>
    /8192\s*0\.313 GiB\/request/.test(await visibleText(page)) ? true : undefined,
  );
});

for (const theme of ['light', 'high-contrast', 'dark'] as const) {
  test(`a hover, a lens and hints in the ${theme} theme`, async () => {
    const { page } = workbench;
    await setTheme(page, theme);
    const text = await hoverText(page, '--gpu-memory-utilization', /0\.93/);
    expect(text).toMatch(/weights.*activations.*left for KV/s);
    await screenshot(page, `inline-${theme}`);
    await page.mouse.move(5, 5);
  });
}

test('completion explains what it offers', async () => {
  const { page } = workbench;
  await typeBehind(page, '--block-size', ' --kv-cache-dt');
  const list = page.locator('.suggest-widget.visible');
  await list.locator('.monaco-list-row', { hasText: '--kv-cache-dtype' }).first().waitFor();
  await page.keyboard.press('ControlOrMeta+Space'); // its words
  await page.locator('.suggest-details', { hasText: /Number format that keys and values/ }).waitFor();
  await screenshot(page, 'completion-dark');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+z');
  await eventually('the text as it was', async () =>
    (await visibleText(page)).includes('--kv-cache-dt') ? undefined : true,
  );
});

test('a lens over the launch and the status bar say how many fit', async () => {
  const { page } = workbench;
  await page.mouse.move(5, 5);
  expect((await codeLenses(page)).join()).toMatch(/fit/);
  await page.locator('.statusbar-item[id*="kvPlanner.launch"]').filter({ hasText: /fit/ }).waitFor();
});

test('a click on the lens opens the dashboard', async () => {
  const { page } = workbench;
  await page.locator('.codelens-decoration a').first().click();
  await page
    .locator('.tab', { hasText: /KV Planner|Dashboard/ })
    .first()
    .waitFor();
  await runCommand(page, 'View: Close All Editor Groups');
});

test('a launch that vLLM will refuse is underlined, and the quick fix mends it', async () => {
  const { page } = workbench;
  await openFile(page, 'vllm/llama-3.1-8b-l4.compose.yaml');
  const refusal = await eventually('the refusal', async () =>
    (await problems(page)).find((message) => /16\.0 GiB KV cache is needed/.test(message)),
  );
  expect(refusal).toMatch(/max seq len \(131072\)/);
  await screenshot(page, 'refusal-dark');
  await applyQuickFix(page, '131072', /max/i);
  await eventually('the refusal to go', async () =>
    (await problems(page)).some((message) => /GiB KV cache is needed/.test(message)) ? undefined : true,
  );
  expect(await visibleText(page)).not.toContain('131072');
  await eventually('the lens to say so', async () =>
    (await codeLenses(page)).join().includes('will not start') ? undefined : true,
  );
  await screenshot(page, 'refusal-mended-dark');
  await page.keyboard.press('ControlOrMeta+z');
  await eventually('the text as it was', async () => ((await visibleText(page)).includes('131072') ? true : undefined));
});
