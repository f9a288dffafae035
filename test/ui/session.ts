/** A workbench of its own for one test file: server, browser, and the packaged extension in a copy of samples/. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { SAMPLES, VSIX } from '../../scripts/lib/paths.mjs';
import { launchChromium, WEBGPU_FLAGS } from '../../scripts/vscode/chromium.mjs';
import { startServer } from '../../scripts/vscode/server.mjs';
import { openWorkbench } from './workbench';

export interface Session {
  readonly page: Page;
  /** What the page wrote as errors. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

export async function startSession(): Promise<Session> {
  const folder = mkdtempSync(path.join(tmpdir(), 'kv-planner-ui-'));
  cpSync(SAMPLES, folder, { recursive: true });
  const settings = { 'editor.hover.delay': 100, 'editor.minimap.enabled': false };
  const server = await startServer({ vsix: VSIX, settings });
  const browser = await launchChromium(WEBGPU_FLAGS);
  const close = async () => {
    await browser.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await openWorkbench(page, server.url(folder));
    return { page, errors, close };
  } catch (error) {
    await close();
    throw error;
  }
}
