import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { type Session, startSession } from './session';
import { openFile, screenshot, setTheme, visibleText } from './workbench';

const COMPOSE = 'vllm/llama-3.1-70b-8xh100.compose.yaml';

let session: Session;
beforeAll(async () => {
  session = await startSession();
});
afterAll(() => session?.close());

test('a sample opens in the workbench, in every kind of theme', async () => {
  const { page } = session;
  onTestFailed(() => screenshot(page, 'failed-workbench'));
  await openFile(page, COMPOSE);
  expect(await visibleText(page)).toContain('--max-model-len 8192');
  for (const theme of ['light', 'high-contrast', 'high-contrast-light', 'dark'] as const) {
    await setTheme(page, theme);
  }
  await screenshot(page, 'workbench');
});
