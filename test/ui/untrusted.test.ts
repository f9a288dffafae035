/** Restricted mode, and the moment when the folder is trusted. */
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import { codeLenses, eventually, hoverText, openFile, runCommand, screenshot, webviewFrame } from './workbench';

const LAUNCH = `services:
  a:
    image: vllm/vllm-openai:v0.28.0
    command: --model Qwen/Qwen3-8B --config linked.yaml
    # kv-planner: gpu=H100-80GB
`;

const workbench = useWorkbench({
  untrusted: true,
  prepare(folder) {
    writeFileSync(path.join(folder, 'real.yaml'), 'max-num-seqs: 7\n');
    symlinkSync('real.yaml', path.join(folder, 'linked.yaml'));
    writeFileSync(path.join(folder, 'linked.compose.yaml'), LAUNCH);
  },
});

const lensOf = async () => (await codeLenses(workbench.page)).join().replaceAll('\u00a0', ' ');

test('launches are planned in a folder that is not trusted', async () => {
  const { page } = workbench;
  await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  expect(await lensOf()).toMatch(/^starts · 1,024 fit · 40 KiB\/token per GPU/);
  expect(await hoverText(page, '8192', /per request/)).toMatch(/320\.0 MiB/);
  await runCommand(page, 'KV Planner: Open Dashboard');
  const frame = await webviewFrame(page, '[role="tab"]');
  await frame.getByText('Starts · 1,024 requests fit').first().waitFor();
  await screenshot(page, 'untrusted-dark');
  await runCommand(page, 'View: Close All Editor Groups');
});

test('links are not followed there until it is trusted', async () => {
  const { page } = workbench;
  await openFile(page, 'linked.compose.yaml');
  expect(await lensOf()).toMatch(/^may not start/); // whatever stands behind the link
  expect(await hoverText(page, 'linked', /could not be read/)).toMatch(
    /Links are not followed until this folder is trusted/,
  );

  await runCommand(page, 'Workspaces: Manage Workspace Trust');
  await page
    .locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust/ })
    .first()
    .click();
  await openFile(page, 'linked.compose.yaml');
  await eventually('the plan with the options behind the link', async () =>
    (await lensOf()).startsWith('starts · 7 fit') ? true : undefined,
  );
});
