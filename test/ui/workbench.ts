/** What a person does in the workbench, as functions. Every wait is for a state, none for a time. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Frame, Locator, Page } from 'playwright-core';
import { ARTEFACTS } from '../../scripts/lib/paths.mjs';

export const THEMES = {
  dark: 'Dark Modern',
  light: 'Light Modern',
  'high-contrast': 'Dark High Contrast',
  'high-contrast-light': 'Light High Contrast',
} as const;
export type Theme = keyof typeof THEMES;

/** Asks again until the answer is one; says what it waited for when time is up. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  milliseconds = 30_000,
): Promise<T> {
  let problem: unknown;
  for (const until = Date.now() + milliseconds; Date.now() < until; await pause(100)) {
    try {
      const answer = await ask();
      if (answer !== undefined) {
        return answer;
      }
      problem = undefined;
    } catch (error) {
      problem = error;
    }
  }
  const why = problem instanceof Error ? ` (${problem.message})` : '';
  throw new Error(`Timed out after ${milliseconds} ms: ${what}${why}`);
}

/** Opens the workbench and waits until its explorer shows the folder's files. */
export async function openWorkbench(page: Page, address: string): Promise<void> {
  page.setDefaultTimeout(60_000);
  await page.goto(address, { waitUntil: 'commit' });
  await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
}

/** Opens a file of the folder by its path, as Ctrl+P does. */
export async function openFile(page: Page, file: string): Promise<void> {
  const name = path.posix.basename(file);
  const tab = page.locator(`.editor-group-container.active .tab.active[data-resource-name="${name}"]`);
  await eventually(`the file ${file}`, async () => {
    await choose(page, file, name);
    await tab.waitFor({ timeout: 5000 });
    return true;
  });
  await editorOf(page).locator('.view-line').first().waitFor();
}

/** Runs a command from the palette by its full title, e.g. `KV Planner: Open Dashboard`. */
export async function runCommand(page: Page, title: string): Promise<void> {
  await eventually(`the palette's entry ${title}`, async () => {
    await choose(page, `>${title}`, title);
    return true;
  });
}

/** Types into the quick input and takes the entry that holds the label. */
async function choose(page: Page, input: string, label: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('F1');
  const box = page.locator('.quick-input-widget:visible .quick-input-filter input');
  await box.waitFor({ timeout: 5000 });
  await box.fill(input);
  const entry = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label }).first();
  await entry.click({ timeout: 5000 });
}

/** Answers an open quick pick with the entry that holds the label. */
async function pick(page: Page, label: string | RegExp): Promise<void> {
  const entry = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label }).first();
  await entry.click();
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
}

const editorOf = (page: Page): Locator => page.locator('.editor-group-container.active .editor-instance');

/** The middle of a word in the open editor. Measured on text: Monaco cuts lines into spans that hold more than a word. */
async function placeOf(page: Page, word: string): Promise<{ x: number; y: number } | undefined> {
  return editorOf(page).evaluate((editor, sought) => {
    for (const line of editor.querySelectorAll('.view-lines .view-line')) {
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const start = node.textContent?.indexOf(sought) ?? -1;
        if (start >= 0) {
          const range = document.createRange();
          range.setStart(node, start);
          range.setEnd(node, start + sought.length);
          const box = range.getBoundingClientRect();
          return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        }
      }
    }
    return undefined;
  }, word);
}

/** The text of the hover over a word, once it matches. The hover stays open. */
export async function hoverText(page: Page, word: string, pattern: RegExp): Promise<string> {
  return eventually(`a hover over ${word} that matches ${pattern}`, async () => {
    const place = await placeOf(page, word);
    if (!place) {
      throw new Error(`${word} is not in sight`);
    }
    // Away and back: a hover asked for before the extension was active said nothing and is not asked for again.
    await page.mouse.move(5, 5);
    await page.mouse.move(place.x, place.y, { steps: 4 });
    const hover = page.locator('.monaco-hover:not(.hidden) .monaco-hover-content');
    await hover.filter({ hasText: pattern }).first().waitFor({ timeout: 2500 });
    return ((await hover.first().textContent()) ?? '').replaceAll('\u00a0', ' ').trim();
  });
}

