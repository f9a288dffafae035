// npm run bench: what a plan costs. Ratios and differences are measured in one run; a broken limit fails.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { FOR_NODE } from '../../scripts/lib/for-node.mjs';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { node } from '../../scripts/lib/run.mjs';
import { chartsBench } from './charts.mjs';
import { editorBench } from './editor.mjs';
import { frameBench } from './frame.mjs';
import { bareYaml, besideLoop, calibrate, inTurns } from './measure.mjs';
import { poolBench } from './pool.mjs';
import { readingBench } from './reading.mjs';

const SAMPLE = 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml';
const ROAD_LIMIT = 1.5;
const CLI_LIMIT = 150;
const PLAN_LIMIT = 100;
const ACTIVATION_LIMIT = 30;

/** @type {{ what: string, figure: string, limit: string, broken: boolean }[]} */
const table = [];

if ((await node('esbuild.mjs')).code !== 0) {
  process.exit(1);
}
await road();
commandLine();
activation();
table.push(...(await readingBench()));
table.push(...(await editorBench()));
table.push(...(await poolBench()));
table.push(...(await frameBench()));
table.push(...(await chartsBench()));
for (const { what, figure, limit, broken } of table) {
  console.log(`${broken ? 'BROKEN' : 'ok    '} ${what.padEnd(36)} ${figure}  (${limit})`);
}
process.exitCode = table.some(({ broken }) => broken) ? 1 : 0;

/** From the text of the compose sample to its plan, against a bare parse of the same text by the library as Node loads it. */
async function road() {
  const outfile = path.join(ROOT, 'out/bench/road.cjs');
  await esbuild.build({
    ...FOR_NODE,
    minify: true,
    stdin: {
      contents: "export { planText } from './src/planner'; export { parseDocument } from 'yaml';",
      resolveDir: ROOT,
    },
    outfile,
  });
  const { planText, parseDocument } = createRequire(import.meta.url)(outfile);
  const text = fs.readFileSync(path.join(ROOT, SAMPLE), 'utf8');
  let n = 0;
  // A comment that differs: the text is read anew, and its launch is the one that is known.
  const plan = () => planText({ text: `${text}# ${n++}\n`, name: SAMPLE }, {});
  // Another length each time: a launch that did not change is not planned again, and this one has always changed.
  const planChanged = () => planText({ text: text.replace('8192', String(1024 + (n++ % 100_000))), name: SAMPLE }, {});
  const parse = () => bareYaml.parseDocument(text);
  const parseAsBuilt = () => parseDocument(text);
  const { plans } = plan();
  if (plans.length !== 1 || !plans[0].capacity) {
    throw new Error(`The sample gave ${plans.length} plans, or one without a capacity: there is nothing to measure.`);
  }
  const all = [plan, planChanged, parse, parseAsBuilt];
  inTurns(all, { rounds: 80, calls: 50 }); // until the compiler has seen it all
  const [planned = 0, changed = 0, parsed = 0, parsedAsBuilt = 0] = inTurns(all, { rounds: 61, calls: 20 });
  const ratio = planned / parsed;
  table.push({
    what: 'text to plan, against bare YAML parsing',
    figure: `${ratio.toFixed(2)} × (${planned.toFixed(3)} ms against ${parsed.toFixed(3)} ms)`,
    limit: `limit ${ROAD_LIMIT} ×`,
    broken: !(ratio <= ROAD_LIMIT),
  });
  table.push({
    what: 'the same, against parsing as we build it',
    figure: `${(planned / parsedAsBuilt).toFixed(2)} × (${parsedAsBuilt.toFixed(3)} ms)`,
    limit: 'printed, not judged',
    broken: false,
  });
  table.push({
    what: 'the same after an option changed',
    figure: `${(changed / parsed).toFixed(2)} × (${changed.toFixed(3)} ms)`,
    limit: 'printed, not judged',
    broken: false,
  });
  const planning = changed - planned;
  table.push({
    what: 'planning one launch, its model known',
    figure: `${(planning * 1000).toFixed(0)} µs, calibration loop ${calibrate().milliseconds.toFixed(0)} ms`,
    limit: `limit ${PLAN_LIMIT} µs`,
    broken: !(planning * 1000 <= PLAN_LIMIT),
  });
}

function commandLine() {
  const start = (/** @type {string[]} */ args) => () => execFileSync(process.execPath, args, { cwd: ROOT });
  const report = start(['dist/cli.js', 'report', SAMPLE, '--format', 'json']);
  const [withUs = 0, bare = 0] = inTurns([report, start(['-e', '0'])], { rounds: 15, calls: 1 });
  const difference = withUs - bare;
  table.push({
    what: 'command line, above bare Node',
    figure: `${difference.toFixed(0)} ms (${withUs.toFixed(0)} ms against ${bare.toFixed(0)} ms)`,
    limit: `limit ${CLI_LIMIT} ms`,
    broken: !(difference <= CLI_LIMIT),
  });
}

function activation() {
  const script = path.join(ROOT, 'test/bench/activation.mjs');
  const times = Array.from({ length: 9 }, () => Number(execFileSync(process.execPath, [script], { encoding: 'utf8' })));
  const typical = times.sort((a, b) => a - b)[4] ?? Number.NaN;
  table.push(besideLoop('loading and activating the extension', typical, ACTIVATION_LIMIT));
}
