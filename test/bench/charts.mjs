// What a change costs in the Capacity view, from the key to all charts redrawn, and how soon the page shows its answer.
// `npm run bench` prints it; `node test/bench/charts.mjs` runs it alone on what is built.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { FOR_NODE } from '../../scripts/lib/for-node.mjs';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { besideLoop, median } from './measure.mjs';

const SAMPLE = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const REDRAWN_LIMIT = 100;
const PAINT_LIMIT = 300;
const ROUNDS = 25;
const ORIGIN = 'http://kv-planner.bench';

const PAGE = `<!DOCTYPE html><html lang="en"><head><link rel="stylesheet" href="${ORIGIN}/main.css"></head><body><main id="app"></main>
<script>
  new MutationObserver(() => { window.painted ??= document.body.dataset.ready && performance.now(); }).observe(document.body, { attributes: true });
  window.acquireVsCodeApi = () => ({
    getState() {}, setState() {},
    async postMessage({ type, id, method, params }) {
      if (type === 'ready') { window.postMessage(window.first, '*'); }
      if (type === 'request') { window.postMessage({ version: window.first.version, type: 'reply', to: id, ok: true, result: await answerOf(method, params) }, '*'); }
    },
  });
  /** Milliseconds from a change of a field until the last chart stands. */
  window.changed = async (value) => {
    const field = document.querySelector('[data-key="max-length"] vscode-text-field');
    const charts = document.querySelector('.charts');
    const start = performance.now();
    field.value = value;
    field.dispatchEvent(new Event('change'));
    await new Promise((resolve) => new MutationObserver((_, observer) => {
      if (charts.getAttribute('aria-busy') === 'false') { observer.disconnect(); resolve(); }
    }).observe(charts, { attributes: true, attributeFilter: ['aria-busy'] }));
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
  };
  window.began = performance.now();
</script><script src="${ORIGIN}/main.js"></script></body></html>`;

/** The host's side, as the extension has it. */
async function hostOf() {
  const outfile = path.join(ROOT, 'out/bench/host.cjs');
  await esbuild.build({
    ...FOR_NODE,
    minify: true,
    stdin: {
      contents: `export { whatIf } from './src/what-if'; export { studiesOf } from './src/what-if/studies';
        export { studiesView } from './src/dashboard/studies-view'; export { planView } from './src/dashboard/view-model';
        export { tryingOn } from './src/planner/alternatives'; export { requestsByLength } from './src/planner';
        export { PROTOCOL } from './src/dashboard/protocol';`,
      resolveDir: ROOT,
    },
    outfile,
  });
  const { whatIf, studiesOf, studiesView, planView, tryingOn, requestsByLength, PROTOCOL } = createRequire(
    import.meta.url,
  )(outfile);
  const text = fs.readFileSync(path.join(ROOT, SAMPLE), 'utf8');
  /** @type {Record<string, string>} */
  let changes = {};
  const tried = () => whatIf({ text, name: SAMPLE }, {}, 0, changes);
  const shown = () => {
    const made = tried();
    const points = requestsByLength(made.plan);
    return { view: planView({ tried: made, points, line: 1, whatIf: changes, remote: '' }) };
  };
  return {
    first: { version: PROTOCOL, type: 'show', ...shown() },
    answer: (/** @type {string} */ method, /** @type {any} */ params) => {
      changes = method === 'whatIf' ? params.whatIf : changes;
      const { plan } = tried();
      return method === 'whatIf' ? shown() : studiesView(plan, studiesOf(plan, tryingOn(text, {})));
    },
  };
}

/** Rows for the table of `npm run bench`. */
export async function chartsBench() {
  const { first, answer } = await hostOf();
  const browser = await launchChromium(['--disable-gpu']);
  try {
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
    await page.exposeFunction('answerOf', answer);
    await page.addInitScript(`window.first = ${JSON.stringify(first)}`);
    await page.route(`${ORIGIN}/**`, (route) => {
      const name = new URL(route.request().url()).pathname.slice(1);
      return name === ''
        ? route.fulfill({ contentType: 'text/html', body: PAGE })
        : route.fulfill({
            contentType: name.endsWith('.css') ? 'text/css' : 'text/javascript',
            body: fs.readFileSync(path.join(ROOT, 'dist/webview', path.basename(name))),
          });
    });
    const paints = [];
    for (let round = 0; round < 9; round++) {
      await page.goto(ORIGIN);
      await page.waitForFunction('window.painted');
      paints.push(/** @type {number} */ (await page.evaluate('painted - began')));
    }
    await page.waitForFunction('document.querySelectorAll(".chart-panel:not([hidden])").length === 6');
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push(/** @type {number} */ (await page.evaluate(`changed('${4096 + 256 * round}')`)));
    }
    return [
      besideLoop('dashboard, first paint after its script began', median(paints), PAINT_LIMIT),
      besideLoop('a change tried, until all charts are redrawn', median(times.slice(5)), REDRAWN_LIMIT),
    ];
  } finally {
    await browser.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { what, figure, limit, broken } of await chartsBench()) {
    console.log(`${broken ? 'BROKEN' : 'ok    '} ${what.padEnd(46)} ${figure}  (${limit})`);
  }
}
