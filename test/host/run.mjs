// Runs the suite inside a real VS Code: in its Node extension host and, with `--web`, in its web worker host.
// The editor opens a copy of samples/, so that edits of the tests touch no file of the project.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ARTEFACTS, RESULTS, ROOT, SAMPLES } from '../../scripts/lib/paths.mjs';
import { node, run } from '../../scripts/lib/run.mjs';
import { chooseEditor } from '../../scripts/vscode/choose.mjs';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { startServer } from '../../scripts/vscode/server.mjs';
import { buildSuite, NODE_SUITE, WEB_SUITE } from './build.mjs';

const MINUTES = 3;

/** @typedef {import('./suite').TestResult} TestResult */

const web = process.argv.includes('--web');
const name = web ? 'host-web' : 'host';
process.exitCode = (await main()) ? 0 : 1;

async function main() {
  const results = path.join(RESULTS, `${name}.json`);
  fs.rmSync(results, { force: true });
  await buildSuite();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kv-planner-suite-'));
  fs.cpSync(SAMPLES, folder, { recursive: true });
  await commit(folder);
  try {
    const tests = await inEditor(folder);
    fs.mkdirSync(RESULTS, { recursive: true });
    fs.writeFileSync(results, JSON.stringify(tests));
    return report(tests);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The samples as a commit, to compare with; the suite says so where there is no Git. @param {string} folder */
async function commit(folder) {
  const as = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...as, 'commit', '-q', '-m', 'Samples'],
  ]) {
    await run('git', args, { cwd: folder, quiet: true });
  }
}

/** @param {string} folder @returns {Promise<readonly TestResult[]>} */
async function inEditor(folder) {
  const result = path.join(folder, '.kv-planner-tests.json');
  const read = () => {
    /** @type {import('./suite').SuiteResult} */
    const { host, tests } = JSON.parse(fs.readFileSync(result, 'utf8'));
    if (host !== (web ? 'worker' : 'node')) {
      throw new Error(`The suite ran in a ${host} host.`);
    }
    return tests;
  };
  if (web) {
    console.log("Editor: VS Code's server in a browser, the extension in the browser's web worker");
    return inServer(folder, read);
  }
  const editor = await chooseEditor();
  if (editor.kind === 'desktop') {
    await inDesktop(editor, folder);
    if (fs.existsSync(result) || process.env.KV_PLANNER_EDITOR === 'desktop') {
      return read();
    }
    console.log("Editor: that VS Code did not run the suite, so VS Code's server in a browser");
  }
  return inServer(folder, read);
}

/** @param {{ program: string, virtualDisplay: boolean }} editor @param {string} folder */
async function inDesktop(editor, folder) {
  const script = fileURLToPath(new URL('desktop.mjs', import.meta.url));
  const args = [script, editor.program, NODE_SUITE, folder];
  if (editor.virtualDisplay) {
    await run('xvfb-run', ['-a', process.execPath, ...args], { minutes: MINUTES });
  } else {
    await node(script, args.slice(1), { minutes: MINUTES });
  }
}

/**
 * The workbench takes the suite in its address, and calls a function of the page when the suite has ended.
 * @param {string} folder
 * @param {() => readonly TestResult[]} read
 */
async function inServer(folder, read) {
  const settings = web ? { 'remote.extensionKind': { 'kv-planner.kv-planner': ['web'] } } : {};
  const server = await startServer({ tests: true, settings, builtins: ['git', 'git-base', 'ipynb'] });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const ended = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`The suite did not end within ${MINUTES} minutes.`)), MINUTES * 60_000).unref();
      page.once('crash', () => reject(new Error('The browser page crashed.')));
      page.exposeFunction('codeAutomationExit', resolve).catch(reject);
    });
    ended.catch(() => {}); // awaited below
    /** @type {string[]} */
    const said = [];
    page.on('console', (message) => said.push(message.text()));
    await page.goto(
      server.url(folder, [
        ['extensionDevelopmentPath', server.uri(ROOT)],
        ['extensionTestsPath', server.uri(web ? WEB_SUITE : NODE_SUITE)],
      ]),
    );
    try {
      await ended;
      return read();
    } catch (error) {
      await page.screenshot({ path: path.join(ARTEFACTS, `${name}-failed.png`) });
      console.error(said.slice(-20).join('\n'), '\n', server.tail());
      throw error;
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** @param {readonly TestResult[]} tests */
function report(tests) {
  for (const { title, state, milliseconds, error } of tests) {
    const time = milliseconds === undefined ? '' : ` (${milliseconds} ms)`;
    console.log(`  ${state}: ${title}${time}${error ? `\n${error}` : ''}`);
  }
  return tests.length > 0 && tests.every((test) => test.state !== 'failed');
}
