/** The dashboard's page alone, with a host made up here: it shows a view, answers what a test tells it to, keeps what is said. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { ARTEFACTS, ROOT } from '../../scripts/lib/paths.mjs';
import { pageHtml } from '../../src/dashboard/html';
import { PROTOCOL, type View, type WhatIf } from '../../src/dashboard/protocol';
import { planView } from '../../src/dashboard/view-model';
import type { Plan } from '../../src/planner';
import { untriedOf } from '../unit/dashboard/tried';
import { aPlan } from '../unit/editor/aPlan';

export const untried: WhatIf = {};

const points = [256, 512, 1024, 2048, 4096, 8192].map((length) => ({
  length,
  contiguous: 162,
  paged: Math.floor(82_968 / Math.ceil(length / 16)),
}));

/** What the host would send for a plan: the compose sample's, with some parts changed. */
export function viewOf(over: Partial<Plan> = {}, whatIf = untried): View {
  return planView({ tried: untriedOf(aPlan(over)), points, line: 2, whatIf, remote: '' });
}

/** What VS Code gives a page of each theme kind: the body's class and the variables that are drawn with. */
export const THEMES = {
  'vscode-dark': { foreground: '#cccccc', 'editor-background': '#1f1f1f', 'charts-green': '#89d185' },
  'vscode-light': {
    foreground: '#3b3b3b',
    'editor-background': '#ffffff',
    'charts-green': '#388a34',
    errorForeground: '#f85149',
  },
  'vscode-high-contrast': { foreground: '#ffffff', 'editor-background': '#000000', contrastBorder: '#6fc3df' },
  'vscode-high-contrast-light': { foreground: '#292929', 'editor-background': '#ffffff', contrastBorder: '#0f4a85' },
} as const;
export type PageTheme = keyof typeof THEMES;
export const THEME_NAMES = Object.keys(THEMES) as PageTheme[];

export function styleOf(theme: PageTheme): string {
  const { foreground, 'editor-background': background } = THEMES[theme];
  const controls = ['dropdown', 'input', 'button-secondary'].map((control) => {
    const [back, front] = control.includes('-') ? ['Background', 'Foreground'] : ['-background', '-foreground'];
    return { [`${control}${back}`]: background, [`${control}${front}`]: foreground };
  });
  return Object.entries(Object.assign({}, THEMES[theme], ...controls))
    .map(([name, value]) => `--vscode-${name}: ${value}`)
    .join('; ');
}

export interface Opening {
  readonly theme?: PageTheme;
  readonly width?: number;
  readonly height?: number;
  /** What an earlier load kept. */
  readonly state?: unknown;
  readonly reducedMotion?: boolean;
  /** What the host kept, where it keeps. */
  readonly kept?: unknown;
  /** Methods that this side of the browser answers, from the first request on. */
  readonly answers?: readonly string[];
  answer?(method: string, params: unknown): unknown;
}

/** No server: every address of it is answered from the build. */
const ORIGIN = 'http://kv-planner.test';

/**
 * Opens the page under its own policy, with a host that shows `view` once the page is ready. `window.said` keeps what the
 * page says, `window.kept` every state it keeps; `window.replies[method]`, a function of the parameters, answers requests.
 */
export async function openPage(browser: Browser, view: View, opening: Opening = {}): Promise<Page> {
  const { theme = 'vscode-dark', width = 800, height = 700, state, reducedMotion } = opening;
  const context = await browser.newContext({
    viewport: { width, height },
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  if (opening.answer) {
    await page.exposeFunction('answerOf', opening.answer);
  }
  await page.addInitScript(hostScript(view, state));
  await page.addInitScript(
    `for (const m of ${JSON.stringify(opening.answers ?? [])}) { replies[m] = (params) => answerOf(m, params); }`,
  );
  await page.route(`${ORIGIN}/**`, (route) => {
    const file = new URL(route.request().url()).pathname.slice(1);
    return file === ''
      ? route.fulfill({ contentType: 'text/html', body: htmlOf(theme, opening.kept) })
      : route.fulfill({
          contentType: file.endsWith('.css') ? 'text/css' : 'text/javascript',
          body: readFileSync(path.join(ROOT, 'dist/webview', path.basename(file))),
        });
  });
  await page.goto(ORIGIN);
  await page.locator('body[data-ready]').waitFor();
  return page;
}

const htmlOf = (theme: PageTheme, kept: unknown): string =>
  pageHtml({
    script: `${ORIGIN}/main.js`,
    style: `${ORIGIN}/main.css`,
    workers: ORIGIN,
    cspSource: ORIGIN,
    nonce: 'n0',
    styleNonce: 's0',
    language: 'en',
    kept: kept === undefined ? undefined : JSON.stringify(kept),
  })
    // The editor sets these from its own script, which no policy of the page stops.
    .replace('style-src', "style-src-attr 'unsafe-inline'; style-src")
    .replace('<html ', `<html style="${styleOf(theme)}" `)
    .replace('<body ', `<body class="${theme}" `);

const hostScript = (view: View, state: unknown): string => `
  window.said = []; window.kept = [];
  // A file of text that somebody picks, told in as many parts as asked for.
  window.opensFile = (name, text, parts = 1) => {
    let told = 0;
    const each = Math.ceil(text.length / parts);
    replies.openText = () => ((told = 0), { file: { id: 1, name } });
    replies.readText = () => ({
      text: text.slice(each * told, each * ++told),
      share: Math.min(1, told / parts),
      last: told >= parts,
    });
  };
  window.replies = {};
  const answer = async ({ id, method, params }) => {
    const reply = window.replies[method];
    if (!reply) { return; }
    try {
      window.postMessage({ version: ${PROTOCOL}, type: 'reply', to: id, ok: true, result: await reply(params) }, '*');
    } catch (error) {
      window.postMessage({ version: ${PROTOCOL}, type: 'refusal', to: id, error: String(error.message) }, '*');
    }
  };
  window.acquireVsCodeApi = () => ({
    postMessage(message) {
      said.push(message);
      if (message.type === 'ready') {
        window.postMessage(${JSON.stringify({ version: PROTOCOL, type: 'show', view })}, '*');
      } else if (message.type === 'request') {
        void answer(message);
      }
    },
    getState() { return ${JSON.stringify(state ?? null)}; },
    setState(state) { kept.push(state); },
  });`;

export const said = (page: Page): Promise<Record<string, unknown>[]> => page.evaluate('said');

/** A message of the host. */
export const tell = (page: Page, message: unknown): Promise<void> =>
  page.evaluate((m) => window.postMessage(m, '*'), message);

export const openTab = (page: Page, title: string): Promise<void> => page.getByRole('tab', { name: title }).click();

export async function expectNoBarriers(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join()}`)).toEqual([]);
}

export const picture = (page: Page, name: string): Promise<Buffer> =>
  page.screenshot({ path: path.join(ARTEFACTS, 'page', `${name}.png`), fullPage: true });
