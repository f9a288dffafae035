/** A workbench of its own for one test file: server, browser, and the packaged extension in a copy of samples/. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { SAMPLES, VSIX } from '../../scripts/lib/paths.mjs';
import { launchChromium, WEBGPU_FLAGS } from '../../scripts/vscode/chromium.mjs';
import { startServer } from '../../scripts/vscode/server.mjs';
import { openWorkbench, screenshot, THEMES } from './workbench';

interface Session {
  readonly page: Page;
  close(): Promise<void>;
}

/** What is not as usual: further files beside the samples; a folder that nobody has trusted yet. */
interface Unusual {
  readonly untrusted?: boolean;
  prepare?(folder: string): void;
}

/** Starts a workbench before the file's tests and ends it after them; a failed test leaves a screenshot. */
export function useWorkbench(unusual: Unusual = {}): { readonly page: Page } {
  let session: Session | undefined;
  beforeAll(async () => {
    session = await startSession(unusual);
  });
  afterAll(() => session?.close());
  beforeEach(({ task, onTestFailed }) => {
    onTestFailed(async () => {
      if (session) {
        await screenshot(session.page, `failed ${task.name}`.replaceAll(/\W+/g, '-'));
      }
    });
  });
  return {
    get page() {
      if (!session) {
        throw new Error('The workbench has not been started.');
      }
      return session.page;
    },
  };
}

async function startSession({ untrusted, prepare }: Unusual): Promise<Session> {
  const undo: (() => unknown)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) {
      await step();
    }
  };
  try {
    const folder = mkdtempSync(path.join(tmpdir(), 'kv-planner-ui-'));
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(SAMPLES, folder, { recursive: true });
    prepare?.(folder);
    const settings = {
      'editor.hover.delay': 100,
      'editor.minimap.enabled': false,
      'workbench.colorTheme': THEMES.dark,
    };
    const server = await startServer({ vsix: VSIX, settings, untrusted });
    undo.push(() => server.stop());
    const browser = await launchChromium(WEBGPU_FLAGS);
    undo.push(() => browser.close());
    const context = await browser.newContext({ viewport: { width: 1600, height: 1200 } });
    const page = await context.newPage();
    await openWorkbench(page, server.url(folder));
    return { page, close };
  } catch (error) {
    await close();
    throw error;
  }
}
