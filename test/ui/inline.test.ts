import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import {
  applyQuickFix,
  codeLenses,
  eventually,
  hoverText,
  openFile,
  problems,
  screenshot,
  visibleText,
} from './workbench';

const workbench = useWorkbench();

test('hovering the length says what a request costs and how many fit', async () => {
  const { page } = workbench;
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  const text = await hoverText(page, '--max-model-len', /per request/);
  expect(text).toMatch(/[\d.]+ GiB per request/);
  expect(text).toMatch(/requests fit if each reserves the full length/);
  await screenshot(page, 'hover-dark');
});

test('a lens over the launch and the status bar say how many fit', async () => {
  const { page } = workbench;
  await page.mouse.move(5, 5);
  expect((await codeLenses(page)).join()).toMatch(/fit/);
  await page.locator('.statusbar-item[id*="kvPlanner.launch"]').filter({ hasText: /fit/ }).waitFor();
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
  await screenshot(page, 'refusal-mended-dark');
});