/** What the lenses of the open editor say. */
export async function codeLenses(page: Page): Promise<string[]> {
  const lenses = editorOf(page).locator('.codelens-decoration');
  await lenses.first().waitFor();
  return lenses.allTextContents();
}

/** The messages of the problems panel, for the open folder. Opens the panel. */
export async function problems(page: Page): Promise<string[]> {
  const panel = page.locator('.markers-panel');
  if (!(await panel.isVisible())) {
    await runCommand(page, 'Problems: Focus on Problems View');
    await panel.waitFor();
  }
  return panel.locator('.monaco-list-row .marker-message-details-container').allTextContents();
}

/** Puts the cursor on a word and applies the quick fix whose title matches. */
export async function applyQuickFix(page: Page, word: string, title: RegExp): Promise<void> {
  await eventually(`the quick fix ${title} on ${word}`, async () => {
    const place = await placeOf(page, word);
    if (!place) {
      throw new Error(`${word} is not in sight`);
    }
    await page.keyboard.press('Escape');
    await page.mouse.click(place.x, place.y);
    await page.keyboard.press('ControlOrMeta+.');
    const action = page.locator('.action-widget .monaco-list-row').filter({ hasText: title }).first();
    await action.click({ timeout: 3000 });
    return true;
  });
}

/** Puts the cursor at the end of the line that holds a word, and types. */
export async function typeBehind(page: Page, word: string, text: string): Promise<void> {
  await page.mouse.move(5, 5);
  await page.keyboard.press('Escape');
  await page.locator('.monaco-hover:not(.hidden) .monaco-hover-content').waitFor({ state: 'hidden' });
  const place = await eventually(`${word} in sight`, () => placeOf(page, word));
  await page.mouse.click(place.x, place.y);
  await page.keyboard.press('End');
  await page.keyboard.type(text, { delay: 20 });
}

/** The text of the open editor's visible lines. */
export const visibleText = (page: Page): Promise<string> => linesIn(editorOf(page));

/** The same where the focus is beside it, in a page. */
export const textBeside = (page: Page): Promise<string> => linesIn(page.locator('.editor-instance'));

/** Monaco shows spaces as no-break spaces. */
async function linesIn(editor: Locator): Promise<string> {
  const lines = await editor.locator('.view-lines .view-line').allTextContents();
  return lines.join('\n').replaceAll('\u00a0', ' ');
}

/** Clicks into the text editor, so that what is typed next goes there. */
export const focusText = (page: Page): Promise<void> =>
  page
    .locator('.editor-instance .view-lines')
    .first()
    .click({ position: { x: 5, y: 5 } });

/** The webview's own document, two frames deep. `marker` is a selector that only this webview has. */
export async function webviewFrame(page: Page, marker: string): Promise<Frame> {
  return eventually(`a webview with ${marker}`, async () => {
    for (const frame of page.frames()) {
      if (frame.parentFrame()?.parentFrame() && (await frame.locator(marker).count()) > 0) {
        return frame;
      }
    }
    return undefined;
  });
}

/** Switches the colour theme by its command, and waits until the workbench wears it. */
export async function setTheme(page: Page, theme: Theme): Promise<void> {
  const worn = { dark: 'vs-dark', light: 'vs', 'high-contrast': 'hc-black', 'high-contrast-light': 'hc-light' }[theme];
  await runCommand(page, 'Preferences: Color Theme');
  const box = page.locator('.quick-input-widget:visible .quick-input-filter input');
  await box.fill(THEMES[theme]);
  await pick(page, THEMES[theme]);
  await page.locator(`.monaco-workbench.${worn}`).waitFor();
}

/** Saves what the page shows to test/artefacts/NAME.png. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: path.join(ARTEFACTS, `${name}.png`) });
}
