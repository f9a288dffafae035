// npm test: every tier, each in a process of its own with a guard, and one line at the end that adds them up.
// `test.mjs unit ui` runs some. The counts come from what each tier wrote, never from its exit code alone.
import fs from 'node:fs';
import path from 'node:path';
import { bin, RESULTS } from './lib/paths.mjs';
import { node } from './lib/run.mjs';

/** @typedef {{ passed: number, failed: number }} Counts */
/** @typedef {{ name: string, minutes: number, script: string, args: string[], read: (json: any) => Counts }} Tier */

const resultOf = (/** @type {string} */ name) => path.join(RESULTS, `${name}.json`);

/** @param {string} name @param {string} config @returns {Pick<Tier, 'script' | 'args' | 'read'>} */
const vitest = (name, config) => ({
  script: bin('vitest/vitest.mjs'),
  args: ['run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${resultOf(name)}`],
  read: ({ numPassedTests, numFailedTests, testResults }) => ({
    passed: numPassedTests,
    failed: numFailedTests + testResults.filter(brokenFile).length,
  }),
});

/** A file that could not be loaded or set up has failed without a failed test. @type {(file: any) => boolean} */
const brokenFile = ({ status, assertionResults }) =>
  status === 'failed' && !assertionResults.some((/** @type {{ status: string }} */ test) => test.status === 'failed');

/** @type {(json: import('../test/host/suite').TestResult[]) => Counts} */
const readSuite = (tests) => ({
  passed: tests.filter((test) => test.state === 'passed').length,
  failed: tests.filter((test) => test.state === 'failed').length,
});

/** @type {readonly Tier[]} */
const TIERS = [
  { name: 'unit', minutes: 6, ...vitest('unit', 'vitest.config.mts') },
  { name: 'kernels', minutes: 5, script: 'test/bench/kernels.mjs', args: ['--quick'], read: (counts) => counts },
  { name: 'host', minutes: 6, script: 'test/host/run.mjs', args: [], read: readSuite },
  { name: 'host-web', minutes: 6, script: 'test/host/run.mjs', args: ['--web'], read: readSuite },
  { name: 'ui', minutes: 10, ...vitest('ui', 'test/ui/vitest.config.mts') },
];

const wanted = process.argv.slice(2);
const tiers = TIERS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
process.exitCode = (await main()) ? 0 : 1;

async function main() {
  if (tiers.length < wanted.length) {
    console.error(`A tier is one of: ${TIERS.map(({ name }) => name).join(', ')}.`);
    return false;
  }
  /** @type {(Counts & { name: string, seconds: number })[]} */
  const table = [];
  if (!(await prepare())) {
    table.push({ name: 'build', passed: 0, failed: 1, seconds: 0 });
  }
  for (const tier of table.length > 0 ? [] : tiers) {
    console.log(`\n── ${tier.name} ──`);
    const start = Date.now();
    table.push({ name: tier.name, ...(await runTier(tier)), seconds: Math.round((Date.now() - start) / 1000) });
  }
  console.log('');
  for (const { name, passed, failed, seconds } of table) {
    console.log(
      `${name.padEnd(9)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed ${seconds} s`,
    );
  }
  const sum = (/** @type {keyof Counts} */ key) => table.reduce((total, row) => total + row[key], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0;
}

/** The bundles, and the package for the tier that installs it. The unit tests need neither. */
async function prepare() {
  const needs = tiers.map(({ name }) => name);
  if (needs.some((name) => name !== 'unit') && (await node('esbuild.mjs')).code !== 0) {
    return false;
  }
  if (!needs.includes('ui')) {
    return true;
  }
  const { code, output } = await node('scripts/package.mjs', [], { quiet: true });
  if (code !== 0) {
    console.error(output);
  }
  return code === 0;
}

/** A tier that ends badly, writes nothing or runs no test counts as one failure at least. @param {Tier} tier @returns {Promise<Counts>} */
async function runTier({ name, minutes, script, args, read }) {
  fs.rmSync(resultOf(name), { force: true });
  const { code, timedOut } = await node(script, args, { minutes });
  const counts = fs.existsSync(resultOf(name))
    ? read(JSON.parse(fs.readFileSync(resultOf(name), 'utf8')))
    : { passed: 0, failed: 0 };
  const why = timedOut ? `it ran past ${minutes} minutes` : code !== 0 ? `it ended with ${code}` : undefined;
  const problem = why ?? (counts.passed + counts.failed === 0 ? 'it ran no test' : undefined);
  if (problem && counts.failed === 0) {
    console.error(`The tier ${name} failed: ${problem}.`);
    return { ...counts, failed: 1 };
  }
  return counts;
}
