// In the editor: what a hover and an edit cost in a manifest of 2,000 lines. Absolute times, beside a calibration loop.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { FOR_NODE } from '../../scripts/lib/for-node.mjs';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { besideLoop } from './measure.mjs';

const SAMPLE = 'samples/vllm/gemma-3-27b.kubernetes.yaml';
const LINES = 2000;
const HOVER_LIMIT = 10;
const EDIT_LIMIT = 50;
const SLICE_LIMIT = 20;
/** Each place is measured as often; the best counts, so that what else the machine does is not in it. */
const ROUNDS = 5;

/** The sample again and again, each launch with a length of its own. */
function manifest() {
  const one = fs.readFileSync(path.join(ROOT, SAMPLE), 'utf8');
  const parts = [];
  for (let lines = 0; lines < LINES; lines += one.split('\n').length) {
    parts.push(one.replace(/max-model-len=\d+/, `max-model-len=${8192 + 16 * parts.length}`));
  }
  return parts.join('---\n');
}

/**
 * Opened for the first time, several times: the run that waits least, beside the loop as it ran.
 * @param {string} bundle
 * @param {string} text
 * @returns {{ longest: number, loop: number }}
 */
function opened(bundle, text) {
  const file = path.join(ROOT, 'out/bench/many.yaml');
  fs.writeFileSync(file, text);
  const script = path.join(ROOT, 'test/bench/opening.mjs');
  const runs = Array.from({ length: ROUNDS }, () =>
    JSON.parse(execFileSync(process.execPath, [script, bundle, file], { encoding: 'utf8' })),
  );
  return runs.reduce((least, run) => (run.longest < least.longest ? run : least));
}

/** @param {() => unknown} call */
function best(call) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    call();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

/** @param {number[]} times */
const p95 = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;

export async function editorBench() {
  const outfile = path.join(ROOT, 'out/bench/editor.cjs');
  await esbuild.build({
    ...FOR_NODE,
    minify: true,
    stdin: {
      contents:
        "export * from './src/lazy'; export { planText } from './src/planner'; export { unhurried } from './src/editor/unhurried';",
      resolveDir: ROOT,
    },
    outfile,
    external: ['vscode'],
    logLevel: 'error',
  });
  const { planText, tryingOn, hoverTarget, hoverText } = createRequire(import.meta.url)(outfile);
  const text = manifest();
  const name = 'many.yaml';
  const slice = opened(outfile, text);
  const { plans } = planText({ text, name }, {});
  const tryOptions = tryingOn(text, {});

  /** @type {number[]} */
  const offsets = plans.flatMap((/** @type {any} */ plan) =>
    plan.launch.options.map((/** @type {any} */ option) => option.range.start),
  );
  const hovers = offsets.map((offset) =>
    best(() => {
      for (const plan of plans) {
        const target = hoverTarget(plan, offset, text);
        if (target) {
          return hoverText(plan, target, tryOptions);
        }
      }
      throw new Error(`Nothing is said at ${offset}.`);
    }),
  );
  let n = 0;
  const edits = Array.from({ length: 20 }, (_, i) =>
    best(() => {
      n++;
      const edited = text.replace(`max-model-len=${8192 + 16 * i}`, `max-model-len=${100_000 + n}`);
      planText({ text: edited, name }, {});
    }),
  );
  return [
    besideLoop('opening it anew: the longest wait', slice.longest, SLICE_LIMIT, slice.loop),
    besideLoop(`hover in ${plans.length} launches, 95th of 100`, p95(hovers), HOVER_LIMIT),
    besideLoop('planning them again after one edit', p95(edits), EDIT_LIMIT),
  ];
}
