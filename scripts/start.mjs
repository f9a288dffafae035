// npm start: builds, prints the plan of the samples, then opens them in an editor with the extension.
//   npm start              the desktop VS Code of this machine, one that can be downloaded, or a local server
//   npm start -- --serve   a local VS Code server at once, for a machine without a display
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, SAMPLES, VSIX } from './lib/paths.mjs';
import { node, run } from './lib/run.mjs';
import { findDesktop, hasDisplay, onPath } from './vscode/desktop.mjs';
import { startServer } from './vscode/server.mjs';

const FIRST = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const serve = process.argv.includes('--serve');

if ((await node('esbuild.mjs')).code !== 0) {
  process.exit(1);
}
await plan();
if (serve) {
  await openServer();
} else if (process.env.CI || !hasDisplay()) {
  const why = process.env.CI ? 'This is a CI job' : 'There is no display here';
  console.log(`\n${why}, so no editor was opened. Open samples/ with the extension in a browser: npm start -- --serve`);
} else if (!(await openDesktop())) {
  await openServer();
}

/** The whole plan of the best known sample, and a line about each other one. */
async function plan() {
  await node('dist/cli.js', ['report', FIRST]);
  console.log('\nThe other samples (node dist/cli.js report FILE says it all):');
  const files = fs.readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' }).map((file) => `samples/${file}`);
  const others = files.filter((file) => path.extname(file) && path.normalize(file) !== path.normalize(FIRST));
  for (const file of others.sort()) {
    const { stdout, output } = await node('dist/cli.js', ['report', file, '--format', 'json'], { quiet: true });
    console.log(`  ${file.padEnd(48)} ${summary(stdout) ?? output.trim()}`);
  }
}

/** What the plans of one file come to; undefined when there is no report. @param {string} report */
function summary(report) {
  return report.trim() ? JSON.parse(report).plans.map(verdict).join('; ') || 'no launch' : undefined;
}

/** @param {{ starts: boolean | 'unknown', capacity?: { fits: number }, findings: { severity: string, message: string }[] }} plan */
function verdict({ starts, capacity, findings }) {
  const word = starts === 'unknown' ? 'may start' : starts ? 'starts' : 'will not start';
  const why = findings.find(({ severity }) => severity === 'error')?.message;
  return starts === false && why
    ? `${word}: ${why}`
    : `${word}, ${capacity?.fits.toLocaleString('en') ?? '?'} requests fit`;
}

/** Whether an editor window was opened. */
async function openDesktop() {
  const code = onPath('code');
  const args = ['--new-window', `--extensionDevelopmentPath=${ROOT}`, SAMPLES, path.join(ROOT, FIRST)];
  if (code) {
    console.log(`\nOpening samples/ in ${code} …`);
    return (await run(code, args)).code === 0;
  }
  const desktop = await findDesktop();
  if ('missing' in desktop) {
    console.log(`\nNo desktop VS Code: ${desktop.missing}.`);
    return false;
  }
  console.log(`\nOpening samples/ in ${desktop.program} … (close its window to end)`);
  return (await run(desktop.program, args, { minutes: 24 * 60 })).code === 0;
}

async function openServer() {
  if ((await node('scripts/package.mjs', [], { quiet: true })).code !== 0) {
    console.error('The extension could not be packaged: npm run package says why.');
    process.exit(1);
  }
  const server = await startServer({ vsix: VSIX, guarded: true });
  console.log(
    `\nVS Code ${server.version} with the extension runs at\n\n  ${server.url(SAMPLES)}\n\nOpen that address in a browser; Ctrl-C here ends it.`,
  );
  setInterval(() => {}, 1 << 30); // until Ctrl-C, which stops the server too
  await once(process, 'exit');
}
