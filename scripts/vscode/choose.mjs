// Decides which real VS Code this machine offers for the tests, and says so.
import { findDesktop, hasDisplay, onPath } from './desktop.mjs';

/**
 * @typedef {{ kind: 'desktop', program: string, virtualDisplay: boolean } | { kind: 'server' }} Editor
 */

/**
 * A desktop VS Code where one is declared (VSCODE_EXE) or can be downloaded, else VS Code's server in a browser.
 * KV_PLANNER_EDITOR=server|desktop overrules.
 * @returns {Promise<Editor>}
 */
export async function chooseEditor() {
  const wish = process.env.KV_PLANNER_EDITOR;
  if (wish && wish !== 'server' && wish !== 'desktop') {
    throw new Error(`KV_PLANNER_EDITOR is "${wish}": it can be "server" or "desktop".`);
  }
  if (wish === 'server') {
    return say({ kind: 'server' }, 'KV_PLANNER_EDITOR asks for it');
  }
  const virtualDisplay = !hasDisplay();
  if (virtualDisplay && !onPath('xvfb-run')) {
    return orServer(wish, 'no display and no xvfb-run here');
  }
  const desktop = await findDesktop();
  if ('missing' in desktop) {
    return orServer(wish, desktop.missing);
  }
  const display = virtualDisplay ? ', under xvfb-run' : '';
  return say({ kind: 'desktop', program: desktop.program, virtualDisplay }, `${desktop.origin}${display}`);
}

/** @param {string | undefined} wish @param {string} why @returns {Editor} */
function orServer(wish, why) {
  if (wish === 'desktop') {
    throw new Error(`No desktop VS Code: ${why}.`);
  }
  return say({ kind: 'server' }, `no desktop VS Code: ${why}`);
}

/** @param {Editor} editor @param {string} why @returns {Editor} */
function say(editor, why) {
  const name = editor.kind === 'desktop' ? `desktop VS Code at ${editor.program}` : "VS Code's server in a browser";
  console.log(`Editor: ${name} (${why})`);
  return editor;
}
