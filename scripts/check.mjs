// npm run check: types, lint, layers, dead code. Each is quick; two run at a time.
import { bin } from './lib/paths.mjs';
import { node } from './lib/run.mjs';

const tsc = (/** @type {string} */ project) => ({
  name: `types of ${project}`,
  script: bin('typescript/bin/tsc'),
  args: ['-p', project],
});

const STEPS = [
  tsc('tsconfig.json'),
  tsc('tsconfig.portable.json'),
  tsc('webview'),
  tsc('test/host'),
  tsc('test/ui'),
  tsc('scripts'),
  {
    name: 'lint and format',
    script: bin('@biomejs/biome/bin/biome'),
    args: ['ci', '--colors=off', '--error-on-warnings', '.'],
  },
  { name: 'layers', script: 'scripts/layers.mjs', args: [] },
  { name: 'dead code', script: bin('knip/bin/knip.js'), args: ['--no-progress'] },
];

const start = Date.now();
const waiting = [...STEPS];
/** @type {string[]} */
const failed = [];

async function worker() {
  for (let step = waiting.shift(); step; step = waiting.shift()) {
    const { code, output } = await node(step.script, step.args, { quiet: true });
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${step.name}`);
    if (code !== 0) {
      failed.push(step.name);
      console.log(output);
    }
  }
}

await Promise.all([worker(), worker()]);
const seconds = Math.round((Date.now() - start) / 1000);
console.log(failed.length > 0 ? `check: failed: ${failed.join(', ')} (${seconds} s)` : `check: clean (${seconds} s)`);
process.exitCode = failed.length > 0 ? 1 : 0;
