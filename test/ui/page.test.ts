/** The dashboard's page alone, with a host made up here: what it draws, asks and survives, in every theme and width. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { PROTOCOL, type View } from '../../src/dashboard/protocol';
import { planView } from '../../src/dashboard/view-model';
import type { Plan } from '../../src/planner';
import { aFinding, aPlan } from '../unit/editor/aPlan';

const untried = { gpu: '', gpus: '', prompt: '', output: '' };
const points = [256, 512, 1024, 2048, 4096, 8192].map((length) => ({
  length,
  contiguous: 162,
  paged: Math.floor(82_968 / Math.ceil(length / 16)),
}));

function viewOf(over: Partial<Plan> = {}, whatIf = untried): View {
  const gpuChoices = [
    { name: 'H100-80GB', memory: '79.19 GiB' },
    { name: 'L4', memory: '22.00 GiB' },
  ];
  return planView({ plan: aPlan(over), points, line: 2, gpuChoices, whatIf, remote: '' });
}

/** What VS Code gives a page of each theme kind: the body's class and the variables that are drawn with. */
const THEMES = {
  'vscode-dark': { foreground: '#cccccc', 'editor-background': '#1f1f1f', 'charts-green': '#89d185' },
  'vscode-light': { foreground: '#3b3b3b', 'editor-background': '#ffffff', 'charts-green': '#388a34' },
  'vscode-high-contrast': { foreground: '#ffffff', 'editor-background': '#000000', contrastBorder: '#6fc3df' },
  'vscode-high-contrast-light': { foreground: '#292929', 'editor-background': '#ffffff', contrastBorder: '#0f4a85' },
} as const;
type Theme = keyof typeof THEMES;

function styleOf(theme: Theme): string {
  const { foreground, 'editor-background': background } = THEMES[theme];
  const controls = ['dropdown', 'input', 'button-secondary'].map((control) => {
    const [back, front] = control.includes('-') ? ['Background', 'Foreground'] : ['-background', '-foreground'];
    return { [`${control}${back}`]: background, [`${control}${front}`]: foreground };
  });
  return Object.entries(Object.assign({}, THEMES[theme], ...controls))
    .map(([name, value]) => `--vscode-${name}: ${value}`)
    .join('; ');
}

const built = (file: string): string => readFileSync(path.join(ROOT, 'dist/webview', file), 'utf8');

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Opens the page with a host that shows `view` once the page is ready, and keeps what the page says. */
async function openPage(view: View, theme: Theme = 'vscode-dark', width = 800): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width, height: 700 } })).newPage();
  const show = { version: PROTOCOL, type: 'show', view };
  const host = `window.said = []; window.kept = []; window.acquireVsCodeApi = () => ({
    postMessage(message) { said.push(message); if (message.type === 'ready') { postMessage(${JSON.stringify(show)}, '*'); } },
    getState() { return undefined; }, setState(state) { kept.push(state); } });`;
  const script = (text: string): string => `<script>${text.replaceAll('</script', '<\\/script')}</script>`;
  await page.setContent(
    `<!DOCTYPE html><html lang="en" style="${styleOf(theme)}"><head><title>KV Planner</title><style>${built('main.css')}</style></head>` +
      `<body class="${theme}"><main id="app"></main>${script(host)}${script(built('main.js'))}</body></html>`,
  );
  await page.locator('body[data-ready]').waitFor();
  return page;
}

const said = (page: Page): Promise<Record<string, unknown>[]> => page.evaluate('said');

const tell = (page: Page, message: unknown): Promise<void> => page.evaluate((m) => window.postMessage(m, '*'), message);

const drawn = (page: Page): Promise<string[]> =>
  page.evaluate(() => [...document.querySelectorAll<HTMLCanvasElement>('.chart canvas')].map((c) => c.toDataURL()));

test.each(Object.keys(THEMES) as Theme[])('nothing bars anyone from reading it, in %s', async (theme) => {
  const page = await openPage(viewOf({ starts: false, findings: [aFinding()] }, { ...untried, prompt: '900' }), theme);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join()}`)).toEqual([]);
  await page.context().close();
});

test.each([300, 520, 1080, 3840])('nothing is cut off at %i pixels', async (width) => {
  const page = await openPage(viewOf({ findings: [aFinding()] }), 'vscode-dark', width);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await page.context().close();
});

test('the charts wear a new theme at once', async () => {
  const page = await openPage(viewOf());
  const before = await drawn(page);
  await page.evaluate((style) => {
    document.documentElement.setAttribute('style', style);
    document.body.className = 'vscode-light';
  }, styleOf('vscode-light'));
  await expect.poll(async () => (await drawn(page)).every((picture, i) => picture !== before[i])).toBe(true);
  await page.context().close();
});

test('a change of the prompt asks the host, and its answer is drawn and kept', async () => {
  const page = await openPage(viewOf());
  const prompt = page.getByRole('textbox', { name: 'Prompt tokens' });
  await prompt.fill('many');
  await page.keyboard.press('Enter');
  await page.locator('.field.wrong').waitFor();
  await prompt.fill('900');
  await page.keyboard.press('Enter');
  const whatIf = { ...untried, prompt: '900' };
  await expect
    .poll(() => said(page))
    .toContainEqual({ version: PROTOCOL, type: 'request', id: 1, method: 'whatIf', params: { whatIf } });
  const state = { version: PROTOCOL, file: 'file:///serve.sh', index: 0, whatIf };
  const result = { view: viewOf({ starts: 'unknown' }, whatIf), state };
  await tell(page, { version: PROTOCOL, type: 'reply', to: 1, ok: true, result });
  await page.getByRole('heading', { name: 'May not start' }).waitFor();
  expect(await page.evaluate('kept')).toEqual([state]);
  await page.getByRole('button', { name: 'Reset' }).click();
  await expect.poll(async () => (await said(page)).at(-1)).toMatchObject({ id: 2, params: { whatIf: untried } });
  await page.context().close();
});

test('what is not a message of this protocol changes nothing', async () => {
  const page = await openPage(viewOf());
  await tell(page, { version: PROTOCOL + 1, type: 'show', view: { kind: 'empty', text: 'other version' } });
  await tell(page, { version: PROTOCOL, type: 'show', view: { kind: 'plan' } });
  await tell(page, '<img src=x onerror=alert(1)>');
  await tell(page, { version: PROTOCOL, type: 'show', view: { kind: 'error', text: 'Then <b>this</b>.' } });
  await page.getByText('Then <b>this</b>.').waitFor(); // the last one is read, as text
  expect(await page.getByText('other version').count()).toBe(0);
  await page.context().close();
});

test('a missing GPU, an empty file and the way back are drawn', async () => {
  const unknown = { hardware: undefined, budget: undefined, capacity: undefined, starts: 'unknown' } as const;
  const page = await openPage(viewOf(unknown));
  await page.getByText('Pick a GPU above').waitFor();
  await tell(page, { version: PROTOCOL, type: 'show', view: { kind: 'empty', text: 'Open a file.' } });
  await page.getByRole('heading', { name: 'No launch to plan' }).waitFor();
  await tell(page, { version: PROTOCOL, type: 'show', view: viewOf() });
  await page.getByRole('heading', { name: 'Starts · 1,024 requests fit' }).waitFor();
  await page.getByRole('button', { name: 'serve.sh:2' }).click();
  await expect
    .poll(async () => (await said(page)).at(-1))
    .toEqual({ version: PROTOCOL, type: 'run', command: 'reveal', line: 2 });
  await page.context().close();
});
