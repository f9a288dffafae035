// Finds a desktop VS Code: one that is installed, or one that @vscode/test-electron may download.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { CACHE } from '../lib/paths.mjs';

const UPDATES = 'https://update.code.visualstudio.com/api/releases/stable';

/** Whether windows can be shown here. */
export const hasDisplay = () =>
  process.platform !== 'linux' || Boolean(process.env.DISPLAY ?? process.env.WAYLAND_DISPLAY);

/** A program on the PATH, by name. @param {string} name */
export function onPath(name) {
  try {
    const finder = process.platform === 'win32' ? 'where' : 'which';
    return execFileSync(finder, [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(/\r?\n/)[0];
  } catch {
    return undefined;
  }
}

const downloads = () =>
  fetch(UPDATES, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.ok,
    () => false,
  );

/**
 * A desktop VS Code to start with arguments of our own, or why there is none.
 * @returns {Promise<{ program: string, origin: string } | { missing: string }>}
 */
export async function findDesktop() {
  if (process.env.VSCODE_EXE) {
    return fs.existsSync(process.env.VSCODE_EXE)
      ? { program: process.env.VSCODE_EXE, origin: 'VSCODE_EXE' }
      : { missing: `VSCODE_EXE names ${process.env.VSCODE_EXE}, which is not there` };
  }
  if (!(await downloads())) {
    return { missing: `${new URL(UPDATES).host} cannot be reached` };
  }
  try {
    const cachePath = path.join(CACHE, 'vscode-desktop');
    return { program: await downloadAndUnzipVSCode({ cachePath, timeout: 30_000 }), origin: 'downloaded' };
  } catch (error) {
    return { missing: `VS Code could not be downloaded: ${error instanceof Error ? error.message : error}` };
  }
}
