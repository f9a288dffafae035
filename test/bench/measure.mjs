// Measuring in one process, at one time: what is compared takes turns, so that a busy machine slows both.
import { createRequire } from 'node:module';

/** The library as Node loads it: the yardstick. Our bundles have another build of it, which is faster. */
export const bareYaml = createRequire(import.meta.url)('yaml');

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Milliseconds per call, the median of each candidate's rounds.
 * @param {readonly (() => unknown)[]} candidates
 * @param {{ rounds: number, calls: number }} size
 */
export function inTurns(candidates, { rounds, calls }) {
  const times = candidates.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds; round++) {
    candidates.forEach((candidate, index) => {
      const start = performance.now();
      for (let call = 0; call < calls; call++) {
        candidate();
      }
      times[index]?.push((performance.now() - start) / calls);
    });
  }
  return times.map(median);
}

/** A fixed amount of plain work, to tell a slow machine from slow code. */
export function calibrate() {
  const start = performance.now();
  let x = 1;
  for (let i = 0; i < 20_000_000; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) | 0;
  }
  return { milliseconds: performance.now() - start, x };
}

/** What the calibration loop takes on a machine with nothing else to do. */
const USUAL_LOOP = 25;

/**
 * A time as a row of the table: judged as if the machine were as fast as the loop says it is not.
 * @param {string} what
 * @param {number} ms
 * @param {number} limit
 * @param {number} loop where another process has measured it
 */
export function besideLoop(what, ms, limit, loop = calibrate().milliseconds) {
  return {
    what,
    figure: `${ms.toFixed(2)} ms, beside ${loop.toFixed(0)} ms for the calibration loop`,
    limit: `limit ${limit} ms where that takes ${USUAL_LOOP}`,
    broken: !(ms <= limit * Math.max(1, loop / USUAL_LOOP)),
  };
}
