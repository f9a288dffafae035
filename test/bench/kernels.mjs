// npm run bench:kernels: the attention kernels of the dashboard's benchmark, outside it: checked and measured on Dawn in
// Node and in a browser. `--quick` checks a part and measures nothing; `--gpu` takes the machine's own GPU instead of the
// software adapter; `--node` or `--browser` runs one of the two. Ends with 1 when a kernel is wrong or a bar is missed.
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { RESULTS, ROOT } from '../../scripts/lib/paths.mjs';
import { node } from '../../scripts/lib/run.mjs';
import { launchChromium, WEBGPU_FLAGS } from '../../scripts/vscode/chromium.mjs';
import { installDawn, softwareAdapter } from '../../scripts/webgpu/dawn.mjs';
import { printBars, printPublished, printResult } from './kernels-report.mjs';

/** See webview/bench/headless.ts. @typedef {{ dtype: string, headDim: number, matrix?: 'full' | 'quick', checksOnly?: boolean }} Job */
/** @typedef {{ results: import('../../src/core/pool/kernel-result').BenchResult[], wrong: string[] }} Done */

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const gpu = args.includes('--gpu');
const out = path.join(ROOT, 'out/bench');

/** @type {Job} */
const JUDGED = { dtype: 'f16', headDim: 128, matrix: 'full' };
/** @type {readonly Job[]} */
const ALL_JOBS = [JUDGED, { dtype: 'f32', headDim: 64 }, { dtype: 'int8', headDim: 128 }];
/** @type {readonly Job[]} */
const QUICK_JOBS = [{ dtype: 'f16', headDim: 128, matrix: 'quick', checksOnly: true }];

const bundle = await bundled('cjs', path.join(out, 'kernels.cjs'));
const { judge, PUBLISHED } = createRequire(import.meta.url)(bundle);
let passed = 0;
let failed = 0;
/** @type {[string, () => Promise<Done | undefined>][]} */
const runners = [
  ['node', inNode],
  ['browser', inBrowser],
];
const only = ['node', 'browser'].filter((name) => args.includes(`--${name}`));
for (const [name, run] of runners.filter(([name]) => only.length === 0 || only.includes(name))) {
  await finish(name, run);
}
if (!quick) {
  printPublished(PUBLISHED);
}
fs.mkdirSync(RESULTS, { recursive: true });
fs.writeFileSync(path.join(RESULTS, 'kernels.json'), JSON.stringify({ passed, failed }));
console.log(`kernels: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** @param {string} name @param {() => Promise<Done | undefined>} run */
async function finish(name, run) {
  const done = await run().catch((error) => {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  });
  if (!done) {
    failed++;
    return;
  }
  for (const line of done.wrong) {
    console.error(`WRONG  ${line}`);
  }
  for (const result of done.results) {
    failed += result.checks.wrong;
    passed += result.checks.count - result.checks.wrong;
    printResult(result);
    const { good, bad } = result.rows.length > 0 ? printBars(judge(result)) : { good: 0, bad: 0 };
    passed += good;
    failed += bad;
    const { dtype, headDim } = result.shape;
    fs.writeFileSync(path.join(out, `kernels-${name}-${dtype}-${headDim}.json`), JSON.stringify(result, undefined, 1));
  }
}

/** @returns {Promise<Done | undefined>} */
async function inNode() {
  const dawn = await installDawn();
  const env = gpu ? {} : await softwareAdapter();
  if (!env) {
    throw new Error(
      'Beside this browser lies no software adapter (vk_swiftshader_icd.json), which Dawn in Node needs.',
    );
  }
  const results = path.join(out, 'kernels-node.json');
  fs.rmSync(results, { force: true });
  const jobs = JSON.stringify(quick ? QUICK_JOBS : ALL_JOBS);
  const script = path.join(ROOT, 'test/bench/kernels-node.mjs');
  const { code } = await node(script, [dawn, bundle, jobs, results], { env, minutes: 20 });
  return code === 0 && fs.existsSync(results) ? JSON.parse(fs.readFileSync(results, 'utf8')) : undefined;
}

/** @returns {Promise<Done | undefined>} */
async function inBrowser() {
  const browser = await launchChromium(gpu ? ['--enable-unsafe-webgpu'] : WEBGPU_FLAGS);
  const script = fs.readFileSync(await bundled('iife', path.join(out, 'kernels.js')), 'utf8');
  // WebGPU is for secure pages: this machine's own address is one.
  const server = http.createServer((_, reply) =>
    reply.setHeader('content-type', 'text/html').end('<title>kernels</title>'),
  );
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  try {
    const address = server.address();
    const page = await browser.newPage();
    page.on('console', (message) => console.log(message.text()));
    await page.exposeFunction('cpuTime', await gpuProcessTime(browser));
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
    await page.addScriptTag({ content: script });
    /** @type {readonly Job[]} */
    const jobs = quick ? QUICK_JOBS : [{ ...JUDGED, matrix: 'quick' }];
    return await page.evaluate(`(async () => {
      const clock = (await cpuTime()) > 0 ? { kind: 'cpu', now: cpuTime } : undefined;
      const setting = { runner: 'browser', system: navigator.userAgent, clock, say: (line) => console.log(line) };
      return kernels.runJobs(navigator.gpu, ${JSON.stringify(jobs)}, setting);
    })()`);
  } finally {
    await browser.close();
    server.close();
  }
}

/**
 * Milliseconds of processor time that the browser's GPU process has used, which plays the GPU. 0 where the system does not tell.
 * @param {import('playwright-core').Browser} browser
 */
async function gpuProcessTime(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const id = processInfo.find(({ type }) => type === 'GPU')?.id;
  const tasks = `/proc/${id}/task`;
  return () =>
    fs.existsSync(tasks)
      ? fs.readdirSync(tasks).reduce((sum, task) => sum + nanoseconds(path.join(tasks, task, 'schedstat')), 0) / 1e6
      : 0;
}

/** @param {string} file */
function nanoseconds(file) {
  try {
    return Number(fs.readFileSync(file, 'utf8').split(' ')[0]);
  } catch {
    return 0; // the thread has ended
  }
}

/** @param {'cjs' | 'iife'} format @param {string} outfile */
async function bundled(format, outfile) {
  await esbuild.build({
    entryPoints: [path.join(ROOT, 'webview/bench/headless.ts')],
    outfile,
    bundle: true,
    format,
    globalName: format === 'iife' ? 'kernels' : undefined,
    target: 'es2022',
    loader: { '.wgsl': 'text' },
    mainFields: ['module', 'main'],
  });
  return outfile;
}
