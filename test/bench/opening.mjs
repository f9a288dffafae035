// A manifest that is opened in an editor that has just begun: a process of its own, for editor.mjs. Arguments: bundle, text.
// Prints the longest slice of time that the editor's thread is not free, and what the calibration loop takes.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { calibrate } from './measure.mjs';

const [bundle = '', file = ''] = process.argv.slice(2);
const { planSteps, unhurried } = createRequire(import.meta.url)(bundle);
const text = fs.readFileSync(file, 'utf8');
/** @type {number[]} */
const slices = [];
let since = performance.now();
const pause = async () => {
  slices.push(performance.now() - since);
  await new Promise((resolve) => setTimeout(resolve, 0));
  since = performance.now();
};
const { plans } = await unhurried(planSteps({ text, name: 'many.yaml' }, {}), pause);
await pause();
console.log(JSON.stringify({ longest: Math.max(...slices), plans: plans.length, loop: calibrate().milliseconds }));
