// What a frame of the pool costs the page, headless and with software rendering: npm run bench prints it; `node test/bench/frame.mjs` runs it alone.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { calibrate, median } from './measure.mjs';

const BLOCKS = 500_000;
const LIMIT = 8;

const ORIGIN = 'http://kv-planner.bench';
const PAGE = `<!DOCTYPE html><html lang="en"><body data-workers="${ORIGIN}"><script src="${ORIGIN}/frame.js"></script></body></html>`;
const SECONDS = 5;

/** All script of the page while the view plays, as the browser counts it, over the frames that were shown. @param {import('playwright-core').Page} page */
async function atPlay(page) {
  await page.evaluate(`bench.play(${BLOCKS})`);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const script = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN;
  };
  await page.waitForTimeout(1000);
  const [before, first] = [await script(), /** @type {number} */ (await page.evaluate('bench.shown()'))];
  await page.waitForTimeout(SECONDS * 1000);
  const [after, last] = [await script(), /** @type {number} */ (await page.evaluate('bench.shown()'))];
  const each = ((after - before) * 1000) / (last - first);
  return {
    what: 'the whole view at play, 500,000 blocks',
    figure: `${each.toFixed(1)} ms of script a frame, ${((last - first) / SECONDS).toFixed(0)} frames a second, beside ${calibrate().milliseconds.toFixed(0)} ms for the calibration loop`,
    limit: `limit ${LIMIT} ms`,
    broken: !(each <= LIMIT && last - first > 5),
  };
}

/** Rows for the table of `npm run bench`. */
export async function frameBench() {
  const outfile = path.join(ROOT, 'out/bench/frame.js');
  await esbuild.build({
    entryPoints: [path.join(ROOT, 'test/bench/frame.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  });
  const browser = await launchChromium(['--disable-gpu']);
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const scripts = { 'frame.js': outfile, 'pool-worker.js': path.join(ROOT, 'dist/webview/pool-worker.js') };
    await page.route(`${ORIGIN}/**`, (route) => {
      const name = new URL(route.request().url()).pathname.slice(1);
      const file = scripts[/** @type {keyof typeof scripts} */ (name)];
      return file
        ? route.fulfill({ contentType: 'text/javascript', body: fs.readFileSync(file) })
        : route.fulfill({ contentType: 'text/html', body: PAGE });
    });
    await page.goto(ORIGIN);
    const used = /** @type {number} */ (await page.evaluate(`bench.used(${BLOCKS})`));
    const rows = [];
    for (const byRequest of [true, false]) {
      const times = /** @type {number[]} */ (await page.evaluate(`bench.frames(${BLOCKS}, 120, ${byRequest})`));
      const typical = median(times.slice(20));
      const loop = `beside ${calibrate().milliseconds.toFixed(0)} ms for the calibration loop`;
      rows.push({
        what: `a frame of 500,000 blocks, by ${byRequest ? 'request' : 'state'}`,
        figure: `${typical.toFixed(1)} ms of script, ${loop}; ${(100 * used).toFixed(0)} % of them in use`,
        limit: `limit ${LIMIT} ms`,
        broken: !(typical <= LIMIT && used > 0.5),
      });
    }
    rows.push(await atPlay(page));
    return rows;
  } finally {
    await browser.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { what, figure, limit, broken } of await frameBench()) {
    console.log(`${broken ? 'BROKEN' : 'ok    '} ${what.padEnd(40)} ${figure}  (${limit})`);
  }
}
